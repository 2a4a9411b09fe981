/* The exact distributions of small visits (lib/algorithms.md 4.1). */
#include <string.h>

#include "t.h"
#include "visit.h"

/* One view, seven images: each row's chain walks over six columns with the
 * distribution below as its target, laid out from the column behind its own.
 */
enum { B = 7, R = B - 1 };

static const double target[R] = {.5, .2, .1, .1, .05, .05};
static const int64_t ids[B] = {10, 11, 12, 13, 14, 15, 16};

static void
scores(float s[B * B])
{
    for (int r = 0; r < B; r++) {
        s[r * B + r] = 1e6f; // must not be looked at
        for (int j = 0; j < R; j++)
            s[r * B + (r + 1 + j) % B] = (float)log(target[j]);
    }
}

/*
 * Naively: the distribution of the states recorded in a visit, and of the last
 * one, by going through all 6! orders of proposals.  from [R+1]: the
 * distribution of the state before, its last entry for a cold chain.
 */
struct naive {
    double recorded[R], last[R];
};

static void
propose(const int order[R], int burn, const double from[R + 1],
        struct naive *naive)
{
    double p[R + 1];

    memcpy(p, from, sizeof p);
    for (int k = 0; k < R; k++) {
        int to = order[k];

        for (int at = 0; at <= R; at++) {
            double move = at == R ? 1 : fmin(1, target[to] / target[at]);

            if (at == to)
                continue;
            p[to] += move * p[at];
            p[at] -= move * p[at];
        }
        for (int i = 0; k >= burn && i < R; i++)
            naive->recorded[i] += p[i] / (R - burn) / 720;
    }
    for (int i = 0; i < R; i++)
        naive->last[i] += p[i] / 720;
}

static void
all_orders(int k, int order[R], int burn, const double from[R + 1],
           struct naive *naive)
{
    if (k == R)
        propose(order, burn, from, naive);
    for (int i = k; i < R; i++) {
        int keep = order[i];

        order[i] = order[k];
        order[k] = keep;
        all_orders(k + 1, order, burn, from, naive);
        order[k] = order[i];
        order[i] = keep;
    }
}

static struct naive
naive_of(int burn, const double from[R + 1])
{
    struct naive naive = {{0}, {0}};
    int order[R] = {0, 1, 2, 3, 4, 5};

    all_orders(0, order, burn, from, &naive);
    return naive;
}

/* The sampler's own distribution: the mean of w over visits; chi gets the
 * statistic of the last states, which are independent when chains start cold.
 */
static void
simulate(int visits, size_t burn, int cold, double mean[R], double last[R])
{
    struct sample_state state[B];
    float s[B * B], w[B * B];

    scores(s);
    forget(B, state);
    memset(mean, 0, R * sizeof *mean);
    memset(last, 0, R * sizeof *last);
    for (int t = 0; t < visits; t++) {
        if (cold)
            forget(B, state);
        visit_once(1, B, ids, s, 1, burn, 1, (uint64_t)t, state, w);
        for (int r = 0; r < B; r++) {
            last[(state[r].id - ids[0] - r - 1 + B) % B]++;
            for (int j = 0; j < R; j++)
                mean[j] += w[r * B + (r + 1 + j) % B] / visits / B;
        }
    }
}

static void
cold_chains_have_the_exact_law(void)
{
    static const double printed[3][R] = {
        {.421, .203, .118, .118, .070, .070},
        {.552, .193, .086, .086, .041, .041},
        {.608, .164, .077, .077, .037, .037},
    };
    static const double cold[R + 1] = {[R] = 1};
    static const int burn[3] = {0, 3, 5};
    enum { VISITS = 4000 };

    for (int i = 0; i < 3; i++) {
        struct naive naive = naive_of(burn[i], cold);
        double mean[R], last[R], chi = 0, worst = 0;

        for (int j = 0; j < R; j++)
            worst = fmax(worst, fabs(naive.recorded[j] - printed[i][j]));
        T(worst < 6e-4, "burn-in %d: the naive formula agrees with 3.7",
          burn[i]);

        simulate(VISITS, (size_t)burn[i], 1, mean, last);
        worst = 0;
        for (int j = 0; j < R; j++) {
            double p = naive.recorded[j], q = naive.last[j] * VISITS * B;

            // w is in [0,1], so p (1 - p) bounds its variance
            worst = fmax(worst,
                         fabs(mean[j] - p) / sqrt(p * (1 - p) / (VISITS * B)));
            chi += (last[j] - q) * (last[j] - q) / q;
        }
        T(worst < 4.2, "burn-in %d: w within 4.2 deviations (2e-4): %.2f",
          burn[i], worst);
        T(chi < 20.5, "last states, chi-square of 5 degrees, .001: %.1f < 20.5",
          chi);
    }
}

/* Chains that go on have the distribution that their visits leave unchanged. */
static void
warm_chains_have_theirs(void)
{
    double from[R + 1] = {1}, mean[R], last[R], worst = 0;
    struct naive naive = {{0}, {0}};

    for (int i = 0; i < 20; i++) {
        naive = naive_of(3, from);
        memcpy(from, naive.last, sizeof naive.last);
    }
    simulate(4000, 3, 0, mean, last);
    for (int j = 0; j < R; j++)
        worst = fmax(worst, fabs(mean[j] - naive.recorded[j]));
    T(worst < 0.012, "within four deviations: off by %.4f", worst);
}

int
main(void)
{
    cold_chains_have_the_exact_law();
    warm_chains_have_theirs();
    return t_done();
}
