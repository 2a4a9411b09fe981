/*
 * One chain for an image whose views are drawn anew: its anchor a changes from
 * visit to visit, and with it the target p_a ~ exp(beta s_a).  All of it by
 * enumeration, of some anchors with equal odds and some states, the bias of the
 * recorded similarity as lib/algorithms.md 4.1 has it.
 */
#include <math.h>
#include <string.h>

#include "t.h"
#include "util/rng.h"

enum { ANCHORS = 4, STATES = 6 };

static const double beta = 5;

struct world {
    double s[ANCHORS][STATES], p[ANCHORS][STATES];
    double k[ANCHORS][STATES][STATES]; /* a visit */
};

static void
world_init(struct world *w)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t a = 0; a < ANCHORS; a++) {
        double sum = 0;

        for (size_t j = 0; j < STATES; j++) {
            w->s[a][j] = .4 * rng_normal(&rng);
            sum += w->p[a][j] = exp(beta * w->s[a][j]);
        }
        for (size_t j = 0; j < STATES; j++)
            w->p[a][j] /= sum;
    }
}

/* A visit that forgets the state with the probability `moves`. */
static void
visit_exactly(struct world *w, double moves)
{
    for (size_t a = 0; a < ANCHORS; a++)
        for (size_t i = 0; i < STATES; i++)
            for (size_t j = 0; j < STATES; j++)
                w->k[a][i][j] = moves * w->p[a][j] + (i == j) * (1 - moves);
}

/* One of a proposal of any state, by Metropolis and Hastings. */
static void
visit_by_proposal(struct world *w)
{
    for (size_t a = 0; a < ANCHORS; a++)
        for (size_t i = 0; i < STATES; i++) {
            double stays = 1;

            for (size_t j = 0; j < STATES; j++) {
                const double odds =
                    i == j ? 0 : fmin(1, w->p[a][j] / w->p[a][i]) / STATES;

                w->k[a][i][j] = odds;
                stays -= odds;
            }
            w->k[a][i][i] = stays;
        }
}

/* Where chains are before a visit: their anchor is not known yet. */
static void
settle(const struct world *w, double pi[STATES])
{
    for (size_t j = 0; j < STATES; j++)
        pi[j] = 1. / STATES;
    for (int turn = 0; turn < 5000; turn++) {
        double next[STATES] = {0};

        for (size_t a = 0; a < ANCHORS; a++)
            for (size_t i = 0; i < STATES; i++)
                for (size_t j = 0; j < STATES; j++)
                    next[j] += pi[i] * w->k[a][i][j] / ANCHORS;
        memcpy(pi, next, sizeof next);
    }
}

/* How much lower the similarity after a visit is than the softmax has it. */
static double
bias(const struct world *w, const double pi[STATES])
{
    double sum = 0;

    for (size_t a = 0; a < ANCHORS; a++)
        for (size_t j = 0; j < STATES; j++) {
            double after = 0;

            for (size_t i = 0; i < STATES; i++)
                after += pi[i] * w->k[a][i][j];
            sum += (after - w->p[a][j]) * w->s[a][j] / ANCHORS;
        }
    return sum;
}

/* The mean over anchors of KL(p_a | pi) + KL(pi | p_a). */
static double
divergence(const struct world *w, const double pi[STATES])
{
    double sum = 0;

    for (size_t a = 0; a < ANCHORS; a++)
        for (size_t j = 0; j < STATES; j++)
            sum += (w->p[a][j] - pi[j]) * log(w->p[a][j] / pi[j]) / ANCHORS;
    return sum;
}

int
main(void)
{
    struct world w;
    double pi[STATES];

    world_init(&w);
    for (double moves = .25; moves <= 1; moves += .25) {
        visit_exactly(&w, moves);
        settle(&w, pi);
        T_NEAR(bias(&w, pi), -(1 - moves) / beta * divergence(&w, pi), 1e-9,
               "a visit that forgets: -(1 - moves) / beta times divergences");
    }
    visit_by_proposal(&w);
    settle(&w, pi);
    T(bias(&w, pi) < -.05, "by proposals: too easy, by %.3f", bias(&w, pi));
    for (size_t a = 1; a < ANCHORS; a++) {
        memcpy(w.s[a], w.s[0], sizeof *w.s);
        memcpy(w.p[a], w.p[0], sizeof *w.p);
    }
    visit_by_proposal(&w);
    settle(&w, pi);
    T_NEAR(bias(&w, pi), 0, 1e-9, "an anchor that stays has no bias");
    return t_done();
}
