/*
 * What a visit makes of a chain, as a matrix of states by states, by
 * enumeration of all orders of the proposals: that of sample_emc2() is the
 * same, and it moves with the scores as lemma 3.4 of the paper bounds it (Yau
 * et al. 2024, arXiv:2404.10575).
 */
#include <math.h>
#include <string.h>

#include "t.h"
#include "util/rng.h"
#include "visit.h"

/* Image 0 is the anchor, 1 .. 3 are its batch, 4 is outside of it. */
enum { B = 4, STATES = B, R = B - 1, VISITS = 20000, TRIES = 20000 };

static const double beta = 5;

/* p, of states, after the proposal of one. */
static void
propose(const double s[STATES], size_t to, double p[STATES])
{
    for (size_t x = 0; x < STATES; x++)
        if (x != to) {
            const double moved = p[x] * fmin(1, exp(beta * (s[to] - s[x])));

            p[x] -= moved;
            p[to] += moved;
        }
}

static void
find_kernel(const double s[STATES], double k[STATES][STATES])
{
    static const size_t order[][R] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                      {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const size_t orders = sizeof order / sizeof *order;

    memset(k, 0, STATES * sizeof *k);
    for (size_t x = 0; x < STATES; x++)
        for (size_t o = 0; o < orders; o++) {
            double p[STATES] = {0};

            p[x] = 1;
            for (size_t r = 0; r < R; r++)
                propose(s, order[o][r], p);
            for (size_t y = 0; y < STATES; y++)
                k[x][y] += p[y] / (double)orders;
        }
}

static double
largest_difference(double a[STATES][STATES], double b[STATES][STATES])
{
    double most = 0;

    for (size_t x = 0; x < STATES; x++)
        for (size_t y = 0; y < STATES; y++)
            most = fmax(most, fabs(a[x][y] - b[x][y]));
    return most;
}

/* How often a chain that stood at x is at y after a visit. */
static void
count_visits(const double score[STATES], double k[STATES][STATES])
{
    static const int64_t ids[B] = {0, 1, 2, 3}, variants[B], outside = B, view;
    const struct sample_emc2_settings how = {.seed = 5};
    float s[B * (B + 1)] = {0}, w[B * (B + 1)];

    for (size_t x = 0; x < STATES; x++)
        s[1 + x] = (float)score[x];
    memset(k, 0, STATES * sizeof *k);
    for (size_t x = 0; x < STATES; x++)
        for (uint64_t step = 0; step < VISITS; step++) {
            const struct batch batch = {.step = step,
                                        .epoch = x,
                                        .beta = beta,
                                        .v = 1,
                                        .b = B,
                                        .ids = ids,
                                        .view_of = variants,
                                        .extra.n = 1,
                                        .extra.ids = &outside,
                                        .extra.view = &view};
            struct sample_state state[B];

            forget(B, state);
            state[0] = (struct sample_state){(int64_t)x + 1, 0, 0};
            move_chains(&how, &batch, s, state, NULL, w);
            k[x][state[0].id - 1] += 1. / VISITS;
        }
}

static void
compare_with_sampler(void)
{
    static const double score[STATES] = {.3, -.1, .1, .2};
    double want[STATES][STATES], got[STATES][STATES];

    find_kernel(score, want);
    count_visits(score, got);
    T(largest_difference(want, got) < .015,
      "a visit of the sampler is that of the enumeration, to %.4f",
      largest_difference(want, got));
}

/*
 * |P - P'| <= 2^(R+1) B L |theta - theta'| exp(2 c^2 beta) beta of each entry,
 * where L |theta - theta'| is the most that a score moves; of one chain B is 1,
 * of unit vectors c is 1.  Proposal by proposal at most 2 beta times that of
 * the probability moves, so 2 R stands for 2^(R+1) exp(2 beta).
 */
static void
compare_with_lemma(void)
{
    const double step = 1e-4, lemma = pow(2, R + 1) * exp(2 * beta);
    double worst = 0;
    struct rng rng;

    rng_init(&rng, 6, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < TRIES; i++) {
        double s[STATES], near[STATES], moved = 0;
        double k[STATES][STATES], other[STATES][STATES];

        for (size_t x = 0; x < STATES; x++) {
            s[x] = rng_range(&rng, -1, 1);
            near[x] = s[x] + step * rng_range(&rng, -1, 1);
            moved = fmax(moved, fabs(near[x] - s[x]));
        }
        find_kernel(s, k);
        find_kernel(near, other);
        worst = fmax(worst, largest_difference(k, other) / (beta * moved));
    }
    T(worst < lemma && worst < 2 * R && worst > .5,
      "lemma 3.4: %.2f beta of what a score moves; it allows %.0f", worst,
      lemma);
}

int
main(void)
{
    compare_with_sampler();
    compare_with_lemma();
    return t_done();
}
