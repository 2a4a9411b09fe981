/*
 * Chains across two views of two kinds, images and their captions, on
 * embeddings that stay as they are: what they record against the softmax
 * (lib/algorithms.md 4.1).  100 images with K captions each in eight
 * dimensions, beta 5; fresh scores, so each state that is no row of the batch
 * comes as an extra.  Seeds are fixed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distribution.h"
#include "num/vec.h"
#include "sample/chains.h"
#include "sample/emc2.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { IMAGES = 100, DIM = 8, CAPTIONS_MAX = 5, B_MAX = 32 };
enum { STATES = IMAGES * (1 + CAPTIONS_MAX), COLUMNS = 4 * B_MAX };

static const double beta = 5;

/* State (id, view) is id * views + view; view 0 is the image. */
struct world {
    size_t captions, views, b;
    float x[STATES][DIM];
    double recorded[STATES][STATES];
    struct sample_chains chains;
    int64_t order[IMAGES];
    struct rng rng;
    size_t own, same_side; /* recorded where nothing may be */
};

static struct world *
world_new(size_t captions, size_t b)
{
    struct world *w = mem_array(1, sizeof *w);

    *w = (struct world){.captions = captions, .views = 1 + captions, .b = b};
    rng_init(&w->rng, 7, RNG_TEST, captions, b, 0);
    for (size_t i = 0; i < IMAGES; i++) {
        float *image = w->x[i * w->views];

        w->order[i] = (int64_t)i;
        for (size_t k = 0; k < DIM; k++)
            image[k] = (float)rng_normal(&w->rng);
        num_unit_rows(1, DIM, image, image, NULL);
        for (size_t c = 1; c <= captions; c++) {
            float *text = w->x[i * w->views + c];

            for (size_t k = 0; k < DIM; k++)
                text[k] = 0.6f * sqrtf(DIM) * image[k] +
                          0.8f * (float)rng_normal(&w->rng);
            num_unit_rows(1, DIM, text, text, NULL);
        }
    }
    sample_chains_init(&w->chains, IMAGES, w->views);
    return w;
}

static void
world_free(struct world *w)
{
    sample_chains_release(&w->chains);
    free(w);
}

/* A batch of b images, each with one of its captions, and its columns. */
struct draw {
    int64_t variants[2 * B_MAX], extra_ids[2 * B_MAX], extra_view[2 * B_MAX];
    struct sample_state state[2 * B_MAX];
    size_t who[COLUMNS], extra;
    float s[2 * B_MAX * COLUMNS], w[2 * B_MAX * COLUMNS];
};

static void
draw_batch(struct world *w, struct draw *d)
{
    const size_t b = w->b, n = 2 * b;

    for (size_t k = 0; k < b; k++) {
        const size_t pick = k + rng_below(&w->rng, IMAGES - k);
        const int64_t swap = w->order[pick];

        w->order[pick] = w->order[k];
        w->order[k] = swap;
        d->variants[k] = 0;
        d->variants[b + k] = 1 + (int64_t)rng_below(&w->rng, w->captions);
    }
    sample_chains_get(&w->chains, 2, b, w->order, d->variants, d->state, NULL);
    for (size_t r = 0; r < n; r++) {
        d->who[r] = (size_t)w->order[r % b] * w->views + (size_t)d->variants[r];
        if (d->state[r].id < 0)
            continue;
        d->extra_ids[d->extra] = d->state[r].id;
        d->extra_view[d->extra] = d->state[r].view;
        d->who[n + d->extra++] =
            (size_t)d->state[r].id * w->views + (size_t)d->state[r].view;
    }
    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n + d->extra; c++)
            d->s[r * (n + d->extra) + c] =
                (float)num_dot(DIM, w->x[d->who[r]], w->x[d->who[c]]);
}

static void
record(struct world *w, const struct draw *d)
{
    const size_t columns = 2 * w->b + d->extra;

    for (size_t r = 0; r < 2 * w->b; r++)
        for (size_t c = 0; c < columns; c++) {
            const float share = d->w[r * columns + c];
            const size_t from = d->who[r], to = d->who[c];

            w->recorded[from][to] += share;
            w->own += share > 0 && from / w->views == to / w->views;
            w->same_side += share > 0 && !(from % w->views) == !(to % w->views);
        }
}

static void
visit(struct world *w, const struct sample_emc2_how *how, int keep)
{
    struct draw d = {.extra = 0};
    const struct sample_batch batch = {
        .v = 2,
        .b = w->b,
        .ids = w->order,
        .variants = d.variants,
        .extra_ids = d.extra_ids,
        .extra_view = d.extra_view,
        .s = d.s,
    };
    struct sample_batch full;

    draw_batch(w, &d);
    full = batch;
    full.extra = d.extra;
    sample_emc2(how, &full, d.state, NULL, d.w);
    sample_chains_put(&w->chains, 2, w->b, w->order, d.variants, d.state, NULL);
    if (keep)
        record(w, &d);
}

struct result {
    double image, text;   /* total variation: of the mean chain of a side, */
    double each;          /* and mean over the image chains */
    double cosine, exact; /* mean recorded by image chains, and in truth */
};

/* What one chain recorded, beside its softmax; returns how many states. */
static size_t
shares_of(const struct world *w, size_t from, struct share share[STATES])
{
    size_t n = 0;

    for (size_t to = 0; to < IMAGES * w->views; to++)
        if (from / w->views != to / w->views &&
            !(from % w->views) != !(to % w->views))
            share[n++] =
                (struct share){exp(beta * num_dot(DIM, w->x[from], w->x[to])),
                               w->recorded[from][to]};
    return n;
}

/* Adds what one chain differs by. */
static void
compare(const struct share *share, size_t n, struct result *r)
{
    double want = 0, got = 0;

    for (size_t k = 0; k < n; k++) {
        want += share[k].want;
        got += share[k].got;
    }
    for (size_t k = 0; k < n; k++) {
        const double p = share[k].want / want, q = share[k].got / got;
        const double s = log(share[k].want) / beta;

        r->each += fabs(p - q) / 2 / IMAGES;
        r->exact += p * s / IMAGES;
        r->cosine += q * s / IMAGES;
    }
}

static struct result
measure(const struct world *w)
{
    static struct share image[STATES], text[STATES], share[STATES];
    struct result r = {0};
    size_t n = 0, m = 0;

    memset(image, 0, sizeof image);
    memset(text, 0, sizeof text);
    for (size_t i = 0; i < IMAGES * w->views; i++)
        if (i % w->views) {
            m = shares_of(w, i, share);
            share_pool(m, share, 1. / (double)(IMAGES * w->captions), text);
        } else {
            n = shares_of(w, i, share);
            compare(share, n, &r);
            share_pool(n, share, 1. / IMAGES, image);
        }
    r.image = share_variation(n, image);
    r.text = share_variation(m, text);
    return r;
}

/* visits: of each image. */
static void
reaches_the_softmax(size_t captions, size_t b, size_t burn, size_t visits,
                    double bound, double mean_bound)
{
    const char *asked = getenv("FOIL_VISITS");
    struct world *w = world_new(captions, b);
    size_t steps;
    struct result r;

    if (asked)
        visits = strtoul(asked, NULL, 10);
    steps = visits * IMAGES / b;

    for (size_t t = 0; t < steps; t++) {
        const struct sample_emc2_how how = {.proposals = SAMPLE_CROSS,
                                            .scores = SAMPLE_FRESH,
                                            .beta = beta,
                                            .burn = burn,
                                            .step = t};

        visit(w, &how, t > steps / 20);
    }
    r = measure(w);
    printf("# each image chain %.4f\n", r.each);
    T(r.image < bound && r.text < bound,
      "b %zu, %zu captions, burn-in %zu: image chains %.4f, text chains %.4f",
      b, captions, burn, r.image, r.text);
    T(fabs(r.cosine - r.exact) < mean_bound, "mean similarity %.4f, exact %.4f",
      r.cosine, r.exact);
    T(!w->own, "no image meets a caption of its own");
    T(!w->same_side, "no row meets its own kind");
    world_free(w);
}

/* Each other member of the batch is proposed once, on the other side. */
static void
proposes_the_other_side_once(void)
{
    enum { B = 5, N = 2 * B };
    static const int64_t ids[B] = {4, 0, 3, 1, 2};
    struct sample_state state[N];
    float s[N * N] = {0}, w[N * N];
    const struct sample_batch batch = {.v = 2, .b = B, .ids = ids, .s = s};
    const struct sample_emc2_how how = {
        .proposals = SAMPLE_CROSS, .scores = SAMPLE_FRESH, .beta = 1};
    size_t wrong = 0;

    // equal scores: every proposal is accepted, and recorded once
    for (size_t r = 0; r < N; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    sample_emc2(&how, &batch, state, NULL, w);
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < N; c++) {
            const int meets = r / B != c / B && r % B != c % B;

            wrong += w[r * N + c] != (meets ? 0.25f : 0);
        }
    T(!wrong, "each other image once, %zu weights differ", wrong);
    T(sample_emc2_length(SAMPLE_CROSS, 2, B) == B - 1, "b - 1 proposals");
}

int
main(void)
{
    proposes_the_other_side_once();
    reaches_the_softmax(1, 3, 0, 2000, .012, .006);
    reaches_the_softmax(1, 8, 0, 2000, .012, .005);
    reaches_the_softmax(1, 8, 3, 2000, .012, .005);
    reaches_the_softmax(1, 32, 0, 2000, .015, .01);
    reaches_the_softmax(5, 8, 0, 1000, .02, .005);
    return t_done();
}
