#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/emc2.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

#include "scan.h"

/* A batch on its way through. */
struct visit {
    const struct sample_emc2_how *how;
    const struct sample_batch *batch;
    size_t n, columns, length; /* anchors, columns, R */
    struct sample_state *state;
    float *keep, *w; /* scores of the states, weights */

    /* for one row */
    uint32_t *drawn; /* [3 length] random numbers */
    struct sample_scanner scanner;
    double *score;   /* [columns] beta s, with luck from outside */
    uint32_t *count; /* [columns], as well */

    size_t accepted, outside, dropped, moved, cold;
};

size_t
sample_emc2_length(enum sample_proposals proposals, size_t v, size_t b)
{
    const int each = proposals == SAMPLE_ONCE || proposals == SAMPLE_CROSS ||
                     proposals == SAMPLE_EXACT_CROSS;

    return (each ? 1 : v) * (b - 1);
}

/* Record a chain, `times` times where it sits. */
static void
record_at(struct visit *visit, long at, size_t times, float *w)
{
    if (at == SAMPLE_OUTSIDE)
        visit->dropped += times;
    else
        w[at] += (float)times;
    if (at == SAMPLE_OUTSIDE || (size_t)at >= visit->n)
        visit->outside += times;
}

/* The proposals from `from` to before `to`; w is counted up, or NULL. */
static void
scan_proposals(struct visit *visit, const float *s, size_t from, size_t to,
               struct sample_chain *chain, float *w)
{
    struct sample_scanner *scanner = &visit->scanner;
    long at = chain->at;
    const size_t n = sample_scanner_scan(scanner, s, from, to, chain);

    for (size_t i = 0; w && i <= n; i++) {
        const size_t next = i < n ? scanner->taken[i] : to;

        record_at(visit, at, next - from, w);
        at = i < n ? (long)scanner->column[next] : at;
        from = next;
    }
}

/* The same, with luck from outside. */
static void
scan_luck(struct visit *visit, const float *s, const double *luck,
          struct sample_chain *chain, float *w)
{
    const size_t burn = visit->how->burn, kept = visit->length - burn;
    const uint32_t *column = visit->scanner.column;
    size_t dropped;

    for (size_t c = 0; c < visit->columns; c++) {
        visit->score[c] = sample_score(visit->how->beta, s[c]);
        visit->count[c] = 0;
    }
    sample_scan(burn, column, luck, visit->score, chain, NULL);
    dropped = sample_scan(kept, column + burn, luck + burn, visit->score, chain,
                          visit->count);
    record_at(visit, SAMPLE_OUTSIDE, dropped, w);
    for (size_t c = 0; c < visit->columns; c++)
        record_at(visit, (long)c, visit->count[c], w);
}

int
sample_state_same(struct sample_state a, struct sample_state b)
{
    return a.id == b.id && a.view == b.view && a.epoch == b.epoch;
}

struct sample_state
sample_batch_state(const struct sample_batch *batch, size_t column)
{
    const size_t n = batch->v * batch->b, extra = column - n;

    if (column < n)
        return (struct sample_state){batch->ids[column % batch->b],
                                     batch->variants
                                         ? batch->variants[column]
                                         : (int64_t)(column / batch->b),
                                     batch->epoch};
    return (struct sample_state){
        batch->extra_ids[extra],
        batch->extra_view ? batch->extra_view[extra] : -1,
        batch->extra_epoch ? batch->extra_epoch[extra] : 0};
}

/* 1 when a column of that sample is this state; or counts as it, where nothing
 * is: a new view. */
static int
is_column_at(const struct sample_batch *batch, size_t column,
             struct sample_state state, int anew)
{
    const struct sample_state at = sample_batch_state(batch, column);

    if (!anew)
        return sample_state_same(at, state);
    return at.view < 0 || (column < batch->v * batch->b && !batch->variants &&
                           at.view == state.view);
}

static long
search_column(const struct sample_batch *batch, size_t own,
              struct sample_state state, int anew)
{
    const size_t b = batch->b, n = batch->v * b;

    for (size_t i = 0; i < b; i++) {
        if (batch->ids[i] != state.id || i == own)
            continue;
        for (size_t c = i; c < n; c += b)
            if (is_column_at(batch, c, state, anew))
                return (long)c;
    }
    if (state.id == batch->ids[own])
        return SAMPLE_OUTSIDE;
    for (size_t e = 0; e < batch->extra; e++)
        if (batch->extra_ids[e] == state.id &&
            is_column_at(batch, n + e, state, anew))
            return (long)(n + e);
    return SAMPLE_OUTSIDE;
}

/* The column of a state of a chain of image `own`, or SAMPLE_OUTSIDE. */
static long
column_of_state(const struct sample_batch *batch, size_t own,
                struct sample_state state)
{
    long at;

    if (state.id < 0)
        return SAMPLE_OUTSIDE;
    at = search_column(batch, own, state, 0);
    return at == SAMPLE_OUTSIDE ? search_column(batch, own, state, 1) : at;
}

static const float *
row_of(const struct visit *visit, size_t row)
{
    return visit->batch->s + row * visit->columns;
}

/* Where the chain of a row begins its visit. */
static struct sample_chain
begin_visit(struct visit *visit, size_t row)
{
    const struct sample_state state = visit->state[row];
    struct sample_chain chain = {SAMPLE_OUTSIDE, -INFINITY, 0};

    switch (visit->how->scores) {
    case SAMPLE_FRESH:
        chain.at = column_of_state(visit->batch, row % visit->batch->b, state);
        if (chain.at != SAMPLE_OUTSIDE)
            chain.score =
                sample_score(visit->how->beta, row_of(visit, row)[chain.at]);
        break;
    case SAMPLE_STALE:
        if (state.id >= 0)
            chain.score = visit->keep[row];
        break;
    case SAMPLE_RESET:
        break;
    }
    visit->cold += chain.score == -INFINITY;
    return chain;
}

/* Hand a chain's state out with a row. */
static void
end_visit(struct visit *visit, const struct sample_chain *chain, size_t row)
{
    if (chain->at != SAMPLE_OUTSIDE && (size_t)chain->at < visit->n)
        visit->state[row] = sample_batch_state(visit->batch, (size_t)chain->at);
    if (visit->keep)
        visit->keep[row] = (float)fmin(fmax(chain->score, -FLT_MAX), FLT_MAX);
}

/* The rows of images but `own`, of one view or of all, in their order. */
static UTIL_CLONES(void, list_others,
                   (size_t length, size_t b, size_t first, size_t own,
                    uint32_t *column),
                   (length, b, first, own, column))
{
    for (size_t n = 0; n < length; n += b - 1, first += b)
        for (size_t i = 0; i < b - 1; i++)
            column[n + i] = (uint32_t)first + (uint32_t)i + (i >= own);
}

/* Put them in random order, by the first of each `stride` numbers. */
static void
shuffle_columns(size_t length, size_t stride, const uint32_t *drawn,
                uint32_t *column)
{
    for (size_t k = 0; k < length; k++) {
        const uint64_t bits = drawn[k * stride];
        const size_t pick = k + (size_t)(bits * (length - k) >> 32);
        const uint32_t swap = column[pick];

        column[pick] = column[k];
        column[k] = swap;
    }
}

/*
 * The proposals of a visit to a row, and their luck.  The numbers drawn are
 * 32 bits each: a choice among R is even within R / 2^32.
 */
static void
propose_columns(struct visit *visit, size_t row)
{
    const struct sample_emc2_how *how = visit->how;
    const size_t b = visit->batch->b, v = visit->batch->v;
    const size_t length = visit->length;
    const size_t first = how->proposals == SAMPLE_CROSS && row < b ? b : 0;
    const size_t chosen = how->proposals != SAMPLE_ALL4;
    const size_t viewed = how->proposals == SAMPLE_ONCE, lucky = !!how->luck;
    const size_t each = chosen + viewed + !lucky;
    uint32_t *drawn = visit->drawn, *column = visit->scanner.column;
    uint32_t *bits = visit->scanner.bits;
    struct rng rng;

    list_others(length, b, first, row % b, column);
    rng_init(&rng, how->seed, RNG_NEGATIVES, how->step, how->epoch, row);
    rng_many(&rng, each * length, drawn);
    if (chosen)
        shuffle_columns(length, each, drawn, column);
    for (size_t k = 0; viewed && k < length; k++)
        column[k] += (uint32_t)(b * (drawn[each * k + 1] * (uint64_t)v >> 32));
    for (size_t k = 0; !lucky && k < length; k++)
        bits[k] = drawn[each * k + each - 1];
}

/* The share of a visit that was recorded at each column. */
static UTIL_CLONES(void, divide_by_kept, (size_t n, size_t kept, float *w),
                   (n, kept, w))
{
    for (size_t c = 0; c < n; c++)
        w[c] /= (float)kept;
}

/* Move a chain by one row, and weigh the row. */
static void
move_chain(struct visit *visit, struct sample_chain *chain, size_t row)
{
    const struct sample_emc2_how *how = visit->how;
    const size_t length = visit->length, burn = how->burn;
    const float *s = row_of(visit, row);
    float *w = visit->w + row * visit->columns;

    propose_columns(visit, row);
    memset(w, 0, visit->columns * sizeof *w);
    if (how->luck) {
        scan_luck(visit, s, how->luck + row * length, chain, w);
    } else {
        sample_scanner_bound(&visit->scanner, s);
        scan_proposals(visit, s, 0, burn, chain, NULL);
        scan_proposals(visit, s, burn, length, chain, w);
    }
    divide_by_kept(visit->columns, length - burn, w);
}

/* A chain of a row's own. */
static void
visit_row(struct visit *visit, size_t row)
{
    struct sample_chain chain = begin_visit(visit, row);
    const long from = chain.at;

    move_chain(visit, &chain, row);
    end_visit(visit, &chain, row);
    visit->moved += chain.at != from;
    visit->accepted += chain.accepted;
}

/* A chain that all views of image i move, one after the other. */
static void
visit_image(struct visit *visit, size_t i)
{
    struct sample_chain chain = {SAMPLE_OUTSIDE, -INFINITY, 0};
    long from = SAMPLE_OUTSIDE;

    for (size_t row = i; row < visit->n; row += visit->batch->b) {
        if (row == i) {
            chain = begin_visit(visit, row);
            from = chain.at;
        } else if (visit->how->scores != SAMPLE_STALE) {
            chain.score =
                sample_score(visit->how->beta, row_of(visit, row)[chain.at]);
        }
        move_chain(visit, &chain, row);
    }
    for (size_t row = i; row < visit->n; row += visit->batch->b)
        end_visit(visit, &chain, row);
    visit->moved += chain.at != from;
    visit->accepted += chain.accepted;
}

static void
visit_open(struct visit *visit)
{
    const struct sample_emc2_how *how = visit->how;
    const struct sample_batch *batch = visit->batch;
    const size_t columns = how->luck ? visit->columns : 0;

    REQUIRE(batch->v >= 1 && batch->b >= 2 && visit->n <= 65536);
    REQUIRE(how->beta >= 0 && isfinite(how->beta));
    REQUIRE(how->proposals < SAMPLE_EXACT && how->burn < visit->length);
    REQUIRE(how->scores != SAMPLE_STALE || visit->keep);
    REQUIRE(how->proposals != SAMPLE_ALL4 || !batch->variants);
    REQUIRE(how->proposals != SAMPLE_CROSS || batch->v == 2);
    sample_scanner_init(&visit->scanner, visit->how->beta, visit->length);
    visit->drawn = mem_array(3 * visit->length, sizeof *visit->drawn);
    visit->score = mem_array(columns, sizeof *visit->score);
    visit->count = mem_array(columns, sizeof *visit->count);
}

static void
visit_close(struct visit *visit)
{
    sample_scanner_release(&visit->scanner);
    free(visit->drawn);
    free(visit->score);
    free(visit->count);
}

struct sample_moves
sample_emc2(const struct sample_emc2_how *how, const struct sample_batch *batch,
            struct sample_state *state, float *score, float *w)
{
    const size_t v = batch->v, b = batch->b, n = v * b;
    struct visit visit = {
        .how = how,
        .batch = batch,
        .n = n,
        .columns = n + batch->extra,
        .length = sample_emc2_length(how->proposals, v, b),
        .state = state,
        .keep = score,
        .w = w,
    };
    double proposals = (double)n * (double)visit.length, kept;

    visit_open(&visit);
    if (how->proposals == SAMPLE_ALL4)
        for (size_t i = 0; i < b; i++)
            visit_image(&visit, i);
    else
        for (size_t row = 0; row < n; row++)
            visit_row(&visit, row);
    visit_close(&visit);
    kept = (double)n * (double)(visit.length - how->burn);
    return (struct sample_moves){
        .accepted = (double)visit.accepted / proposals,
        .outside = (double)visit.outside / kept,
        .dropped = (double)visit.dropped / kept,
        .moved = visit.moved,
        .cold = visit.cold,
    };
}
