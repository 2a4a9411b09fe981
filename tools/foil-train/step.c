#include "train.h"

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
    if (good)
        train_top_negatives_send(&t->top_negatives, t->feed);
    if (good && wire_feed_has_subscribers(t->feed, WIRE_FEATURES)) {
        struct wire_features features = {.batch = *batch};

        features.batch.v = 2;
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
encode_only(struct train *t, const struct batch *batch, struct err *err)
{
    int good;

    stage_io_unlock(&t->io);
    good = train_learner_encode(&t->learner, batch, err);
    stage_io_lock(&t->io);
    if (good < 0)
        return -1;
    store_features(t, batch, good);
    if (t->state.step == 0)
        train_report_event(t, "epoch", "", "");
    return 1;
}

void
train_prefetch_next(void *tool)
{
    struct train *t = tool;
    const struct train_state *s = &t->state;
    const int last = s->step + 1 == s->steps;
    const struct wire_place next = {.session = t->session,
                                    .epoch = s->epoch + last,
                                    .step = last ? 0 : s->step + 1};
    const struct wire_batch *found;

    stage_io_lock(&t->io);
    wire_batch_release(&t->unreleased);
    train_source_serve(t);
    found = train_source_find(t, &next);
    // do not send a program a batch that will not be trained
    if (found && train_plan_fits(t, found))
        train_learner_prefetch(&t->learner, &found->batch);
    stage_io_unlock(&t->io);
}

void
train_release_batch(struct train *t, struct wire_batch *batch)
{
    wire_batch_release(&t->unreleased);
    if (t->program) {
        t->unreleased = *batch;
        *batch = (struct wire_batch){0};
    } else {
        wire_batch_release(batch);
    }
}

int
train_step(struct train *t, const struct wire_batch *from, struct err *err)
{
    enum train_outcome outcome;
    struct train_result result;
    struct batch batch = from->batch;

    train_texts_pack(&t->texts, from, &batch);
    train_top_negatives_begin(
        &t->top_negatives,
        wire_feed_has_subscribers(t->feed, WIRE_TOP_NEGATIVES));
    if (batch.encode_only)
        return encode_only(t, &batch, err);
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
