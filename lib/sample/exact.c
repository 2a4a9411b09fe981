#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

#include "exact.h"

/* A row on its way through. */
struct draw {
    const struct sample_emc2_how *how;
    const struct sample_batch *batch;
    size_t n, columns;
    uint8_t *in; /* [columns] T */
    double *p;   /* [columns] */
};

/* The streams of rows: of the draw, and behind it of the second view. */
static void
begin_row(struct rng *rng, uint64_t seed, uint64_t epoch, uint64_t step,
          size_t row)
{
    rng_init(rng, seed, RNG_NEGATIVES, step, epoch, row);
}

struct sample_state
sample_exact_other(uint64_t seed, uint64_t epoch, uint64_t step, size_t row,
                   struct sample_state state, size_t fixed)
{
    const int64_t now = (int64_t)epoch;
    struct rng rng;
    int64_t other;

    if (!fixed)
        return (struct sample_state){
            state.id, state.epoch == now && state.view == 0, now};
    begin_row(&rng, seed, epoch, step, row);
    rng_u64(&rng); // which is for the draw
    other = (int64_t)rng_below(&rng, fixed - 1);
    return (struct sample_state){state.id, other + (other >= state.view), 0};
}

/* The image of the batch that has this id, but for `own`; b: none. */
static size_t
find_image(const struct sample_batch *batch, size_t own, int64_t id)
{
    size_t i = 0;

    while (i < batch->b && (batch->ids[i] != id || i == own))
        i++;
    return i;
}

/* The column of an extra sample, or `columns`. */
static size_t
find_extra(const struct draw *draw, struct sample_state state)
{
    size_t c = draw->n;

    while (c < draw->columns &&
           !sample_state_same(sample_batch_state(draw->batch, c), state))
        c++;
    return c;
}

/* Takes a column into T, if there is such; returns how many. */
static int
take_column(struct draw *draw, size_t column)
{
    if (column >= draw->columns)
        return 0;
    draw->in[column] = 1;
    return 1;
}

static int
is_across(const struct draw *draw)
{
    return draw->how->proposals == SAMPLE_EXACT_CROSS;
}

/* The state's image is in the batch: 1 when its state is in T then. */
static int
take_inside(struct draw *draw, size_t image, struct sample_state state)
{
    const size_t b = draw->batch->b;

    for (size_t c = image; c < draw->n; c += b)
        if (draw->in[c] &&
            sample_state_same(sample_batch_state(draw->batch, c), state))
            return 1;
    if (!take_column(draw, find_extra(draw, state)))
        return 0;
    // of two that are shown one at random stays, of one none
    draw->in[b + image] = 0;
    draw->in[image] &= !is_across(draw);
    return 1;
}

/* It came with the batch. */
static int
take_outside(struct draw *draw, size_t row, struct sample_state state)
{
    const struct sample_emc2_how *how = draw->how;
    const struct sample_batch *batch = draw->batch;

    if (!take_column(draw, find_extra(draw, state)))
        return 0;
    if (is_across(draw))
        return 1;
    take_column(
        draw, find_extra(draw, sample_exact_other(
                                   how->seed, how->epoch, how->step, row, state,
                                   batch->variants ? batch->fixed : 0)));
    return 1;
}

/* Fills T for a row; 1 when the state of its chain is in it. */
static int
fill_columns(struct draw *draw, size_t row, struct sample_state state)
{
    const size_t b = draw->batch->b, own = row % b;
    size_t image;

    for (size_t c = 0; c < draw->columns; c++)
        draw->in[c] = c < draw->n && c % b != own &&
                      !(is_across(draw) && c / b == row / b);
    if (state.id < 0 || state.id == draw->batch->ids[own])
        return 0;
    image = find_image(draw->batch, own, state.id);
    return image < b ? take_inside(draw, image, state)
                     : take_outside(draw, row, state);
}

/* The softmax over T; returns its largest exponential's sum. */
static double
weigh_columns(struct draw *draw, size_t row)
{
    const float *s = draw->batch->s + row * draw->columns;
    double top = -INFINITY, sum = 0;

    for (size_t c = 0; c < draw->columns; c++)
        if (draw->in[c])
            top = fmax(top, draw->how->beta * s[c]);
    for (size_t c = 0; c < draw->columns; c++) {
        draw->p[c] = draw->in[c] ? exp(draw->how->beta * s[c] - top) : 0;
        sum += draw->p[c];
    }
    return sum;
}

/* The column where the running sum passes a random share of it. */
static size_t
pick_column(const struct draw *draw, size_t row, double sum)
{
    const struct sample_emc2_how *how = draw->how;
    double run = 0, share;
    size_t last = 0;
    struct rng rng;

    begin_row(&rng, how->seed, how->epoch, how->step, row);
    share = rng_unit(&rng) * sum;
    for (size_t c = 0; c < draw->columns; c++) {
        if (draw->p[c] <= 0)
            continue;
        last = c;
        run += draw->p[c];
        if (run > share)
            break;
    }
    return last;
}

struct sample_moves
sample_exact(const struct sample_emc2_how *how,
             const struct sample_batch *batch, struct sample_state *state,
             float *score, float *w)
{
    const size_t n = 2 * batch->b, columns = n + batch->extra;
    struct draw draw = {how,
                        batch,
                        n,
                        columns,
                        mem_array(columns, 1),
                        mem_array(columns, sizeof(double))};
    struct sample_moves moves = {0};

    (void)score;
    REQUIRE(batch->v == 2 && batch->b >= 2 && n <= 65536);
    REQUIRE(how->proposals == SAMPLE_EXACT ||
            how->proposals == SAMPLE_EXACT_CROSS);
    REQUIRE(how->beta >= 0 && isfinite(how->beta));
    REQUIRE(!batch->variants || batch->fixed >= 2);
    for (size_t row = 0; row < n; row++) {
        const struct sample_state from = state[row];
        double sum;

        moves.cold += !fill_columns(&draw, row, from);
        sum = weigh_columns(&draw, row);
        state[row] = sample_batch_state(batch, pick_column(&draw, row, sum));
        moves.moved += !sample_state_same(state[row], from);
        for (size_t c = 0; c < columns; c++) {
            w[row * columns + c] = (float)(draw.p[c] / sum);
            moves.outside += c < n ? 0 : draw.p[c] / sum / (double)n;
        }
    }
    moves.accepted = (double)moves.moved / (double)n;
    free(draw.in);
    free(draw.p);
    return moves;
}
