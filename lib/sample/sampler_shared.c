/*
 * Samplers of emc2 without chains, which read the bank of features.  The bank
 * has a row for each fixed view of an image; one for each image if each epoch
 * makes new views.
 *
 * `shared` draws images for the whole batch.  The queries are the rows of the
 * bank of the batch's images, p_q the softmax of a query over the rows of other
 * images, and each image draws `draws` of these.  They are encoded with the
 * batch, and every anchor uses all of them.  In a random batch, row k of R rows
 * of each of N images comes with the batch or by a draw
 *
 *     m(k) = (2b - 2) / (R (N - 1)) + sum_q draws_q p_q(k)
 *
 * times in expectation.  By the balance heuristic (Veach and Guibas 1995,
 * "Optimally combining sampling techniques for Monte Carlo rendering"), column
 * c counts for anchor r as
 *
 *     w_rc = exp(beta s_rc) / m(k(c)) / (the sum of all such, A_r)
 *
 * with its embedding of now, whatever the age of the bank.  If views are fixed
 * the negative term of anchor r is multiplied by B_r / Z_r: B_r is A_r with the
 * bank's rows in place of the embeddings of now, and Z_r its expectation, over
 * the whole bank.  So a bank of now gives the whole softmax's denominator. With
 * new views the two differ too much for that (lib/algorithms.md 4.4).
 *
 * Across two kinds of rows, all of this is among rows of different kinds, and
 * the bank has a row for each fixed view or slot: row 0 of an image is of one
 * kind, its others of the other, such as its K captions.  One of these comes
 * with the batch (b - 1) / (K (N - 1)) times.  With `captions` only images
 * draw, captions; the columns of a caption are the images of the batch.
 *
 * `zbank` draws nothing: a row of the batch counts as exp(beta s_rc) / Z_r,
 * times the rows of other images per column.  Its rows do not sum to 1, so
 * their sum is the factor of the negative term.
 */
#include <math.h>
#include <string.h>

#include "num/gemm.h"

#include "samplers.h"
#include "search.h"

enum { DRAWS, HORIZON, CAPTIONS };

static void
set_bank_form(const struct sample_settings *how,
              struct sample_memory_form *form)
{
    form->horizon = (size_t)sample_settings_value(how, "horizon");
    form->views = 1;
}

static void
set_cross_form(const struct sample_settings *how,
               struct sample_memory_form *form)
{
    set_bank_form(how, form);
    form->slots = 1;
}

static int
draws_texts(const struct sample_source *source)
{
    return source->settings.value[CAPTIONS] > 0;
}

/* 1 if a column is a row of view 1, or an extra sample of that kind. */
static int
is_second(const struct batch *step, size_t column)
{
    const size_t n = 2 * step->b;

    return column < n ? column >= step->b
                      : step->extra.view && step->extra.view[column - n] > 0;
}

/* 1 if two columns are of one kind, where rows of two kinds are compared. */
static int
are_alike(const struct sample_source *source, const struct batch *step,
          size_t c, size_t r)
{
    return source->memory.form.slots &&
           is_second(step, c) == is_second(step, r);
}

static int
check_views(const struct sample_source *source, const struct batch *step,
            struct err *err)
{
    const char *name = source->settings.sampler->proposals;

    if (step->v != 2)
        return err_set(err, "%zu views: %s needs 2", step->v, name);
    for (size_t r = 0; source->memory.form.slots && r < 2 * step->b; r++)
        if (step->view_of && (step->view_of[r] > 0) != is_second(step, r))
            return err_set(err,
                           "fixed view %jd in both views of a batch: %s across "
                           "the views needs captions, or new views",
                           (intmax_t)step->view_of[r], name);
    return 0;
}

/* The row of the bank of a column; an extra sample without a known view has
 * that of view 0. */
static int64_t
row_of(const struct sample_bank *bank, const struct batch *step, size_t column)
{
    const struct sample_state at = sample_step_state(step, column);

    return at.id * (int64_t)bank->views +
           (bank->views > 1 && at.view > 0 ? at.view : 0);
}

/* The queries of a batch: the rows of its anchors that were written; of its
 * images alone, if these draw captions, or if an image has one row. */
struct queries {
    size_t n;
    int64_t *row;   /* [n] their rows of the bank */
    size_t *anchor; /* [n] */
    struct sample_search search;
};

static int
queries_images(const struct sample_source *source,
               const struct sample_bank *bank)
{
    return bank->views == 1 || draws_texts(source);
}

static struct queries
make_queries(const struct sample_source *source, const struct sample_bank *bank,
             const struct batch *step, double beta, struct arena *to)
{
    const size_t most = (queries_images(source, bank) ? 1 : 2) * step->b;
    struct queries all = {.row = arena_take(to, most, sizeof *all.row),
                          .anchor = arena_take(to, most, sizeof *all.anchor)};

    for (size_t r = 0; bank->rows && r < most; r++) {
        const int64_t row = row_of(bank, step, r);

        if (bank->when[row] < 0)
            continue;
        all.row[all.n] = row;
        all.anchor[all.n++] = r;
    }
    if (all.n)
        all.search =
            sample_search(beta, bank, source->memory.form.slots, all.n, all.row,
                          sample_search_rows(bank, all.n, all.row, to), to);
    return all;
}

/* How many of its image's draws a query makes. */
static size_t
count_draws(const struct sample_source *source, const struct sample_bank *bank,
            size_t b, size_t anchor)
{
    const size_t draws = (size_t)source->settings.value[DRAWS];

    return queries_images(source, bank) ? draws
                                        : draws / 2 + (anchor < b && draws % 2);
}

static void
draw_shared(struct sample_source *source, const struct batch *step,
            int64_t number, struct batch_extra *extras)
{
    const size_t most = step->b * (size_t)source->settings.value[DRAWS];
    const struct sample_bank *bank = &source->ahead;
    struct arena *to = &source->drawn;
    int64_t *id = arena_take(to, most, sizeof *id);
    int64_t *view = arena_take(to, most, sizeof *view);
    int64_t *epoch = arena_take(to, most, sizeof *epoch);
    int64_t *text = arena_take(to, 2 * most, sizeof *text);
    const int across = source->memory.form.slots;
    const struct queries all = make_queries(
        source, bank, step, sample_source_beta(source, number), to);
    size_t n = 0;

    for (size_t q = 0; q < all.n; q++) {
        size_t draws = count_draws(source, bank, step->b, all.anchor[q]);
        struct rng rng;

        rng_init(&rng, source->settings.seed, RNG_CACHE, (uint64_t)step->step,
                 (uint64_t)step->epoch, all.anchor[q]);
        for (; draws; draws--) {
            const int64_t row = sample_search_draw(&all.search, q, &rng).id;

            if (row < 0)
                continue;
            text[2 * n] = id[n] = row / (int64_t)bank->views;
            view[n] = row % (int64_t)bank->views;
            text[2 * n + 1] = view[n] - 1;
            epoch[n++] = step->epoch;
        }
    }
    extras->most = (int64_t)most;
    if (draws_texts(source) && !step->fixed) {
        extras->n_texts = n;
        extras->texts = n ? text : NULL;
        return;
    }
    extras->n = n;
    extras->ids = id;
    extras->view = step->fixed || across ? view : NULL;
    extras->epoch = !step->fixed && across ? epoch : NULL;
}

/* How many rows of its kind an image has: of captions those that were written.
 */
static double
count_alike(const struct sample_source *source, const struct batch *step,
            size_t column, int64_t row)
{
    const struct sample_bank *bank = &source->memory.bank;
    const size_t views = bank->rows ? bank->views : 1;
    const int64_t *when = bank->when + (size_t)row / views * views;
    size_t n = 0;

    if (!source->memory.form.slots)
        return (double)views;
    for (size_t k = 1; k < views && is_second(step, column); k++)
        n += when[k] >= 0;
    return n ? (double)n : 1;
}

/*
 * log m(k) of all columns, by the bank from which the step was drawn.
 *   row  [n]  rows of the columns
 */
static double *
expect_columns(struct sample_source *source, const struct batch *step, size_t n,
               const int64_t *row)
{
    const struct sample_memory *memory = &source->memory;
    const struct sample_bank *bank = &memory->bank;
    const double common =
        (double)((memory->form.slots ? 1 : 2) * (step->b - 1)) /
        (double)(memory->form.size - 1);
    struct arena *to = &source->weighed;
    double *m = arena_take(to, n, sizeof *m);
    const struct queries all = make_queries(
        source, bank, step, sample_source_beta(source, memory->total), to);
    float *s = arena_take(to, all.n * n + 1, sizeof *s);

    for (size_t c = 0; c < n; c++)
        m[c] = common / count_alike(source, step, c, row[c]);
    if (all.n)
        num_gemm_nt(all.n, n, bank->dim, 1, all.search.query,
                    sample_search_rows(bank, n, row, to), 0, s);
    for (size_t q = 0; q < all.n; q++) {
        const double z = sample_search_log_z(&all.search, q);
        const double draws =
            (double)count_draws(source, bank, step->b, all.anchor[q]);

        for (size_t c = 0; c < n && z > -INFINITY; c++)
            if (bank->when[row[c]] >= 0 &&
                row[c] / (int64_t)bank->views !=
                    all.row[q] / (int64_t)bank->views &&
                !are_alike(source, step, c, all.anchor[q]))
                m[c] += draws * exp((double)all.search.beta * s[q * n + c] - z);
    }
    for (size_t c = 0; c < n; c++)
        m[c] = log(m[c]);
    return m;
}

/*
 * Fills in w with the softmax of beta s - log_m over the columns of other
 * images that are not alike; returns the logarithm of its denominator.
 *   image, log_m  [columns]  log_m NULL: zeros
 */
static double
weigh_others(const struct sample_source *source, const struct batch *step,
             size_t r, size_t columns, const int64_t *image,
             const double *log_m, const float *s, float *w)
{
    const size_t b = step->b;
    double top = -INFINITY, sum = 0;

    for (size_t c = 0; c < columns; c++) {
        const int own =
            (c < 2 * b ? c % b == r % b : image[c] == step->ids[r % b]) ||
            are_alike(source, step, c, r);

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

/* Lists the image of each column, and its row of the bank. */
static int64_t *
list_columns(const struct sample_bank *bank, const struct batch *step,
             struct arena *to, int64_t **row)
{
    const size_t n = 2 * step->b + step->extra.n;
    int64_t *image = arena_take(to, n, sizeof *image);

    *row = arena_take(to, n, sizeof **row);
    for (size_t c = 0; c < n; c++) {
        image[c] = sample_step_state(step, c).id;
        (*row)[c] = bank->rows ? row_of(bank, step, c) : 0;
    }
    return image;
}

/* Fills in scale_r1 = B_r / Z_r. */
static void
compare_with_bank(struct sample_source *source, const struct batch *step,
                  size_t columns, const int64_t *image, const int64_t *row,
                  const double *log_m, float *scale)
{
    const struct sample_bank *bank = &source->memory.bank;
    const size_t n = 2 * step->b;
    struct arena *to = &source->weighed;
    const struct sample_search all = sample_search(
        step->beta, bank, source->memory.form.slots, n, row, step->z, to);
    float *s = arena_take(to, n * columns, sizeof *s);

    num_gemm_nt(n, columns, step->dim, 1, step->z,
                sample_search_rows(bank, columns, row, to), 0, s);
    for (size_t r = 0; r < n; r++) {
        const double z = sample_search_log_z(&all, r);
        double sum = 0;

        for (size_t c = 0; c < columns; c++)
            if (image[c] != image[r] && bank->when[row[c]] >= 0 &&
                !are_alike(source, step, c, r))
                sum +=
                    exp((double)all.beta * s[r * columns + c] - log_m[c] - z);
        if (z > -INFINITY && sum > 0)
            scale[2 * r + 1] = (float)sum;
    }
}

static void
weigh_shared(struct sample_source *source, const struct batch *step,
             struct weights *weights)
{
    const size_t n = 2 * step->b, columns = n + step->extra.n;
    const struct sample_bank *bank = &source->memory.bank;
    struct arena *to = &source->weighed;
    int64_t *row, *image = list_columns(bank, step, to, &row);
    const double *log_m = expect_columns(source, step, columns, row);
    float *scale, *w = sample_begin_weights(step, weights, &scale, to);

    for (size_t r = 0; r < n; r++)
        weigh_others(source, step, r, columns, image, log_m,
                     weights->s + r * columns, w + r * columns);
    if (bank->rows && step->fixed)
        compare_with_bank(source, step, columns, image, row, log_m, scale);
}

static void
weigh_by_bank(struct sample_source *source, const struct batch *step,
              struct weights *weights)
{
    const size_t n = 2 * step->b, columns = n + step->extra.n;
    const struct sample_bank *bank = &source->memory.bank;
    struct arena *to = &source->weighed;
    int64_t *row, *image = list_columns(bank, step, to, &row);
    float *scale, *w = sample_begin_weights(step, weights, &scale, to);
    struct sample_search all;

    if (bank->rows)
        all = sample_search(step->beta, bank, 0, n, row, step->z, to);
    for (size_t r = 0; r < n; r++) {
        // without extra samples: the bank has what is outside
        const double inside =
            weigh_others(source, step, r, n, image, NULL,
                         weights->s + r * columns, w + r * columns);
        const double z = bank->rows ? sample_search_log_z(&all, r) : -INFINITY;
        const size_t own = (size_t)image[r] * bank->views;
        size_t others = bank->known; // rows of other images

        memset(w + r * columns + n, 0, step->extra.n * sizeof *w);
        for (size_t k = own; k < own + bank->views; k++)
            others -= bank->when[k] >= 0;
        if (z > -INFINITY)
            scale[2 * r + 1] =
                (float)((double)others / (double)(n - 2) * exp(inside - z));
    }
}

#define DRAWN                                                          \
    [DRAWS] = {PARAM_WHOLE("draws", 2, 1, 64,                          \
                           "rows drawn for each image of the batch")}, \
    [HORIZON] = SAMPLE_PARAM_HORIZON

static const struct param shared_params[] = {DRAWN, {0}};
static const struct param cross_params[] = {
    DRAWN,
    [CAPTIONS] = {PARAM_FLAG("captions", "images alone draw, captions")},
    {0},
};
static const struct param zbank_params[] = {SAMPLE_PARAM_HORIZON, {0}};

const struct sample_sampler sample_sampler_emc2_shared = {
    .method = "emc2",
    .proposals = "shared",
    .summary = "images drawn for the whole batch by a bank of features",
    .name = "shared 1",
    .params = shared_params,
    .needs_outside = 1,
    .tables = set_bank_form,
    .draw = draw_shared,
    .check_step = check_views,
    .weigh = weigh_shared,
};

const struct sample_sampler sample_sampler_bimodal_shared = {
    .method = "emc2_bimodal",
    .proposals = "shared",
    .summary = "rows of the other view drawn for the whole batch by a bank",
    .name = "shared across 1",
    .params = cross_params,
    .needs_outside = 1,
    .tables = set_cross_form,
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
    .tables = set_bank_form,
    .check_step = check_views,
    .weigh = weigh_by_bank,
};
