#include <string.h>

#include "loss/objective.h"
#include "num/vec.h"
#include "sample/how_of.h"
#include "t.h"
#include "tiny.h"
#include "train/learner.h"
#include "util/mem.h"

enum { SIZE = 12, N = 4, ROWS = 2 * N, EPOCHS = 2, STEPS = SIZE / N };

/* The objects of a learner, and a batch. */
struct world {
    struct train_encoder encoder[2];
    struct loss_settings settings;
    struct train_samples samples;
    struct train_state state;
    struct train_negatives negatives;
    struct train_learner learner;
    struct batch batch;
    int64_t ids[N];
    uint8_t views[ROWS * TINY_IMAGE];
    /* calls of the negatives, and their answers */
    int calls, undone, answer, alone;
    float weights[ROWS * ROWS];
    int64_t call; /* number of the call, written into a row of a table */
    struct table_rows table;
};

static int
weigh(void *self, const struct batch *step, struct weights *weights,
      int *without_service, struct err *err)
{
    struct world *w = self;
    const size_t n = step->b, rows = 2 * n;

    w->calls++;
    if (w->answer < 0)
        return err_set(err, "no weights");
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < rows; c++)
            w->weights[r * rows + c] =
                c % n == r % n ? 0 : 1 / (float)(rows - 2);
    w->call = w->calls;
    w->table = (struct table_rows){.name = "asked",
                                   .rows = 1,
                                   .width = 8,
                                   .n = 1,
                                   .row = (const uint8_t *)&w->call};
    *weights = (struct weights){
        .rows = rows,
        .columns = rows,
        .w = w->weights,
        .accepted = 0.25,
        .sampler = "one",
        .n_tables = 1,
        .tables = &w->table,
    };
    *without_service = w->alone;
    return w->answer;
}

static void
undone(void *self)
{
    ((struct world *)self)->undone++;
}

/* The stored number of the last applied step; 0: none. */
static int64_t
stored_call(const struct world *w)
{
    const struct sample_table *table =
        sample_store_find(&w->samples.store, "asked");

    return table ? *(const int64_t *)table->bytes : 0;
}

static struct world *
begin(const char *objective, const char *norm, size_t encoders,
      enum train_nonfinite nonfinite)
{
    struct world *w = mem_array(1, sizeof *w);
    struct err err = {""};
    struct train_learner_spec spec = {
        .objective = loss_objective_find(objective, &err),
        .settings = &w->settings,
        .encoder = {&w->encoder[0], encoders > 1 ? &w->encoder[1] : NULL},
        .images = N,
        .samples = &w->samples,
        .state = &w->state,
        .negatives = &w->negatives,
        .nonfinite = nonfinite,
    };

    w->settings = loss_settings_of(spec.objective);
    spec.schedules.rate.base = 0.05;
    for (size_t i = 0; spec.objective->params[i].name; i++)
        spec.schedules.value[i].base = w->settings.value[i];
    w->answer = 1;
    w->negatives =
        (struct train_negatives){.self = w, .weigh = weigh, .undo = undone};
    for (size_t k = 0; k < encoders; k++)
        w->encoder[k] = tiny_open(norm, encoders > 1 ? N : ROWS, 0);
    train_samples_init(&w->samples, spec.objective, SIZE, 0, &w->state);
    if (train_learner_open(&w->learner, &spec, &err))
        printf("# %s\n", err.msg);
    w->batch = (struct batch){.steps = STEPS,
                              .epochs = EPOCHS,
                              .b = N,
                              .ids = w->ids,
                              .pixels = w->views};
    return w;
}

static void
end(struct world *w)
{
    train_learner_close(&w->learner);
    train_samples_release(&w->samples);
    train_encoder_close(&w->encoder[0]);
    train_encoder_close(&w->encoder[1]);
    free(w);
}

/* One step at the place of the state. */
static enum train_outcome
step(struct world *w, struct train_result *result, struct err *err)
{
    w->batch.epoch = w->state.epoch;
    w->batch.step = w->state.step;
    for (size_t i = 0; i < N; i++)
        w->ids[i] = (int64_t)((size_t)w->state.step * N + i);
    tiny_images(w->views, ROWS, (uint64_t)w->state.step);
    return train_learner_step(&w->learner, &w->batch, result, err);
}

/* A copy of weights and running statistics, which the caller frees. */
static float *
weights_of(struct world *w, size_t *n)
{
    size_t more;
    const float *params = nn_net_params(train_native(&w->encoder[0])->net, n);
    const float *statistics =
        nn_net_statistics(train_native(&w->encoder[0])->net, &more);
    float *copy = mem_array(*n + more, sizeof *copy);

    memcpy(copy, params, *n * sizeof *copy);
    memcpy(copy + *n, statistics, more * sizeof *copy);
    *n += more;
    return copy;
}

static int
same_weights(struct world *w, const float *before_weights)
{
    size_t n;
    float *now = weights_of(w, &n);
    const int same = !memcmp(now, before_weights, n * sizeof *now);

    free(now);
    return same;
}

static void
steps_train(void)
{
    struct world *w = begin("simclr", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct train_result result;
    struct err err = {""};
    double first = 0, last = 0;

    for (int i = 0; i < EPOCHS * STEPS; i++) {
        if (step(w, &result, &err) != TRAIN_APPLIED)
            printf("# %s\n", err.msg);
        last = result.loss.value;
        first = i ? first : last;
    }
    T(last < first, "the loss falls, from %g to %g", first, last);
    T(w->state.total == EPOCHS * STEPS && w->state.epoch == EPOCHS &&
          !w->state.step && w->state.images == EPOCHS * STEPS * N,
      "the state counts steps, epochs and images");
    T(result.outcome == TRAIN_APPLIED && !result.reason && !w->calls,
      "no weights are requested for an objective without weights");
    T_NEAR(value_find(result.values.value, result.values.n, "loss"), last, 0,
           "the values have the loss");
    T(value_find(result.values.value, result.values.n, "lr") == 0.05 &&
          value_find(result.values.value, result.values.n, "grad_norm") > 0 &&
          isnan(value_find(result.values.value, result.values.n, "gamma")),
      "rate and gradient, and no constant parameter");
    end(w);
}

/* Of six steps the last four: .6 of them, rounded up. */
static void
the_last_weights_have_a_mean(void)
{
    struct world *w = begin("simclr", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct nn_net *net = train_native(&w->encoder[0])->net;
    struct nn_average *average = &train_native(&w->encoder[0])->average;
    struct train_result result;
    struct err err;
    double *sum, most = 0;
    size_t n;
    const float *p = nn_net_params(net, &n);

    sum = mem_array(n, sizeof *sum);
    nn_average_init(average, net);
    w->learner.spec.average = 0.6;
    for (int i = 0; i < EPOCHS * STEPS; i++) {
        step(w, &result, &err);
        for (size_t k = 0; k < n && i >= 2; k++)
            sum[k] += p[k];
    }
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(average->mean[k] - sum[k] / 4));
    T(average->steps == 4, "of the last .6 of 6 steps 4 count, not %ld",
      average->steps);
    T(most < 1e-14, "the mean of the weights after them, within %g", most);
    free(sum);
    end(w);
}

static void
encoding_trains_nothing(void)
{
    struct world *w = begin("simclr", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct err err;
    size_t n;
    float *before_weights = weights_of(w, &n);

    tiny_images(w->views, ROWS, 1);
    T(train_learner_encode(&w->learner, &w->batch, &err) == 1,
      "its embeddings are finite");
    T(same_weights(w, before_weights), "weights and statistics are unchanged");
    T(w->state.step == 1 && !w->state.total,
      "the place advances, the count of steps does not");
    T_NEAR(num_dot(TINY_DIM, w->learner.v, w->learner.v), 1, 1e-6,
           "embeddings are of unit length");
    free(before_weights);
    end(w);
}

/* A weight that is NaN: the outcome of the step, the state, the weights. */
static void
a_step_that_is_not_finite(enum train_nonfinite nonfinite,
                          enum train_outcome want, const char *name)
{
    struct world *w = begin("emc2", "batch", 1, nonfinite);
    struct train_result result;
    struct err err = {""};
    size_t n;
    float *params = nn_net_params(train_native(&w->encoder[0])->net, &n), keep,
          *before_weights;

    step(w, &result, &err);
    keep = params[0];
    params[0] = NAN;
    before_weights = weights_of(w, &n);
    T(step(w, &result, &err) == want && result.outcome == want, "is %s", name);
    T(result.reason && strstr(result.reason, "is not finite"), "because %s",
      result.reason);
    T(same_weights(w, before_weights), "weights and statistics are as before");
    T(w->calls == 1 && stored_call(w) == 1 && w->undone == 1,
      "no weights are requested for embeddings that are not finite");
    T(w->state.skipped == 1 && w->state.images == N,
      "it is counted as skipped, not as trained");
    T(w->state.step == (want == TRAIN_STOPPED ? 1 : 2),
      "the place advances unless the run must stop");
    params[0] = keep;
    T(step(w, &result, &err) == TRAIN_APPLIED && w->calls == 2,
      "the next step is applied");
    free(before_weights);
    end(w);
}

static void
too_many_in_a_row_stop_the_run(void)
{
    struct world *w = begin("simclr", "group", 1, TRAIN_ON_NONFINITE_SKIP);
    struct train_result result;
    struct err err = {""};
    size_t n;
    float *params = nn_net_params(train_native(&w->encoder[0])->net, &n),
          keep = params[0];
    int skipped = 0;

    params[0] = NAN;
    for (int i = 0; i < TRAIN_MAX_NONFINITE - 1; i++)
        skipped += step(w, &result, &err) == TRAIN_SKIPPED;
    T(skipped == TRAIN_MAX_NONFINITE - 1, "fewer in a row are skipped");
    params[0] = keep;
    T(step(w, &result, &err) == TRAIN_APPLIED,
      "an applied step resets the count");
    params[0] = NAN;
    for (int i = 0; i < TRAIN_MAX_NONFINITE - 1; i++)
        skipped += step(w, &result, &err) == TRAIN_SKIPPED;
    T(skipped == 2 * (TRAIN_MAX_NONFINITE - 1) &&
          step(w, &result, &err) == TRAIN_STOPPED,
      "the %d-th in a row stops the run", TRAIN_MAX_NONFINITE);
    end(w);
}

static void
weights_are_requested(void)
{
    struct world *w = begin("emc2", "batch", 1, TRAIN_ON_NONFINITE_STOP);
    struct train_result result;
    struct err err = {""};
    size_t n;
    const float *running =
        nn_net_running(train_native(&w->encoder[0])->net, &n);
    float *before = mem_array(n, sizeof *before);

    REQUIRE(n > 0);
    T(step(w, &result, &err) == TRAIN_APPLIED && w->calls == 1 &&
          stored_call(w) == 1 && !strcmp(w->samples.store.sampler, "one"),
      "weights are requested once, and tables of an applied step are stored");
    T_NEAR(value_find(result.values.value, result.values.n, "accepted"), 0.25,
           0, "their numbers are among the values");
    w->alone = 1;
    T(step(w, &result, &err) == TRAIN_APPLIED &&
          w->state.steps_without_service == 1 &&
          value_find(result.values.value, result.values.n, "without_service") ==
              1 &&
          isnan(value_find(result.values.value, result.values.n, "accepted")),
      "a step without a service is counted");
    w->alone = 0;
    w->answer = 0;
    memcpy(before, running, n * sizeof *before);
    T(step(w, &result, &err) == TRAIN_INTERRUPTED,
      "weigh() may be interrupted");
    T(!memcmp(before, running, n * sizeof *before),
      "running statistics are restored, for a checkpoint");
    w->answer = -1;
    T(step(w, &result, &err) == TRAIN_FAILED && !strcmp(err.msg, "no weights"),
      "weigh() may fail: %s", err.msg);
    T(w->state.total == 2 && w->state.step == 2 && stored_call(w) == 2,
      "neither counts as a step, and no tables are stored");
    free(before);
    end(w);
}

/* The loss after two epochs of EMC2, with a new sampler for each step or one
 * for all. */
static double
with_chains(int renew)
{
    struct world *w = begin("emc2", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct train_result result;
    struct sample_settings settings = how_of("emc2 once");
    struct train_local_sampler sampler;
    struct err err = {""};

    settings.seed = 5;
    for (int i = 0; i < EPOCHS * STEPS; i++) {
        if (!i || renew)
            train_local_sampler_init(&sampler, &w->samples, &settings, 0);
        w->negatives = train_local_sampler_negatives(&sampler);
        if (step(w, &result, &err) != TRAIN_APPLIED)
            printf("# %s\n", err.msg);
        if (renew)
            train_local_sampler_release(&sampler);
    }
    if (!renew)
        train_local_sampler_release(&sampler);
    T(w->samples.store.n == 1 && w->samples.store.table[0].rows == 2 * SIZE,
      "the states of chains are stored");
    end(w);
    return result.loss.value;
}

static void
local_chains_resume_from_the_store(void)
{
    const double once = with_chains(0), renew = with_chains(1);

    T(isfinite(once) && once == renew,
      "a new sampler with the stored state has the same bits");
}

static void
columns_of_the_batch_change(void)
{
    struct world *w = begin("sogclr", "group", 1, TRAIN_ON_NONFINITE_STOP);
    const size_t columns = w->samples.objective->columns;
    struct train_result result;
    struct err err = {""};
    int moved = 0, unchanged = 1;

    step(w, &result, &err);
    for (size_t i = 0; i < SIZE * columns; i++) {
        const int same =
            w->samples.column[i] == w->samples.objective->initial[i % columns];

        moved += i < N * columns && !same;
        unchanged &= i < N * columns || same;
    }
    T(moved >= N && unchanged, "columns of the batch change, and no others");
    end(w);
}

/* Two encoders with the same weights, each for one view, equal one. */
static void
two_encoders_with_the_same_weights_equal_one(void)
{
    struct world *one = begin("simclr", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct world *two = begin("simclr", "group", 2, TRAIN_ON_NONFINITE_STOP);
    struct train_result a, b;
    struct err err = {""};
    double off = 0, large = 0;
    const float *g, *g0, *g1;
    size_t n;

    T(step(one, &a, &err) == TRAIN_APPLIED &&
          step(two, &b, &err) == TRAIN_APPLIED,
      "both take a step");
    T_NEAR(b.loss.value, a.loss.value, 1e-5, "of the same loss");
    nn_net_params(train_native(&one->encoder[0])->net, &n);
    g = nn_net_grads(train_native(&one->encoder[0])->net);
    g0 = nn_net_grads(train_native(&two->encoder[0])->net);
    g1 = nn_net_grads(train_native(&two->encoder[1])->net);
    for (size_t i = 0; i < n; i++) {
        off = fmax(off, fabs((double)g0[i] + g1[i] - g[i]));
        large = fmax(large, fabs(g[i]));
    }
    T(off / large < 1e-4, "the gradient of one is the sum of both: off by %g",
      off / large);
    T_NEAR(value_find(b.values.value, b.values.n, "grad_norm"),
           sqrt(num_dot(n, g0, g0) + num_dot(n, g1, g1)), 1e-5,
           "the reported length is that of both together");
    end(one);
    end(two);
}

/* Encodes two samples in two views, and two extra ones. */
static void
encode_extras(struct world *w)
{
    struct train_learner_spec spec = w->learner.spec;
    static const int64_t extra[2] = {8, 9};
    struct err err = {""};

    spec.extra = 2;
    train_learner_close(&w->learner);
    REQUIRE(!train_learner_open(&w->learner, &spec, &err));
    tiny_images(w->views, ROWS, 1);
    w->batch.b = 2;
    w->ids[1] = 1;
    w->batch.extra.n = 2;
    w->batch.extra.ids = extra;
    w->batch.extra.pixels = w->views + 4 * TINY_IMAGE;
    REQUIRE(train_learner_encode(&w->learner, &w->batch, &err) > 0);
}

static void
second_encoder_has_the_extra_images(void)
{
    struct world *one = begin("simclr", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct world *two = begin("simclr", "group", 2, TRAIN_ON_NONFINITE_STOP);
    const size_t d = one->learner.dim;
    double off = 0, moved = 0;
    size_t n;
    float *p;

    encode_extras(one);
    encode_extras(two);
    for (size_t i = 0; i < 6 * d; i++)
        off = fmax(off, fabs(one->learner.z[i] - two->learner.z[i]));
    T_NEAR(off, 0, 1e-5, "two equal encoders embed as one, extra images too");
    p = nn_net_params(train_native(&two->encoder[0])->net, &n);
    for (size_t i = 0; i < n; i++)
        p[i] += 0.1f;
    encode_extras(two);
    off = 0;
    for (size_t i = 0; i < 6 * d; i++) {
        const double by = fabs(one->learner.z[i] - two->learner.z[i]);

        *(i < 2 * d ? &moved : &off) = fmax(i < 2 * d ? moved : off, by);
    }
    T(moved > 0.01 && off < 1e-5,
      "the first encoder changes only the first views: by %g, others by %g",
      moved, off);
    end(one);
    end(two);
}

/* The test's weights are of all other images, in both views. */
static void
weights_of_the_same_view_are_refused(void)
{
    struct world *w =
        begin("emc2_bimodal", "group", 1, TRAIN_ON_NONFINITE_STOP);
    struct train_result result;
    struct err err = {""};

    T(step(w, &result, &err) == TRAIN_FAILED && strstr(err.msg, "same view"),
      "emc2_bimodal refuses weights of the same view: %s", err.msg);
    end(w);
}

int
main(void)
{
    steps_train();
    the_last_weights_have_a_mean();
    encoding_trains_nothing();
    a_step_that_is_not_finite(TRAIN_ON_NONFINITE_STOP, TRAIN_STOPPED,
                              "the end");
    a_step_that_is_not_finite(TRAIN_ON_NONFINITE_SKIP, TRAIN_SKIPPED,
                              "skipped");
    a_step_that_is_not_finite(TRAIN_ON_NONFINITE_ROLLBACK, TRAIN_ROLLBACK,
                              "rolled back by the caller");
    too_many_in_a_row_stop_the_run();
    weights_are_requested();
    local_chains_resume_from_the_store();
    columns_of_the_batch_change();
    two_encoders_with_the_same_weights_equal_one();
    second_encoder_has_the_extra_images();
    weights_of_the_same_view_are_refused();
    return t_done();
}
