#include "util/series.h"
#include "util/mem.h"

void
series_put(struct series *series, const char *name)
{
    if (series->n++ < series->most)
        mem_append(&series->text, "%s%s", series->text ? ", " : "", name);
}

char *
series_end(struct series *series)
{
    char *text = series->text ? series->text : mem_text("");

    if (series->n > series->most)
        mem_append(&text, " and %zu more", series->n - series->most);
    *series = (struct series){.most = series->most};
    return text;
}
