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
begin(struct rng *rng, uint64_t seed, uint64_t epoch, uint64_t step, size_t row)
{
    rng_init(rng, seed, RNG_NEGATIVES, step, epoch, row);
}

int64_t
sample_exact_other(uint64_t seed, uint64_t epoch, uint64_t step, size_t row,
                   int64_t view, size_t views)
{
    struct rng rng;
    int64_t other;

    begin(&rng, seed, epoch, step, row);
    rng_u64(&rng); // which is for the draw
    other = (int64_t)rng_below(&rng, views - 1);
    return other + (other >= view);
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

/* The column of an extra sample, from the k-th one on, or `columns`. */
static size_t
find_extra(const struct draw *draw, size_t k, int64_t id, int64_t view)
{
    const struct sample_batch *batch = draw->batch;
    const int64_t *views = batch->variants ? batch->extra_view : NULL;

    while (k < batch->extra &&
           (batch->extra_ids[k] != id || (views && views[k] != view)))
        k++;
    return draw->n + k;
}

/* Takes a column into T, if there is such; returns how many. */
static int
take(struct draw *draw, size_t column)
{
    if (column >= draw->columns)
        return 0;
    draw->in[column] = 1;
    return 1;
}

/* The state's image is in the batch: 1 when its state is in T then. */
static int
take_inside(struct draw *draw, size_t image, struct sample_state state)
{
    const struct sample_batch *batch = draw->batch;
    const int64_t *variants = batch->variants;

    if (!variants || variants[image] == state.view ||
        variants[batch->b + image] == state.view)
        return 1;
    if (!take(draw, find_extra(draw, 0, state.id, state.view)))
        return 0;
    draw->in[batch->b + image] = 0; // of the two shown one at random stays
    return 1;
}

/* It came with the batch. */
static int
take_outside(struct draw *draw, size_t row, struct sample_state state)
{
    const struct sample_emc2_how *how = draw->how;
    const size_t first = find_extra(draw, 0, state.id, state.view);
    int64_t other;

    if (!take(draw, first))
        return 0;
    if (!draw->batch->variants) {
        take(draw, find_extra(draw, first - draw->n + 1, state.id, 0));
        return 1;
    }
    other = sample_exact_other(how->seed, how->epoch, how->step, row,
                               state.view, draw->batch->fixed);
    take(draw, find_extra(draw, 0, state.id, other));
    return 1;
}

/* Fills T for a row; 1 when the state of its chain is in it. */
static int
fill(struct draw *draw, size_t row, struct sample_state state)
{
    const size_t b = draw->batch->b, own = row % b;
    size_t image;

    for (size_t c = 0; c < draw->columns; c++)
        draw->in[c] = c < draw->n && c % b != own;
    if (state.id < 0 || state.id == draw->batch->ids[own])
        return 0;
    image = find_image(draw->batch, own, state.id);
    return image < b ? take_inside(draw, image, state)
                     : take_outside(draw, row, state);
}

/* The softmax over T; returns its largest exponential's sum. */
static double
weigh(struct draw *draw, size_t row)
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
pick(const struct draw *draw, size_t row, double sum)
{
    const struct sample_emc2_how *how = draw->how;
    double run = 0, share;
    size_t last = 0;
    struct rng rng;

    begin(&rng, how->seed, how->epoch, how->step, row);
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

static struct sample_state
state_of(const struct draw *draw, size_t c)
{
    const struct sample_batch *batch = draw->batch;
    const int64_t *variants = batch->variants;

    if (c < draw->n)
        return (struct sample_state){batch->ids[c % batch->b],
                                     variants ? variants[c]
                                              : (int64_t)(c / batch->b)};
    return (struct sample_state){batch->extra_ids[c - draw->n],
                                 variants ? batch->extra_view[c - draw->n] : 0};
}

struct sample_moves
sample_exact(const struct sample_emc2_how *how,
             const struct sample_batch *batch, struct sample_state *state,
             float *w)
{
    const size_t n = 2 * batch->b, columns = n + batch->extra;
    struct draw draw = {how,
                        batch,
                        n,
                        columns,
                        mem_array(columns, 1),
                        mem_array(columns, sizeof(double))};
    struct sample_moves moves = {0};

    REQUIRE(batch->v == 2 && batch->b >= 2 && n <= 65536);
    REQUIRE(how->beta >= 0 && isfinite(how->beta));
    REQUIRE(!batch->variants || batch->fixed >= 2);
    for (size_t row = 0; row < n; row++) {
        const struct sample_state from = state[row];
        double sum;

        moves.cold += !fill(&draw, row, from);
        sum = weigh(&draw, row);
        state[row] = state_of(&draw, pick(&draw, row, sum));
        moves.moved += state[row].id != from.id || state[row].view != from.view;
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
