#ifndef TESTS_CONFORM_FILE_H
#define TESTS_CONFORM_FILE_H

/* For tests/conformance.c: one file of results, and the errors found in it. */
#include <stdio.h>
#include <string.h>

#include "nn/safetensors.h"

enum { QUANTITIES = 32 };

struct quantity {
    char name[64];
    double error;
    int levels; /* 1: of a picture, in levels of 255 */
};

struct file {
    const char *name;
    struct nn_array *array;
    size_t n;
    json_t *metadata;
    struct quantity quantity[QUANTITIES];
    size_t n_quantities;
};

/* Take in an error of a quantity; the file keeps the largest. */
static inline void
note(struct file *file, const char *name, double error, int levels)
{
    struct quantity *q = file->quantity;
    size_t i = 0;

    while (i < file->n_quantities && strcmp(q[i].name, name))
        i++;
    REQUIRE(i < QUANTITIES);
    if (i == file->n_quantities) {
        snprintf(q[i].name, sizeof q[i].name, "%s", name);
        q[i].levels = levels;
        file->n_quantities++;
    }
    if (!(error <= q[i].error)) // so that NaN counts
        q[i].error = error;
}

static inline const struct nn_array *
array_get(const struct file *file, const char *dtype, const char *name,
          struct err *err)
{
    const struct nn_array *a = nn_arrays_find(file->array, file->n, name);

    if (!a)
        err_set(err, "there is no '%s'", name);
    else if (strcmp(a->dtype, dtype))
        err_set(err, "'%s' is %s, not %s", name, a->dtype, dtype);
    else
        return a;
    return NULL;
}

#endif
