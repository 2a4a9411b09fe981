#include <stdlib.h>
#include <string.h>

#include "train.h"
#include "util/mem.h"

/* Publishes the numbers of a line. */
static void
publish_values(void *self, const struct values *values)
{
    struct train *t = self;
    struct wire_metrics *metrics = mem_array(1, sizeof *metrics);

    *metrics = (struct wire_metrics){
        .stage = "train", .step = t->state.total, .n = values->n};
    memcpy(metrics->values, values->value, values->n * sizeof *values->value);
    wire_feed_metrics(t->feed, metrics);
    free(metrics);
}

void
train_report_init(struct train *t)
{
    const struct train_listener listener = {t, log_line, publish_values};

    train_journal_init(&t->journal, &listener);
    t->batches.rows = t->batches.lines = -1;
}

int
train_report_open(struct train *t, struct err *err)
{
    const struct wire_limits limits = {0};

    t->feed = wire_feed_open(
        t->stage.wire, stage_endpoint(&t->stage, t->options->events, "events"),
        &limits, err);
    run_lines_skip(&t->results, t->options->stage.run, RUN_RESULTS, 0);
    return t->feed && !train_journal_open(&t->journal, t->options->stage.run,
                                          &t->state, err)
               ? run_batches_open(&t->batches, t->options->stage.run,
                                  t->state.total, err)
               : -1;
}

void
train_report_step(struct train *t, const struct wire_batch *from,
                  const struct batch *batch, const struct train_result *result)
{
    const struct run_batch_record record = {
        .total = t->state.total, .plan = from->plan, .batch = from->batch};
    struct train_plan plan;
    const int first = batch->step == 0 &&
                      train_features_plan(&t->features, batch->epoch, &plan);
    struct err why;

    if (result->outcome != TRAIN_ROLLBACK &&
        run_batches_put(&t->batches, &record, t->shape.extra, t->shape.digest,
                        t->view_options, &why) &&
        tally_add(&t->unrecorded, &why))
        log_message("%s", why.msg);
    if (t->ranks)
        t->journal.slowest =
            train_shards_slowest(&t->encoder, &t->text_encoder);
    train_journal_step(&t->journal, batch, result, first ? &plan : NULL);
    train_report_event(t, "step", "", "");
    if (t->state.step == 0)
        train_report_event(t, "epoch", "", "");
}

void
train_report_event(struct train *t, const char *what, const char *path,
                   const char *reason)
{
    struct wire_event event = {.epoch = t->state.epoch, .step = t->state.step};

    snprintf(event.what, sizeof event.what, "%s", what);
    snprintf(event.path, sizeof event.path, "%s", path);
    snprintf(event.reason, sizeof event.reason, "%s", reason);
    wire_feed_event(t->feed, &event);
}

void
train_top_negatives_take(void *train, const struct batch *step,
                         const struct weights *weights)
{
    struct train *t = train;
    struct train_top_negatives *d = &t->top_negatives;
    const size_t rows = step->v * step->b;
    struct heaviest *h = &d->message.heaviest;
    const size_t n = rows * TRAIN_TOP_NEGATIVES;

    if (!d->wanted)
        return;
    d->known = 1;
    arena_begin(&d->arrays);
    h->k = TRAIN_TOP_NEGATIVES;
    h->row = arena_take(&d->arrays, n, sizeof *h->row);
    h->sample = arena_take(&d->arrays, n, sizeof *h->sample);
    h->view = arena_take(&d->arrays, n, sizeof *h->view);
    h->epoch = arena_take(&d->arrays, n, sizeof *h->epoch);
    h->w = arena_take(&d->arrays, n, sizeof *h->w);
    h->cosine = arena_take(&d->arrays, n, sizeof *h->cosine);
    h->outside = arena_take(&d->arrays, rows, sizeof *h->outside);
    h->effective = arena_take(&d->arrays, rows, sizeof *h->effective);
    sample_heaviest(step, weights, &d->message.heaviest);
    d->message.batch = *step;
    d->message.columns = weights->columns;
    snprintf(d->message.sampler, sizeof d->message.sampler, "%s",
             weights->sampler ? weights->sampler : "");
}
