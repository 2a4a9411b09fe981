#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* The positions of the members of a tar archive (ustar, GNU long names, pax),
 * by libarchive. */
struct data_member {
    const char *name; /* without leading "./"; lives until the next call */
    uint64_t offset;  /* of its content in the archive */
    uint64_t bytes;
    const char *bad; /* why it has no contents; or NULL */
};

/* data_tar_open() starts to read an archive.  A compressed one is refused, with
 * advice: samples need random access. */
struct data_tar {
    char *path;
    int fd; /* to pread() from */
    struct archive *archive;
    uint64_t bytes;          /* size of the archive */
    uint64_t end;            /* of the last member, padding included */
    size_t hidden;           /* files skipped in folders with a dot, so far */
    struct members *members; /* once there was a link, or NULL */
};

struct data_tar *data_tar_open(const char *path, struct err *err);
void data_tar_close(struct data_tar *tar);

/*
 * data_tar_next() finds the next regular file: 1, 0 at the end, -1 if the
 * archive is damaged or cut off (also just before its end mark), or DATA_UNREAD
 * if it could not be read (data/set.h).  A link to a member of the archive is
 * that member under another name: every hard link, and a symbolic link with the
 * name of an image or of a file that belongs to one.  A link to no member is
 * bad.  Folders and devices are skipped; so are files in folders that begin
 * with a dot, which are counted.  The first link costs a second pass over all
 * headers.
 */
int data_tar_next(struct data_tar *tar, struct data_member *member,
                  struct err *err);
