#pragma once

/* For tests/conformance.c: one file of results, and the errors found in it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "nn/safetensors.h"

enum { QUANTITIES = 32 };

/* An error, relative or in levels of 255, or how our result compares with the
 * reference's where more is better. */
enum unit { RELATIVE, LEVELS, RATIO };

struct quantity {
    char name[64];
    enum unit unit;
    double value;
    double limit; /* of an error the largest, of a ratio the smallest that is
                     fine; 0: the tolerance */
};

struct file {
    const char *name;
    struct nn_array *array;
    size_t n;
    json_t *metadata;
    struct quantity quantity[QUANTITIES];
    size_t n_quantities;
};

/* The larger of two errors.  One that is no number is the largest of all, and
 * stays it whatever follows. */
static inline double
worse(double worst, double error)
{
    if (isnan(error))
        return INFINITY;
    return fmax(worst, error);
}

static inline struct quantity *
quantity_get(struct file *file, const char *name, enum unit unit)
{
    struct quantity *q = file->quantity;
    size_t i = 0;

    while (i < file->n_quantities && strcmp(q[i].name, name))
        i++;
    REQUIRE(i < QUANTITIES);
    if (i == file->n_quantities) {
        snprintf(q[i].name, sizeof q[i].name, "%s", name);
        q[i].unit = unit;
        q[i].limit = unit == LEVELS;
        file->n_quantities++;
    }
    return q + i;
}

/* Take in an error of a quantity; the file keeps the largest. */
static inline void
note(struct file *file, const char *name, double error, enum unit unit)
{
    struct quantity *q = quantity_get(file, name, unit);

    q->value = worse(q->value, error);
}

/* Take in a ratio, once, and what it is to be at least. */
static inline void
note_ratio(struct file *file, const char *name, double ratio, double least)
{
    struct quantity *q = quantity_get(file, name, RATIO);

    q->value = ratio;
    q->limit = least;
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
