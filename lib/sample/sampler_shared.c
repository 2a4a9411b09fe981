/*
 * Samplers of emc2 without chains, which read the bank of features.
 *
 * `shared` draws images for the whole batch.  The queries are the rows of the
 * bank of the b images of the batch, and each draws `draws` images from its
 * softmax over the bank, p_q.  They are encoded with the batch, and every
 * anchor uses all of them.  In a random batch, one of N images comes with the
 * batch, in one of two rows, and by a draw
 *
 *     m(j) = (2b - 2) / (N - 1) + draws * sum_q p_q(j)
 *
 * times in expectation.  By the balance heuristic (Veach and Guibas 1995,
 * "Optimally combining sampling techniques for Monte Carlo rendering"), a row c
 * of image j(c) counts for anchor r as
 *
 *     w_rc = exp(beta s_rc) / m(j(c)) / (the sum of all such)
 *
 * with its embedding of now, whatever the age of the bank (lib/algorithms.md
 * 4.4).
 *
 * `zbank` draws nothing: a row of the batch counts as exp(beta s_rc) / Z_r,
 * with Z_r over the bank, times the other images per row.  Its rows do not sum
 * to 1, so their sum is the factor of the negative term.
 */
#include <math.h>
#include <string.h>

#include "num/gemm.h"

#include "samplers.h"
#include "search.h"

enum { DRAWS, SHARED_HORIZON };
enum { ZBANK_HORIZON };

static void
set_shared_form(const struct sample_settings *how,
                struct sample_memory_form *form)
{
    form->horizon = (size_t)how->value[SHARED_HORIZON];
}

static void
set_zbank_form(const struct sample_settings *how,
               struct sample_memory_form *form)
{
    form->horizon = (size_t)how->value[ZBANK_HORIZON];
}

static int
check_views(const struct sample_source *source, const struct batch *step,
            struct err *err)
{
    const char *name = source->settings.sampler->proposals;

    return step->v == 2 ? 0
                        : err_set(err, "%zu views: %s wants 2", step->v, name);
}

static void
draw_shared(struct sample_source *source, const struct batch *step,
            int64_t number, struct batch_extra *extras)
{
    const size_t draws = (size_t)source->settings.value[DRAWS];
    const size_t b = step->b, most = b * draws;
    const struct sample_bank *bank = &source->ahead;
    struct arena *to = &source->drawn;
    int64_t *id = arena_take(to, most, sizeof *id);
    int64_t *view = arena_take(to, most, sizeof *view);
    struct sample_search all;
    size_t n = 0;

    *extras = (struct batch_extra){
        .most = (int64_t)most, .ids = id, .view = step->fixed ? view : NULL};
    if (!bank->rows)
        return;
    all = sample_search(sample_source_beta(source, number), bank, b, step->ids,
                        sample_search_rows(bank, b, step->ids, to), to);
    for (size_t q = 0; q < b; q++) {
        struct rng rng;

        if (bank->when[step->ids[q]] < 0)
            continue;
        rng_init(&rng, source->settings.seed, RNG_CACHE, (uint64_t)step->step,
                 (uint64_t)step->epoch, q);
        for (size_t k = 0; k < draws; k++) {
            const struct sample_draw draw = sample_search_draw(&all, q, &rng);

            if (draw.id < 0)
                continue;
            id[n] = draw.id;
            view[n++] = step->fixed
                            ? (int64_t)rng_below(&rng, (uint64_t)step->fixed)
                            : -1;
        }
    }
    extras->n = n;
}

/*
 * log m(j) of n images, by the bank that they were drawn from.
 *   ids  [n]
 */
static double *
expect_images(struct sample_source *source, const struct batch *step, size_t n,
              const int64_t *ids)
{
    const struct sample_memory *memory = &source->memory;
    const struct sample_bank *bank = &memory->bank;
    const double draws = source->settings.value[DRAWS];
    const size_t b = step->b, d = bank->dim;
    struct arena *to = &source->weighed;
    double *m = arena_take(to, n, sizeof *m);
    float *s = arena_take(to, b * n, sizeof *s), *query;
    struct sample_search all;

    for (size_t j = 0; j < n; j++)
        m[j] = (double)(2 * b - 2) / (double)(memory->form.size - 1);
    if (bank->rows) {
        query = sample_search_rows(bank, b, step->ids, to);
        all = sample_search(sample_source_beta(source, memory->total), bank, b,
                            step->ids, query, to);
        num_gemm_nt(b, n, d, 1, query, sample_search_rows(bank, n, ids, to), 0,
                    s);
        for (size_t q = 0; q < b; q++) {
            const double z = sample_search_log_z(&all, q);

            if (bank->when[step->ids[q]] < 0 || !(z > -INFINITY))
                continue;
            for (size_t j = 0; j < n; j++)
                if (ids[j] != step->ids[q] && bank->when[ids[j]] >= 0)
                    m[j] += draws * exp((double)all.beta * s[q * n + j] - z);
        }
    }
    for (size_t j = 0; j < n; j++)
        m[j] = log(m[j]);
    return m;
}

/*
 * Fills in w with the softmax of beta s - log_m over the columns of other
 * images; returns the logarithm of its denominator.
 *   image, log_m  [columns]  log_m NULL: zeros
 */
static double
weigh_others(const struct batch *step, size_t r, size_t columns,
             const int64_t *image, const double *log_m, const float *s,
             float *w)
{
    const size_t b = step->b;
    double top = -INFINITY, sum = 0;

    for (size_t c = 0; c < columns; c++) {
        const int own =
            c < 2 * b ? c % b == r % b : image[c] == step->ids[r % b];

        w[c] = own ? -INFINITY
                   : (float)(step->beta * s[c] - (log_m ? log_m[c] : 0));
        top = fmax(top, w[c]);
    }
    for (size_t c = 0; c < columns; c++)
        sum += exp(w[c] - top);
    for (size_t c = 0; c < columns; c++)
        w[c] = (float)(exp(w[c] - top) / sum);
    return sum > 0 ? top + log(sum) : -INFINITY;
}

/* Lists the image of each column. */
static int64_t *
list_images(const struct batch *step, struct arena *to)
{
    const size_t b = step->b, n = 2 * b;
    int64_t *image = arena_take(to, n + step->extra.n, sizeof *image);

    for (size_t c = 0; c < n + step->extra.n; c++)
        image[c] = c < n ? step->ids[c % b] : step->extra.ids[c - n];
    return image;
}

static void
weigh_shared(struct sample_source *source, const struct batch *step,
             struct weights *weights)
{
    const size_t n = 2 * step->b, columns = n + step->extra.n;
    struct arena *to = &source->weighed;
    const int64_t *image = list_images(step, to);
    const double *log_m = expect_images(source, step, columns, image);
    const float *s = sample_step_compare(step, to);
    float *w = arena_take(to, n * columns, sizeof *w);

    for (size_t r = 0; r < n; r++)
        weigh_others(step, r, columns, image, log_m, s + r * columns,
                     w + r * columns);
    weights->columns = columns;
    weights->w = w;
    weights->s = s;
    weights->accepted = 1;
}

static void
weigh_by_bank(struct sample_source *source, const struct batch *step,
              struct weights *weights)
{
    const size_t n = 2 * step->b, columns = n + step->extra.n;
    const struct sample_bank *bank = &source->memory.bank;
    struct arena *to = &source->weighed;
    const int64_t *image = list_images(step, to);
    const float *s = sample_step_compare(step, to);
    float *w = arena_take(to, n * columns, sizeof *w);
    float *scale = arena_take(to, 2 * n, sizeof *scale);
    struct sample_search all;

    if (bank->rows)
        all = sample_search(step->beta, bank, n, image, step->z, to);
    for (size_t r = 0; r < n; r++) {
        // without extra samples: the bank has what is outside
        const double inside = weigh_others(step, r, n, image, NULL,
                                           s + r * columns, w + r * columns);
        const double z = bank->rows ? sample_search_log_z(&all, r) : -INFINITY;

        memset(w + r * columns + n, 0, step->extra.n * sizeof *w);
        scale[2 * r] = scale[2 * r + 1] = 1;
        if (z > -INFINITY) {
            const size_t others =
                bank->known - (size_t)(bank->when[image[r]] >= 0);

            scale[2 * r + 1] =
                (float)((double)others / (double)(n - 2) * exp(inside - z));
        }
    }
    weights->columns = columns;
    weights->w = w;
    weights->s = s;
    weights->scale = scale;
    weights->accepted = 1;
}

static const struct param shared_params[] = {
    [DRAWS] = {PARAM_WHOLE("draws", 2, 1, 64,
                           "images that are drawn for each of the batch")},
    [SHARED_HORIZON] = SAMPLE_PARAM_HORIZON,
    {0},
};
static const struct param zbank_params[] = {
    [ZBANK_HORIZON] = SAMPLE_PARAM_HORIZON,
    {0},
};

const struct sample_sampler sample_sampler_emc2_shared = {
    .method = "emc2",
    .proposals = "shared",
    .summary = "images drawn for the whole batch by a bank of features",
    .name = "shared 1",
    .params = shared_params,
    .needs_outside = 1,
    .tables = set_shared_form,
    .draw = draw_shared,
    .check_step = check_views,
    .weigh = weigh_shared,
};

const struct sample_sampler sample_sampler_emc2_zbank = {
    .method = "emc2",
    .proposals = "zbank",
    .summary = "rows of the batch, with the denominator of a bank of features",
    .name = "zbank 1",
    .params = zbank_params,
    .tables = set_zbank_form,
    .check_step = check_views,
    .weigh = weigh_by_bank,
};
