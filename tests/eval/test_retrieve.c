#include <stdlib.h>

#include "eval/retrieve.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

struct pairs {
    size_t n, d;
    float *u, *v;
    double *forward, *backward;
};

/* Pairs with equal common and separate parts. */
static struct pairs
make(size_t n, size_t d)
{
    struct pairs p = {n, d, mem_array(n * d, sizeof *p.u), NULL, NULL, NULL};
    struct rng rng;

    p.v = mem_array(n * d, sizeof *p.v);
    p.forward = mem_array(n, sizeof *p.forward);
    p.backward = mem_array(n, sizeof *p.backward);
    rng_init(&rng, 1, RNG_TEST, n, d, 0);
    for (size_t i = 0; i < n * d; i++) {
        double common = rng_normal(&rng);

        p.u[i] = (float)(common + rng_normal(&rng));
        p.v[i] = (float)(common + rng_normal(&rng));
    }
    return p;
}

static void
release(struct pairs *p)
{
    free(p->u);
    free(p->v);
    free(p->forward);
    free(p->backward);
}

static double
score(const struct pairs *p, const float *u, const float *v, int cosine)
{
    double uv = 0, uu = 0, vv = 0;

    for (size_t k = 0; k < p->d; k++) {
        uv += (double)u[k] * v[k];
        uu += (double)u[k] * u[k];
        vv += (double)v[k] * v[k];
    }
    return cosine ? uu * vv > 0 ? uv / sqrt(uu * vv) : 0 : uv;
}

/* Computes the rank of row i of `to` for row i of `from`, naively. */
static double
naive(const struct pairs *p, const float *from, const float *to, size_t i,
      int cosine)
{
    const double own = score(p, from + i * p->d, to + i * p->d, cosine);
    double rank = 1;

    for (size_t j = 0; j < p->n; j++) {
        double s = score(p, from + i * p->d, to + j * p->d, cosine);

        if (j != i)
            rank += fabs(s - own) < 1e-14 ? .5 : s > own;
    }
    return rank;
}

/* Ranks pairs in both directions. */
static void
rank_pairs(struct pairs *p, const float *v, enum eval_similarity similarity)
{
    int64_t *key = mem_array(p->n, sizeof *key);
    struct eval_answers own;

    for (size_t i = 0; i < p->n; i++)
        key[i] = (int64_t)i;
    own = eval_answers_by_key(p->n, key, p->n, key);
    eval_answers_rank(&own, p->n, p->d, p->u, v, similarity, p->forward);
    eval_answers_rank(&own, p->n, p->d, v, p->u, similarity, p->backward);
    eval_answers_release(&own);
    free(key);
}

static void
agrees_with_naive(struct pairs *p, const char *what)
{
    for (int cosine = 0; cosine < 2; cosine++) {
        size_t wrong = 0;

        rank_pairs(p, p->v, cosine ? EVAL_PAIR_COSINE : EVAL_PAIR_RAW);
        for (size_t i = 0; i < p->n; i++)
            wrong += (p->forward[i] != naive(p, p->u, p->v, i, cosine)) +
                     (p->backward[i] != naive(p, p->v, p->u, i, cosine));
        T(wrong == 0, "%s: %s ranks, %zu of %zu differ", what,
          cosine ? "cosine" : "raw", wrong, 2 * p->n);
    }
}

static void
any_size(void)
{
    static const size_t shape[][2] = {{1, 1},  {2, 3},   {7, 1},
                                      {70, 5}, {513, 4}, {1100, 6}};

    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        struct pairs p = make(shape[i][0], shape[i][1]);
        char what[64];

        snprintf(what, sizeof what, "%zu pairs of %zu", p.n, p.d);
        agrees_with_naive(&p, what);
        release(&p);
    }
}

/* Some candidates twice, one pair of zeros, and one that is nearly a tie. */
static void
ties_count_half(void)
{
    struct pairs p = make(600, 8);

    for (size_t k = 0; k < 8; k++) {
        p.v[550 * 8 + k] = p.v[3 * 8 + k];
        p.u[7 * 8 + k] = p.u[3 * 8 + k];
        p.u[20 * 8 + k] = p.v[20 * 8 + k] = 0;
        p.v[30 * 8 + k] = p.v[31 * 8 + k] * (1 + 1e-7f);
    }
    agrees_with_naive(&p, "ties");
    release(&p);
}

static void
collapsed_rows_find_nothing(void)
{
    struct pairs p = make(100, 4);
    struct eval_ranks r;

    for (size_t i = 0; i < 400; i++)
        p.u[i] = p.v[i] = 0.3f;
    rank_pairs(&p, p.v, EVAL_PAIR_COSINE);
    r = eval_ranks(100, p.forward);
    T(r.at1 == 0 && r.at10 == 0 && r.mean == 50.5 && r.median == 50.5,
      "equal rows: rank (n + 1) / 2");
    release(&p);
}

static void
same_rows_find_themselves(void)
{
    struct pairs p = make(700, 9);

    rank_pairs(&p, p.u, EVAL_PAIR_COSINE);
    T(eval_ranks(700, p.forward).mean == 1 &&
          eval_ranks(700, p.backward).at1 == 1,
      "identical views: rank 1 everywhere");
    release(&p);
}

static void
ranks_are_summed_up(void)
{
    double rank[] = {11, 1, 2.5, 10, 5, 1};
    struct eval_ranks r = eval_ranks(6, rank);

    T_NEAR(r.at1, 2. / 6, 1e-15, "R@1");
    T_NEAR(r.at5, 4. / 6, 1e-15, "R@5");
    T_NEAR(r.at10, 5. / 6, 1e-15, "R@10");
    T_NEAR(r.reciprocal, (2 + .4 + .2 + .1 + 1. / 11) / 6, 1e-15, "MRR");
    T_NEAR(r.mean, 30.5 / 6, 1e-15, "mean");
    T_NEAR(r.median, 3.75, 0, "median of an even count");
    T_NEAR(eval_ranks(5, rank).median, 2.5, 0, "median of an odd count");
}

int
main(void)
{
    any_size();
    ties_count_half();
    collapsed_rows_find_nothing();
    same_rows_find_themselves();
    ranks_are_summed_up();
    return t_done();
}
