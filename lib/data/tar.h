#ifndef DATA_TAR_H
#define DATA_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * Where the members of a tar archive lie (ustar, GNU long names, pax), read by
 * libarchive.
 */
struct data_member {
    const char *name; /* without leading "./"; lives until the next call */
    uint64_t offset;  /* of its content in the archive */
    uint64_t bytes;
    const char *bad; /* why it has no content; or NULL */
};

/*
 * data_tar_open() starts to read an archive.  A compressed one is refused with
 * what to do: samples are read at random, which a compressed file cannot.
 */
struct data_tar {
    char *path;
    int fd; /* to pread() from */
    struct archive *archive;
    uint64_t bytes;          /* size of the archive */
    uint64_t end;            /* of the last member, padding included */
    size_t hidden;           /* files skipped in folders with a dot, so far */
    struct members *members; /* where there was a link, or NULL */
};

struct data_tar *data_tar_open(const char *path, struct err *err);
void data_tar_close(struct data_tar *tar);

/*
 * data_tar_next() finds the next regular file: 1, 0 at the end, -1 where the
 * archive is damaged or cut off (also just before its end mark), or DATA_UNREAD
 * where it could not be read (data/set.h).
 * A link to a member of the archive is that member by another name: every hard
 * link, and a symbolic one whose name is that of an image or of what lies
 * beside one.  One that leads to no member is bad.  Folders and devices are
 * skipped; so are files in folders that begin with a dot, as those of a folder
 * are, which are counted.  The first link costs a second pass over all headers.
 */
int data_tar_next(struct data_tar *tar, struct data_member *member,
                  struct err *err);

#endif
