/* The sampler `cache`: draws from the bank of all features (cache.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"

#include "cache.h"
#include "samplers.h"

void
sample_cache_draw(const struct sample_cache_settings *how,
                  const struct sample_bank *bank, size_t n, const int64_t *own,
                  struct sample_draw *draw, struct arena *scratch)
{
    const float *query = sample_search_rows(bank, n, own, scratch);
    const struct sample_search all =
        sample_search(how->beta, bank, 0, n, own, query, scratch);

    for (size_t q = 0; q < n; q++) {
        struct rng rng;

        rng_init(&rng, how->seed, RNG_CACHE, how->step, how->epoch, q);
        draw[q] = bank->when[own[q]] >= 0 ? sample_search_draw(&all, q, &rng)
                                          : (struct sample_draw){-1, 0};
    }
}

double
sample_cache_weigh(double beta, double limit, const struct sample_bank *bank,
                   size_t n, const int64_t *own, const float *query,
                   const float *positive, const struct sample_draw *draw,
                   float *scale, struct arena *scratch)
{
    const struct sample_search all =
        sample_search(beta, bank, 0, n, own, query, scratch);
    double sum = 0;
    size_t draws = 0;

    for (size_t q = 0; q < n; q++) {
        const double z = sample_search_log_z(&all, q);
        double one_minus_p = 0, importance = 0;

        if (draw[q].id >= 0 && z > -INFINITY) {
            const float *row = bank->rows + (size_t)draw[q].id * bank->dim;
            const double s = num_dot(bank->dim, query + q * bank->dim, row);

            one_minus_p = 1 / (1 + exp(all.beta * (double)positive[q] - z));
            importance = fmin(exp(all.beta * s - z - draw[q].log_q), limit);
            draws++;
        }
        scale[2 * q] = (float)one_minus_p;
        scale[2 * q + 1] = (float)(one_minus_p * importance);
        sum += importance;
    }
    return draws ? sum / (double)draws : 0;
}

/* ---- refresh ------------------------------------------------------------- */

int64_t *
sample_refresh_order(size_t size, uint64_t seed)
{
    int64_t *order = mem_array(size, sizeof *order);
    struct rng rng;

    for (size_t i = 0; i < size; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, seed, RNG_REFRESH, 0, 0, 0);
    rng_shuffle(&rng, size, order);
    return order;
}

size_t
sample_refresh_period(double rho)
{
    REQUIRE(rho > 0 && rho <= 1);
    // by rounding 1 / rho may be slightly above a whole number
    return (size_t)ceil(1 / rho - 1e-9);
}

size_t
sample_refresh_next(size_t size, size_t period, uint64_t step, size_t *from)
{
    const size_t part = (size_t)(step % period), rest = size % period;

    // part * size / period, without its overflow
    *from = size / period * part + rest * part / period;
    return size / period + rest * (part + 1) / period - rest * part / period;
}

/* ---- the sampler --------------------------------------------------------- */

enum { REFRESH, CLIP, HORIZON };

static void
set_form(const struct sample_settings *how, struct sample_memory_form *form)
{
    form->horizon = (size_t)how->value[HORIZON];
}

/* With `refresh`: the order in which samples are refreshed. */
static void
init_refresh(struct sample_source *source)
{
    if (source->settings.value[REFRESH] > 0)
        source->own = sample_refresh_order(source->memory.form.size,
                                           source->settings.seed);
}

static void
release_refresh(struct sample_source *source)
{
    free(source->own);
}

/* A growing list of extra samples: views, all 0, and hints. */
struct extras {
    size_t n;
    int64_t *id, *view;
    int32_t *row;
    float *log_q;
};

static void
add_extra(struct extras *to, int64_t id, int32_t row, double log_q)
{
    to->id[to->n] = id;
    to->view[to->n] = 0;
    to->row[to->n] = row;
    to->log_q[to->n++] = (float)log_q;
}

/* Draws a negative from the bank for each image; its hints are the image and
 * log q of the draw. */
static void
draw_negatives(struct sample_source *source, const struct batch *step,
               int64_t number, struct extras *extras)
{
    const struct sample_cache_settings how = {
        sample_source_beta(source, number), source->settings.seed,
        (uint64_t)step->epoch, (uint64_t)step->step};
    struct sample_draw *draw =
        arena_take(&source->drawn, step->b, sizeof *draw);

    sample_cache_draw(&how, &source->ahead, step->b, step->ids, draw,
                      &source->drawn);
    for (size_t i = 0; i < step->b; i++)
        if (draw[i].id >= 0)
            add_extra(extras, draw[i].id, (int32_t)i, draw[i].log_q);
}

/* Lists the negatives, and then the samples to refresh, without a row. */
static void
draw_extras(struct sample_source *source, const struct batch *step,
            int64_t number, struct batch_extra *extras)
{
    const int64_t *order = source->own;
    const size_t size = source->memory.form.size;
    const size_t period =
        order ? sample_refresh_period(source->settings.value[REFRESH]) : 1;
    const size_t most = step->b + (order ? size / period + 1 : 0);
    struct arena *to = &source->drawn;
    struct extras all = {
        .id = arena_take(to, most, sizeof *all.id),
        .view = arena_take(to, most, sizeof *all.view),
        .row = arena_take(to, most, sizeof *all.row),
        .log_q = arena_take(to, most, sizeof *all.log_q),
    };
    size_t n = 0, from = 0;

    REQUIRE(step->v == 2);
    if (source->ahead.rows)
        draw_negatives(source, step, number, &all);
    if (order)
        n = sample_refresh_next(size, period, (uint64_t)number, &from);
    for (size_t i = 0; i < n; i++)
        add_extra(&all, order[from + i], -1, 0);
    *extras = (struct batch_extra){
        .n = all.n,
        .most = (int64_t)most,
        .ids = all.id,
        .view = step->fixed ? all.view : NULL,
        .hint_row = all.row,
        .hint_log_q = all.log_q,
    };
}

static int
cache_check_step(const struct sample_source *source, const struct batch *step,
                 struct err *err)
{
    (void)source;
    return step->v == 2 ? 0
                        : err_set(err, "%zu views: the cache needs 2", step->v);
}

/* A row without a draw uses the batch: its weights are the softmax over the
 * rows of other images, and both factors are 1 - p_+ as in InfoNCE. */
static void
weigh_in_batch(const struct batch *step, size_t r, const float *s,
               double positive, float *w, float *scale)
{
    const size_t b = step->b, n = 2 * b;
    double top = -INFINITY, sum = 0, plus;

    for (size_t c = 0; c < n; c++)
        if (c % b != r % b)
            top = fmax(top, step->beta * s[c]);
    for (size_t c = 0; c < n; c++) {
        const double x = c % b == r % b ? 0 : exp(step->beta * s[c] - top);

        w[c] = (float)x;
        sum += x;
    }
    for (size_t c = 0; c < n; c++)
        w[c] = (float)(w[c] / sum);
    plus = step->beta * positive - top - log(sum);
    scale[0] = scale[1] = (float)(1 / (1 + exp(plus)));
}

/* Reads the draws from the hints: both rows of an image have the same draw,
 * which gets all their weight.  draw [n], w [n,columns] */
static void
take_draws(const struct batch *step, struct sample_draw *draw, float *w)
{
    const size_t b = step->b, n = 2 * b, columns = n + step->extra.n;
    const float *log_q = step->extra.hint_log_q;

    memset(w, 0, n * columns * sizeof *w);
    for (size_t r = 0; r < n; r++)
        draw[r] = (struct sample_draw){-1, 0};
    for (size_t e = 0; log_q && e < step->extra.n; e++) {
        const size_t i = sample_step_hint(step, e, b);

        if (i == b)
            continue;
        draw[i] = draw[b + i] =
            (struct sample_draw){step->extra.ids[e], log_q[e]};
        w[i * columns + n + e] = w[(b + i) * columns + n + e] = 1;
    }
}

static void
weigh_draws(struct sample_source *source, const struct batch *step,
            struct weights *weights)
{
    const size_t b = step->b, n = 2 * b, columns = n + step->extra.n;
    const struct sample_bank *bank = &source->memory.bank;
    struct arena *to = &source->weighed;
    float *scale, *w = sample_begin_weights(step, weights, &scale, to);
    const float *s = weights->s;
    struct sample_draw *draw = arena_take(to, n, sizeof *draw);
    int64_t *own = arena_take(to, n, sizeof *own);
    float *positive = arena_take(to, n, sizeof *positive);
    double importance = 0;

    take_draws(step, draw, w);
    for (size_t r = 0; r < n; r++) {
        own[r] = step->ids[r % b];
        positive[r] = s[r * columns + (r + b) % n];
    }
    if (bank->rows)
        importance =
            sample_cache_weigh(step->beta, source->settings.value[CLIP], bank,
                               n, own, step->z, positive, draw, scale, to);
    for (size_t r = 0; r < n; r++)
        if (draw[r].id < 0)
            weigh_in_batch(step, r, s + r * columns, positive[r],
                           w + r * columns, scale + 2 * r);
    values_add(&weights->values, "importance", importance);
}

static const struct param params[] = {
    [REFRESH] = {PARAM_REAL("refresh", 0.001, 0, 1,
                            "share of the bank that is renewed each step")},
    [CLIP] = {PARAM_REAL("clip", 10, 1, 1e9,
                         "largest importance weight of a draw")},
    [HORIZON] = SAMPLE_PARAM_HORIZON,
    {0},
};

const struct sample_sampler sample_sampler_cache = {
    .method = "cache",
    .proposals = "",
    .summary = "draws from the softmax over a bank of all features",
    .params = params,
    .needs_outside = 1,
    .name = "cache 1",
    .tables = set_form,
    .init = init_refresh,
    .release = release_refresh,
    .draw = draw_extras,
    .check_step = cache_check_step,
    .weigh = weigh_draws,
};
