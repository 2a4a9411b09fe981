#include "util/forest.h"
#include "util/mem.h"

size_t *
forest_new(size_t n)
{
    size_t *up = mem_array(n, sizeof *up);

    for (size_t i = 0; i < n; i++)
        up[i] = i;
    return up;
}

size_t
forest_root(size_t *up, size_t i)
{
    while (up[i] != i)
        i = up[i] = up[up[i]];
    return i;
}

int
forest_unite(size_t *up, size_t a, size_t b)
{
    a = forest_root(up, a);
    b = forest_root(up, b);
    up[a < b ? b : a] = a < b ? a : b;
    return a != b;
}
