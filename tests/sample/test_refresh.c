#include <string.h>

#include "sample/cache.h"
#include "t.h"

enum { MOST = 1000 };

static void
everyone_in_turn(size_t size, double rho, size_t period)
{
    int times[MOST] = {0}, even = 1, once = 1, same = 1;
    struct sample_refresh a, b;
    const int64_t *ids, *again;

    sample_refresh_init(&a, size, rho, 7);
    sample_refresh_init(&b, size, rho, 7);
    T(a.period == period, "rho %g: every %zu steps", rho, period);
    for (size_t step = 0; step < 3 * period; step++) {
        const size_t n = sample_refresh_next(&a, step, &ids);

        even &= n == size / period || n == (size + period - 1) / period;
        for (size_t i = 0; i < n; i++)
            times[ids[i]]++;
        same &= sample_refresh_next(&b, step + 5 * period, &again) == n &&
                !memcmp(ids, again, n * sizeof *ids);
        if ((step + 1) % period)
            continue;
        for (size_t i = 0; i < size; i++)
            once &= times[i] == (int)((step + 1) / period);
    }
    T(once, "%zu samples: each once in each %zu steps", size, period);
    T(even, "about as many in each step");
    T(same, "the same order for the same seed, and each time round");
    sample_refresh_release(&a);
    sample_refresh_release(&b);
}

int
main(void)
{
    struct sample_refresh a, b;

    everyone_in_turn(1000, 0.01024, 98);
    everyone_in_turn(1000, 0.1, 10);
    everyone_in_turn(1000, 0.3, 4);
    everyone_in_turn(100, 1.0 / 49, 49); // 1 / that is more than 49
    everyone_in_turn(10, 1, 1);
    everyone_in_turn(7, 0.05, 20);
    everyone_in_turn(1, 0.5, 2);
    sample_refresh_init(&a, MOST, 0.5, 1);
    sample_refresh_init(&b, MOST, 0.5, 2);
    T(memcmp(a.order, b.order, MOST * sizeof *a.order),
      "another seed, another order");
    sample_refresh_release(&a);
    sample_refresh_release(&b);
    return t_done();
}
