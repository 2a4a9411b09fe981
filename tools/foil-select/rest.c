#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "select.h"
#include "util/opt.h"

/* Reads the options of a plan, as select_options_print() writes them: returns
 * the strategy, and sets seed and layout; NULL if that is not possible. */
static const struct select_strategy *
read_options(const char *options, struct select_task *task)
{
    static const char *const words[] = {[SELECT_DROP] = " --remainder drop",
                                        [SELECT_WRAP] = " --remainder wrap"};
    const char *at = strstr(options, " -b ");
    enum select_remainder remainder = SELECT_KEEP;
    long batch, seed;
    char name[32];
    struct err err;

    if (!at || sscanf(at, " -b %ld -s %ld", &batch, &seed) != 2 || batch < 2 ||
        sscanf(options, "--strategy %31[^, ]", name) != 1 ||
        strstr(options, " --features eval"))
        return NULL;
    for (int i = SELECT_DROP; i <= SELECT_WRAP; i++)
        if (strstr(at, words[i]))
            remainder = (enum select_remainder)i;
    task->seed = (uint64_t)seed;
    return select_layout_make(task->layout.size, (size_t)batch, remainder,
                              &task->layout, &err)
               ? NULL
               : select_strategy_find(name, &err);
}

void
select_rest_find(struct selector *s, const struct wire_want *next)
{
    struct select_rest *rest = &s->rest;
    struct select_task task = s->task;
    const int64_t epoch = next->at.epoch;
    const struct select_strategy *strategy;

    if (!*next->order || !strcmp(next->plan, s->plan_options) ||
        (epoch == rest->epoch && !strcmp(next->order, rest->order)))
        return;
    select_plan_free(rest->plan);
    *rest = (struct select_rest){.epoch = epoch};
    memcpy(rest->order, next->order, sizeof rest->order);
    memcpy(rest->options, next->plan, sizeof rest->options);
    task.group = NULL;
    strategy = read_options(next->plan, &task);
    if (strategy) {
        rest->layout = task.layout;
        rest->plan = select_plan_new(strategy, &task);
        if (strcmp(select_plan_name(rest->plan, (uint64_t)epoch),
                   rest->order) != 0) {
            select_plan_free(rest->plan);
            rest->plan = NULL;
        }
    }
    if (rest->plan)
        log_message("epoch %" PRId64 " began with another plan, '%.200s': from "
                    "step %" PRId64 " on that plan is completed, and epoch "
                    "%" PRId64 " has this one",
                    epoch, rest->options, next->at.step, epoch + 1);
    else
        log_message("epoch %" PRId64 " began with another plan, '%.200s', "
                    "which cannot be made again here, as it is by features or "
                    "a program: the trainer ends the epoch at step %" PRId64,
                    epoch, rest->options, next->at.step);
}

const struct select_rest *
select_rest_of(const struct selector *s, int64_t epoch)
{
    return s->rest.plan && s->rest.epoch == epoch ? &s->rest : NULL;
}
