#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/dtype.h"
#include "util/err.h"

/*
 * Arrays in NumPy's .npy format (numpy.lib.format), versions 1 to 3, as
 * numpy.load() and numpy.save() use them.  Little-endian, C order, one or two
 * dimensions (data_npy_head(): up to four), of any type with a NumPy name in
 * util/dtype.h.
 */
struct data_npy {
    enum dtype type;
    size_t rank;     /* 1 or 2 */
    size_t shape[4]; /* each below 10^15; shape[1] is 1 if rank is 1 */
    void *data;      /* [shape[0],shape[1]] items of that type */
};

/* data_npy_read() reads an array; the caller releases it.  Nothing is allocated
 * if the header does not match the file's size. */
int data_npy_read(const char *path, struct data_npy *npy, struct err *err);
void data_npy_release(struct data_npy *npy);

/* data_npy_open() reads only the header, and returns a descriptor of the file,
 * whose first item is at *place; -1 on error. */
int data_npy_open(const char *path, struct data_npy *npy, size_t *place,
                  struct err *err);

/*
 * data_npy_reals() returns the items of an array of f4, f8 or f2 as f4, those
 * of f8 rounded; it takes over the memory of an f4 array, and data is then
 * NULL. data_npy_wholes() returns the items of integers or bools as i8.  The
 * caller frees them; NULL for another type, or a whole number that is too
 * large.
 */
float *data_npy_reals(struct data_npy *npy, struct err *err);
int64_t *data_npy_wholes(const struct data_npy *npy, struct err *err);

/* data_npy_put() writes an array to a file, `path` in errors, and flushes it;
 * npy->data is only read. */
int data_npy_put(FILE *file, const char *path, const struct data_npy *npy,
                 struct err *err);

/* data_npy_write() writes a file with an array, all or nothing. */
int data_npy_write(const char *path, const struct data_npy *npy,
                   struct err *err);

/* data_npy_parse() checks the first len bytes of a file of `bytes`: it fills in
 * type, rank and shape (data stays NULL), and the offset of the first item in
 * *place.  For data_npy_read() and the fuzzer. */
int data_npy_parse(const uint8_t *start, size_t len, uint64_t bytes,
                   struct data_npy *npy, size_t *place, struct err *err);

/*
 * data_npy_head() is the same for a rank up to 4, without the size of the file:
 * the product of the shape may overflow.
 *   start  [len] a whole file, or its first DATA_NPY_HEAD bytes
 */
enum { DATA_NPY_HEAD = 4096 + 12 };
int data_npy_head(const uint8_t *start, size_t len, struct data_npy *npy,
                  size_t *place, struct err *err);
