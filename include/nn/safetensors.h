#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util/err.h"
#include "util/json.h"

/* safetensors files: an 8-byte little-endian length, a JSON header of that
 * length with each tensor's dtype, shape and byte range, and the bytes. */
enum { NN_MAX_RANK = 8 };

struct nn_array {
    char *name;
    char dtype[8]; /* "F32" "F64" "I64" "I32" "U8" "BF16" "BOOL" ... */
    size_t rank, shape[NN_MAX_RANK];
    size_t count, bytes; /* elements; bytes = count x size of dtype */
    void *data;          /* little-endian, C order */
};

/* nn_array_init() fills an array with copies of name and data; data = NULL:
 * zeros.  The dtype must be one of the format. */
void nn_array_init(struct nn_array *array, const char *name, const char *dtype,
                   size_t rank, const size_t *shape, const void *data);

/*
 * nn_arrays_read() reads a whole file.  It checks all counts and ranges before
 * it allocates: ranges must cover the data without gap or overlap.
 *   metadata   out: the "__metadata__" object or NULL; json_decref() it.  The
 *              argument itself may be NULL
 *   arrays     out: in the order of the header; free with nn_arrays_free()
 */
int nn_arrays_read(const char *path, struct nn_array **arrays, size_t *n,
                   json_t **metadata, struct err *err);
void nn_arrays_free(struct nn_array *arrays, size_t n);

/* nn_arrays_parse() is the same for bytes in memory; `what` is their name in
 * errors. */
int nn_arrays_parse(const uint8_t *bytes, size_t len, const char *what,
                    struct nn_array **arrays, size_t *n, json_t **metadata,
                    struct err *err);

/* nn_arrays_find() returns the array of that name, or NULL. */
const struct nn_array *nn_arrays_find(const struct nn_array *arrays, size_t n,
                                      const char *name);

/*
 * nn_arrays_need() does the same, with an error if the array is missing or has
 * another dtype or shape.
 *   path  of the file, for errors
 */
const struct nn_array *nn_arrays_need(const struct nn_array *arrays, size_t n,
                                      const char *path, const char *name,
                                      const char *dtype, size_t rank,
                                      const size_t *shape, struct err *err);

/*
 * nn_arrays_put() writes arrays to a file and flushes it.  Header keys are in
 * the order of `arrays`, data in descending order of element size, so that each
 * array is aligned to the size of its elements without gaps.
 *   path       of the file, for errors
 *   metadata   an object of strings, or NULL
 */
int nn_arrays_put(FILE *file, const char *path, const struct nn_array *arrays,
                  size_t n, const json_t *metadata, struct err *err);

/* nn_arrays_write() makes a file of arrays.  Not atomic and not fsynced: a
 * checkpoint writes into a folder that is renamed as a whole
 * (nn/checkpoint.h). */
int nn_arrays_write(const char *path, const struct nn_array *arrays, size_t n,
                    const json_t *metadata, struct err *err);
