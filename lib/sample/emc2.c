#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/emc2.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

/* -log U is known to a part of this size by the first bits of U. */
enum { PARTS = 64 };

/* A proposal by order(): its beta s, what that can be at least and at most for
 * a chain to accept. */
struct bounds {
    int64_t to, sure, reach;
};

/* A batch on its way through. */
struct visit {
    const struct sample_emc2_how *how;
    const struct sample_batch *batch;
    size_t n, columns, length; /* anchors, columns, R */
    struct sample_state *state;
    float *keep, *w; /* scores of the states, weights */

    /* for one row */
    uint32_t *drawn;         /* [3 length] random numbers */
    uint32_t *column, *bits; /* [length] proposals, and their U */
    struct bounds *bounds;   /* [length] of proposals */
    double part[PARTS];      /* of -log U, see bounds_of() */
    double *score;           /* [columns] beta s */
    uint32_t *count;         /* [columns] */

    size_t accepted, outside, dropped, moved, cold;
};

size_t
sample_emc2_length(enum sample_proposals proposals, size_t v, size_t b)
{
    const int each = proposals == SAMPLE_ONCE || proposals == SAMPLE_CROSS;

    return (each ? 1 : v) * (b - 1);
}

/* Record the chain where it sits; returns how often that is nowhere. */
static size_t
record(const struct sample_chain *chain, size_t times, uint32_t *count)
{
    if (chain->at == SAMPLE_OUTSIDE)
        return times;
    if (count)
        count[chain->at] += (uint32_t)times;
    return 0;
}

/* accept iff U < exp(l' - l), and -log U is Exp(1): iff l' - log U > l. */
size_t
sample_scan(size_t length, const uint32_t *column, const double *luck,
            const double *score, struct sample_chain *chain, uint32_t *count)
{
    size_t outside = 0, since = 0; // recorded up to here

    for (size_t k = 0; k < length; k++) {
        const uint32_t c = column[k];

        if (!(score[c] + luck[k] > chain->score))
            continue;
        outside += record(chain, k - since, count);
        since = k;
        chain->at = (long)c;
        chain->score = score[c];
        chain->accepted++;
    }
    return outside + record(chain, length - since, count);
}

/* Bits to -log U, U in (0,1). */
static double
luck_of(uint32_t bits)
{
    return -log((bits + 0.5) * 0x1p-32);
}

/* The largest -log m for m in [1 + i / PARTS, 1 + (i + 1) / PARTS). */
static void
parts_init(double part[PARTS])
{
    for (int i = 0; i < PARTS; i++)
        part[i] = -log(1 + (double)i / PARTS);
}

/* A whole number that is larger for a larger x, and x of it.  Chains compare
 * and choose whole numbers: a comparison of floats takes three times as long.
 */
static inline int64_t
order(double x)
{
    int64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits ^ (-(int64_t)(bits < 0) & INT64_MAX);
}

static double
number_of(int64_t order)
{
    const int64_t bits = order ^ (-(int64_t)(order < 0) & INT64_MAX);
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * What beta s can be for a chain to accept, by U = m 2^(e - 32) of which e and
 * the first bits of m are looked at: above `reach` none does, and up to `sure`
 * each; both with a little more than rounding takes.  -log U is at most
 * 1 / PARTS less than what `reach` has of it.
 */
UTIL_CLONES static void
bounds_of(size_t length, const uint32_t *column, const uint32_t *bits,
          const double *score, const double part[PARTS], struct bounds *bounds)
{
    for (size_t k = 0; k < length; k++) {
        const double to = score[column[k]], u = bits[k] + 0.5;
        const double size = to < 0 ? -to : to;
        double reach, least;
        uint64_t word;

        memcpy(&word, &u, sizeof word);
        reach = to + part[word >> 46 & (PARTS - 1)] +
                0.69314718055994531 * (double)(1055 - (int)(word >> 52)) +
                1e-9 * (1 + size);
        least = reach - 1. / PARTS - 2e-9 * (1 + size);
        bounds[k] = (struct bounds){order(to), order(least > to ? least : to),
                                    order(reach)};
    }
}

/* sample_scan() by the bits of U: 1 when beta s' - log U > beta s.  Each second
 * proposal may be accepted, so there is a branch only where a logarithm
 * decides. */
static size_t
scan(size_t length, const uint32_t *column, const uint32_t *bits,
     const struct bounds *bounds, struct sample_chain *chain, uint32_t *count)
{
    int64_t score = order(chain->score), at = chain->at;
    size_t outside = 0, accepted = 0;

    for (size_t k = 0; k < length; k++) {
        const struct bounds f = bounds[k];
        int64_t yes = score <= f.sure;

        if (yes != (score <= f.reach))
            yes = number_of(f.to) + luck_of(bits[k]) > number_of(score);
        score = yes ? f.to : score;
        at = yes ? (int64_t)column[k] : at;
        accepted += (size_t)yes;
        outside += at == SAMPLE_OUTSIDE;
        count[at]++;
    }
    chain->score = number_of(score);
    chain->at = (long)at;
    chain->accepted += accepted;
    return outside;
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
is_at(const struct sample_batch *batch, size_t column,
      struct sample_state state, int anew)
{
    const struct sample_state at = sample_batch_state(batch, column);

    if (!anew)
        return sample_state_same(at, state);
    return at.view < 0 || (column < batch->v * batch->b && !batch->variants &&
                           at.view == state.view);
}

static long
search(const struct sample_batch *batch, size_t own, struct sample_state state,
       int anew)
{
    const size_t b = batch->b, n = batch->v * b;

    for (size_t i = 0; i < b; i++) {
        if (batch->ids[i] != state.id || i == own)
            continue;
        for (size_t c = i; c < n; c += b)
            if (is_at(batch, c, state, anew))
                return (long)c;
    }
    if (state.id == batch->ids[own])
        return SAMPLE_OUTSIDE;
    for (size_t e = 0; e < batch->extra; e++)
        if (batch->extra_ids[e] == state.id && is_at(batch, n + e, state, anew))
            return (long)(n + e);
    return SAMPLE_OUTSIDE;
}

/* The column of a state of a chain of image `own`, or SAMPLE_OUTSIDE. */
static long
column_of(const struct sample_batch *batch, size_t own,
          struct sample_state state)
{
    long at;

    if (state.id < 0)
        return SAMPLE_OUTSIDE;
    at = search(batch, own, state, 0);
    return at == SAMPLE_OUTSIDE ? search(batch, own, state, 1) : at;
}

/* beta s of a row; finite, so that a cold chain takes whatever is proposed. */
UTIL_CLONES static void
score_all(size_t n, double beta, const float *s, double *score)
{
    for (size_t c = 0; c < n; c++) {
        const double x = beta * s[c], low = x > -DBL_MAX ? x : -DBL_MAX;

        score[c] = low < DBL_MAX ? low : DBL_MAX;
    }
}

static void
score_row(const struct visit *visit, size_t row)
{
    score_all(visit->columns, visit->how->beta,
              visit->batch->s + row * visit->columns, visit->score);
}

/* Where the chain of a row begins its visit. */
static struct sample_chain
begin(struct visit *visit, size_t row)
{
    const struct sample_state state = visit->state[row];
    struct sample_chain chain = {SAMPLE_OUTSIDE, -INFINITY, 0};

    switch (visit->how->scores) {
    case SAMPLE_FRESH:
        chain.at = column_of(visit->batch, row % visit->batch->b, state);
        if (chain.at != SAMPLE_OUTSIDE)
            chain.score = visit->score[chain.at];
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
end(struct visit *visit, const struct sample_chain *chain, size_t row)
{
    if (chain->at != SAMPLE_OUTSIDE && (size_t)chain->at < visit->n)
        visit->state[row] = sample_batch_state(visit->batch, (size_t)chain->at);
    if (visit->keep)
        visit->keep[row] = (float)fmin(fmax(chain->score, -FLT_MAX), FLT_MAX);
}

/* Put what comes k-th, by chance, in its place. */
static void
choose(uint32_t *x, size_t k, size_t length, uint32_t bits)
{
    const size_t pick = k + (size_t)((uint64_t)bits * (length - k) >> 32);
    const uint32_t swap = x[pick];

    x[pick] = x[k];
    x[k] = swap;
}

/*
 * The proposals of a visit to a row, and their luck.  The numbers drawn are
 * 32 bits each: a choice among R is even within R / 2^32.
 */
static void
propose(struct visit *visit, size_t row)
{
    const struct sample_emc2_how *how = visit->how;
    const size_t b = visit->batch->b, v = visit->batch->v;
    const size_t length = visit->length, own = row % b;
    const int chosen = how->proposals != SAMPLE_ALL4;
    const int viewed = how->proposals == SAMPLE_ONCE, lucky = how->luck != NULL;
    uint32_t *column = visit->column, *next = visit->drawn;
    struct rng rng;
    size_t n = 0, c = 0;

    rng_init(&rng, how->seed, RNG_NEGATIVES, how->step, how->epoch, row);
    rng_many(&rng, (size_t)(chosen + viewed + !lucky) * length, next);
    if (how->proposals == SAMPLE_CROSS && row < b)
        c = b;
    for (size_t i = 0; n < length; c++, i = i + 1 < b ? i + 1 : 0)
        if (i != own)
            column[n++] = (uint32_t)c;
    for (size_t k = 0; k < length; k++) {
        if (chosen)
            choose(column, k, length, *next++);
        if (viewed)
            column[k] += (uint32_t)(b * (*next++ * (uint64_t)v >> 32));
        visit->bits[k] = lucky ? 0 : *next++;
    }
}

/* The share of a visit that was recorded at each column. */
UTIL_CLONES static void
weigh(size_t n, const uint32_t *count, size_t kept, float *w)
{
    for (size_t c = 0; c < n; c++)
        w[c] = (float)count[c] / (float)kept;
}

/* Move a chain by one row, and weigh the row. */
static void
move(struct visit *visit, struct sample_chain *chain, size_t row)
{
    const size_t burn = visit->how->burn, kept = visit->length - burn;
    const uint32_t *column = visit->column, *bits = visit->bits;
    const double *luck = visit->how->luck, *score = visit->score;
    float *w = visit->w + row * visit->columns;
    size_t dropped, outside;

    propose(visit, row);
    memset(visit->count, 0, visit->columns * sizeof *visit->count);
    if (luck) {
        luck += row * visit->length;
        sample_scan(burn, column, luck, score, chain, NULL);
        dropped = sample_scan(kept, column + burn, luck + burn, score, chain,
                              visit->count);
    } else {
        bounds_of(visit->length, column, bits, score, visit->part,
                  visit->bounds);
        scan(burn, column, bits, visit->bounds, chain, visit->count);
        memset(visit->count - 1, 0,
               (visit->columns + 1) * sizeof *visit->count);
        dropped = scan(kept, column + burn, bits + burn, visit->bounds + burn,
                       chain, visit->count);
    }
    outside = dropped;
    for (size_t c = visit->n; c < visit->columns; c++)
        outside += visit->count[c];
    weigh(visit->columns, visit->count, kept, w);
    visit->dropped += dropped;
    visit->outside += outside;
}

/* A chain of a row's own. */
static void
visit_row(struct visit *visit, size_t row)
{
    struct sample_chain chain;
    long from;

    score_row(visit, row);
    chain = begin(visit, row);
    from = chain.at;
    move(visit, &chain, row);
    end(visit, &chain, row);
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
        score_row(visit, row);
        if (row == i) {
            chain = begin(visit, row);
            from = chain.at;
        } else if (visit->how->scores != SAMPLE_STALE) {
            chain.score = visit->score[chain.at];
        }
        move(visit, &chain, row);
    }
    for (size_t row = i; row < visit->n; row += visit->batch->b)
        end(visit, &chain, row);
    visit->moved += chain.at != from;
    visit->accepted += chain.accepted;
}

static void
visit_check(const struct visit *visit)
{
    const struct sample_emc2_how *how = visit->how;
    const struct sample_batch *batch = visit->batch;

    REQUIRE(batch->v >= 1 && batch->b >= 2 && visit->n <= 65536);
    REQUIRE(how->beta >= 0 && isfinite(how->beta));
    REQUIRE(how->proposals != SAMPLE_EXACT && how->burn < visit->length);
    REQUIRE(how->scores != SAMPLE_STALE || visit->keep);
    REQUIRE(how->proposals != SAMPLE_ALL4 || !batch->variants);
    REQUIRE(how->proposals != SAMPLE_CROSS || batch->v == 2);
}

static void
visit_open(struct visit *visit)
{
    visit_check(visit);
    parts_init(visit->part);
    visit->drawn = mem_array(3 * visit->length, sizeof *visit->drawn);
    visit->bounds = mem_array(visit->length, sizeof *visit->bounds);
    visit->column = mem_array(visit->length, sizeof *visit->column);
    visit->bits = mem_array(visit->length, sizeof *visit->bits);
    visit->score = mem_array(visit->columns, sizeof *visit->score);
    visit->count = mem_array(visit->columns + 1, sizeof *visit->count);
    visit->count++; // [SAMPLE_OUTSIDE] is there, too
}

static void
visit_close(struct visit *visit)
{
    free(visit->drawn);
    free(visit->bounds);
    free(visit->column);
    free(visit->bits);
    free(visit->score);
    free(visit->count - 1);
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
