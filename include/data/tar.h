#ifndef DATA_TAR_H
#define DATA_TAR_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * Tar archives through libarchive: reading where members lie (ustar, GNU long
 * names, pax), and writing plain ustar ones.
 */
struct data_member {
    const char *name; /* without leading "./"; lives until the next call */
    uint64_t offset;  /* of its content in the archive */
    uint64_t bytes;
};

/*
 * data_tar_open() starts to read an archive.  A compressed one is refused with
 * what to do: samples are read at random, which a compressed file cannot.
 */
struct data_tar;
struct data_tar *data_tar_open(const char *path, struct err *err);
void data_tar_close(struct data_tar *tar);

/*
 * data_tar_next() finds the next regular file: 1, 0 at the end, or -1 where
 * the archive is damaged or cut off (also just before its end mark).
 * Folders, links and devices are passed over.
 */
int data_tar_next(struct data_tar *tar, struct data_member *member,
                  struct err *err);

/* A descriptor to pread() from, the archive's size, how far headers are read */
int data_tar_fd(const struct data_tar *tar);
uint64_t data_tar_bytes(const struct data_tar *tar);
uint64_t data_tar_position(const struct data_tar *tar);

/*
 * Writing: members in the order given, owner 0, time 0, mode 0644, so that the
 * same content gives the same bytes.  The archive stands under its name only
 * after data_pack_keep(); data_pack_drop() frees, and removes what was not
 * kept.  Names are at most 100 bytes.
 */
struct data_pack;
struct data_pack *data_pack_open(const char *path, struct err *err);
int data_pack_add(struct data_pack *pack, const char *name, const void *bytes,
                  size_t len, struct err *err);
int data_pack_keep(struct data_pack *pack, struct err *err);
void data_pack_drop(struct data_pack *pack);

#endif
