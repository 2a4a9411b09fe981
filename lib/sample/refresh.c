#include <math.h>
#include <stdlib.h>

#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

#include "refresh.h"

void
sample_refresh_init(struct sample_refresh *refresh, size_t size, double rho,
                    uint64_t seed)
{
    struct rng rng;

    REQUIRE(size >= 1 && rho > 0 && rho <= 1);
    refresh->size = size;
    // 1 / rho may be a hair above the whole number that is meant
    refresh->period = (size_t)ceil(1 / rho - 1e-9);
    refresh->order = mem_array(size, sizeof *refresh->order);
    for (size_t i = 0; i < size; i++)
        refresh->order[i] = (int64_t)i;
    rng_init(&rng, seed, RNG_REFRESH, 0, 0, 0);
    rng_shuffle(&rng, size, refresh->order);
}

void
sample_refresh_release(struct sample_refresh *refresh)
{
    free(refresh->order);
    *refresh = (struct sample_refresh){0};
}

/* Where part `part` of the order begins: part * size / period, without its
 * overflow. */
static size_t
part_begin(const struct sample_refresh *refresh, size_t part)
{
    const size_t whole = refresh->size / refresh->period;
    const size_t rest = refresh->size % refresh->period;

    return whole * part + rest * part / refresh->period;
}

size_t
sample_refresh_next(const struct sample_refresh *refresh, uint64_t step,
                    const int64_t **ids)
{
    const size_t part = (size_t)(step % refresh->period);
    const size_t begin = part_begin(refresh, part);

    *ids = refresh->order + begin;
    return part_begin(refresh, part + 1) - begin;
}
