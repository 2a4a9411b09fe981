#include "sample/ess.h"
#include "t.h"
#include "util/rng.h"

enum { M = 20000 };

/* x_t = rho x_{t-1} + noise is worth (1 - rho) / (1 + rho) of its draws. */
static void
of_known_correlation(void)
{
    static const double rho[] = {0, .5, .9};

    for (int i = 0; i < 3; i++) {
        const double want = M * (1 - rho[i]) / (1 + rho[i]);
        static double x[M];
        double at = 0, got;
        struct rng rng;

        rng_init(&rng, 1, RNG_TEST, (uint64_t)i, 0, 0);
        for (int t = 0; t < M; t++)
            x[t] = at = rho[i] * at + rng_normal(&rng);
        got = sample_ess(M, x);
        T(fabs(got / want - 1) < .15, "rho %g: %.0f for %.0f of %d", rho[i],
          got, want, M);
    }
}

static void
edges(void)
{
    static const double flat[] = {.1, .1, .1, .1, .1, .1}, one[] = {3};
    static const double turns[] = {1, -1, 1, -1, 1, -1, 1, -1};
    double x[64];

    T(sample_ess(6, flat) == 1, "a chain that never moved: 1");
    T(sample_ess(1, one) == 1, "one move: 1");
    T(sample_ess(8, turns) == 8, "never more than there are");
    for (int i = 0; i < 64; i++)
        x[i] = i < 32 ? 0 : 1;
    T(sample_ess(64, x) < 6, "one move in the middle: a few");
}

int
main(void)
{
    of_known_correlation();
    edges();
    return t_done();
}
