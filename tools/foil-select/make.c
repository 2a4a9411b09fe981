#include <stdio.h>
#include <stdlib.h>

#include "select.h"
#include "select/shuffle.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"

static void
add_number(struct wire_plan *about, const char *name, double value)
{
    value_add(about->values, &about->n, WIRE_PLAN_MAX, name, value);
}

/* Adds the hardness of the plan, and of a random one. */
static void
compare_hardness(struct wire_plan *about, const struct select_task *task,
                 const int64_t *ids)
{
    int64_t *random =
        mem_array(select_layout_total(&task->layout), sizeof *random);

    select_measure(about, "", task, ids);
    select_shuffle(task, random);
    select_measure(about, "random_", task, random);
    free(random);
}

struct planner_plan
select_make(const struct planner_config *config,
            const struct select_making *making, struct err *why)
{
    struct select_task task = config->task;
    struct planner_plan made = {.epoch = making->epoch};
    struct wire_plan *about = &made.about;
    const double start = clock_now(), wall = (double)clock_wall() * 1e-9;
    double seconds;

    made.ids = mem_array(select_layout_total(&task.layout), sizeof *made.ids);
    task.epoch = (uint64_t)making->epoch;
    task.features = making->by_features ? &making->history.features : NULL;
    if (!config->command) {
        select_strategy_order(config->strategy, &task, made.ids);
    } else if (select_command_order(config->command, &task, made.ids, why)) {
        free(made.ids);
        made.ids = NULL;
        return made;
    }
    seconds = clock_now() - start;
    about->epoch = making->epoch;
    snprintf(about->strategy, sizeof about->strategy, "%s",
             task.features || config->command ? config->strategy->name
                                              : "shuffle");
    if (task.features) {
        add_number(about, "from", (double)making->from);
        add_number(about, "stale", (double)(making->epoch - making->from));
        add_number(about, "known",
                   (double)making->history.n / (double)task.layout.size);
        add_number(about, "eval", making->history.eval);
        compare_hardness(about, &task, made.ids);
    }
    add_number(about, "seconds", seconds);
    add_number(about, "waited", making->waited);
    add_number(about, "time", wall);
    return made;
}
