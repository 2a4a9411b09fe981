#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/err.h"
#include "util/value.h"

void
value_add(struct value *list, size_t *n, size_t most, const char *name,
          double x)
{
    struct value *to = &list[*n];

    REQUIRE(*n < most);
    ++*n;
    *to = (struct value){.value = x};
    snprintf(to->name, sizeof to->name, "%s", name);
}

void
values_copy(struct values *values, const struct value *from, size_t n)
{
    for (size_t i = 0; i < n && values->n < VALUES_MAX; i++)
        values->value[values->n++] = from[i];
}

double
value_find(const struct value *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i].name, name))
            return list[i].value;
    return NAN;
}

/* The value of that name, which is added if it is missing. */
static struct value *
place_of(struct values *values, const char *name)
{
    for (size_t i = 0; i < values->n; i++)
        if (!strcmp(values->value[i].name, name))
            return &values->value[i];
    value_add(values->value, &values->n, VALUES_MAX, name, 0);
    return &values->value[values->n - 1];
}

void
values_add(struct values *values, const char *name, double x)
{
    struct value *to = place_of(values, name);

    to->value = x;
    to->whole = 0;
}

void
values_add_count(struct values *values, const char *name, int64_t x)
{
    struct value *to = place_of(values, name);

    to->value = (double)x;
    to->whole = 1;
}

void
values_join(struct values *values, const struct values *from)
{
    REQUIRE(values->n + from->n <= VALUES_MAX);
    values_copy(values, from->value, from->n);
}
