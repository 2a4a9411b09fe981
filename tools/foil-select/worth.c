#include <math.h>
#include <stdio.h>

#include "select.h"
#include "select/avoid.h"
#include "select/score.h"

static void
add(struct wire_plan *about, const char *prefix, const char *name, double value)
{
    struct wire_metric *to = &about->values[about->n++];

    REQUIRE(about->n <= WIRE_PLAN_MAX);
    snprintf(to->name, sizeof to->name, "%s%s", prefix, name);
    to->value = value;
}

/* 1 when the features of all samples of a batch are known. */
static int
all_known(const struct select_task *task, size_t step, const int64_t *ids)
{
    const uint8_t *known = task->features->known;
    const size_t at = select_layout_start(&task->layout, step);
    const size_t n = select_layout_count(&task->layout, step);
    int all = 1;

    for (size_t i = at; known && i < at + n; i++)
        all &= known[ids[i]];
    return all;
}

void
select_worth(struct wire_plan *about, const char *prefix,
             const struct select_task *task, const int64_t *ids)
{
    struct select_score all = {.least = INFINITY, .largest = -INFINITY};
    size_t n = 0;

    for (size_t step = 0; step < task->layout.steps; step++) {
        struct select_score one;

        if (!all_known(task, step, ids))
            continue;
        one = select_score(task->features, task->param.tau, &task->layout, step,
                           step + 1, ids);
        all.mean += one.mean;
        all.least = fmin(all.least, one.least);
        all.largest = fmax(all.largest, one.largest);
        all.weight += one.weight;
        n++;
    }
    if (task->group)
        add(about, prefix, "together",
            (double)select_avoid_count(&task->layout, task->group, ids));
    if (!n)
        return;
    add(about, prefix, "mean", all.mean / (double)n);
    add(about, prefix, "min", all.least);
    add(about, prefix, "max", all.largest);
    add(about, prefix, "weight", all.weight);
}
