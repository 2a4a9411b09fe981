#include <stdlib.h>

#include "data/shared.h"
#include "util/mem.h"

#include "layout.h"

static struct digest *
digests_of(const struct data_set *set)
{
    const size_t n = data_size(set);
    struct digest *digest = mem_array(n, sizeof *digest);

    for (size_t i = 0; i < n; i++)
        digest[i] = set->sample[i].digest;
    return digest;
}

size_t
data_shared(const struct data_set *set, const struct data_set *other)
{
    struct digest *some = digests_of(set), *others = digests_of(other);
    const size_t shared =
        digest_shared(data_size(set), some, data_size(other), others);

    free(others);
    free(some);
    return shared;
}
