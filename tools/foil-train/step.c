#include <stdio.h>
#include <string.h>

#include "train.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/stop.h"

static const double record_every_s = .25; // of the top negatives

/* -------------------------------------------------------- plan of an epoch */

/* Stores the plan of a batch that will be trained, and prints a message if it
 * differs. */
static void
note_plan(struct train *t, const struct wire_batch *batch)
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

/*
 * Handles a batch that does not fit, as the rest of its epoch would repeat
 * samples and omit others: the first time it begins a new session, so that the
 * selector receives the plan of the epoch and completes it; the second time it
 * ends the epoch, too.
 */
static int
change_plan(struct train *t, const struct wire_batch *batch, struct err *err)
{
    const struct wire_place at = train_at(t);
    struct train_state *s = &t->state;
    const intmax_t epoch = s->epoch, step = s->step;
    struct err why;

    if (wire_place_cmp(&at, &t->source.asked) != 0) {
        t->source.asked = at;
        return train_source_restart(t, err);
    }
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

/* ---------------------------------------------------------------- one step */

/* Handles a step that was not applied, by --nonfinite. */
static int
handle_refused(struct train *t, const struct batch *batch,
               const struct train_result *result, struct err *err)
{
    struct err why;

    if (train_journal_nonfinite(&t->journal, batch, result->reason, &why))
        log_message("%s", why.msg);
    if (result->outcome == TRAIN_STOPPED)
        return err_set(err,
                       "epoch %jd, step %jd: %s; the ids of the batch are in "
                       "'%s/nonfinite.jsonl'",
                       (intmax_t)batch->epoch, (intmax_t)batch->step,
                       result->reason, t->options->stage.run);
    log_message("epoch %jd, step %jd: %s: %s", (intmax_t)batch->epoch,
                (intmax_t)batch->step, result->reason,
                result->outcome == TRAIN_SKIPPED ? "skipped" : "rolled back");
    if (result->outcome == TRAIN_SKIPPED)
        return 0;
    train_save_finish(t, 1);
    return train_checkpoints_rollback(&t->checkpoints, err);
}

/* Publishes the embeddings of a batch and stores them in the history. */
static void
store_features(struct train *t, const struct batch *batch, int good)
{
    struct train_top_negatives *top = &t->top_negatives;

    if (good && top->known) {
        top->sent_at = clock_now();
        wire_feed_top_negatives(t->feed, &top->message);
    }
    if (good && wire_feed_has_subscribers(t->feed, WIRE_FEATURES)) {
        struct wire_features features = {.batch = *batch};

        if (t->options->text)
            features.batch.v = 2; // the image and its caption
        features.batch.dim = t->learner.dim;
        features.batch.z = t->learner.v;
        snprintf(features.mode, sizeof features.mode, "%s",
                 batch->encode_only ? "eval" : "train");
        wire_feed_features(t->feed, &features);
    }
    if (!t->history.keep)
        return;
    if (good)
        train_history_put(&t->history, batch->b, batch->ids, t->learner.v,
                          batch->encode_only);
    if (batch->step + 1 == batch->steps)
        train_history_end_epoch(&t->history, batch->epoch, batch->steps);
}

static int
take_step(struct train *t, const struct wire_batch *from, struct err *err)
{
    enum train_outcome outcome;
    struct train_result result;
    struct train_top_negatives *top = &t->top_negatives;
    struct batch batch = from->batch;
    int good;

    train_texts_pack(&t->texts, from, &batch);
    top->known = 0;
    top->wanted = wire_feed_has_subscribers(t->feed, WIRE_TOP_NEGATIVES) &&
                  clock_now() - top->sent_at >= record_every_s;
    if (batch.encode_only) {
        stage_io_unlock(&t->io);
        good = train_learner_encode(&t->learner, &batch, err);
        stage_io_lock(&t->io);
        if (good < 0)
            return -1;
        store_features(t, &batch, good);
        if (t->state.step == 0)
            train_report_event(t, "epoch", "", "");
        return 1;
    }
    stage_io_unlock(&t->io);
    outcome = train_learner_step(&t->learner, &batch, &result, err);
    stage_io_lock(&t->io);
    switch (outcome) {
    case TRAIN_FAILED:
        return -1;
    case TRAIN_INTERRUPTED:
        return 0;
    case TRAIN_APPLIED:
        break;
    case TRAIN_SKIPPED:
    case TRAIN_ROLLBACK:
    case TRAIN_STOPPED:
        if (handle_refused(t, &batch, &result, err))
            return -1;
        break;
    }
    store_features(t, &batch, result.outcome == TRAIN_APPLIED);
    train_report_step(t, from, &batch, &result);
    return 1;
}

int
train_batch(struct train *t, struct wire_batch *batch, struct err *err)
{
    int rc = -1;

    if (!train_plan_fits(t, batch)) {
        rc = change_plan(t, batch, err) ? -1 : 1;
    } else {
        note_plan(t, batch);
        if ((t->trained || !train_build(t, batch, err)) &&
            !train_encoders_resize(t, batch->height, batch->width, err))
            rc = take_step(t, batch, err);
        if (rc > 0) {
            t->trained = 1;
            if (!batch->batch.encode_only)
                train_save_if_due(t);
        }
        if (!rc && !stop_requested())
            rc = 1; // the step is repeated, in a new session
    }
    wire_batch_release(&t->unreleased);
    if (t->program) {
        t->unreleased = *batch;
        *batch = (struct wire_batch){0};
    }
    wire_batch_release(batch);
    return rc > 0 && lock_removed()
               ? err_set(err,
                         "'%s' was removed during training: nothing more can "
                         "be saved there",
                         t->options->stage.run)
               : rc;
}
