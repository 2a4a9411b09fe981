#ifndef UTIL_SERIES_H
#define UTIL_SERIES_H

#include <stddef.h>

/*
 * A list of names for a sentence, of which the first are shown: "a, b and 3
 * more".
 *
 *     struct series names = {.most = 2};
 *     while (...)
 *         series_put(&names, name);
 *     text = series_end(&names);
 *
 * series_end() returns the text, "" if there were none, to be given to free();
 * the series is empty again, with the same `most`.
 */
struct series {
    size_t most, n; /* names that are shown at most, >= 1; that were put */
    char *text;
};

void series_put(struct series *series, const char *name);
char *series_end(struct series *series);

#endif
