#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "select.h"
#include "select/score.h"
#include "select/strategy.h"
#include "util/clock.h"
#include "util/mem.h"

static void
add_number(struct wire_plan *about, const char *prefix, const char *name,
           double value)
{
    char all[VALUE_NAME];

    snprintf(all, sizeof all, "%s%s", prefix, name);
    value_add(about->values, &about->n, WIRE_PLAN_MAX, all, value);
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
        const uint8_t *known = task->features->known;
        const int64_t *id = ids + select_layout_start(&task->layout, step);
        size_t b = 0;
        double loss;

        // collects the samples of the batch with known features
        for (size_t i = 0; i < select_layout_count(&task->layout, step); i++)
            if (!known || known[id[i]])
                mine[b++] = id[i];
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
    mem_free(work, mine);
    if (task->group)
        add_number(about, prefix, "same_group_pairs",
                   (double)select_avoid_count(&task->layout, task->group, ids));
    if (!n)
        return;
    add_number(about, prefix, "mean", all.mean / (double)n);
    add_number(about, prefix, "min", all.least);
    add_number(about, prefix, "max", all.largest);
    add_number(about, prefix, "weight", all.weight);
}

struct planner_plan
select_make(const struct planner_config *config,
            const struct select_making *making, struct err *why)
{
    struct select_task task = config->task;
    struct planner_plan plan = {.epoch = making->epoch};
    struct wire_plan *about = &plan.about;
    const double start = clock_now(), wall = (double)clock_wall() * 1e-9;
    const size_t total = select_layout_total(&task.layout);
    double seconds;

    plan.ids = mem_array(total, sizeof *plan.ids);
    task.epoch = (uint64_t)making->epoch;
    task.features = making->by_features ? &making->history.features : NULL;
    if (!config->command) {
        select_strategy_order(config->strategy, &task, plan.ids);
    } else if (select_command_order(config->command, &task, plan.ids, why)) {
        free(plan.ids);
        plan.ids = NULL;
        return plan;
    }
    seconds = clock_now() - start;
    about->epoch = making->epoch;
    snprintf(about->strategy, sizeof about->strategy, "%s",
             task.features || config->command ? config->strategy->name
                                              : "shuffle");
    if (task.features) {
        int64_t *random = mem_array(total, sizeof *random);

        add_number(about, "", "from", (double)making->from);
        add_number(about, "", "stale", (double)(making->epoch - making->from));
        add_number(about, "", "with_features",
                   (double)making->history.n / (double)task.layout.size);
        add_number(about, "", "eval", making->history.eval);
        select_measure(about, "", &task, plan.ids);
        select_shuffle(&task, random);
        select_measure(about, "random_", &task, random);
        free(random);
    }
    add_number(about, "", "seconds", seconds);
    add_number(about, "", "waited", making->waited);
    add_number(about, "", "time", wall);
    return plan;
}
