/*
 * Whether each chain that foil-negatives keeps has the softmax of its own
 * anchor, for every value of --proposals: fixed views, fresh scores, states
 * from outside of the batch brought along as the filter does it.
 *
 * The mean chain, sorted by probability, hides what goes wrong in single ones
 * (tests/sample/distribution.h).  Here two runs record the shares f and g of
 * the states of each chain, whose softmax is p.  Their noise is independent, so
 *
 *     D = mean over chains of sum_j (f_j - p_j) (g_j - p_j) / p_j
 *
 * is the chi-square distance of the chains from their softmax but for noise of
 * mean 0, whose deviation is that of the chains' own sums; a total variation is
 * at most sqrt(D) / 2.  FOIL_STEPS sets another number of steps.
 *
 * Not for sanitizers: test_source.c and test_samplers.c have the same lines.
 */
#include <stdlib.h>
#include <string.h>

#include "distribution.h"
#include "how_of.h"
#include "num/vec.h"
#include "sample/source.h"
#include "t.h"
#include "util/mem.h"

enum { DIM = 8, V = 2, IMAGES = 100, B = 8, EXTRA = 2 * V * B, STEPS = 5000 };
enum { STATES = V * IMAGES, ROWS = V * B, COLUMNS = ROWS + EXTRA };

static const double beta = 5;

struct setting {
    const char *settings;
    size_t images, b;
    double noise; /* of a view of an image: 0 alike, 1 as two images are */
};

struct run {
    struct sample_source source;
    struct rng rng;
    int64_t order[IMAGES];
    double share[STATES][STATES]; /* recorded, by chain */
    double visits[STATES];
};

struct world {
    const struct setting *is;
    float view[STATES * DIM];
    double want[STATES][STATES];
    struct run run[2];
};

static void
make_views(struct world *world)
{
    struct rng rng;

    rng_init(&rng, 6, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < world->is->images; i++) {
        double base[DIM];

        for (size_t k = 0; k < DIM; k++)
            base[k] = rng_normal(&rng);
        for (size_t a = 0; a < V; a++)
            for (size_t k = 0; k < DIM; k++)
                world->view[(V * i + a) * DIM + k] =
                    (float)(base[k] + world->is->noise * rng_normal(&rng));
    }
    num_unit_rows(V * world->is->images, DIM, world->view, world->view, NULL);
}

static void
find_want(struct world *world)
{
    const size_t n = V * world->is->images;

    for (size_t x = 0; x < n; x++) {
        double sum = 0, *p = world->want[x];

        for (size_t y = 0; y < n; y++) {
            p[y] = x / V == y / V
                       ? 0
                       : exp(beta * num_dot(DIM, world->view + x * DIM,
                                            world->view + y * DIM));
            sum += p[y];
        }
        for (size_t y = 0; y < n; y++)
            p[y] /= sum;
    }
}

/* One step: a batch is drawn for, encoded, and weighed. */
static void
turn(const struct world *world, struct run *run, int64_t step, int record)
{
    const size_t b = world->is->b, n = V * b;
    int64_t variants[ROWS];
    float z[COLUMNS * DIM];
    size_t column[COLUMNS];
    struct batch at = {.step = (uint64_t)step,
                       .beta = beta,
                       .v = V,
                       .b = b,
                       .dim = DIM,
                       .fixed = V,
                       .ids = run->order,
                       .view_of = variants,
                       .z = z,
                       .extra.z = z + n * DIM};
    struct batch_extra x;
    struct weights w;
    struct err err;

    choose_batch(&run->rng, world->is->images, b, run->order);
    for (size_t r = 0; r < n; r++)
        variants[r] = (int64_t)(r / b);
    x = sample_source_draw(&run->source, &at, step);
    REQUIRE(n + x.n <= COLUMNS);
    for (size_t c = 0; c < n + x.n; c++) {
        column[c] = c < n ? V * (size_t)run->order[c % b] + c / b
                          : V * (size_t)x.ids[c - n] + (size_t)x.view[c - n];
        memcpy(z + c * DIM, world->view + column[c] * DIM, DIM * sizeof *z);
    }
    at.extra.n = x.n;
    at.extra.ids = x.ids;
    at.extra.view = x.view;
    at.extra.hint_row = x.hint_row;
    at.extra.hint_view = x.hint_view;
    at.extra.hint_log_q = x.hint_log_q;
    REQUIRE(!sample_source_weigh(&run->source, &at, &w, &err));
    for (size_t r = 0; record && r < n; r++) {
        run->visits[column[r]]++;
        for (size_t c = 0; c < w.columns; c++)
            run->share[column[r]][column[c]] += w.w[r * w.columns + c];
    }
}

static void
play(struct world *world, int which, int64_t steps)
{
    struct sample_settings how = how_of(world->is->settings);
    struct run *run = &world->run[which];

    how.seed = (uint64_t)which + 1;
    rng_init(&run->rng, 9, RNG_TEST, (uint64_t)which, 0, 0);
    for (int64_t i = 0; i < IMAGES; i++)
        run->order[i] = i;
    sample_source_init(&run->source, &how, world->is->images);
    for (int64_t step = 0; step < steps; step++)
        turn(world, run, step, step > steps / 10);
    sample_source_release(&run->source);
}

/* D, and how far it may be off by chance, as one deviation. */
static double
distance(const struct setting *setting, double *deviation)
{
    const char *more = getenv("FOIL_STEPS");
    const int64_t steps = more ? strtol(more, NULL, 10) : STEPS;
    const size_t n = V * setting->images;
    struct world *world = mem_array(1, sizeof *world);
    double sum = 0, squares = 0;

    world->is = setting;
    make_views(world);
    find_want(world);
    play(world, 0, steps);
    play(world, 1, steps);
    for (size_t x = 0; x < n; x++) {
        double d = 0;

        for (size_t y = 0; y < n; y++) {
            const double p = world->want[x][y];
            const double f = world->run[0].share[x][y] /
                             world->run[0].visits[x],
                         g = world->run[1].share[x][y] /
                             world->run[1].visits[x];

            d += p > 0 ? (f - p) * (g - p) / p : 0;
        }
        sum += d;
        squares += d * d;
    }
    free(world);
    sum /= (double)n;
    *deviation = sqrt((squares / (double)n - sum * sum) / (double)n);
    return sum;
}

static const struct {
    const char *what;
    double bias; /* as found with ten times as many steps */
    struct setting setting;
} settings[] = {
    {"exact, 24 images, b 2, alike", 0, {EXACT, 24, 2, .2}},
    {"exact, 24 images, b 4, alike", 0, {EXACT, 24, 4, .2}},
    {"exact, 24 images, b 8, alike", 0, {EXACT, 24, 8, .2}},
    {"exact, 24 images, b 4, equal", 0, {EXACT, 24, 4, 0}},
    {"exact, 24 images, b 2, unlike", 0, {EXACT, 24, 2, 1}},
    {"exact, 24 images, b 4, unlike", 0, {EXACT, 24, 4, 1}},
    {"exact, 24 images, b 8, unlike", 0, {EXACT, 24, 8, 1}},
    {"exact, 100 images, b 2, alike", 0, {EXACT, 100, 2, .2}},
    {"exact, 100 images, b 2, unlike", 0, {EXACT, 100, 2, 1}},
    {"exact, 100 images, b 4, alike", 0, {EXACT, 100, 4, .2}},
    {"exact, 100 images, b 4, unlike", 0, {EXACT, 100, 4, 1}},
    {"exact, 100 images, b 8, alike", 0, {EXACT, 100, 8, .2}},
    {"exact, 100 images, b 8, unlike", 0, {EXACT, 100, 8, 1}},
    {"once, 24 images, b 2, alike", 0, {ONCE, 24, 2, .2}},
    {"once, 24 images, b 4, alike", 0, {ONCE, 24, 4, .2}},
    // an image of the batch may be both state and proposal
    {"once, 24 images, b 8, unlike", .0015, {ONCE, 24, 8, 1}},
    {"bank, 24 images, b 4, alike", 0, {BANK, 24, 4, .2}},
    {"bank, 24 images, b 4, unlike", 0, {BANK, 24, 4, 1}},
    {"bank, 100 images, b 8, alike", 0, {BANK, 100, 8, .2}},
    {"bank and exact, 24 images, b 4, alike", 0, {BOTH, 24, 4, .2}},
    {"bank and exact, 24 images, b 4, unlike", 0, {BOTH, 24, 4, 1}},
    {"bank and exact, 100 images, b 8, alike", 0, {BOTH, 100, 8, .2}},
    // both views of it are
    {"row, 24 images, b 4, alike", .058, {ROW, 24, 4, .2}},
    {"row, 24 images, b 4, equal", .052, {ROW, 24, 4, 0}},
    {"row, 24 images, b 8, alike", .016, {ROW, 24, 8, .2}},
};

int
main(void)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        const double bias = settings[i].bias;
        double deviation;
        const double d = distance(&settings[i].setting, &deviation);

        T(fabs(d - bias) < 4 * deviation + .0005 &&
              (bias < .01 || d > 5 * deviation),
          "%s: %.4f from the softmax, where %.4f is expected, %.4f by chance",
          settings[i].what, d, bias, deviation);
    }
    return t_done();
}
