#include <stdlib.h>
#include <string.h>

#include "sample/cache.h"
#include "t.h"

enum { MOST = 1000 };

static void
everyone_in_turn(size_t size, double rho, size_t period)
{
    int times[MOST] = {0}, even = 1, once = 1, same = 1;
    int64_t *order = sample_refresh_order(size, 7);
    int64_t *other = sample_refresh_order(size, 7);
    size_t at, again;

    T(sample_refresh_period(rho) == period, "rho %g: every %zu steps", rho,
      period);
    for (size_t step = 0; step < 3 * period; step++) {
        const size_t n = sample_refresh_next(size, period, step, &at);

        even &= n == size / period || n == (size + period - 1) / period;
        for (size_t i = 0; i < n; i++)
            times[order[at + i]]++;
        same &=
            sample_refresh_next(size, period, step + 5 * period, &again) == n &&
            at == again;
        if ((step + 1) % period)
            continue;
        for (size_t i = 0; i < size; i++)
            once &= times[i] == (int)((step + 1) / period);
    }
    T(once, "%zu samples: each once in each %zu steps", size, period);
    T(even, "about as many in each step");
    T(same && !memcmp(order, other, size * sizeof *order),
      "the same order for the same seed, and each time round");
    free(order);
    free(other);
}

int
main(void)
{
    int64_t *a = sample_refresh_order(MOST, 1);
    int64_t *b = sample_refresh_order(MOST, 2);

    everyone_in_turn(1000, 0.01024, 98);
    everyone_in_turn(1000, 0.1, 10);
    everyone_in_turn(1000, 0.3, 4);
    everyone_in_turn(100, 1.0 / 49, 49); // 1 / that is more than 49
    everyone_in_turn(10, 1, 1);
    everyone_in_turn(7, 0.05, 20);
    everyone_in_turn(1, 0.5, 2);
    T(memcmp(a, b, MOST * sizeof *a), "another seed, another order");
    free(a);
    free(b);
    return t_done();
}
