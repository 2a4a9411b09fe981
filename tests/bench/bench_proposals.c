#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "sample/how_of.h"
#include "sample/source.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/rng.h"

/*
 * bench_proposals IMAGES BATCH NOISE STEPS: what each --proposals costs and is
 * worth, on unit vectors that stay as they are: two fixed views of each image,
 * which is a vector of 16 numbers with that noise, beta 5, burn-in 0.
 *
 * The gradient of an anchor is what its chain says of G = sum_c w_c z_c.  A
 * line each has
 *
 *   bias    mean over chains of |mean of G - softmax mean of z|^2; what the
 *           noise of the mean adds is taken out: by two runs, <a, b> for |a|^2
 *   noise   mean of |G - mean of G|^2 over the visits of a chain
 *   extra   rows from outside of the batch, per anchor: each is encoded
 *   us      processor time of the sampler per anchor, [us]
 */
enum { DIM = 16, V = 2, RUNS = 2 };

static const double beta = 5;

struct world {
    size_t images, b;
    float *view;  /* [V images,DIM] row V i + a */
    double *want; /* [V images,DIM] */
};

struct run {
    struct sample_source source;
    struct rng rng;
    int64_t *order, *variant;
    float *z;
    size_t room;
    double *mean, *square, *visits; /* of G, by chain */
    double extra, anchors, seconds;
};

static void
make_world(struct world *world, double noise)
{
    const size_t n = V * world->images;
    struct rng rng;

    rng_init(&rng, 6, RNG_TEST, 0, 0, 0);
    world->view = mem_array(n * DIM, sizeof *world->view);
    world->want = mem_array(n * DIM, sizeof *world->want);
    for (size_t i = 0; i < world->images; i++)
        for (size_t k = 0; k < DIM; k++) {
            const double base = rng_normal(&rng);

            for (size_t a = 0; a < V; a++)
                world->view[(V * i + a) * DIM + k] =
                    (float)(base + noise * rng_normal(&rng));
        }
    num_unit_rows(n, DIM, world->view, world->view, NULL);
    for (size_t x = 0; x < n; x++) {
        double sum = 0, *want = world->want + x * DIM;

        for (size_t y = 0; y < n; y++) {
            const float *z = world->view + y * DIM;
            const double p =
                x / V == y / V
                    ? 0
                    : exp(beta * num_dot(DIM, world->view + x * DIM, z));

            sum += p;
            for (size_t k = 0; k < DIM; k++)
                want[k] += p * z[k];
        }
        for (size_t k = 0; k < DIM; k++)
            want[k] /= sum;
    }
}

/* A random batch: the first b of an order. */
static void
choose(struct run *run, const struct world *world)
{
    for (size_t i = 0; i < world->b; i++) {
        const size_t j = i + rng_below(&run->rng, world->images - i);
        const int64_t swap = run->order[i];

        run->order[i] = run->order[j];
        run->order[j] = swap;
    }
}

static void
record(struct run *run, const struct world *world, const struct weights *w,
       const float *z)
{
    for (size_t r = 0; r < w->rows; r++) {
        const size_t chain =
            V * (size_t)run->order[r % world->b] + r / world->b;
        double g[DIM] = {0};

        for (size_t c = 0; c < w->columns; c++)
            for (size_t k = 0; w->w[r * w->columns + c] > 0 && k < DIM; k++)
                g[k] += w->w[r * w->columns + c] * z[c * DIM + k];
        for (size_t k = 0; k < DIM; k++) {
            run->mean[chain * DIM + k] += g[k];
            run->square[chain] += g[k] * g[k];
        }
        run->visits[chain]++;
    }
}

/* The rows of a batch and of what comes along. */
static void
encode(struct run *run, const struct world *world, const struct batch_extra *x)
{
    const size_t b = world->b, n = V * b;

    for (size_t c = 0; c < n + x->n; c++) {
        const size_t row =
            c < n ? V * (size_t)run->order[c % b] + c / b
                  : V * (size_t)x->ids[c - n] + (size_t)x->view[c - n];

        memcpy(run->z + c * DIM, world->view + row * DIM, DIM * sizeof *run->z);
    }
}

static void
turn(struct run *run, const struct world *world, int64_t number, int counts)
{
    const size_t b = world->b, n = V * b;
    struct batch at = {.step = (uint64_t)number,
                       .beta = beta,
                       .v = V,
                       .b = b,
                       .dim = DIM,
                       .fixed = V,
                       .ids = run->order,
                       .view_of = run->variant};
    double start, spent;
    struct batch_extra x;
    struct weights w;
    struct err err;

    choose(run, world);
    start = clock_cpu();
    x = sample_source_draw(&run->source, &at, number);
    spent = clock_cpu() - start;
    mem_grow(&run->z, &run->room, (n + x.n) * DIM, sizeof *run->z);
    encode(run, world, &x);
    at.z = run->z;
    at.extra.n = x.n;
    at.extra.ids = x.ids;
    at.extra.view = x.view;
    at.extra.z = run->z + n * DIM;
    at.extra.hint_row = x.hint_row;
    at.extra.hint_view = x.hint_view;
    at.extra.hint_log_q = x.hint_log_q;
    start = clock_cpu();
    if (sample_source_weigh(&run->source, &at, &w, &err))
        die("%s", err.msg);
    if (!counts)
        return;
    run->seconds += spent + clock_cpu() - start;
    run->extra += (double)x.n;
    run->anchors += (double)n;
    record(run, world, &w, run->z);
}

static void
play(struct run *run, const struct world *world, const char *how, int64_t steps,
     uint64_t seed)
{
    const size_t n = V * world->images;
    struct sample_settings own = how_of(how);

    sample_settings_set(&own, "burn-in", 0);
    own.seed = seed;
    *run =
        (struct run){.order = mem_array(world->images, sizeof *run->order),
                     .variant = mem_array(V * world->b, sizeof *run->variant),
                     .mean = mem_array(n * DIM, sizeof *run->mean),
                     .square = mem_array(n, sizeof *run->square),
                     .visits = mem_array(n, sizeof *run->visits)};
    rng_init(&run->rng, seed, RNG_TEST, 1, 0, 0);
    for (size_t i = 0; i < world->images; i++)
        run->order[i] = (int64_t)i;
    for (size_t r = 0; r < V * world->b; r++)
        run->variant[r] = (int64_t)(r / world->b);
    sample_source_init(&run->source, &own, world->images);
    for (int64_t step = 0; step < steps; step++)
        turn(run, world, step, step > steps / 5);
    sample_source_release(&run->source);
}

static void
release(struct run *run)
{
    free(run->order);
    free(run->variant);
    free(run->mean);
    free(run->square);
    free(run->visits);
    free(run->z);
}

static void
report(const char *name, const struct world *world, const struct run *run)
{
    const size_t n = V * world->images;
    double bias = 0, noise = 0;

    for (size_t x = 0; x < n; x++) {
        double length = 0;

        for (size_t k = 0; k < DIM; k++) {
            const size_t i = x * DIM + k;
            const double mean = run[0].mean[i] / run[0].visits[x];

            bias += (mean - world->want[i]) *
                    (run[1].mean[i] / run[1].visits[x] - world->want[i]);
            length += mean * mean;
        }
        noise += run[0].square[x] / run[0].visits[x] - length;
    }
    printf("%-11s %4zu %6zu  %8.1e %7.4f %6.2f %7.2f\n", name, world->b,
           world->images, bias / (double)n, noise / (double)n,
           run[0].extra / run[0].anchors,
           1e6 * run[0].seconds / run[0].anchors);
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name, *how;
    } all[] = {
        {"row", "emc2 row"},
        {"once", "emc2 once"},
        {"exact", "emc2 exact"},
        {"bank", "emc2 bank moves=64"},
        {"exact-bank", "emc2 exact-bank moves=64"},
    };
    struct world world = {0};
    int64_t steps;

    if (argc != 5)
        die("usage: bench_proposals IMAGES BATCH NOISE STEPS");
    world.images = (size_t)atol(argv[1]);
    world.b = (size_t)atol(argv[2]);
    steps = atol(argv[4]);
    if (world.b < 2 || world.images <= world.b || steps < 10)
        die("want 2 images in a batch or more, more of them in all, 10 steps");
    make_world(&world, atof(argv[3]));
    printf("%-11s %4s %6s  %8s %7s %6s %7s\n", "proposals", "b", "images",
           "bias", "noise", "extra", "us");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct run run[RUNS];

        for (int k = 0; k < RUNS; k++)
            play(&run[k], &world, all[i].how, steps, (uint64_t)k + 1);
        report(all[i].name, &world, run);
        for (int k = 0; k < RUNS; k++)
            release(&run[k]);
    }
    free(world.view);
    free(world.want);
    return 0;
}
