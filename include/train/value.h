#ifndef TRAIN_VALUE_H
#define TRAIN_VALUE_H

#include <stddef.h>
#include <stdint.h>

/* Numbers with names, in order, such as the report of a step. */
enum { TRAIN_VALUES_MAX = 96, TRAIN_NAME_MAX = 64 };

struct train_value {
    char name[TRAIN_NAME_MAX];
    double value;
    int whole; /* 1: a count */
};

struct train_values {
    size_t n;
    struct train_value value[TRAIN_VALUES_MAX];
};

/* train_values_add() appends a number, train_values_count() a count; more than
 * fit are a bug.  A longer name is cut. */
void train_values_add(struct train_values *values, const char *name, double x);
void train_values_count(struct train_values *values, const char *name,
                        int64_t x);

/* train_values_find() returns the value of that name, or NULL. */
const struct train_value *train_values_find(const struct train_values *values,
                                            const char *name);

#endif
