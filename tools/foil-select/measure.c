#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "select.h"
#include "select/avoid.h"
#include "select/score.h"
#include "util/mem.h"

static void
add_prefixed(struct wire_plan *about, const char *prefix, const char *name,
             double value)
{
    char all[VALUE_NAME];

    snprintf(all, sizeof all, "%s%s", prefix, name);
    value_add(about->values, &about->n, WIRE_PLAN_MAX, all, value);
}

/* Collects the samples of a batch with known features; returns their number. */
static size_t
collect_known(const struct select_task *task, size_t step, const int64_t *ids,
              int64_t *mine)
{
    const uint8_t *known = task->features->known;
    const int64_t *id = ids + select_layout_start(&task->layout, step);
    size_t n = 0;

    for (size_t i = 0; i < select_layout_count(&task->layout, step); i++)
        if (!known || known[id[i]])
            mine[n++] = id[i];
    return n;
}

void
select_measure(struct wire_plan *about, const char *prefix,
               const struct select_task *task, const int64_t *ids)
{
    const struct select_features *f = task->features;
    const size_t most = task->layout.batch + (task->layout.larger > 0);
    float *work = mem_aligned(select_batch_work(most, f->d), sizeof *work);
    int64_t *mine = mem_array(most, sizeof *mine);
    struct select_score all = {.least = INFINITY, .largest = -INFINITY};
    size_t n = 0;

    for (size_t step = 0; step < task->layout.steps; step++) {
        const size_t b = collect_known(task, step, ids, mine);
        double loss;

        if (b < 2)
            continue;
        loss = select_batch_loss(f, task->value[SELECT_TAU], b, mine, work);
        all.mean += loss;
        all.least = fmin(all.least, loss);
        all.largest = fmax(all.largest, loss);
        all.weight += select_batch_weight(f, task->value[SELECT_TAU], most, b,
                                          mine, work);
        n++;
    }
    free(work);
    free(mine);
    if (task->group)
        add_prefixed(
            about, prefix, "together",
            (double)select_avoid_count(&task->layout, task->group, ids));
    if (!n)
        return;
    add_prefixed(about, prefix, "mean", all.mean / (double)n);
    add_prefixed(about, prefix, "min", all.least);
    add_prefixed(about, prefix, "max", all.largest);
    add_prefixed(about, prefix, "weight", all.weight);
}
