#ifndef UTIL_SERIES_H
#define UTIL_SERIES_H

#include <stddef.h>

/*
 * A list of names for a sentence that shows the first ones: "a, b and 3 more".
 *
 *     struct series names = {.most = 2};
 *     while (...)
 *         series_put(&names, name);
 *     text = series_end(&names);
 *
 * series_end() returns the text, "" if there were no names, which the caller
 * frees; the series is then empty, with the same `most`.
 */
struct series {
    size_t most, n; /* the most names to show, >= 1; names so far */
    char *text;
};

void series_put(struct series *series, const char *name);
char *series_end(struct series *series);

#endif
