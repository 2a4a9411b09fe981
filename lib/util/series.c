#include <stdio.h>
#include <stdlib.h>

#include "util/mem.h"
#include "util/series.h"

static void
append_to_series(struct series *series, const char *between, const char *more)
{
    char *text =
        mem_format("%s%s%s", series->text ? series->text : "", between, more);

    free(series->text);
    series->text = text;
}

void
series_put(struct series *series, const char *name)
{
    if (series->n++ < series->most)
        append_to_series(series, series->text ? ", " : "", name);
}

char *
series_end(struct series *series)
{
    char more[48] = "", *text;

    if (series->n > series->most)
        snprintf(more, sizeof more, " and %zu more", series->n - series->most);
    append_to_series(series, more, "");
    text = series->text;
    *series = (struct series){.most = series->most};
    return text;
}
