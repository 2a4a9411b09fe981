#include <math.h>
#include <string.h>

#include "num/threads.h"
#include "train.h"

/* A schedule that says where it goes; `constant` goes nowhere. */
static int
parse(const char *option, const char *text, double base, double end,
      struct nn_schedule *schedule, struct err *err)
{
    struct err why;

    *schedule = (struct nn_schedule){.base = base, .end = end};
    if (nn_schedule_parse(text, schedule, &why))
        return err_set(err, "--%s: %s", option, why.msg);
    return 0;
}

/* The same for a parameter of the objective, as its table says. */
static int
parse_param(const struct param *p, double value,
            const struct train_course *course, struct nn_schedule *schedule,
            struct err *err)
{
    const int from_one = p->course == PARAM_FROM_ONE;
    char option[48];

    *schedule = (struct nn_schedule){.base = value};
    if (p->course < PARAM_TO_END)
        return 0;
    snprintf(option, sizeof option, "%s-schedule", p->name);
    if (parse(option, course->schedule, from_one ? 1 : value,
              from_one ? value : course->end, schedule, err))
        return -1;
    if (schedule->kind == NN_SCHEDULE_STEP)
        return err_set(err, "--%s: step is for the learning rate", option);
    if (schedule->kind == NN_SCHEDULE_CONSTANT) {
        schedule->base = value;
        return isnan(p->end) && !isnan(course->end)
                   ? err_set(err, "--%s-end wants a --%s", p->name, option)
                   : 0;
    }
    if (isnan(schedule->end))
        return err_set(err, "--%s wants --%s-end, where it goes", option,
                       p->name);
    if (p->course == PARAM_INVERSE && schedule->kind == NN_SCHEDULE_WAVE) {
        schedule->base = 1 / schedule->base;
        schedule->end = 1 / schedule->end;
    }
    return 0;
}

int
train_pace_check(const struct train_options *o, struct train_pace *pace,
                 struct err *err)
{
    const struct loss_objective *objective =
        loss_objective_find(o->objective, err);
    struct train_pace any;

    if (!pace)
        pace = &any;
    if (!objective ||
        parse("schedule", o->schedule, o->lr, o->lr_end, &pace->rate, err))
        return -1;
    pace->rate.warmup = o->warmup;
    for (size_t i = 0; objective->params[i].name; i++)
        if (parse_param(objective->params + i, o->loss.value[i], o->course + i,
                        pace->value + i, err))
            return -1;
    return 0;
}

int
train_pace_fits(const struct train *t, const struct wire_batch *b,
                struct err *err)
{
    const double warmup = t->options->warmup, epochs = (double)b->epochs;

    if (t->state.total || warmup <= epochs)
        return 0;
    return err_set(err,
                   "--warmup is %g epochs and the run has %g, so that the rate "
                   "would never get to --lr: give a tenth of them, --warmup %g",
                   warmup, epochs, epochs / 10);
}

int
train_prepare(struct train *t, struct err *err)
{
    struct train_options *o = t->options;

    if (train_check(o, err) || train_pace_check(o, &t->pace, err))
        return -1;
    t->objective = loss_objective_find(o->objective, err);
    o->threads = num_threads((int)o->threads);
    return 0;
}
