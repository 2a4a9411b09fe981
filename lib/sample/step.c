#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "sample/step.h"

size_t
sample_step_views(const struct batch *step)
{
    return step->fixed ? (size_t)step->fixed : step->v;
}

struct sample_state
sample_step_state(const struct batch *step, size_t column)
{
    const size_t b = step->b, n = step->v * b, e = column - n;

    if (column >= n)
        return (struct sample_state){
            step->extra.ids[e], step->extra.view ? step->extra.view[e] : -1,
            step->extra.epoch ? step->extra.epoch[e] : 0};
    return (struct sample_state){
        step->ids[column % b],
        step->view_of ? step->view_of[column] : (int64_t)(column / b),
        step->fixed || step->without_epoch ? 0 : step->epoch};
}

size_t
sample_step_hint(const struct batch *step, size_t extra, size_t n)
{
    const int32_t *row = step->extra.hint_row;

    return row && row[extra] >= 0 && (size_t)row[extra] < n ? (size_t)row[extra]
                                                            : n;
}

/* Copies z only if the extra samples do not follow it in memory. */
const float *
sample_step_compare(const struct batch *step, struct arena *to)
{
    const size_t n = step->v * step->b, columns = n + step->extra.n;
    const size_t d = step->dim;
    float *s = arena_take(to, n * columns, sizeof *s), *all;
    const float *z = step->z;

    if (step->extra.n && step->extra.z != z + n * d) {
        all = arena_take(to, columns * d, sizeof *all);
        memcpy(all, z, n * d * sizeof *z);
        memcpy(all + n * d, step->extra.z, step->extra.n * d * sizeof *z);
        z = all;
    }
    num_gemm_nt(n, columns, d, 1, z, z, 0, s);
    return s;
}

int
sample_state_order(const void *a, const void *b)
{
    const struct sample_state *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->view != y->view)
        return x->view < y->view ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

size_t
sample_step_outside(const struct batch *step, size_t wanted,
                    struct sample_state *want, struct arena *scratch)
{
    const size_t n = step->v * step->b;
    struct sample_state *own = arena_take(scratch, n, sizeof *own);
    size_t outside = 0;

    for (size_t r = 0; r < n; r++)
        own[r] = sample_step_state(step, r);
    qsort(own, n, sizeof *own, sample_state_order);
    qsort(want, wanted, sizeof *want, sample_state_order);
    for (size_t k = 0; k < wanted; k++)
        if ((!outside || sample_state_order(&want[k], &want[outside - 1])) &&
            !bsearch(&want[k], own, n, sizeof *own, sample_state_order))
            want[outside++] = want[k];
    return outside;
}
