#ifndef UTIL_VALUE_H
#define UTIL_VALUE_H

#include <stddef.h>
#include <stdint.h>

/* A number with a name: of a report, a status, a line of metrics. */
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

/* values_add() appends a number, values_count() a count, values_join() a list;
 * more than fit are a bug.  A longer name is cut. */
void values_add(struct values *values, const char *name, double x);
void values_count(struct values *values, const char *name, int64_t x);
void values_join(struct values *values, const struct values *from);

/*
 * value_add() appends a number to an array of the caller's, of which *n are
 * used, and which has room for `most`: more are a bug.  value_copy() appends
 * numbers of a list as long as there is room.
 */
void value_add(struct value *list, size_t *n, size_t most, const char *name,
               double x);
void value_copy(struct value *list, size_t *n, size_t most,
                const struct value *from, size_t count);

/* value_find() returns the first of n numbers that has this name, or NaN where
 * none has it.  O(n). */
double value_find(const struct value *list, size_t n, const char *name);

#endif
