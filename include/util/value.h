#pragma once

#include <stddef.h>
#include <stdint.h>

/* A named number of a report, a status, a line of metrics. */
enum { VALUE_NAME = 64, VALUES_MAX = 96 };

struct value {
    char name[VALUE_NAME]; /* 1 .. 63 bytes */
    double value;
    int whole; /* 1: a count */
};

/* A list of them, in order. */
struct values {
    size_t n;
    struct value value[VALUES_MAX];
};

/* values_add() sets a number, values_add_count() a count: appends it, or
 * replaces that of the same name; values_join() appends a list.  Too many are a
 * bug.  A longer name is cut. */
void values_add(struct values *values, const char *name, double x);
void values_add_count(struct values *values, const char *name, int64_t x);
void values_join(struct values *values, const struct values *from);

/* values_copy() appends as many of n numbers as fit. */
void values_copy(struct values *values, const struct value *from, size_t n);

/* value_add() appends a number to the caller's array, which has *n numbers and
 * room for `most`; too many are a bug. */
void value_add(struct value *list, size_t *n, size_t most, const char *name,
               double x);

/* value_find() returns the first of n numbers with this name, or NaN if there
 * is none.  O(n). */
double value_find(const struct value *list, size_t n, const char *name);
