/*
 * Checks the theory of mini-batches (Cho et al. 2023, arXiv:2307.05906), of
 * infonce at temperature 1 and free embeddings of six pairs: propositions 1, 2
 * and 3, corollary 1, lemma 2, theorem 7.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loss/objectives.h"
#include "num/vec.h"
#include "t.h"
#include "util/rng.h"

enum { PAIRS = 6, DIM = 6, ALL = 2 * PAIRS, SEEN = 4, MOST = 20 };

/* View 0 and view 1 of each pair; the gradient of all batches so far. */
struct cloud {
    float z[ALL * DIM], dz[ALL * DIM];
};

/* Batches of equal size. */
struct batches {
    size_t n, b;
    size_t id[MOST][PAIRS];
};

static const double simplex = -1. / (PAIRS - 1);

static void
scatter(struct cloud *c, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < ALL * DIM; i++)
        c->z[i] = (float)rng_normal(&rng);
    num_unit_rows(ALL, DIM, c->z, c->z, NULL);
}

/* The loss of a batch; its gradient is added. */
static double
add_batch(struct cloud *c, size_t b, const size_t *id)
{
    const struct loss_objective *o = &loss_infonce;
    const struct loss_batch batch = {.b = b, .dim = DIM};
    struct loss_settings set = loss_settings_of(o);
    float z[ALL * DIM], dz[ALL * DIM], work[ALL * DIM + ALL + (ALL + 1) * ALL];
    struct loss_report report;

    set.value[LOSS_TAU] = 1;
    REQUIRE(loss_objective_size(o, &batch) <= sizeof work / sizeof *work);
    for (size_t r = 0; r < 2 * b; r++)
        memcpy(z + r * DIM, c->z + (r / b * PAIRS + id[r % b]) * DIM,
               DIM * sizeof *z);
    loss_objective_run(o, &set, &batch, z, NULL, dz, work, &report);
    for (size_t r = 0; r < 2 * b; r++)
        for (size_t k = 0; k < DIM; k++)
            c->dz[(r / b * PAIRS + id[r % b]) * DIM + k] += dz[r * DIM + k];
    return report.value;
}

/* The mean loss of batches, and in dz the gradient of their sum. */
static double
mean_loss(struct cloud *c, const struct batches *all)
{
    double sum = 0;

    memset(c->dz, 0, sizeof c->dz);
    for (size_t i = 0; i < all->n; i++)
        sum += add_batch(c, all->b, all->id[i]);
    return sum / (double)all->n;
}

static void
descend(struct cloud *c, double rate)
{
    for (size_t i = 0; i < ALL * DIM; i++)
        c->z[i] -= (float)rate * c->dz[i];
    num_unit_rows(ALL, DIM, c->z, c->z, NULL);
}

/* All batches of b that do not show pairs 0 and 1 together, or all. */
static struct batches
list_batches(size_t b, int apart)
{
    struct batches all = {.b = b};

    for (unsigned set = 0; set < 1u << PAIRS; set++) {
        size_t n = 0, id[PAIRS];

        for (size_t i = 0; i < PAIRS; i++)
            if (set >> i & 1)
                id[n++] = i;
        if (n != b || (apart && (set & 3) == 3))
            continue;
        memcpy(all.id[all.n++], id, sizeof id);
    }
    return all;
}

/* How far the whole loss is above the least, after descent on such batches. */
static double
excess(const struct batches *shown)
{
    static const struct batches whole = {1, PAIRS, {{0, 1, 2, 3, 4, 5}}};
    const double least = 2 * log(1 + (PAIRS - 1) * exp(simplex - 1));
    struct cloud c;

    scatter(&c, 3);
    for (int step = 0; step < 3000; step++) {
        mean_loss(&c, shown);
        descend(&c, 1 / (double)shown->n);
    }
    return mean_loss(&c, &whole) - least;
}

/* 1: the loss of the batches is no multiple of the whole loss. */
static void
check_multiples(void)
{
    const struct batches threes = list_batches(3, 0), all = list_batches(6, 0);
    struct cloud c;
    double apart[2], equal[2];

    memset(c.z, 0, sizeof c.z);
    for (size_t r = 0; r < ALL; r++)
        c.z[r * DIM + r % PAIRS] = 1;
    apart[0] = mean_loss(&c, &threes);
    apart[1] = mean_loss(&c, &all);
    for (size_t r = 0; r < ALL; r++)
        memcpy(c.z + r * DIM, c.z, DIM * sizeof *c.z);
    equal[0] = mean_loss(&c, &threes);
    equal[1] = mean_loss(&c, &all);
    T_NEAR(apart[0], 2 * (log(exp(1) + 2) - 1), 1e-6, "(17)");
    T_NEAR(apart[1], 2 * (log(exp(1) + 5) - 1), 1e-6, "(16)");
    T_NEAR(equal[0], 2 * log(3), 1e-6, "(19)");
    T_NEAR(equal[1], 2 * log(6), 1e-6, "(18)");
    T(fabs(apart[0] / apart[1] - equal[0] / equal[1]) > .05,
      "proposition 1: no constant factor between them");
}

/* 2 and 3, and theorem 4: which batches of three lead to the optimum.  With two
 * simplices of three the mean of the other cosines is 0 at least, and so the
 * whole loss 2 log(1 + 2 e^-1.5 + 3 e^-1), .035 above the least. */
static void
check_batches(void)
{
    static const struct batches parts = {2, 3, {{0, 1, 2}, {3, 4, 5}}};
    const struct batches all = list_batches(3, 0), most = list_batches(3, 1);

    T(all.n == 20 && most.n == 16, "batches of three: all, and without a pair");
    T(excess(&all) < 1e-4, "theorem 4: all batches lead to the optimum");
    T(excess(&most) > 1e-3, "proposition 2: without a pair they do not");
    T(excess(&parts) > .03, "proposition 3: nor do batches of a partition");
}

/* Corollary 1: two linear encoders are one of rows that have each view's
 * numbers in separate columns. */
static void
check_linear(void)
{
    static const size_t id[] = {0, 1, 2, 3};
    float row[2 * SEEN][2 * DIM] = {{0}}, w[DIM][2 * DIM];
    struct cloud c = {.z = {0}};
    struct rng rng;
    double loss = 0;

    rng_init(&rng, 4, RNG_TEST, 0, 0, 0);
    for (size_t r = 0; r < 2 * SEEN; r++)
        for (size_t k = 0; k < DIM; k++)
            row[r][r / SEEN * DIM + k] = (float)rng_normal(&rng);
    for (size_t k = 0; k < DIM; k++)
        for (size_t i = 0; i < 2 * DIM; i++)
            w[k][i] = (float)rng_normal(&rng);
    for (int step = 0; step < 4000; step++) {
        for (size_t r = 0; r < 2 * SEEN; r++)
            for (size_t k = 0; k < DIM; k++)
                c.z[(r / SEEN * PAIRS + r % SEEN) * DIM + k] =
                    num_dot(2 * DIM, w[k], row[r]);
        memset(c.dz, 0, sizeof c.dz);
        loss = add_batch(&c, SEEN, id);
        for (size_t r = 0; r < 2 * SEEN; r++)
            for (size_t k = 0; k < DIM; k++)
                num_axpy(2 * DIM,
                         -c.dz[(r / SEEN * PAIRS + r % SEEN) * DIM + k], row[r],
                         w[k]);
    }
    T_NEAR(loss, 2 * log(1 + 3 * exp(-4. / 3)), 1e-3,
           "corollary 1: two linear encoders reach the simplex");
}

/* Lemma 2: two pairs at the angles a and -a, and those at -a and a, have
 * between them two equal pairs, where the loss is largest. */
static void
check_geodesic(void)
{
    static const struct batches two = {1, 2, {{0, 1}}};
    double loss[3];

    for (int i = 0; i < 3; i++) {
        const double a = (i - 1) * .5; // -.5, 0, .5
        struct cloud c = {.z = {0}};

        for (size_t r = 0; r < ALL; r++) {
            c.z[r * DIM] = (float)cos(a);
            c.z[r * DIM + 1] = (float)(r % PAIRS ? sin(a) : -sin(a));
        }
        loss[i] = mean_loss(&c, &two);
    }
    T_NEAR(loss[0], 2 * log(1 + exp(cos(1) - 1)), 1e-6, "lemma 2: an end");
    T_NEAR(loss[2], loss[0], 1e-6, "the other end");
    T_NEAR(loss[1], 2 * log(2), 1e-6, "their middle");
    T(loss[1] > loss[0] + .1, "lemma 2: a middle is above both of its ends");
}

/* The weighted loss of osgd, q = 1 of k = 3 of M: gamma_j = C(M-j,2) /
 * C(M,3), its gap to the least, and the batch that a step takes. */
static double
weigh_losses(struct cloud *c, const struct batches *all, double *loss)
{
    const double m = (double)all->n, of = m * (m - 1) * (m - 2) / 6;
    double sum = 0;

    for (size_t i = 0; i < all->n; i++)
        loss[i] = add_batch(c, all->b, all->id[i]);
    for (size_t i = 0; i < all->n; i++) {
        double rank = 1;

        for (size_t j = 0; j < all->n; j++)
            rank += loss[j] > loss[i] || (loss[j] == loss[i] && j < i);
        sum += (m - rank) * (m - rank - 1) / 2 / of * loss[i];
    }
    return sum - 2 * log(1 + exp(simplex - 1));
}

/* The mean gap of so many steps at a rate of 1 / sqrt(steps). */
static double
run_osgd(size_t steps)
{
    const struct batches all = list_batches(2, 0);
    struct cloud c;
    struct rng rng;
    int64_t order[MOST];
    double gap = 0;

    scatter(&c, 5);
    for (size_t i = 0; i < all.n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, steps, RNG_TEST, 1, 0, 0);
    for (size_t t = 0; t < steps; t++) {
        double loss[MOST];
        size_t best;

        gap += weigh_losses(&c, &all, loss) / (double)steps;
        rng_shuffle(&rng, all.n, order); // the first three are drawn
        best = (size_t)order[0];
        for (size_t k = 1; k < 3; k++)
            if (loss[order[k]] > loss[best])
                best = (size_t)order[k];
        memset(c.dz, 0, sizeof c.dz);
        add_batch(&c, 2, all.id[best]);
        descend(&c, 1 / sqrt((double)steps));
    }
    return gap;
}

/* Theorem 7 bounds the squared gradient of the Moreau envelope by
 * O(T^-1/2); 2 rho times this gap is above it. */
static void
check_rate(void)
{
    const double slope = log(run_osgd(16384) / run_osgd(256)) / log(64);

    T(slope < -.4 && slope > -.7,
      "theorem 7: the gap goes by T to the power of %.2f", slope);
}

int
main(void)
{
    check_multiples();
    check_batches();
    check_linear();
    check_geodesic();
    check_rate();
    return t_done();
}
