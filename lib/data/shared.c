#include <stdlib.h>
#include <string.h>

#include "data/shared.h"
#include "util/mem.h"

#include "layout.h"

static int
by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct digest));
}

size_t
data_shared(const struct data_set *set, const struct data_set *other)
{
    const size_t n = data_size(other);
    struct digest *has = mem_array(n, sizeof *has);
    size_t shared = 0;

    for (size_t i = 0; i < n; i++)
        has[i] = other->sample[i].digest;
    qsort(has, n, sizeof *has, by_bytes);
    for (size_t i = 0; i < data_size(set); i++)
        shared += bsearch(&set->sample[i].digest, has, n, sizeof *has,
                          by_bytes) != NULL;
    free(has);
    return shared;
}
