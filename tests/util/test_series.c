#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "util/mem.h"

/* Returns 1 if n names, a, b, c and so on, make this text. */
static int
makes(struct series *series, size_t n, const char *wanted)
{
    char *text;
    int same;

    for (size_t i = 0; i < n; i++)
        series_put(series, (char[]){(char)('a' + i), 0});
    text = series_end(series);
    same = !strcmp(text, wanted);
    free(text);
    return same;
}

int
main(void)
{
    struct series two = {.most = 2}, one = {.most = 1};

    T(makes(&two, 0, ""), "no name");
    T(makes(&two, 1, "a"), "one");
    T(makes(&two, 2, "a, b"), "as many as are shown");
    T(makes(&two, 3, "a, b and 1 more"), "one more is counted");
    T(makes(&two, 12, "a, b and 10 more"), "ten more are counted");
    T(makes(&one, 2, "a and 1 more"), "only one is shown");
    T(makes(&two, 2, "a, b"), "the same series, again");
    return t_done();
}
