#include <string.h>

#include "train.h"
#include "util/file.h"
#include "util/mem.h"

/* One line with the ids of a batch that gave something not finite. */
static int
write_down(struct train *t, const struct train_batch *b, const char *reason,
           struct err *err)
{
    char *path = mem_format("%s/nonfinite.jsonl", t->options->run), *line;
    json_t *ids = json_array(), *object;
    FILE *file = fopen(path, "a");
    int rc = 0;

    for (size_t i = 0; i < b->n; i++)
        json_array_append_new(ids, json_integer(b->ids[i]));
    object =
        json_pack("{s:I, s:I, s:s, s:o}", "epoch", (json_int_t)b->epoch, "step",
                  (json_int_t)b->step, "reason", reason, "ids", ids);
    line = json_line(object);
    if (!file || fputs(line, file) < 0)
        rc = err_sys(err, "cannot write '%s'", path);
    if (file && fclose(file) && !rc)
        rc = err_sys(err, "cannot write '%s'", path);
    free(line);
    json_decref(object);
    free(path);
    return rc;
}

/* The step was not applied: what then is as --nan says. */
static int
refuse(struct train *t, const struct train_batch *b,
       const struct train_result *result, struct err *err)
{
    struct err why;

    if (write_down(t, b, result->reason, &why))
        train_report_say(t, "%s", why.msg);
    if (result->outcome == TRAIN_STOPPED)
        return err_set(err,
                       "epoch %jd, step %jd: %s; the ids of the batch are in "
                       "'%s/nonfinite.jsonl'",
                       (intmax_t)b->epoch, (intmax_t)b->step, result->reason,
                       t->options->run);
    train_report_say(t, "epoch %jd, step %jd: %s: %s", (intmax_t)b->epoch,
                     (intmax_t)b->step, result->reason,
                     result->outcome == TRAIN_SKIPPED ? "skipped"
                                                      : "rolled back");
    return result->outcome == TRAIN_SKIPPED ? 0 : train_rollback(t, err);
}

static void
look(struct train *t, const struct train_batch *b)
{
    const int good = train_learner_look(&t->learner, b);

    train_features_take(t, b, good);
    if (t->state.step == 0)
        train_report_event(t, "epoch", "", "");
}

int
train_step(struct train *t, const struct wire_batch *from, struct err *err)
{
    struct train_result result;
    struct train_batch batch;

    t->batch = from;
    train_batch_of(from, &batch);
    if (batch.eval) {
        look(t, &batch);
        return 1;
    }
    switch (train_learner_step(&t->learner, &batch, &result, err)) {
    case TRAIN_FAILED:
        return -1;
    case TRAIN_INTERRUPTED:
        return 0;
    case TRAIN_APPLIED:
        t->last = result.loss;
        break;
    case TRAIN_SKIPPED:
    case TRAIN_ROLLBACK:
    case TRAIN_STOPPED:
        if (refuse(t, &batch, &result, err))
            return -1;
        break;
    }
    train_features_take(t, &batch, result.outcome == TRAIN_APPLIED);
    train_report_step(t, &batch, &result);
    return 1;
}
