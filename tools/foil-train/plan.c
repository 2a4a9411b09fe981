#include <string.h>

#include "train.h"

int
train_plan_fits(const struct train *t, const struct wire_batch *batch)
{
    const char *order = t->state.order;

    return !batch->batch.step || !*order || !*batch->order ||
           !strcmp(order, batch->order);
}

void
train_plan_note(struct train *t, const struct wire_batch *batch)
{
    struct train_state *s = &t->state;

    if (*s->plan && *batch->plan && strcmp(s->plan, batch->plan) != 0)
        log_message("epoch %jd, step %jd: another plan: '%.200s', before "
                    "it '%.200s'",
                    (intmax_t)s->epoch, (intmax_t)s->step, batch->plan,
                    s->plan);
    if (*batch->plan)
        memcpy(s->plan, batch->plan, sizeof s->plan);
    if (!s->step || !*s->order)
        memcpy(s->order, batch->order, sizeof s->order);
}

/* Prints why the epoch ends before its last step. */
static void
report_change(struct train *t, const struct wire_batch *batch)
{
    const struct train_state *s = &t->state;
    const intmax_t epoch = s->epoch, step = s->step;
    struct err why;

    if (strcmp(s->plan, batch->plan) != 0)
        err_set(&why,
                "epoch %jd, step %jd: another plan: '%.120s', before it "
                "'%.120s'; epoch %jd ends here, as the rest of it would repeat "
                "samples",
                epoch, step, batch->plan, s->plan, epoch);
    else
        err_set(&why,
                "epoch %jd, step %jd: another plan by the same options, "
                "'%.120s'; epoch %jd ends here, as the rest of it would repeat "
                "samples",
                epoch, step, s->plan, epoch);
    log_message("%s", why.msg);
    train_report_event(t, "epoch", "", why.msg);
}

int
train_plan_change(struct train *t, const struct wire_batch *batch,
                  struct err *err)
{
    const struct wire_place at = train_at(t);
    struct train_state *s = &t->state;

    if (wire_place_cmp(&at, &t->source.asked) != 0) {
        t->source.asked = at;
        return train_source_restart(t, err);
    }
    report_change(t, batch);
    t->journal.ended_epoch = s->epoch;
    t->journal.ended_step = s->step;
    if (t->history.keep)
        train_history_end_epoch(&t->history, s->epoch, s->step);
    s->epoch++;
    s->step = 0;
    s->steps = batch->batch.steps;
    s->epochs = batch->batch.epochs;
    if (*batch->plan)
        memcpy(s->plan, batch->plan, sizeof s->plan);
    return train_source_restart(t, err);
}
