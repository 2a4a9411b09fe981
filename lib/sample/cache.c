#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"
#include "util/rng.h"

#include "cache.h"

void
sample_cache_draw(const struct sample_cache_settings *how,
                  const struct sample_bank *bank, size_t n, const int64_t *own,
                  struct sample_draw *draw, struct arena *scratch)
{
    const float *query = sample_search_rows(bank, n, own, scratch);
    const struct sample_search all =
        sample_search(how->beta, bank, n, own, query, scratch);

    for (size_t q = 0; q < n; q++) {
        struct rng rng;

        rng_init(&rng, how->seed, RNG_CACHE, how->step, how->epoch, q);
        draw[q] = bank->when[own[q]] >= 0 ? sample_search_draw(&all, q, &rng)
                                          : (struct sample_draw){-1, 0};
    }
}

double
sample_cache_weigh(double beta, double limit, const struct sample_bank *bank,
                   size_t n, const int64_t *own, const float *query,
                   const float *positive, const struct sample_draw *draw,
                   float *scale, struct arena *scratch)
{
    const struct sample_search all =
        sample_search(beta, bank, n, own, query, scratch);
    double sum = 0;
    size_t draws = 0;

    for (size_t q = 0; q < n; q++) {
        const double z = sample_search_log_z(&all, q);
        double one_minus_p = 0, importance = 0;

        if (draw[q].id >= 0 && z > -INFINITY) {
            const float *row = bank->rows + (size_t)draw[q].id * bank->dim;
            const double s = num_dot(bank->dim, query + q * bank->dim, row);

            one_minus_p = 1 / (1 + exp(all.beta * (double)positive[q] - z));
            importance = fmin(exp(all.beta * s - z - draw[q].log_q), limit);
            draws++;
        }
        scale[2 * q] = (float)one_minus_p;
        scale[2 * q + 1] = (float)(one_minus_p * importance);
        sum += importance;
    }
    return draws ? sum / (double)draws : 0;
}

/* ---- refresh ------------------------------------------------------------- */

int64_t *
sample_refresh_order(size_t size, uint64_t seed)
{
    int64_t *order = mem_array(size, sizeof *order);
    struct rng rng;

    for (size_t i = 0; i < size; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, seed, RNG_REFRESH, 0, 0, 0);
    rng_shuffle(&rng, size, order);
    return order;
}

size_t
sample_refresh_period(double rho)
{
    REQUIRE(rho > 0 && rho <= 1);
    // by rounding 1 / rho may be slightly above a whole number
    return (size_t)ceil(1 / rho - 1e-9);
}

size_t
sample_refresh_next(size_t size, size_t period, uint64_t step, size_t *from)
{
    const size_t part = (size_t)(step % period), rest = size % period;

    // part * size / period, without its overflow
    *from = size / period * part + rest * part / period;
    return size / period + rest * (part + 1) / period - rest * part / period;
}
