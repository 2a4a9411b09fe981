#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "sample/source.h"
#include "util/mem.h"
#include "util/opt.h"

#include "exact.h"
#include "judge.h"
#include "outside.h"

void
sample_how_propose(struct sample_how *how, const char *word, size_t moves)
{
    // in the order of SAMPLE_PROPOSALS
    static const struct {
        enum sample_proposals proposals;
        int moves;
    } all[] = {{SAMPLE_ROW, 0},  {SAMPLE_ONCE, 0},  {SAMPLE_ALL4, 0},
               {SAMPLE_ONCE, 1}, {SAMPLE_EXACT, 0}, {SAMPLE_EXACT, 1}};
    const int i = opt_index(SAMPLE_PROPOSALS, word);

    REQUIRE(i >= 0 && (size_t)i < sizeof all / sizeof *all);
    how->proposals = all[i].proposals;
    how->moves = all[i].moves ? moves : 0;
}

static struct sample_memory_form
form_of(const struct sample_how *how, size_t size)
{
    return (struct sample_memory_form){
        .size = size,
        .most = how->most ? how->most : SAMPLE_STORE_MOST,
        .chains = !how->cache,
        .scores = !how->cache && how->scores == SAMPLE_STALE,
        .slots = !how->cache && how->proposals == SAMPLE_CROSS,
        .horizon = sample_source_banks(how) ? how->horizon
                                            : (size_t)sample_is_banked(how),
    };
}

void
sample_source_init(struct sample_source *source, const struct sample_how *how,
                   size_t size)
{
    const struct sample_memory_form form = form_of(how, size);

    REQUIRE(!sample_is_banked(how) ||
            (how->proposals == SAMPLE_CROSS && how->scores == SAMPLE_FRESH &&
             !how->moves));
    *source = (struct sample_source){
        .how = *how, .recall = mem_array(1, sizeof *source->recall)};
    sample_memory_init(&source->memory, &form, 0);
    if (how->cache && how->refresh > 0)
        sample_refresh_init(&source->refresh, size, how->refresh, how->seed);
}

void
sample_source_release(struct sample_source *source)
{
    sample_memory_release(&source->memory);
    sample_bank_release(&source->ahead);
    sample_refresh_release(&source->refresh);
    if (source->recall)
        sample_recall_release(source->recall);
    free(source->recall);
    free(source->state);
    free(source->stand);
    free(source->draw);
    free(source->ids);
    free(source->extra);
    free(source->view);
    free(source->epoch);
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

const char *
sample_source_name(const struct sample_how *how)
{
    if (how->cache)
        return "cache 1";
    if (how->moves)
        return "emc2 1 bank";
    if (sample_is_banked(how))
        return "emc2_bimodal 1 bank";
    if (how->proposals == SAMPLE_CROSS)
        return how->scores == SAMPLE_STALE ? "emc2_bimodal 1 stale"
                                           : "emc2_bimodal 1";
    return how->scores == SAMPLE_STALE ? "emc2 1 stale" : "emc2 1";
}

void
sample_source_begin(struct sample_source *source, int64_t total)
{
    const struct sample_memory_form form = source->memory.form;

    sample_memory_release(&source->memory);
    sample_memory_init(&source->memory, &form, total);
    sample_bank_release(&source->ahead);
}

int
sample_source_load(struct sample_source *source,
                   const struct sample_store *store, int64_t total,
                   struct err *err)
{
    const char *name = sample_source_name(&source->how);

    if (store->n && strcmp(store->sampler, name))
        return err_set(err,
                       "the state is that of sampler '%s', and this is '%s': "
                       "start it with the options that it had",
                       store->sampler, name);
    if (sample_memory_load(&source->memory, store, total, err))
        return -1;
    sample_bank_release(&source->ahead);
    return 0;
}

int
sample_source_banks(const struct sample_how *how)
{
    return how->cache || how->moves;
}

int
sample_source_waits(const struct sample_how *how)
{
    return !how->cache && !sample_is_banked(how) &&
           (how->moves || how->scores == SAMPLE_FRESH);
}

static void
make_room(struct sample_source *x, size_t n, size_t columns)
{
    mem_grow(&x->draw, &x->draw_room, n, sizeof *x->draw);
    mem_grow(&x->ids, &x->ids_room, n, sizeof *x->ids);
    mem_grow(&x->positive, &x->positive_room, n, sizeof *x->positive);
    mem_grow(&x->scale, &x->scale_room, 2 * n, sizeof *x->scale);
    mem_grow(&x->s, &x->s_room, n * columns, sizeof *x->s);
    mem_grow(&x->w, &x->w_room, n * columns, sizeof *x->w);
}

/* The similarities of anchors with all columns; z is copied only where what is
 * besides does not lie behind the anchors. */
static void
compare(struct sample_source *source, const struct sample_step *step)
{
    const size_t n = step->v * step->b, columns = n + step->extra;
    const size_t d = step->dim;
    const float *z = step->z;

    if (step->extra && step->extra_z != z + n * d) {
        mem_grow(&source->z, &source->z_room, columns * d, sizeof *source->z);
        memcpy(source->z, z, n * d * sizeof *z);
        memcpy(source->z + n * d, step->extra_z, step->extra * d * sizeof *z);
        z = source->z;
    }
    num_gemm_nt(n, columns, d, 1, z, z, 0, source->s);
}

/* The same where what is besides is a bank's: a chain looks at its own state
 * alone.  The products of the batch are packed first, and then moved apart. */
static void
compare_banked(struct sample_source *source, const struct sample_step *step)
{
    const struct sample_recall *recall = source->recall;
    const size_t n = step->v * step->b, columns = n + step->extra;
    const size_t d = step->dim;

    num_gemm_nt(n, n, d, 1, step->z, step->z, 0, source->s);
    for (size_t r = n; r-- > 0;) {
        const size_t own = sample_recall_find(recall, source->state[r]);
        float *row = source->s + r * columns;

        memmove(row, source->s + r * n, n * sizeof *row);
        memset(row + n, 0, step->extra * sizeof *row);
        if (own < recall->n)
            row[n + own] =
                (float)num_dot(d, step->z + r * d, recall->z + own * d);
    }
}

static void
add_value(struct sample_weights *weights, const char *name, double x)
{
    REQUIRE(weights->n_values < SAMPLE_VALUES_MAX);
    weights->values[weights->n_values++] = (struct sample_value){name, x};
}

/* The row for which an extra sample was drawn, or n for none. */
static size_t
row_of(const struct sample_step *step, size_t e, size_t n)
{
    const int32_t *row = step->hints.row;

    return row && row[e] >= 0 && (size_t)row[e] < n ? (size_t)row[e] : n;
}

/* Chains that walked stand where the hints say. */
static void
take_steps(const struct sample_step *step, struct sample_state *state)
{
    const size_t n = step->v * step->b, views = sample_step_views(step);
    const int32_t *view = step->hints.view;

    for (size_t r = 0; r < n; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    for (size_t e = 0; view && e < step->extra; e++) {
        const size_t row = row_of(step, e, n);

        if (row < n && view[e] >= 0 && (size_t)view[e] < views)
            state[row] = (struct sample_state){
                step->extra_ids[e], view[e],
                step->extra_epoch ? step->extra_epoch[e] : 0};
    }
}

/* The epoch of the views of a batch, as states name it.  Fixed views are of
 * none, and what has a score of its own, or a bank's, is not shown again. */
static int64_t
epoch_of(const struct sample_source *source, const struct sample_step *step)
{
    return step->fixed || source->how.scores == SAMPLE_STALE ||
                   sample_is_banked(&source->how)
               ? 0
               : (int64_t)step->epoch;
}

static struct sample_batch
batch_of(const struct sample_source *source, const struct sample_step *step)
{
    return (struct sample_batch){
        .v = step->v,
        .b = step->b,
        .extra = step->extra,
        .epoch = epoch_of(source, step),
        .ids = step->ids,
        .variants = step->variants,
        .fixed = step->fixed,
        .extra_ids = step->extra_ids,
        .extra_view = step->extra_view,
        .extra_epoch = step->extra_epoch,
        .s = source->s,
    };
}

/* Where the chains of a step stand. */
static void
find_states(struct sample_source *source, const struct sample_step *step)
{
    const size_t n = step->v * step->b;
    struct sample_chains *chains = &source->memory.chains;

    mem_grow(&source->state, &source->state_room, n, sizeof *source->state);
    mem_grow(&source->score, &source->score_room, n, sizeof *source->score);
    if (!chains->state)
        sample_chains_init(chains, source->memory.form.size,
                           sample_step_views(step));
    sample_chains_get(chains, step->v, step->b, step->ids, step->variants,
                      source->state, source->score);
    if (source->how.moves)
        take_steps(step, source->state);
}

/* The step as if what the bank has of its states had come along with it. */
static struct sample_step
with_recalled(struct sample_source *source, const struct sample_step *step)
{
    struct sample_recall *recall = source->recall;
    struct sample_step full = *step;

    sample_recall(recall, &source->memory.bank, step, source->state);
    full.extra = recall->n;
    full.extra_ids = recall->ids;
    full.extra_view = recall->view;
    full.extra_z = recall->z;
    return full;
}

static void
weigh_chains(struct sample_source *source, const struct sample_step *step,
             struct sample_weights *weights)
{
    const struct sample_how *how = &source->how;
    const size_t v = step->v, b = step->b;
    const struct sample_emc2_how visit = {
        .proposals = how->proposals,
        .scores = how->scores,
        .beta = step->beta,
        .burn = sample_burn(how, step),
        .seed = how->seed,
        .epoch = step->epoch,
        .step = step->step,
    };
    const struct sample_batch batch = batch_of(source, step);
    float *score = how->scores == SAMPLE_STALE ? source->score : NULL;
    struct sample_moves moves;

    moves = how->proposals == SAMPLE_EXACT
                ? sample_exact(&visit, &batch, source->state, source->w)
                : sample_emc2(&visit, &batch, source->state, score, source->w);
    weights->accepted = moves.accepted;
    weights->moved = moves.moved;
    weights->partial = score != NULL;
    add_value(weights, "cold", (double)moves.cold / (double)(v * b));
}

/*
 * A row without a draw learns from its batch: weights are the softmax of the
 * rows of other images, both factors 1 - p_+ as in InfoNCE.
 */
static void
weigh_in_batch(struct sample_source *source, const struct sample_step *step,
               size_t r)
{
    const size_t b = step->b, n = 2 * b, columns = n + step->extra;
    const float *s = source->s + r * columns;
    float *w = source->w + r * columns;
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
    plus = step->beta * source->positive[r] - top - log(sum);
    source->scale[2 * r] = source->scale[2 * r + 1] =
        (float)(1 / (1 + exp(plus)));
}

static void
weigh_cache(struct sample_source *source, const struct sample_step *step,
            struct sample_weights *weights)
{
    const size_t b = step->b, n = 2 * b, columns = n + step->extra;
    const float *log_q = step->hints.log_q;
    struct sample_draw *draw = source->draw;
    struct sample_cache_report report = {0};

    memset(source->w, 0, n * columns * sizeof *source->w);
    for (size_t r = 0; r < n; r++) {
        source->ids[r] = step->ids[r % b];
        source->positive[r] = source->s[r * columns + (r + b) % n];
        draw[r] = (struct sample_draw){-1, 0};
    }
    for (size_t e = 0; log_q && e < step->extra; e++) {
        const size_t i = row_of(step, e, b);

        if (i == b)
            continue;
        draw[i] = draw[b + i] =
            (struct sample_draw){step->extra_ids[e], log_q[e]};
        source->w[i * columns + n + e] = 1;
        source->w[(b + i) * columns + n + e] = 1;
    }
    if (source->memory.bank.rows)
        report = sample_cache_weigh(
            step->beta, source->how.limit, &source->memory.bank, n, source->ids,
            step->z, source->positive, draw, source->scale);
    for (size_t r = 0; r < n; r++)
        if (draw[r].id < 0)
            weigh_in_batch(source, step, r);
    weights->accepted = 1;
    weights->scale = source->scale;
    add_value(weights, "importance", report.importance);
}

/* The step goes to the memory, and to the bank that is ahead of it. */
static void
remember(struct sample_source *source, const struct sample_step *step,
         struct sample_weights *weights)
{
    const struct sample_how *how = &source->how;
    struct sample_memory *memory = &source->memory;
    const struct sample_bank *bank = &memory->bank;
    struct sample_staleness stale;

    if (source->ahead.rows)
        sample_memory_feed(&source->ahead, memory->total, step,
                           memory->form.chains);
    stale = sample_memory_step(
        memory, step, how->cache ? NULL : source->state,
        how->scores == SAMPLE_STALE && !how->cache ? source->score : NULL);
    weights->sampler = sample_source_name(how);
    weights->n_tables = sample_memory_rows(memory, weights->tables);
    if (!memory->form.horizon)
        return;
    add_value(weights, "known",
              (double)bank->known / (double)(bank->size * bank->views));
    add_value(weights, "staleness", stale.mean);
    add_value(weights, "age", stale.age);
}

int
sample_source_weigh(struct sample_source *source,
                    const struct sample_step *step,
                    struct sample_weights *weights, struct err *err)
{
    const size_t n = step->v * step->b;
    const struct sample_how *how = &source->how;
    struct sample_step full = *step;

    if (sample_judge(source, step, err))
        return -1;
    if (!how->cache)
        find_states(source, step);
    if (sample_is_banked(how))
        full = with_recalled(source, step);
    make_room(source, n, n + full.extra);
    if (sample_is_banked(how))
        compare_banked(source, &full);
    else
        compare(source, &full);
    *weights = (struct sample_weights){.rows = n,
                                       .columns = n + full.extra,
                                       .w = source->w,
                                       .s = source->s,
                                       .n_outside = full.extra - step->extra,
                                       .outside = source->recall->z};
    if (how->cache)
        weigh_cache(source, &full, weights);
    else
        weigh_chains(source, &full, weights);
    remember(source, step, weights);
    return 0;
}
