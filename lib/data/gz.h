#ifndef DATA_GZ_H
#define DATA_GZ_H

#include <stddef.h>
#include <zlib.h>

#include "util/err.h"

/* Bytes of a file that may be gzipped, and the head of an idx file in it. */

gzFile data_gz_open(const char *path, struct err *err);

/* data_gz_take() reads n bytes; *got is less only at the end of the file. */
int data_gz_take(gzFile file, const char *path, void *to, size_t n, size_t *got,
                 struct err *err);

/*
 * data_gz_idx_head() reads 0, 0, 8 (bytes), the rank 1 .. 4, and the big-endian
 * size of each dimension.
 */
int data_gz_idx_head(gzFile file, const char *path, size_t size[4],
                     size_t *rank, struct err *err);

#endif
