#pragma once

/*
 * For tests of sample/source: a run of so many steps over a small data set,
 * what is drawn for each of them and weighed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "how_of.h"
#include "num/vec.h"
#include "sample/source.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 24, B = 4, V = 2, D = 8, STEPS = 40, EXTRA = 64, H = 3 };

/* What is under way, by a sampler (how_of.h): items that were drawn for, in a
 * ring. */
struct run {
    struct sample_source source;
    int64_t ids[STEPS][B], extra[STEPS][EXTRA], view[STEPS][EXTRA],
        epoch[STEPS][EXTRA];
    struct batch_extra extras[STEPS]; /* pointing into what follows */
    int32_t row[STEPS][EXTRA], state_view[STEPS][EXTRA];
    float log_q[STEPS][EXTRA];
    int64_t variant[STEPS][V * B];
    float z[(V * B + EXTRA) * D];
    struct batch last; /* that was weighed */
    size_t A;
    int texts; /* 1: views 1 .. A - 1 are captions */
};

static inline void
begin(struct run *run, const char *words, size_t A)
{
    const struct sample_settings how = how_of(words);

    *run = (struct run){.A = A};
    sample_source_init(&run->source, &how, N);
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < B; i++) {
            run->ids[t][i] = (t * B + i * 5 + t / 6) % N;
            run->variant[t][i] = (t + i) % (int)(A ? A : 1);
            run->variant[t][B + i] = (t + i + 1) % (int)(A ? A : 1);
        }
}

/* What is known of a step when it is drawn for. */
static inline struct batch
step_of(const struct run *run, int t)
{
    return (struct batch){
        .epoch = (uint64_t)(t / 6),
        .step = (uint64_t)(t % 6),
        .v = V,
        .b = B,
        .fixed = run->A,
        .ids = run->ids[t],
        .view_of = run->A ? run->variant[t] : NULL,
    };
}

/* A copy of `bytes`, where there is something. */
static inline void *
keep(void *to, const void *from, size_t bytes)
{
    return from && bytes ? memcpy(to, from, bytes) : NULL;
}

static inline void
draw(struct run *run, int t)
{
    struct batch step = step_of(run, t);
    struct batch_extra *x = &run->extras[t];

    if (run->texts) { // not known yet
        step.fixed = 0;
        step.view_of = NULL;
    }
    *x = sample_source_draw(&run->source, &step, t);
    REQUIRE(x->n + x->n_texts <= EXTRA);
    for (size_t e = 0; e < x->n_texts; e++) {
        run->extra[t][e] = x->texts[2 * e];
        run->view[t][e] = 1 + x->texts[2 * e + 1];
    }
    if (run->texts) {
        x->n = x->n_texts;
        x->ids = run->extra[t];
        x->view = run->view[t];
        return;
    }
    x->ids = keep(run->extra[t], x->ids, x->n * sizeof *x->ids);
    x->view = keep(run->view[t], x->view, x->n * sizeof *x->view);
    x->epoch = keep(run->epoch[t], x->epoch, x->n * sizeof *x->epoch);
    x->hint_row = keep(run->row[t], x->hint_row, x->n * sizeof(int32_t));
    x->hint_view =
        keep(run->state_view[t], x->hint_view, x->n * sizeof(int32_t));
    x->hint_log_q = keep(run->log_q[t], x->hint_log_q, x->n * sizeof(float));
}

/* Which view a column shows, as image/view.h counts them. */
static inline struct sample_state
view_of(const struct run *run, int t, size_t r)
{
    const struct batch_extra *x = &run->extras[t];
    const size_t n = V * B, e = r - n;
    const int64_t now = run->A ? 0 : t / 6;

    if (r < n)
        return (struct sample_state){
            run->ids[t][r % B], run->A ? run->variant[t][r] : (int64_t)(r / B),
            now};
    if (!x->view)
        return (struct sample_state){run->extra[t][e], V, now};
    return (struct sample_state){run->extra[t][e], run->view[t][e],
                                 x->epoch ? run->epoch[t][e] : 0};
}

/* Features are a function of the view and the step, as of an encoder that
 * learns. */
static inline int
weigh(struct run *run, int t, struct weights *weights, struct err *err)
{
    const struct batch_extra *x = &run->extras[t];
    const size_t n = V * B, all = n + x->n;
    struct batch step = step_of(run, t);

    for (size_t r = 0; r < all; r++) {
        const struct sample_state is = view_of(run, t, r);
        struct rng image, view;

        rng_init(&image, 9, RNG_TEST, (uint64_t)is.id, 0, 0);
        rng_init(&view, 8, RNG_TEST, (uint64_t)is.id, (uint64_t)is.epoch,
                 (uint64_t)is.view);
        for (size_t k = 0; k < D; k++)
            run->z[r * D + k] = (float)(rng_normal(&image) +
                                        0.3 * rng_normal(&view) + 0.02 * t);
    }
    num_unit_rows(all, D, run->z, run->z, NULL);
    step.beta = 4;
    step.extra.n = x->n;
    step.dim = D;
    step.extra.ids = x->ids;
    step.extra.view = x->view;
    step.extra.epoch = x->epoch;
    step.z = run->z;
    step.extra.z = run->z + n * D;
    step.extra.hint_row = x->hint_row;
    step.extra.hint_view = x->hint_view;
    step.extra.hint_log_q = x->hint_log_q;
    run->last = step;
    return sample_source_weigh(&run->source, &step, weights, err);
}

/* 1 when the weights of a row are weights, and none of its own image's. */
static inline int
is_good(const struct run *run, int t, const struct weights *w, double low)
{
    int good = 1;

    for (size_t r = 0; r < w->rows; r++) {
        double sum = 0;

        for (size_t c = 0; c < w->columns; c++) {
            const float x = w->w[r * w->columns + c];

            sum += x;
            good &= x >= 0 && (c >= V * B || c % B != r % B || x == 0);
            good &= c < V * B || x == 0 ||
                    run->extra[t][c - V * B] != run->ids[t][r % B];
        }
        good &= sum <= 1 + 1e-5 && sum >= low - 1e-5;
    }
    return good;
}

static inline double
value(const struct weights *w, const char *name)
{
    return value_find(w->values.value, w->values.n, name);
}

/* Writes down what a step wants kept. */
static inline void
keep_tables(struct sample_store *store, const struct weights *w)
{
    struct err err;

    REQUIRE(!sample_store_check(store, w->n_tables, w->tables, &err));
    sample_store_write(store, w->sampler, w->n_tables, w->tables);
}

/* The chains of a batch stand there. */
static inline void
stand(struct run *run, int t, const struct sample_state *state)
{
    const struct batch step = step_of(run, t);

    sample_memory_step(&run->source.memory, &step, state, NULL,
                       &run->source.weighed);
}
