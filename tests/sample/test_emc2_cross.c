/*
 * Chains across two views of two kinds, images and their captions, on
 * embeddings that stay as they are: what they record against the softmax
 * (lib/algorithms.md 4.1).  100 images with K captions each in eight
 * dimensions, beta 5; fresh scores.  A state that is no row of the batch comes
 * along with it, or is known from a bank.  Seeds are fixed.
 *
 * Not for sanitizers: tests/cli/pairs.sh has the same lines, in fewer steps.
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
#include "util/rng.h"

enum { IMAGES = 100, DIM = 8, CAPTIONS_MAX = 8, B_MAX = 32 };
enum { STATES = IMAGES * (1 + CAPTIONS_MAX) };

static const double beta = 5;

/* State (id, view) is id * views + view; view 0 is the image. */
static const char once[] = "emc2_bimodal once",
                  walking[] = "emc2_bimodal bank moves=10",
                  exact[] = "emc2_bimodal exact",
                  both[] = "emc2_bimodal exact-bank moves=10";

struct world {
    size_t captions, views, b;
    float x[STATES][DIM];
    double recorded[STATES][STATES];
    struct sample_source source;
    int64_t order[IMAGES];
    struct rng rng;
    size_t own, same_side; /* recorded where nothing may be, */
    size_t outside[2];     /* outside of the batch, by images and by texts */
    double off;            /* of similarities, the most */
};

static struct world *
world_new(const char *words, size_t captions, size_t b,
          enum sample_score_source elsewhere, size_t burn)
{
    struct sample_settings how = how_of(words);
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
    sample_settings_set(&how, "outside", elsewhere);
    sample_settings_set(&how, "burn-in", (double)burn);
    sample_source_init(&w->source, &how, IMAGES);
    return w;
}

static void
world_free(struct world *w)
{
    sample_source_release(&w->source);
    free(w);
}

/* A batch of b images, each with one of its captions; n rows. */
struct draw {
    int64_t variants[2 * B_MAX];
    float z[2 * B_MAX * DIM], extra_z[2 * B_MAX * DIM];
};

static void
draw_batch(struct world *w, struct draw *d)
{
    const size_t b = w->b;

    for (size_t k = 0; k < b; k++) {
        choose_batch(&w->rng, IMAGES - k, 1, w->order + k);
        d->variants[k] = 0;
        d->variants[b + k] = 1 + (int64_t)rng_below(&w->rng, w->captions);
    }
    for (size_t r = 0; r < 2 * b; r++)
        memcpy(
            d->z + r * DIM,
            w->x[(size_t)w->order[r % b] * w->views + (size_t)d->variants[r]],
            sizeof w->x[0]);
}

static size_t
state_of(const struct world *w, int64_t id, int64_t view)
{
    return (size_t)id * w->views + (size_t)view;
}

/* Which vector a row from the bank is. */
static size_t
who(const struct world *w, const float *z)
{
    size_t i = 0;

    while (memcmp(w->x[i], z, sizeof w->x[i]))
        i++;
    return i;
}

/* The state that a column is: rows of the batch, then what came along or from
 * the bank. */
static size_t
column_of(const struct world *w, const struct draw *d, const struct batch *step,
          const struct weights *weights, size_t c)
{
    const size_t n = 2 * w->b, e = c - n;

    if (c < n)
        return state_of(w, w->order[c % w->b], d->variants[c]);
    if (e < step->extra.n)
        return state_of(w, step->extra.ids[e], step->extra.view[e]);
    return who(w, weights->outside + (e - step->extra.n) * DIM);
}

static void
record(struct world *w, const struct draw *d, const struct batch *step,
       const struct weights *weights)
{
    for (size_t r = 0; r < 2 * w->b; r++)
        for (size_t c = 0; c < weights->columns; c++) {
            const float share = weights->w[r * weights->columns + c];
            size_t from, to;

            if (!(share > 0))
                continue;
            from = state_of(w, w->order[r % w->b], d->variants[r]);
            to = column_of(w, d, step, weights, c);
            w->recorded[from][to] += share;
            w->own += from / w->views == to / w->views;
            w->same_side += !(from % w->views) == !(to % w->views);
            w->outside[r >= w->b] += c >= 2 * w->b;
        }
}

/* Similarities in the batch are all there, others where a weight asks. */
static void
compare_similarities(struct world *w, const struct draw *d,
                     const struct batch *step, const struct weights *weights)
{
    const size_t columns = weights->columns;

    for (size_t r = 0; r < 2 * w->b; r++)
        for (size_t c = 0; c < columns; c++) {
            const float *to = w->x[column_of(w, d, step, weights, c)];
            const float s = weights->s[r * columns + c];
            const int wanted = c < 2 * w->b || weights->w[r * columns + c] > 0;

            if (wanted || s != 0)
                w->off =
                    fmax(w->off, fabs(s - num_dot(DIM, d->z + r * DIM, to)));
        }
}

/* What is drawn for a step comes along. */
static void
bring(struct world *w, struct draw *d, struct batch *step, int64_t number)
{
    struct batch_extra *extra = &step->extra;

    *extra = sample_source_draw(&w->source, step, number);
    extra->z = d->extra_z;
    for (size_t e = 0; e < extra->n; e++)
        memcpy(d->extra_z + e * DIM,
               w->x[(size_t)extra->ids[e] * w->views + (size_t)extra->view[e]],
               sizeof w->x[0]);
}

static struct weights
visit(struct world *w, struct draw *d, int64_t number, int keep)
{
    struct batch step = {.step = (uint64_t)number,
                         .beta = beta,
                         .v = 2,
                         .b = w->b,
                         .dim = DIM,
                         .fixed = w->views,
                         .ids = w->order,
                         .view_of = d->variants,
                         .z = d->z};
    struct weights weights;
    struct err err;

    draw_batch(w, d);
    bring(w, d, &step, number);
    REQUIRE(!sample_source_weigh(&w->source, &step, &weights, &err));
    compare_similarities(w, d, &step, &weights);
    if (keep)
        record(w, d, &step, &weights);
    return weights;
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

/* What is asked of chains, and how far from the softmax they may be. */
struct target {
    const char *settings;
    enum sample_score_source elsewhere;
    size_t captions, b, burn, visits; /* of each image */
    double bound, mean_bound;
};

static void
reaches_the_softmax(struct target target)
{
    static const char *const names[] = {"", "along", "bank"};
    const char *asked = getenv("FOIL_VISITS"), *name = names[target.elsewhere];
    struct world *w = world_new(target.settings, target.captions, target.b,
                                target.elsewhere, target.burn);
    struct draw *d = mem_array(1, sizeof *d);
    const size_t visits = asked ? strtoul(asked, NULL, 10) : target.visits;
    const size_t steps = visits * IMAGES / target.b;
    struct result r;

    for (size_t t = 0; t < steps; t++)
        visit(w, d, (int64_t)t, t > steps / 20);
    r = measure(w);
    printf("# each image chain %.4f\n", r.each);
    T(r.image < target.bound && r.text < target.bound,
      "%s, %s, b %zu, %zu captions, burn-in %zu: image chains %.4f, text "
      "chains %.4f",
      target.settings, name, target.b, target.captions, target.burn, r.image,
      r.text);
    T(fabs(r.cosine - r.exact) < target.mean_bound,
      "mean similarity %.4f, exact %.4f", r.cosine, r.exact);
    T(!w->own && !w->same_side,
      "no image meets a caption of its own, no row its own kind");
    T(w->outside[0] && w->outside[1],
      "images and texts stay at states outside of the batch");
    free(d);
    world_free(w);
}

/* A bank of vectors that stay is as good as what comes along, to the bit. */
static void
banks_know_what_would_come(size_t captions)
{
    struct world *along =
                     world_new(once, captions, 8, SAMPLE_FROM_BATCH_EXTRA, 2),
                 *bank = world_new(once, captions, 8, SAMPLE_FROM_BANK, 2);
    struct draw *d = mem_array(1, sizeof *d);
    size_t differ = 0, outside = 0;

    for (int64_t t = 0; t < 400; t++) {
        const struct weights one = visit(along, d, t, 0);
        const struct weights other = visit(bank, d, t, 0);

        outside += other.n_outside;
        differ +=
            one.columns != other.columns || one.rows != other.rows ||
            one.columns != other.rows + other.n_outside ||
            memcmp(one.w, other.w, one.rows * one.columns * sizeof *one.w) != 0;
    }
    T(!differ && outside > 100,
      "%zu captions: the bank gives the same weights, %zu from outside",
      captions, outside);
    T(fmax(along->off, bank->off) < 1e-6,
      "%zu captions: similarities are off by %.1e at most", captions,
      fmax(along->off, bank->off));
    free(d);
    world_free(along);
    world_free(bank);
}

/* What is kept of a sampler is all that it knows: another one that gets it in
 * the middle goes on to the same weights. */
static void
goes_on_to_the_same_bits(const char *how, size_t captions,
                         enum sample_score_source elsewhere)
{
    struct world *one = world_new(how, captions, 8, elsewhere, 2),
                 *other = world_new(how, captions, 8, elsewhere, 2);
    struct draw *d = mem_array(1, sizeof *d);
    struct sample_store store;
    struct err err = {""};
    size_t differ = 0;

    sample_store_init(&store);
    for (int64_t t = 0; t < 60; t++) {
        const struct weights w = visit(one, d, t, 0);

        REQUIRE(!sample_store_check(&store, w.n_tables, w.tables, &err));
        sample_store_write(&store, w.sampler, w.n_tables, w.tables);
    }
    T(!sample_source_load(&other->source, &store, 60, &err),
      "%zu captions: what was kept is taken %s", captions, err.msg);
    other->rng = one->rng;
    memcpy(other->order, one->order, sizeof one->order);
    for (int64_t t = 60; t < 120; t++) {
        const struct weights a = visit(one, d, t, 0);
        const struct weights b = visit(other, d, t, 0);

        differ += a.columns != b.columns ||
                  memcmp(a.w, b.w, a.rows * a.columns * sizeof *a.w) != 0;
    }
    T(!differ, "%zu captions: and it goes on to the same weights", captions);
    sample_store_release(&store);
    free(d);
    world_free(one);
    world_free(other);
}

/* Views of images, drawn anew each time, have a row of the bank each. */
static void
views_are_known_by_their_slot(void)
{
    enum { B = 3, N = 2 * B };
    const struct sample_settings how = how_of("emc2_bimodal once outside=bank");
    static const int64_t first[B] = {0, 1, 2}, second[B] = {3, 4, 5};
    static const float z[N * 2] = {1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1};
    struct batch step = {
        .beta = beta, .v = 2, .b = B, .dim = 2, .ids = first, .z = z};
    struct weights w;
    struct sample_source source;
    struct err err;
    size_t wrong = 0;

    sample_source_init(&source, &how, 9);
    REQUIRE(!sample_source_weigh(&source, &step, &w, &err));
    T(source.memory.bank.views == 2 && source.memory.bank.known == N,
      "a row for each of two views");
    // a chain of view 0 stands at one of view 1, and is not met there
    source.memory.chains.state[2 * 3] = (struct sample_state){1, 1, 0};
    step.step = 1;
    step.ids = second;
    REQUIRE(!sample_source_weigh(&source, &step, &w, &err));
    T(w.n_outside == 1 && w.columns == N + 1 && w.outside[0] == 0 &&
          w.outside[1] == 1,
      "the state of a chain is view 1 of its sample");
    for (size_t r = 1; r < N; r++)
        wrong += w.w[r * w.columns + N] != 0;
    T(!wrong && source.memory.bank.known == 2 * N, "it is nobody else's");
    step.extra.n = 1;
    T(sample_source_weigh(&source, &step, &w, &err) &&
          strstr(err.msg, "the bank scores states"),
      "extra samples are refused: %s", err.msg);
    sample_source_release(&source);
}

int
main(void)
{
    static const struct target targets[] = {
        {once, SAMPLE_FROM_BATCH_EXTRA, 1, 3, 0, 2000, .012, .006},
        {once, SAMPLE_FROM_BATCH_EXTRA, 1, 8, 0, 2000, .012, .005},
        {once, SAMPLE_FROM_BATCH_EXTRA, 1, 8, 3, 2000, .012, .005},
        {once, SAMPLE_FROM_BATCH_EXTRA, 1, 32, 0, 2000, .015, .01},
        {once, SAMPLE_FROM_BATCH_EXTRA, 5, 8, 0, 1000, .02, .005},
        {once, SAMPLE_FROM_BANK, 1, 8, 0, 2000, .012, .005},
        {once, SAMPLE_FROM_BANK, 3, 8, 3, 1000, .02, .005},
        {walking, SAMPLE_FROM_BANK, 1, 8, 0, 1000, .012, .005},
        {walking, SAMPLE_FROM_BANK, 3, 8, 3, 500, .02, .005},
        {exact, SAMPLE_FROM_BANK, 1, 8, 0, 2000, .012, .005},
        {exact, SAMPLE_FROM_BANK, 3, 3, 0, 2000, .02, .005},
        {exact, SAMPLE_FROM_BATCH_EXTRA, 5, 8, 0, 1000, .02, .005},
        {both, SAMPLE_FROM_BANK, 1, 8, 0, 1000, .012, .005},
        {both, SAMPLE_FROM_BANK, 3, 3, 0, 500, .02, .005},
    };

    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        reaches_the_softmax(targets[i]);
    for (size_t captions = 1; captions <= 8; captions += captions < 3 ? 2 : 5) {
        banks_know_what_would_come(captions);
        goes_on_to_the_same_bits(once, captions, SAMPLE_FROM_BANK);
        goes_on_to_the_same_bits(exact, captions, SAMPLE_FROM_BANK);
        goes_on_to_the_same_bits(both, captions, SAMPLE_FROM_BANK);
    }
    views_are_known_by_their_slot();
    return t_done();
}
