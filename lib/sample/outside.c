#include <stdlib.h>
#include <string.h>

#include "util/err.h"

#include "outside.h"

static int
by_state(const void *a, const void *b)
{
    const struct sample_state *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->view != y->view)
        return x->view < y->view ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

size_t
sample_outside(const struct sample_batch *batch, size_t wanted,
               struct sample_state *want, struct sample_state *own)
{
    const size_t n = batch->v * batch->b;
    size_t kept = 0;

    for (size_t r = 0; r < n; r++)
        own[r] = sample_batch_state(batch, r);
    qsort(own, n, sizeof *own, by_state);
    qsort(want, wanted, sizeof *want, by_state);
    for (size_t k = 0; k < wanted; k++)
        if ((!kept || by_state(&want[k], &want[kept - 1])) &&
            !bsearch(&want[k], own, n, sizeof *own, by_state))
            want[kept++] = want[k];
    return kept;
}

/* Adds what the bank has of a state, if it has. */
static void
add_state(struct sample_recall *recall, const struct sample_bank *bank,
          struct sample_state of)
{
    const size_t at = recall->n, d = bank->dim;
    const size_t row = (size_t)of.id * bank->views + (size_t)of.view;

    REQUIRE((uint64_t)of.id < bank->size && of.view >= 0 &&
            (uint64_t)of.view < bank->views);
    if (bank->when[row] < 0)
        return;
    recall->ids[at] = of.id;
    recall->view[at] = of.view;
    memcpy(recall->z + at * d, bank->rows + row * d, d * sizeof *recall->z);
    recall->n++;
}

struct sample_recall
sample_recall(struct arena *to, const struct sample_bank *bank,
              const struct sample_step *step, const struct sample_state *state)
{
    const struct sample_batch batch = {.v = step->v,
                                       .b = step->b,
                                       .ids = step->ids,
                                       .variants = step->variants};
    const size_t n = step->v * step->b;
    struct sample_state *want = arena_take(to, 2 * n, sizeof *want);
    struct sample_recall recall = {0};
    size_t wanted = 0;

    if (!bank->rows)
        return recall;
    for (size_t r = 0; r < n; r++)
        if (state[r].id >= 0)
            want[wanted++] = state[r];
    wanted = sample_outside(&batch, wanted, want, want + n);
    recall.ids = arena_take(to, wanted, sizeof *recall.ids);
    recall.view = arena_take(to, wanted, sizeof *recall.view);
    recall.z = arena_take(to, wanted * bank->dim, sizeof *recall.z);
    for (size_t k = 0; k < wanted; k++)
        add_state(&recall, bank, want[k]);
    return recall;
}

size_t
sample_recall_find(const struct sample_recall *recall,
                   struct sample_state state)
{
    size_t from = 0, to = recall->n;

    while (from < to) {
        const size_t mid = (from + to) / 2;
        const struct sample_state at = {recall->ids[mid], recall->view[mid], 0};
        const int sign = by_state(&at, &state);

        if (!sign)
            return mid;
        if (sign < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return recall->n;
}
