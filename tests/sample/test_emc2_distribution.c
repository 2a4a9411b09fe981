/*
 * The distribution that chains have in the long run, over batches out of a data
 * set of 100 images: random unit vectors in eight dimensions that stay as they
 * are, beta 5, batches of 8, fresh scores (lib/algorithms.md 4.1).
 *
 * Compared is what each chain recorded with the softmax over all states, as
 * distribution.h does.  The seeds are fixed, so nothing here changes from run
 * to run; bounds are chosen for the noise at the number of visits made, which
 * FOIL_VISITS sets (per image).
 *
 * Not for sanitizers: test_source.c and test_samplers.c have the same lines.
 */
#include <stdlib.h>
#include <string.h>

#include "distribution.h"
#include "num/vec.h"
#include "sample/chains_put.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"
#include "visit.h"

enum { IMAGES = 100, DIM = 8, V = 2, B = 8, N = V * B, STATES = V * IMAGES };

static const double beta = 5;

struct world {
    int alike;                       /* views are the same vector */
    float cosine[STATES][STATES];    /* state view * IMAGES + image */
    double recorded[STATES][STATES]; /* sum of w */
    struct sample_chains chains;
    int64_t order[IMAGES];
    struct rng rng;
};

static struct world *
world_new(int alike)
{
    struct world *world = mem_array(1, sizeof *world);
    static float x[STATES * DIM];
    struct rng rng;

    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < STATES * DIM; i++)
        x[i] = (float)rng_normal(&rng);
    num_unit_rows(STATES, DIM, x, x, NULL);
    if (alike)
        memcpy(x + IMAGES * DIM, x, IMAGES * DIM * sizeof *x);
    for (size_t i = 0; i < STATES; i++)
        for (size_t j = 0; j < STATES; j++)
            world->cosine[i][j] = (float)num_dot(DIM, x + i * DIM, x + j * DIM);
    for (int64_t i = 0; i < IMAGES; i++)
        world->order[i] = i;
    world->alike = alike;
    world->rng = rng;
    sample_chains_init(&world->chains, IMAGES, V);
    return world;
}

static void
world_free(struct world *world)
{
    sample_chains_release(&world->chains);
    free(world);
}

/* One visit: all states that are no rows of the batch come as extras. */
static void
visit(struct world *world, const struct sample_emc2_settings *how,
      uint64_t step, int record)
{
    static const int64_t variants[N] = {0, 0, 0, 0, 0, 0, 0, 0,
                                        1, 1, 1, 1, 1, 1, 1, 1};
    const int64_t *ids = world->order;
    int64_t extra_ids[N], extra_view[N];
    struct sample_state state[N];
    size_t who[2 * N], extra = 0;
    float s[N * 2 * N], w[N * 2 * N];
    struct batch batch = {
        .step = step,
        .beta = beta,
        .v = V,
        .b = B,
        .ids = ids,
        .view_of = how->proposals == SAMPLE_ALL4 ? NULL : variants,
        .extra.ids = extra_ids,
        .extra.view = extra_view,
    };

    sample_chains_get(&world->chains, V, B, ids, NULL, state, NULL);
    for (size_t r = 0; r < N; r++) {
        who[r] = r / B * IMAGES + (size_t)ids[r % B];
        if (state[r].id < 0)
            continue;
        extra_ids[extra] = state[r].id;
        extra_view[extra++] = state[r].view;
    }
    for (size_t x = 0; x < extra; x++)
        who[N + x] = (size_t)(extra_view[x] * IMAGES + extra_ids[x]);
    batch.extra.n = extra;
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < N + extra; c++)
            s[r * (N + extra) + c] = world->cosine[who[r]][who[c]];
    move_chains(how, &batch, s, state, NULL, w);
    chains_put(&world->chains, V, B, ids, NULL, state, NULL);
    for (size_t r = 0; record && r < N; r++)
        for (size_t c = 0; c < N + extra; c++)
            world->recorded[who[r]][who[c]] += w[r * (N + extra) + c];
}

/* The distribution of one chain; where views are alike, that of images. Returns
 * how many states it has. */
static size_t
shares_of(const struct world *world, size_t chain, struct share share[STATES])
{
    const size_t states = world->alike ? IMAGES : STATES;
    size_t n = 0;

    for (size_t j = 0; j < states; j++) {
        if (j % IMAGES == chain % IMAGES)
            continue;
        share[n].want = exp(beta * world->cosine[chain][j]);
        share[n].got = world->recorded[chain][j];
        if (world->alike)
            share[n].got += world->recorded[chain][j + IMAGES];
        n++;
    }
    return n;
}

struct result {
    double variation;    /* total, of the mean chain */
    double cosine, want; /* mean recorded, and under the softmax: its gradient
                            in beta */
};

static struct result
measure(const struct world *world)
{
    struct share mean[STATES] = {{0, 0}}, share[STATES];
    struct result result = {0};
    double recorded = 0;

    for (size_t chain = 0; chain < STATES; chain++) {
        const size_t n = shares_of(world, chain, share);
        double sum = 0, moment = 0;

        share_pool(n, share, 1. / STATES, mean);
        for (size_t j = 0; j < STATES; j++) {
            const double s = world->cosine[chain][j];
            const double p = j % IMAGES == chain % IMAGES ? 0 : exp(beta * s);

            sum += p;
            moment += p * s;
            recorded += world->recorded[chain][j];
            result.cosine += world->recorded[chain][j] * s;
        }
        result.want += moment / sum / STATES;
    }
    result.variation = share_variation(STATES, mean);
    result.cosine /= recorded;
    return result;
}

static struct result
run(enum sample_proposals proposals, int alike, size_t visits)
{
    const struct sample_emc2_settings how = {.proposals = proposals, .seed = 3};
    struct world *world = world_new(alike);
    const char *more = getenv("FOIL_VISITS");
    struct result result;
    size_t batches;

    if (more)
        visits = strtoul(more, NULL, 10);
    batches = visits * IMAGES / B;
    for (uint64_t step = 0; step < batches; step++) {
        choose_batch(&world->rng, IMAGES, B, world->order);
        visit(world, &how, step, step > batches / 20);
    }
    result = measure(world);
    world_free(world);
    return result;
}

int
main(void)
{
    struct result r = run(SAMPLE_ALL4, 1, 3000);

    T(fabs(r.variation - .095) < .01 && fabs(r.cosine - r.want + .05) < .01,
      "all4: its known bias, .095 +- .01: %.4f; cosine %.3f for %.3f",
      r.variation, r.cosine, r.want);
    r = run(SAMPLE_ROW, 0, 6000);
    T(r.variation < .01 && fabs(r.cosine - r.want) < .005,
      "row: below .01: %.4f; cosine %.3f for %.3f", r.variation, r.cosine,
      r.want);
    r = run(SAMPLE_ONCE, 1, 6000);
    T(r.variation < .01 && fabs(r.cosine - r.want) < .005,
      "once, views alike: below .01: %.4f; cosine %.3f for %.3f", r.variation,
      r.cosine, r.want);
    r = run(SAMPLE_ROW, 1, 3000);
    T(fabs(r.variation - .075) < .01,
      "row, views alike: half-way, .075 +- .01: %.4f", r.variation);
    return t_done();
}
