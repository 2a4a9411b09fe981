#include "wire/metrics.h"

#include <stdio.h>

#include "util/json.h"

/* Numbers of an object, which has that name in the line, or none. */
static void
add_numbers(json_t *object, const char *of, struct value *values, size_t *n)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        struct value *to = values + *n;

        if (json_is_object(value) && !*of)
            add_numbers(value, name, values, n);
        else if (json_is_number(value) && *n < WIRE_METRICS_MAX &&
                 snprintf(to->name, sizeof to->name, "%s%s%s", of,
                          *of ? "." : "", name) < (int)sizeof to->name) {
            to->value = json_number_value(value);
            ++*n;
        }
    }
}

size_t
wire_metrics_read(struct value *values, const char *line)
{
    json_t *object = json_loads(line, 0, NULL);
    size_t n = 0;

    add_numbers(object, "", values, &n);
    json_decref(object);
    return n;
}
