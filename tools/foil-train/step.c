#include <math.h>
#include <string.h>

#include "num/vec.h"
#include "train.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"

/* So many steps in a row that were not applied are a run that is lost. */
enum { LOST = 16 };

/* Forward, objective, backward: gradients, and nothing else but the running
 * statistics has changed.  1, or 0 when asked to stop. */
static int
gradients(struct train *t, const struct wire_batch *b,
          struct train_result *result, struct sample_weights *weights,
          struct err *err)
{
    struct loss_batch batch = {
        .b = b->n, .extra = b->n_extra, .d = t->encoder.dim};
    const size_t rows = 2 * b->n + b->n_extra;

    train_encode(t, b, NN_MOVE);
    if (t->objective->wants_weights && num_finite(rows * batch.d, t->z)) {
        int rc = train_negatives(t, b, result, weights, err);

        if (rc <= 0)
            return rc;
    }
    batch.weights = weights->w;
    batch.scale = weights->scale;
    train_samples_get(&t->samples, b->n, b->ids, t->columns);
    loss_objective_run(t->objective, &t->param, &batch, t->z, t->columns, t->dz,
                       t->work, &result->loss);
    train_encoder_backward(&t->encoder, t->dz);
    return 1;
}

/* What of the step is not finite, or NULL. */
static const char *
not_finite(struct train *t, const struct wire_batch *b,
           const struct train_result *result)
{
    if (!isfinite(result->loss.value))
        return "the loss is not finite";
    if (!isfinite(result->gradient))
        return "the gradient is not finite";
    if (!train_encoder_steady(&t->encoder))
        return "a running statistic is not finite";
    if (!num_finite(b->n * t->objective->columns, t->columns))
        return "the state of a sample is not finite";
    return NULL;
}

/* One line with the ids of a batch that gave something not finite. */
static int
write_down(struct train *t, const struct wire_batch *b, const char *reason,
           struct err *err)
{
    char *path = mem_format("%s/nonfinite.jsonl", t->options->run), *line;
    json_t *ids = json_array(), *object;
    FILE *file = fopen(path, "a");
    int rc = 0;

    for (size_t i = 0; i < b->n; i++)
        json_array_append_new(ids, json_integer(b->ids[i]));
    object =
        json_pack("{s:I, s:I, s:s, s:o}", "epoch", (json_int_t)b->at.epoch,
                  "step", (json_int_t)b->at.step, "reason", reason, "ids", ids);
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

/* The step will not be applied: what then is as --nan says. */
static int
refuse(struct train *t, const struct wire_batch *b,
       const struct train_result *result, struct err *err)
{
    const char *policy = t->options->nonfinite;
    struct err why;

    train_encoder_undo(&t->encoder);
    t->state.skipped++;
    t->service_behind = 1; // its chains have moved, our mirror has not
    if (write_down(t, b, result->refused, &why))
        train_report_say(t, "%s", why.msg);
    if (!strcmp(policy, "stop") || ++t->in_a_row >= LOST)
        return err_set(err,
                       "epoch %jd, step %jd: %s; the ids of the batch are in "
                       "'%s/nonfinite.jsonl'",
                       (intmax_t)b->at.epoch, (intmax_t)b->at.step,
                       result->refused, t->options->run);
    train_report_say(t, "epoch %jd, step %jd: %s: %s", (intmax_t)b->at.epoch,
                     (intmax_t)b->at.step, result->refused,
                     !strcmp(policy, "skip") ? "skipped" : "rolled back");
    return !strcmp(policy, "skip") ? 0 : train_rollback(t, err);
}

static void
apply(struct train *t, const struct wire_batch *b,
      const struct train_result *result, const struct sample_weights *weights)
{
    train_encoder_update(&t->encoder, result->rate);
    train_samples_put(&t->samples, b->n, b->ids, t->columns);
    train_negatives_keep(t, b, weights);
    t->in_a_row = 0;
    t->state.images += (int64_t)b->n;
    t->state.substituted += (int64_t)b->n_substituted;
    t->state.alone += result->alone;
    t->last = result->loss;
}

static void
move_on(struct train *t, const struct wire_batch *b)
{
    struct train_state *state = &t->state;

    state->steps = b->steps;
    state->epochs = b->epochs;
    state->at.step++;
    if (state->at.step == b->steps) {
        state->at.step = 0;
        state->at.epoch++;
    }
}

int
train_step(struct train *t, const struct wire_batch *b,
           struct train_result *result, struct err *err)
{
    const double start = clock_now();
    struct sample_weights weights = {.w = t->weights};
    int rc;

    *result = (struct train_result){.accepted = -1};
    result->rate = train_pace_take(t, b);
    rc = gradients(t, b, result, &weights, err);
    if (rc > 0) {
        result->gradient = train_encoder_norm(&t->encoder);
        result->refused = not_finite(t, b, result);
        if (!result->refused)
            apply(t, b, result, &weights);
        else if (refuse(t, b, result, err))
            rc = -1;
    }
    if (rc > 0) { // whether it was applied or not
        train_samples_refuse(&t->samples, b);
        t->state.total++;
        move_on(t, b);
    }
    result->seconds = clock_now() - start;
    return rc;
}

void
train_look(struct train *t, const struct wire_batch *b)
{
    train_encode(t, b, NN_LOOK);
    move_on(t, b);
}
