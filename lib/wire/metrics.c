#include "wire/metrics.h"

#include <string.h>

#include "util/json.h"

size_t
wire_metrics_read(struct wire_metric *values, const char *line)
{
    json_t *object = json_loads(line, 0, NULL), *value;
    const char *name;
    size_t n = 0;

    json_object_foreach(object, name, value)
    {
        if (!json_is_number(value) || n == WIRE_METRICS_MAX ||
            strlen(name) >= sizeof values->name)
            continue;
        memcpy(values[n].name, name, strlen(name) + 1);
        values[n++].value = json_number_value(value);
    }
    json_decref(object);
    return n;
}
