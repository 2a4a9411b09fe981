#include <float.h>
#include <math.h>
#include <string.h>

#include "num/exp.h"
#include "sample/emc2.h"
#include "util/arena.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/rng.h"

#include "exact.h"

/* A state without a column. */
enum { OUTSIDE = -1 };

/* A chain during a visit to a row. */
struct chain {
    long at;         /* column, or OUTSIDE */
    double score;    /* beta s of its state; -INFINITY: it is cold */
    size_t accepted; /* proposals so far */
};

/* The visit of a step. */
struct visit {
    const struct sample_emc2_settings *settings;
    const struct batch *step;
    const float *s;
    size_t n, columns, length; /* anchors, columns, R */
    size_t room;               /* R rounded up to whole vectors */
    struct sample_state *state;
    float *score, *w; /* of the states; weights */
    double *p;        /* [columns] scratch of an exact draw */

    /* The proposals to one row, scratch; zeros from [length] on, for vector
     * loops.  U = (bits + 1/2) / 2^32.  The bounds of acceptance are computed
     * for all proposals at once, in float and with a logarithm of error 1e-4;
     * once in some thousand proposals they do not decide, and double and log()
     * do. */
    uint32_t *random;           /* [3 length] */
    uint32_t *column, *bits;    /* [room] */
    int32_t *to, *sure, *reach; /* [room] by order_of_float(): beta s; up to
                                   this score a chain surely accepts; above this
                                   one it surely does not */
    uint32_t *taken;            /* [room] accepted proposals */

    size_t accepted, moved, cold;
};

/* beta s; finite, so that a cold chain accepts any proposal. */
static inline double
score_of(double beta, float s)
{
    const double x = beta * s, low = x > -DBL_MAX ? x : -DBL_MAX;

    return low < DBL_MAX ? low : DBL_MAX;
}

size_t
sample_emc2_length(enum sample_proposals proposals, size_t v, size_t b)
{
    const int each = proposals == SAMPLE_ONCE || proposals == SAMPLE_CROSS ||
                     proposals == SAMPLE_EXACT_CROSS;

    return (each ? 1 : v) * (b - 1);
}

/* Maps floats to integers in the same order: comparing integers takes a third
 * of the time. */
static inline int32_t
order_of_float(float x)
{
    int32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits ^ (-(int32_t)(bits < 0) & INT32_MAX);
}

/* The nearest finite number.  Two that overflow become equal, so that double
 * decides between them. */
static inline float
finite_of(float x)
{
    const float low = num_choose(x > -FLT_MAX, x, -FLT_MAX);

    return num_choose(low < FLT_MAX, low, FLT_MAX);
}

/* log m for m in [1,2), error at most 7e-5 (Chebyshev). */
static inline float
log_about(float m)
{
    const float t = m - 1;

    return 6.9446e-5f +
           t * (0.9962619f +
                t * (-0.4664424f + t * (0.2186655f - 0.0554593f * t)));
}

/* -log U is (32 - e) log 2 - log m, with U = m 2^(e - 32).  Proposals closer to
 * the threshold than off (32 + |beta s|) are left to accepts_proposal(). */
static UTIL_CLONES(void, bound_scores,
                   (size_t room, const uint32_t *column, const uint32_t *bits,
                    float beta, float off, const float *s, int32_t *most,
                    int32_t *sure, int32_t *reach),
                   (room, column, bits, beta, off, s, most, sure, reach))
{
    for (size_t k = 0; k < room; k++) {
        const float to = finite_of(beta * s[(int32_t)column[k]]);
        const float u = (float)bits[k] + 0.5f;
        const float slack = off * (32 + fabsf(to));
        uint32_t word, mantissa;
        float m, luck;

        memcpy(&word, &u, sizeof word);
        mantissa = (word & 0x7fffff) | 0x3f800000;
        memcpy(&m, &mantissa, sizeof m);
        luck = 0.6931472f * (float)(159 - (int)(word >> 23)) - log_about(m);
        most[k] = order_of_float(to);
        sure[k] = order_of_float(to + luck - slack);
        reach[k] = order_of_float(to + luck + slack);
    }
}

/* Whether a chain with that score accepts the k-th proposal. */
static int
accepts_proposal(const struct visit *visit, const float *s, size_t k,
                 double score)
{
    const double to = score_of(visit->step->beta, s[visit->column[k]]);
    const double u = (visit->bits[k] + 0.5) * 0x1p-32;

    return to >= score || to - log(u) > score;
}

/* Makes the proposals [from, to) to a chain, lists the accepted ones in `taken`
 * and returns their number.  About half may be accepted, so there is no branch
 * on acceptance; the only branch is where double decides. */
static size_t
list_taken(struct visit *visit, const float *s, size_t from, size_t to,
           struct chain *chain)
{
    const double beta = visit->step->beta;
    const int32_t *most = visit->to, *sure = visit->sure;
    const int32_t *reach = visit->reach;
    const uint32_t *column = visit->column;
    uint32_t *taken = visit->taken;
    int32_t score = chain->score == -INFINITY
                        ? INT32_MIN
                        : order_of_float(finite_of((float)chain->score));
    size_t n = 0;

    for (size_t k = from; k < to; k++) {
        const int32_t next = most[k];
        int yes = score <= sure[k];

        if (yes != (score <= reach[k]))
            yes = accepts_proposal(visit, s, k,
                                   n ? score_of(beta, s[column[taken[n - 1]]])
                                     : chain->score);
        taken[n] = (uint32_t)k;
        n += (size_t)yes;
        score = yes ? next : score;
    }
    if (n) {
        chain->at = (long)column[taken[n - 1]];
        chain->score = score_of(beta, s[chain->at]);
        chain->accepted += n;
    }
    return n;
}

/* Makes the proposals [from, to) and counts the states in w, unless NULL. */
static void
scan_proposals(struct visit *visit, const float *s, size_t from, size_t to,
               struct chain *chain, float *w)
{
    long at = chain->at;
    const size_t n = list_taken(visit, s, from, to, chain);

    for (size_t i = 0; w && i <= n; i++) {
        const size_t next = i < n ? visit->taken[i] : to;

        if (at != OUTSIDE)
            w[at] += (float)(next - from);
        at = i < n ? (long)visit->column[next] : at;
        from = next;
    }
}

/* 1 if a column of the state's sample is this state; with new_view, if it is a
 * new view that may replace the state. */
static int
is_column_at(const struct batch *step, size_t column, struct sample_state state,
             int new_view)
{
    const struct sample_state at = sample_step_state(step, column);

    if (!new_view)
        return at.view == state.view && at.epoch == state.epoch;
    return at.view < 0 || (column < step->v * step->b && !step->view_of &&
                           at.view == state.view);
}

static long
search_column(const struct batch *step, size_t own, struct sample_state state,
              int new_view)
{
    const size_t b = step->b, n = step->v * b;

    for (size_t i = 0; i < b; i++) {
        if (step->ids[i] != state.id || i == own)
            continue;
        for (size_t c = i; c < n; c += b)
            if (is_column_at(step, c, state, new_view))
                return (long)c;
    }
    for (size_t e = 0; state.id != step->ids[own] && e < step->extra.n; e++)
        if (step->extra.ids[e] == state.id &&
            is_column_at(step, n + e, state, new_view))
            return (long)(n + e);
    return OUTSIDE;
}

static const float *
row_of(const struct visit *visit, size_t row)
{
    return visit->s + row * visit->columns;
}

/* The chain of a row at the start of its visit. */
static struct chain
begin_visit(struct visit *visit, size_t row)
{
    const struct sample_state state = visit->state[row];
    const size_t own = row % visit->step->b;
    struct chain chain = {OUTSIDE, -INFINITY, 0};

    switch (visit->settings->scores) {
    case SAMPLE_FRESH:
        for (int new = 0; new < 2 && state.id >= 0 && chain.at == OUTSIDE;
             new ++)
            chain.at = search_column(visit->step, own, state, new);
        if (chain.at != OUTSIDE)
            chain.score =
                score_of(visit->step->beta, row_of(visit, row)[chain.at]);
        break;
    case SAMPLE_STALE:
        if (state.id >= 0)
            chain.score = visit->score[row];
        break;
    case SAMPLE_RESET:
        break;
    }
    visit->cold += chain.score == -INFINITY;
    return chain;
}

/* Lists the rows of all images but `own`, of one view or of all, in order. */
static UTIL_CLONES(void, list_others,
                   (size_t length, size_t b, size_t first, size_t own,
                    uint32_t *column),
                   (length, b, first, own, column))
{
    for (size_t n = 0; n < length; n += b - 1, first += b)
        for (size_t i = 0; i < b - 1; i++)
            column[n + i] = (uint32_t)first + (uint32_t)i + (i >= own);
}

/* Shuffles them by the first of each `stride` random numbers. */
static void
shuffle_columns(size_t length, size_t stride, const uint32_t *random,
                uint32_t *column)
{
    for (size_t k = 0; k < length; k++) {
        const uint64_t bits = random[k * stride];
        const size_t pick = k + (size_t)(bits * (length - k) >> 32);
        const uint32_t swap = column[pick];

        column[pick] = column[k];
        column[k] = swap;
    }
}

/* Draws the proposals of a visit to a row, and their U.  Random numbers have 32
 * bits: a choice among R is uniform within R / 2^32. */
static void
propose_columns(struct visit *visit, size_t row)
{
    const struct sample_emc2_settings *how = visit->settings;
    const struct batch *step = visit->step;
    const size_t b = step->b, v = step->v;
    const size_t length = visit->length;
    const size_t first = how->proposals == SAMPLE_CROSS && row < b ? b : 0;
    const size_t shuffled = how->proposals != SAMPLE_ALL4;
    const size_t random_view = how->proposals == SAMPLE_ONCE;
    const size_t each = shuffled + random_view + 1;
    uint32_t *random = visit->random, *column = visit->column;
    struct rng rng;

    list_others(length, b, first, row % b, column);
    rng_init(&rng, how->seed, RNG_NEGATIVES, (uint64_t)step->step,
             (uint64_t)step->epoch, row);
    rng_many(&rng, each * length, random);
    if (shuffled)
        shuffle_columns(length, each, random, column);
    for (size_t k = 0; random_view && k < length; k++)
        column[k] += (uint32_t)(b * (random[each * k + 1] * (uint64_t)v >> 32));
    for (size_t k = 0; k < length; k++)
        visit->bits[k] = random[each * k + each - 1];
}

/* Turns counts into the share of a visit recorded at each column. */
static UTIL_CLONES(void, divide_by_records,
                   (size_t n, size_t records, float *w), (n, records, w))
{
    for (size_t c = 0; c < n; c++)
        w[c] /= (float)records;
}

/* Moves a chain by one row, and computes the weights of the row. */
static void
move_chain(struct visit *visit, struct chain *chain, size_t row)
{
    const size_t length = visit->length, burn = visit->settings->burn;
    const float *s = row_of(visit, row);
    const float beta = (float)fmin(visit->step->beta, FLT_MAX);
    float *w = visit->w + row * visit->columns;

    propose_columns(visit, row);
    memset(w, 0, visit->columns * sizeof *w);
    // where beta s may be beyond floats, double decides all
    bound_scores(visit->room, visit->column, visit->bits, beta,
                 beta < 1e30f ? 4e-6f : INFINITY, s, visit->to, visit->sure,
                 visit->reach);
    scan_proposals(visit, s, 0, burn, chain, NULL);
    scan_proposals(visit, s, burn, length, chain, w);
    divide_by_records(visit->columns, length - burn, w);
}

/* Draws the next state of a row's chain exactly. */
static void
draw_row(struct visit *visit, size_t row)
{
    const struct sample_state from = visit->state[row];
    struct sample_state *to = visit->state + row;
    int cold;

    *to = sample_step_state(visit->step,
                            sample_exact_row(visit->settings, visit->step, row,
                                             row_of(visit, row), from, &cold,
                                             visit->w + row * visit->columns,
                                             visit->p));
    visit->cold += (size_t)cold;
    visit->moved += sample_state_order(to, &from) != 0;
}

/* Moves the chain of a row by this row; with `all` by each view of its image,
 * one after the other. */
static void
visit_row(struct visit *visit, size_t first, int all)
{
    const size_t b = visit->step->b, end = all ? visit->n : first + 1;
    struct chain chain = begin_visit(visit, first);
    const long from = chain.at;

    for (size_t row = first; row < end; row += b) {
        if (row > first && visit->settings->scores != SAMPLE_STALE)
            chain.score =
                score_of(visit->step->beta, row_of(visit, row)[chain.at]);
        move_chain(visit, &chain, row);
    }
    for (size_t row = first; row < end; row += b) {
        // writes the state of a chain to a row
        if (chain.at != OUTSIDE && (size_t)chain.at < visit->n)
            visit->state[row] =
                sample_step_state(visit->step, (size_t)chain.at);
        if (visit->score)
            visit->score[row] =
                (float)fmin(fmax(chain.score, -FLT_MAX), FLT_MAX);
    }
    visit->moved += chain.at != from;
    visit->accepted += chain.accepted;
}

/* Scratch for the proposals to a row, or for its draw. */
static void
take_scratch(struct visit *visit, struct arena *to)
{
    const size_t room = (visit->length + 15) / 16 * 16;

    if (visit->settings->proposals >= SAMPLE_EXACT) {
        visit->p = arena_take(to, visit->columns, sizeof *visit->p);
        return;
    }
    // a partial vector would cost as much as the rest of 127 proposals
    visit->room = room;
    visit->random = arena_take(to, 3 * visit->length, sizeof *visit->random);
    visit->column = arena_take(to, room, sizeof *visit->column);
    visit->bits = arena_take(to, room, sizeof *visit->bits);
    visit->to = arena_take(to, room, sizeof *visit->to);
    visit->sure = arena_take(to, room, sizeof *visit->sure);
    visit->reach = arena_take(to, room, sizeof *visit->reach);
    visit->taken = arena_take(to, room, sizeof *visit->taken);
    memset(visit->column, 0, room * sizeof *visit->column);
    memset(visit->bits, 0, room * sizeof *visit->bits);
}

struct sample_moves
sample_emc2(const struct sample_emc2_settings *how, const struct batch *step,
            const float *s, struct sample_state *state, float *score, float *w,
            struct arena *scratch)
{
    const size_t n = step->v * step->b;
    const int exact = how->proposals >= SAMPLE_EXACT;
    const size_t images = how->proposals == SAMPLE_ALL4 ? step->b : n;
    struct visit visit = {
        .settings = how,
        .step = step,
        .s = s,
        .n = n,
        .columns = n + step->extra.n,
        .length = sample_emc2_length(how->proposals, step->v, step->b),
        .state = state,
        .score = score,
        .w = w,
    };

    REQUIRE(step->v >= 1 && step->b >= 2 && n <= 65536);
    REQUIRE(step->beta >= 0 && isfinite(step->beta));
    REQUIRE(exact || how->burn < visit.length);
    REQUIRE(!exact || step->fixed != 1);
    REQUIRE(how->scores != SAMPLE_STALE || score);
    REQUIRE(how->proposals != SAMPLE_ALL4 || !step->view_of);
    REQUIRE((how->proposals != SAMPLE_CROSS && !exact) || step->v == 2);
    take_scratch(&visit, scratch);
    for (size_t row = 0; row < images; row++)
        if (exact)
            draw_row(&visit, row);
        else
            visit_row(&visit, row, how->proposals == SAMPLE_ALL4);
    return (struct sample_moves){
        .accepted =
            exact ? (double)visit.moved / (double)n
                  : (double)visit.accepted / ((double)n * (double)visit.length),
        .moved = visit.moved,
        .cold = visit.cold,
    };
}
