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

/* The same for a parameter of the objective, which must have it. */
static int
parse_param(const struct train_options *o, const char *name, const char *text,
            double base, double end, struct nn_schedule *schedule,
            struct err *err)
{
    const struct loss_objective *objective =
        loss_objective_find(o->objective, err);
    char option[32];

    snprintf(option, sizeof option, "%s-schedule", name);
    if (!objective || parse(option, text, base, end, schedule, err))
        return -1;
    if (schedule->kind == NN_SCHEDULE_CONSTANT)
        return 0;
    if (schedule->kind == NN_SCHEDULE_STEP)
        return err_set(err, "--%s: step is for the learning rate", option);
    if (!loss_objective_reads(objective, name))
        return err_set(err, "%s has no --%s", o->objective, option);
    return 0;
}

/* A temperature goes where it is told to, if it is not learnt. */
static int
check_tau(const struct train_options *o, struct nn_schedule *tau,
          struct err *err)
{
    const struct loss_objective *objective =
        loss_objective_find(o->objective, err);

    if (tau->kind == NN_SCHEDULE_CONSTANT)
        return isnan(o->tau_end)
                   ? 0
                   : err_set(err, "--tau-end wants a --tau-schedule");
    if (isnan(o->tau_end))
        return err_set(err, "--tau-schedule wants --tau-end, where it goes");
    if (loss_objective_reads(objective, "tau-min"))
        return err_set(err,
                       "%s learns its temperatures: it has no --tau-schedule",
                       o->objective);
    if (tau->kind == NN_SCHEDULE_WAVE) { // of the inverse temperature
        tau->base = 1 / tau->base;
        tau->end = 1 / tau->end;
    }
    return 0;
}

int
train_pace_check(const struct train_options *o, struct train_pace *pace,
                 struct err *err)
{
    const struct loss_param *p = &o->loss;
    struct train_pace any;

    if (!pace)
        pace = &any;
    if (parse("schedule", o->schedule, o->lr, o->lr_end, &pace->rate, err) ||
        parse_param(o, "tau", o->tau_schedule, p->tau, o->tau_end, &pace->tau,
                    err) ||
        parse_param(o, "gamma", o->gamma_schedule, 1, p->gamma, &pace->gamma,
                    err) ||
        parse_param(o, "eta", o->eta_schedule, p->eta, o->eta_end, &pace->eta,
                    err) ||
        check_tau(o, &pace->tau, err))
        return -1;
    pace->rate.warmup = o->warmup;
    if (pace->gamma.kind == NN_SCHEDULE_CONSTANT)
        pace->gamma.base = p->gamma;
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

/* What a schedule says at the batch's place. */
static double
now(struct nn_schedule *schedule, const struct wire_batch *b)
{
    schedule->epochs = (double)b->epochs;
    return nn_schedule_at(schedule, (double)b->at.epoch +
                                        (double)b->at.step / (double)b->steps);
}

double
train_pace_take(struct train *t, const struct wire_batch *b)
{
    struct train_pace *pace = &t->pace;

    t->param = t->options->loss;
    t->param.gamma = now(&pace->gamma, b);
    t->param.eta = now(&pace->eta, b);
    t->param.tau = now(&pace->tau, b);
    if (pace->tau.kind == NN_SCHEDULE_WAVE)
        t->param.tau = 1 / t->param.tau;
    return now(&pace->rate, b);
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
