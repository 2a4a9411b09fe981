#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "sample/source.h"
#include "util/mem.h"

/* w of a batch is at most 1 GiB, as a part of a message is; so are the tables
 * of a memory, which could not be handed over otherwise. */
enum { ROWS_MAX = 16384, WEIGHTS_MAX = 1 << 28 };
static const double part_max = 0x1p30;

void
sample_source_init(struct sample_source *source, const struct sample_how *how,
                   size_t size)
{
    *source = (struct sample_source){.how = *how};
    sample_memory_init(&source->memory, size);
    if (how->cache && how->refresh > 0)
        sample_refresh_init(&source->refresh, size, how->refresh, how->seed);
}

void
sample_source_release(struct sample_source *source)
{
    sample_memory_release(&source->memory);
    sample_bank_release(&source->ahead);
    sample_refresh_release(&source->refresh);
    free(source->state);
    free(source->stand);
    free(source->draw);
    free(source->ids);
    free(source->extra);
    free(source->view);
    free(source->hint_row);
    free(source->hint_view);
    free(source->hint_log_q);
    free(source->score);
    free(source->z);
    free(source->s);
    free(source->w);
    free(source->scale);
    free(source->positive);
    *source = (struct sample_source){0};
}

int
sample_source_load(struct sample_source *source, size_t n,
                   const struct wire_tensor *tensor, struct err *err)
{
    if (sample_memory_load(&source->memory, n, tensor, err))
        return -1;
    sample_bank_release(&source->ahead);
    return 0;
}

static const struct wire_tensor *
find(const char *name, size_t n, const struct wire_tensor *tensor)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(tensor[i].name, name))
            return &tensor[i];
    return NULL;
}

int
sample_source_judge(const struct sample_how *how, size_t n,
                    const struct wire_tensor *tensor, struct err *err)
{
    const struct wire_tensor *total = find(SAMPLE_TOTAL, n, tensor);
    const char *lacks = NULL;

    if (!total || total->dtype != WIRE_I8 || total->count != 1 ||
        *(const int64_t *)total->data <= 0)
        return 0;
    if (!how->cache && !find(SAMPLE_CHAINS, n, tensor))
        lacks = SAMPLE_CHAINS;
    else if (sample_source_banks(how) && !find(SAMPLE_BANK, n, tensor))
        lacks = SAMPLE_BANK;
    if (!lacks)
        return 0;
    return err_set(err,
                   "the state of %jd steps has no '%s', which these negatives "
                   "rest on: hand back all that was kept, or say 'fresh' where "
                   "nothing has begun",
                   (intmax_t) * (const int64_t *)total->data, lacks);
}

int
sample_source_banks(const struct sample_how *how)
{
    return how->cache || how->moves;
}

int
sample_source_waits(const struct sample_how *how)
{
    return !how->cache && (how->moves || how->scores == SAMPLE_FRESH);
}

static size_t
length(const struct sample_how *how, const struct wire_pairs *p)
{
    return sample_emc2_length(how->proposals, p->n_views, p->n);
}

static size_t
burn(const struct sample_how *how, const struct wire_pairs *p)
{
    return how->burn < 0 ? length(how, p) / 2 : (size_t)how->burn;
}

static int
judge_chains(const struct sample_source *source, const struct wire_pairs *p,
             struct err *err)
{
    const struct sample_how *how = &source->how;
    const struct sample_chains *chains = &source->memory.chains;
    const int64_t A = p->variants.augmentations;
    const size_t views = A ? (size_t)A : p->n_views;

    if (chains->state && views != chains->views)
        return err_set(err, "%zu views where the chains are for %zu", views,
                       chains->views);
    if (A && how->proposals == SAMPLE_ALL4)
        return err_set(err, "all4 has one chain for each image: it is not for "
                            "fixed views");
    if (burn(how, p) >= length(how, p))
        return err_set(err,
                       "a burn-in of %zu leaves nothing to record: a batch of "
                       "%zu images makes %zu proposals",
                       burn(how, p), p->n, length(how, p));
    return 0;
}

static int
judge_size(const struct sample_source *source, const struct wire_pairs *p,
           struct err *err)
{
    const struct sample_how *how = &source->how;
    const double size = (double)source->memory.size;
    const int64_t A = p->variants.augmentations;
    const double chain =
        how->cache ? 0 : size * (A ? (double)A : (double)p->n_views);
    const double rows =
        size * (double)sample_memory_views(&p->variants, !how->cache);
    const double bank =
        sample_source_banks(how) ? rows * (double)p->dim * sizeof(float) : 0;

    if (fmax(chain * sizeof(struct sample_state), bank) > part_max)
        return err_set(err,
                       "chains of %.0f views, or a bank of %.0f rows of "
                       "%zu numbers, are more than the 1 GiB that a message "
                       "can hand over",
                       chain, rows, p->dim);
    return 0;
}

/* Refuse what cannot be done. */
static int
judge(const struct sample_source *source, const struct wire_pairs *p,
      struct err *err)
{
    const size_t v = p->n_views, b = p->n, n = v * b;
    const struct sample_bank *bank = &source->memory.bank;

    if (b < 2 || b > ROWS_MAX / v || n * (n + p->n_extra) > WEIGHTS_MAX)
        return err_set(err,
                       "%zu views of %zu images and %zu more: want 2 images or "
                       "more and %d rows at most",
                       v, b, p->n_extra, ROWS_MAX);
    if (bank->rows && bank->dim != p->dim)
        return err_set(err, "features of %zu numbers where the bank has %zu",
                       p->dim, bank->dim);
    if (source->how.cache && v != 2)
        return err_set(err, "%zu views: the cache wants 2", v);
    if (judge_size(source, p, err))
        return -1;
    return source->how.cache ? 0 : judge_chains(source, p, err);
}

static void
make_room(struct sample_source *x, size_t n, size_t columns, size_t dim)
{
    mem_grow(&x->state, &x->state_room, n, sizeof *x->state);
    mem_grow(&x->draw, &x->draw_room, n, sizeof *x->draw);
    mem_grow(&x->ids, &x->ids_room, n, sizeof *x->ids);
    mem_grow(&x->score, &x->score_room, n, sizeof *x->score);
    mem_grow(&x->positive, &x->positive_room, n, sizeof *x->positive);
    mem_grow(&x->scale, &x->scale_room, 2 * n, sizeof *x->scale);
    mem_grow(&x->z, &x->z_room, columns * dim, sizeof *x->z);
    mem_grow(&x->s, &x->s_room, n * columns, sizeof *x->s);
    mem_grow(&x->w, &x->w_room, n * columns, sizeof *x->w);
}

/* The similarities of anchors with all columns. */
static void
compare(struct sample_source *source, const struct wire_pairs *p)
{
    const size_t n = p->n_views * p->n, columns = n + p->n_extra, d = p->dim;

    memcpy(source->z, p->z, n * d * sizeof *p->z);
    if (p->n_extra)
        memcpy(source->z + n * d, p->extra_z,
               p->n_extra * d * sizeof *p->extra_z);
    num_gemm_nt(n, columns, d, 1, source->z, source->z, 0, source->s);
}

static void
add_value(struct wire_weights *weights, const char *name, double x)
{
    struct wire_metric *value = &weights->values[weights->n_values++];

    snprintf(value->name, sizeof value->name, "%s", name);
    value->value = x;
}

/* The row for which an extra sample was drawn, or n for none. */
static size_t
row_of(const struct wire_pairs *p, size_t e, size_t n)
{
    const int32_t *row = p->of_extra.hint_row;

    return row && row[e] >= 0 && (size_t)row[e] < n ? (size_t)row[e] : n;
}

/* Chains that walked stand where the hints say. */
static void
take_steps(const struct wire_pairs *p, size_t views, struct sample_state *state)
{
    const int32_t *view = p->of_extra.hint_view;
    const size_t n = p->n_views * p->n;

    for (size_t r = 0; r < n; r++)
        state[r] = (struct sample_state){-1, -1};
    for (size_t e = 0; view && e < p->n_extra; e++) {
        const size_t row = row_of(p, e, n);

        if (row < n && view[e] >= 0 && (size_t)view[e] < views)
            state[row] = (struct sample_state){p->extra_ids[e], view[e]};
    }
}

static void
weigh_chains(struct sample_source *source, const struct wire_pairs *p,
             struct wire_weights *weights)
{
    const struct sample_how *how = &source->how;
    const size_t v = p->n_views, b = p->n;
    const int64_t A = p->variants.augmentations;
    const size_t views = A ? (size_t)A : v;
    const struct sample_emc2_how visit = {
        .proposals = how->proposals,
        .scores = how->scores,
        .beta = p->beta,
        .burn = burn(how, p),
        .seed = how->seed,
        .epoch = (uint64_t)p->epoch,
        .step = (uint64_t)p->step,
    };
    const struct sample_batch batch = {
        .v = v,
        .b = b,
        .extra = p->n_extra,
        .ids = p->ids,
        .variants = p->variants.variant,
        .extra_ids = p->extra_ids,
        .extra_view = p->of_extra.view,
        .s = source->s,
    };
    struct sample_memory *memory = &source->memory;
    float *score = how->scores == SAMPLE_STALE ? source->score : NULL;
    struct sample_moves moves;

    if (!memory->chains.state)
        sample_chains_init(&memory->chains, memory->size, views);
    sample_chains_get(&memory->chains, v, b, p->ids, batch.variants,
                      source->state, score);
    if (how->moves)
        take_steps(p, views, source->state);
    moves = sample_emc2(&visit, &batch, source->state, score, source->w);
    sample_memory_keep(memory, views, v, b, p->ids, batch.variants,
                       source->state, score);
    weights->accepted = moves.accepted;
    weights->moved = (int64_t)moves.moved;
    weights->keep = &source->state[0].id;
    weights->keep_score = score;
    add_value(weights, "cold", (double)moves.cold / (double)(v * b));
}

/*
 * A row without a draw learns from its batch: weights are the softmax of the
 * rows of other images, both factors 1 - p_+ as in InfoNCE.
 */
static void
weigh_in_batch(struct sample_source *source, const struct wire_pairs *p,
               size_t r)
{
    const size_t b = p->n, n = 2 * b, columns = n + p->n_extra;
    const float *s = source->s + r * columns;
    float *w = source->w + r * columns;
    double top = -INFINITY, sum = 0, plus;

    for (size_t c = 0; c < n; c++)
        if (c % b != r % b)
            top = fmax(top, p->beta * s[c]);
    for (size_t c = 0; c < n; c++) {
        const double x = c % b == r % b ? 0 : exp(p->beta * s[c] - top);

        w[c] = (float)x;
        sum += x;
    }
    for (size_t c = 0; c < n; c++)
        w[c] = (float)(w[c] / sum);
    plus = p->beta * source->positive[r] - top - log(sum);
    source->scale[2 * r] = source->scale[2 * r + 1] =
        (float)(1 / (1 + exp(plus)));
}

static void
weigh_cache(struct sample_source *source, const struct wire_pairs *p,
            struct wire_weights *weights)
{
    const size_t b = p->n, n = 2 * b, columns = n + p->n_extra;
    const float *log_q = p->of_extra.hint_log_q;
    struct sample_draw *draw = source->draw;
    struct sample_cache_report report = {0};

    memset(source->w, 0, n * columns * sizeof *source->w);
    for (size_t r = 0; r < n; r++) {
        source->ids[r] = p->ids[r % b];
        source->positive[r] = source->s[r * columns + (r + b) % n];
        draw[r] = (struct sample_draw){-1, 0};
    }
    for (size_t e = 0; e < p->n_extra; e++) {
        const size_t i = row_of(p, e, b);

        if (i == b || !log_q)
            continue;
        draw[i] = draw[b + i] = (struct sample_draw){p->extra_ids[e], log_q[e]};
        source->w[i * columns + n + e] = 1;
        source->w[(b + i) * columns + n + e] = 1;
    }
    if (source->memory.bank.rows)
        report = sample_cache_weigh(p->beta, source->how.limit,
                                    &source->memory.bank, n, source->ids, p->z,
                                    source->positive, draw, source->scale);
    for (size_t r = 0; r < n; r++)
        if (draw[r].id < 0)
            weigh_in_batch(source, p, r);
    weights->accepted = 1;
    weights->scale = source->scale;
    add_value(weights, "importance", report.importance);
}

/* The features of a step go to the bank. */
static void
remember(struct sample_source *source, const struct wire_pairs *p,
         struct wire_weights *weights)
{
    struct sample_memory *memory = &source->memory;
    struct sample_bank *ahead = &source->ahead;
    struct sample_staleness stale;

    if (ahead->rows)
        sample_memory_feed(ahead, memory->total, p);
    sample_memory_push(memory, p, !source->how.cache);
    memory->total++;
    weights->bank = (int64_t)source->how.horizon;
    stale = sample_memory_advance(memory, memory->total - weights->bank);
    add_value(weights, "known",
              (double)memory->bank.known /
                  (double)(memory->bank.size * memory->bank.views));
    add_value(weights, "staleness", stale.mean);
    add_value(weights, "age", stale.age);
}

int
sample_source_weigh(struct sample_source *source, const struct wire_pairs *p,
                    struct wire_weights *weights, struct err *err)
{
    const size_t n = p->n_views * p->n, columns = n + p->n_extra;
    const struct sample_how *how = &source->how;

    if (judge(source, p, err))
        return -1;
    sample_memory_fit(&source->memory,
                      sample_memory_views(&p->variants, !how->cache));
    make_room(source, n, columns, p->dim);
    compare(source, p);
    *weights = (struct wire_weights){
        .id = p->id, .rows = n, .columns = columns, .w = source->w};
    for (size_t i = 0; i < p->of_extra.n_hint_values; i++)
        add_value(weights, p->of_extra.hint_values[i].name,
                  p->of_extra.hint_values[i].value);
    if (how->cache)
        weigh_cache(source, p, weights);
    else
        weigh_chains(source, p, weights);
    if (sample_source_banks(how))
        remember(source, p, weights);
    else
        source->memory.total++;
    return 0;
}
