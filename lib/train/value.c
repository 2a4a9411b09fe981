#include <stdio.h>
#include <string.h>

#include "train/value.h"
#include "util/err.h"

void
train_values_add(struct train_values *values, const char *name, double x)
{
    struct train_value *to = &values->value[values->n++];

    REQUIRE(values->n <= TRAIN_VALUES_MAX);
    snprintf(to->name, sizeof to->name, "%s", name);
    to->value = x;
    to->whole = 0;
}

void
train_values_count(struct train_values *values, const char *name, int64_t x)
{
    train_values_add(values, name, (double)x);
    values->value[values->n - 1].whole = 1;
}

const struct train_value *
train_values_find(const struct train_values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++)
        if (!strcmp(values->value[i].name, name))
            return &values->value[i];
    return NULL;
}
