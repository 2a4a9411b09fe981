#include "wire/metrics.h"

#include <math.h>
#include <string.h>

double
wire_metrics_find(const struct wire_metric *values, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(values[i].name, name))
            return values[i].value;
    return NAN;
}
