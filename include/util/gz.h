#pragma once

#include <stddef.h>

#include "util/err.h"

/* Reads a file that may be gzipped, by zlib's gzFile. */
struct gzFile_s;

struct gzFile_s *data_gz_open(const char *path, struct err *err);
void data_gz_close(struct gzFile_s *file);

/* data_gz_take() reads n bytes; *got is smaller only at the end of the file. */
int data_gz_take(struct gzFile_s *file, const char *path, void *to, size_t n,
                 size_t *got, struct err *err);

/* data_gz_seek() moves to an offset of the decompressed contents. */
int data_gz_seek(struct gzFile_s *file, const char *path, size_t offset,
                 struct err *err);
