#include "ranks/ranks.h"

static void
add_terms(float *x, const float *more, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] += more[i];
}

/* Of x, a rank keeps one part and its peer at this distance the other; behind
 * the levels above, each gives the other what has become of its part. */
static void
sum_parts(const struct ranks *ranks, float *x, size_t n, size_t distance,
          float *work)
{
    const int upper = (ranks->rank & distance) != 0;
    const size_t peer = ranks->rank ^ distance, lower = (n + 1) / 2,
                 kept = upper ? n - lower : lower, given = n - kept;
    float *keep = upper ? x + lower : x, *give = upper ? x : x + lower;

    if (distance >= ranks->size)
        return;
    ranks->swap(ranks->self, peer, give, given * sizeof *x, work,
                kept * sizeof *x);
    add_terms(keep, work, kept);
    sum_parts(ranks, keep, kept, 2 * distance, work);
    ranks->swap(ranks->self, peer, keep, kept * sizeof *x, give,
                given * sizeof *x);
}

void
ranks_sum(const struct ranks *ranks, float *x, size_t n, float *work)
{
    sum_parts(ranks, x, n, 1, work);
}

/* Both of a pair add the same two numbers, and a + b is b + a. */
void
ranks_add(const struct ranks *ranks, double *x, size_t n, double *work)
{
    for (size_t distance = 1; distance < ranks->size; distance *= 2) {
        ranks->swap(ranks->self, ranks->rank ^ distance, x, n * sizeof *x, work,
                    n * sizeof *x);
        for (size_t i = 0; i < n; i++)
            x[i] += work[i];
    }
}
