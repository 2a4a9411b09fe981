#include <math.h>

#include "util/err.h"
#include "util/rng.h"

#include "exact.h"

/* The draw for a row, from the columns T (exact.h). */
struct draw {
    const struct sample_emc2_settings *settings;
    const struct batch *step;
    size_t row, n, columns;
    double *p; /* [columns] 1: in T, 0: not */
};

/* The random stream of a row: first for the draw, then for the second view. */
static struct rng
begin_row(uint64_t seed, const struct batch *step, size_t row)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_NEGATIVES, (uint64_t)step->step,
             (uint64_t)step->epoch, row);
    return rng;
}

struct sample_state
sample_exact_second(uint64_t seed, const struct batch *step, size_t row,
                    struct sample_state state)
{
    const int64_t now = step->epoch;
    struct rng rng = begin_row(seed, step, row);
    int64_t other;

    if (!step->fixed)
        return (struct sample_state){
            state.id, state.epoch == now && state.view == 0, now};
    rng_u64(&rng); // skip the number of the draw
    other = (int64_t)rng_below(&rng, (uint64_t)step->fixed - 1);
    return (struct sample_state){state.id, other + (other >= state.view), 0};
}

static int
is_state_at(const struct draw *draw, size_t column, struct sample_state state)
{
    const struct sample_state at = sample_step_state(draw->step, column);

    return !sample_state_order(&at, &state);
}

/* Adds the extra sample that is this state to T; returns 0 if there is none. */
static int
take_extra(struct draw *draw, struct sample_state state)
{
    size_t c = draw->n;

    while (c < draw->columns && !is_state_at(draw, c, state))
        c++;
    if (c < draw->columns)
        draw->p[c] = 1;
    return c < draw->columns;
}

static int
is_across(const struct draw *draw)
{
    return draw->settings->proposals == SAMPLE_EXACT_CROSS;
}

/* For a state whose image is in the batch: returns 1 if the state is in T. */
static int
take_inside(struct draw *draw, size_t image, struct sample_state state)
{
    const size_t b = draw->step->b;

    for (size_t c = image; c < draw->n; c += b)
        if (draw->p[c] > 0 && is_state_at(draw, c, state))
            return 1;
    if (!take_extra(draw, state))
        return 0;
    // one of two views of the image stays in T, across the views none
    draw->p[b + image] = 0;
    if (is_across(draw))
        draw->p[image] = 0;
    return 1;
}

/* Fills T; returns 1 if the state is in it. */
static int
fill_columns(struct draw *draw, struct sample_state state)
{
    const size_t b = draw->step->b, own = draw->row % b;
    const int64_t *ids = draw->step->ids;
    size_t image = 0;

    for (size_t c = 0; c < draw->columns; c++)
        draw->p[c] = c < draw->n && c % b != own &&
                     !(is_across(draw) && c / b == draw->row / b);
    if (state.id < 0 || state.id == ids[own])
        return 0;
    while (image < b && (ids[image] != state.id || image == own))
        image++;
    if (image < b)
        return take_inside(draw, image, state);
    if (!take_extra(draw, state))
        return 0;
    if (!is_across(draw)) // with a second view
        take_extra(draw, sample_exact_second(draw->settings->seed, draw->step,
                                             draw->row, state));
    return 1;
}

size_t
sample_exact_row(const struct sample_emc2_settings *how,
                 const struct batch *step, size_t row, const float *s,
                 struct sample_state state, int *cold, float *w, double *p)
{
    const size_t n = 2 * step->b;
    struct draw draw = {how, step, row, n, n + step->extra.n, p};
    double top = -INFINITY, sum = 0, share, run = 0;
    struct rng rng;
    size_t last = 0;

    *cold = !fill_columns(&draw, state);
    // the exponentials over the columns of T
    for (size_t c = 0; c < draw.columns; c++)
        if (p[c] > 0)
            top = fmax(top, step->beta * s[c]);
    for (size_t c = 0; c < draw.columns; c++) {
        p[c] = p[c] > 0 ? exp(step->beta * s[c] - top) : 0;
        sum += p[c];
    }
    for (size_t c = 0; c < draw.columns; c++)
        w[c] = (float)(p[c] / sum);
    // the column where the running sum passes a random share of it
    rng = begin_row(how->seed, step, row);
    share = rng_unit(&rng) * sum;
    for (size_t c = 0; c < draw.columns; c++) {
        if (p[c] <= 0)
            continue;
        last = c;
        run += p[c];
        if (run > share)
            break;
    }
    return last;
}
