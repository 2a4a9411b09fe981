/*
 * The bias of each chain where views are drawn anew each time: 60 images,
 * batches of 8, beta 5, one batch an epoch, so that no view comes twice but for
 * those that the sampler asks for.
 *
 * A view of image i is its vector in eight dimensions with noise, to unit
 * length.  A chain (i, slot) has the softmax of the anchor that is there over
 * all views of all other images as its target, so its bias is the mean of
 *
 *     sum_c w_c s_c  -  E[s],   s = the cosine with this anchor,
 *
 * over its visits: below 0 where negatives are too easy.  `seen afresh` shows
 * the image of a state in a new view instead of that which was accepted, as
 * foil did before states named their views: a high score is lost by chance.
 *
 * Not for sanitizers: test_source.c and test_samplers.c have the same lines.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distribution.h"
#include "how_of.h"
#include "num/vec.h"
#include "sample/source.h"
#include "t.h"
#include "util/mem.h"

enum { IMAGES = 60, DIM = 8, V = 2, B = 8, N = V * B, EXTRA = 2 * N };
enum { POOL = 8, STEPS = 2400, CHAINS = V * IMAGES };

static const double beta = 5;

struct setting {
    const char *what;
    const char *settings;
    double noise;
    int afresh;
    double bias; /* as found */
};

struct world {
    const struct setting *is;
    struct sample_source source;
    struct rng rng;
    float base[IMAGES * DIM];
    float pool[IMAGES * POOL * DIM]; /* of all views */
    int64_t order[IMAGES];
    double bias[CHAINS], visits[CHAINS];
};

/* View `number` of an image in an epoch. */
static void
make_view(const struct world *world, int64_t id, int64_t epoch, int64_t number,
          float *z)
{
    struct rng rng;

    rng_init(&rng, 7, RNG_TEST, (uint64_t)id, (uint64_t)epoch,
             (uint64_t)number);
    for (size_t k = 0; k < DIM; k++)
        z[k] = world->base[(size_t)id * DIM + k] +
               (float)(world->is->noise * rng_normal(&rng));
    num_unit_rows(1, DIM, z, z, NULL);
}

static struct world *
world_new(const struct setting *setting)
{
    struct world *world = mem_array(1, sizeof *world);
    struct sample_settings how = how_of(setting->settings);

    sample_settings_set(&how, "burn-in", 0);
    sample_settings_set(&how, "horizon", 4);
    how.seed = 3;
    world->is = setting;
    rng_init(&world->rng, 5, RNG_TEST, 0, 0, 0);
    for (size_t k = 0; k < IMAGES * DIM; k++)
        world->base[k] = (float)rng_normal(&world->rng);
    for (int64_t i = 0; i < IMAGES; i++) {
        world->order[i] = i;
        for (int64_t k = 0; k < POOL; k++)
            make_view(world, i, STEPS, k, world->pool + (POOL * i + k) * DIM);
    }
    sample_source_init(&world->source, &how, IMAGES);
    return world;
}

/* The mean of s under the softmax of an anchor. */
static double
expected(const struct world *world, int64_t own, const float *z)
{
    double sum = 0, moment = 0;

    for (size_t c = 0; c < IMAGES * POOL; c++) {
        const double s = num_dot(DIM, z, world->pool + c * DIM);
        const double p = c / POOL == (size_t)own ? 0 : exp(beta * s);

        sum += p;
        moment += p * s;
    }
    return moment / sum;
}

static void
record(struct world *world, const struct weights *w, const float *z)
{
    for (size_t r = 0; r < N; r++) {
        const int64_t own = world->order[r % B];
        const size_t chain = V * (size_t)own + r / B;
        double mean = 0;

        for (size_t c = 0; c < w->columns; c++)
            mean += w->w[r * w->columns + c] *
                    num_dot(DIM, z + r * DIM, z + c * DIM);
        world->bias[chain] += mean - expected(world, own, z + r * DIM);
        world->visits[chain]++;
    }
}

/* One step: a batch is drawn for, encoded, and weighed. */
static void
turn(struct world *world, int64_t epoch)
{
    float z[(N + EXTRA) * DIM];
    struct batch at = {.epoch = (uint64_t)epoch,
                       .beta = beta,
                       .v = V,
                       .b = B,
                       .dim = DIM,
                       .ids = world->order,
                       .z = z,
                       .extra.z = z + N * DIM};
    struct batch_extra x;
    struct weights w;
    struct err err;

    choose_batch(&world->rng, IMAGES, B, world->order);
    x = sample_source_draw(&world->source, &at, epoch);
    REQUIRE(x.n <= EXTRA && (!x.n || x.epoch));
    for (size_t r = 0; r < N; r++)
        make_view(world, world->order[r % B], epoch, (int64_t)(r / B),
                  z + r * DIM);
    for (size_t e = 0; e < x.n; e++)
        make_view(world, x.ids[e], world->is->afresh ? epoch : x.epoch[e],
                  world->is->afresh ? V + (int64_t)e : x.view[e],
                  z + (N + e) * DIM);
    at.extra.n = x.n;
    at.extra.ids = x.ids;
    at.extra.view = x.view;
    at.extra.epoch = x.epoch;
    at.extra.hint_row = x.hint_row;
    at.extra.hint_view = x.hint_view;
    at.extra.hint_log_q = x.hint_log_q;
    REQUIRE(!sample_source_weigh(&world->source, &at, &w, &err));
    if (epoch > STEPS / 10 && epoch % 3 == 0) // a softmax costs most here
        record(world, &w, z);
}

/* The mean bias of a chain, and its standard error: chains are independent but
 * for the views that they share. */
static double
measure(const struct setting *setting, double *error)
{
    struct world *world = world_new(setting);
    double sum = 0, squares = 0;

    for (int64_t epoch = 0; epoch < STEPS; epoch++)
        turn(world, epoch);
    for (size_t k = 0; k < CHAINS; k++) {
        const double bias = world->bias[k] / world->visits[k];

        sum += bias / CHAINS;
        squares += bias * bias / CHAINS;
    }
    *error = sqrt((squares - sum * sum) / CHAINS);
    sample_source_release(&world->source);
    free(world);
    return sum;
}

static const struct setting settings[] = {
    {"once, alike, seen afresh", ONCE, .2, 1, -.028},
    {"once, alike", ONCE, .2, 0, -.015},
    {"once, seen afresh", ONCE, .5, 1, -.098},
    {"once", ONCE, .5, 0, -.064},
    {"row, alike, seen afresh", ROW, .2, 1, -.055},
    {"row, alike", ROW, .2, 0, -.044},
    {"row, seen afresh", ROW, .5, 1, -.086},
    {"row", ROW, .5, 0, -.061},
    {"exact, alike, seen afresh", EXACT, .2, 1, -.016},
    {"exact, alike", EXACT, .2, 0, -.011},
    {"exact, seen afresh", EXACT, .5, 1, -.050},
    {"exact", EXACT, .5, 0, -.037},
    // who has moved on the bank, in the view that the bank's row is of
    {"bank, seen afresh", BANK, .5, 1, -.093},
    {"bank", BANK, .5, 0, -.063},
    {"exact-bank, seen afresh", BOTH, .5, 1, -.049},
    {"exact-bank", BOTH, .5, 0, -.038},
};

int
main(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        double error;
        const double bias = measure(&settings[i], &error);

        T(fabs(bias - settings[i].bias) < 2.5 * error,
          "%s: E[s] is off by %+.4f +- %.4f, where %+.3f is expected",
          settings[i].what, bias, error, settings[i].bias);
    }
    return t_done();
}
