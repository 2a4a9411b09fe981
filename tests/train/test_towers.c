/* Two encoders, of images and of texts, in one learner: gradients by
 * micro-batches, one checkpoint, one of them locked. */
#include <string.h>
#include <unistd.h>

#include "nn/model.h"
#include "num/vec.h"
#include "t.h"
#include "tiny.h"
#include "train/learner.h"
#include "util/file.h"
#include "util/mem.h"

enum { SIZE = 12, N = 4, STEPS = SIZE / N, IDS = 9, MOST = 5 };

static char folder[] = "/tmp/foil-test-XXXXXX";

struct world {
    struct train_encoder encoder[TRAIN_ENCODERS];
    struct loss_settings settings;
    struct train_samples samples;
    struct train_state state;
    struct train_learner learner;
    struct train_batch batch;
    int64_t ids[N];
    uint8_t views[N * TINY_IMAGE];
    int32_t tokens[N * MOST];
    size_t offsets[N + 1];
};

static struct train_encoder_spec
spec_of(int k, size_t micro, int locked)
{
    struct train_encoder_spec spec = tiny_spec("group", N, micro);

    spec.net.head = "project:6";
    spec.optim.name = "adamw";
    spec.locked = locked;
    if (k) {
        spec.net.arch = "clip:16x1x2";
        spec.net.vocabulary = IDS;
        spec.net.context = MOST;
    }
    return spec;
}

/* micro: 0 or rows in a micro-batch; locked: which tower, or -1. */
static struct world *
begin(size_t micro, int locked)
{
    struct world *w = mem_array(1, sizeof *w);
    struct err err = {""};
    struct train_learner_spec spec = {
        .objective = loss_objective_find("clip", &err),
        .settings = &w->settings,
        .encoder = {&w->encoder[0], &w->encoder[1]},
        .images = N,
        .samples = &w->samples,
        .state = &w->state,
    };

    w->settings = loss_settings_of(spec.objective);
    spec.pace.rate.base = 0.01;
    for (size_t i = 0; spec.objective->params[i].name; i++)
        spec.pace.value[i].base = w->settings.value[i];
    train_samples_init(&w->samples, spec.objective, SIZE, 0, &w->state);
    for (int k = 0; k < TRAIN_ENCODERS; k++) {
        const struct train_encoder_spec of = spec_of(k, micro, k == locked);

        if (train_encoder_open(&w->encoder[k], &of, &err))
            printf("# %s\n", err.msg);
    }
    if (train_learner_open(&w->learner, &spec, &err))
        printf("# %s\n", err.msg);
    w->batch = (struct train_batch){.steps = STEPS,
                                    .epochs = 2,
                                    .n = N,
                                    .ids = w->ids,
                                    .views = w->views,
                                    .tokens = w->tokens,
                                    .offsets = w->offsets};
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

/* One step at the place of the state; its loss, or NaN. */
static double
step(struct world *w)
{
    struct train_result result;
    struct err err = {""};

    w->batch.epoch = w->state.epoch;
    w->batch.step = w->state.step;
    tiny_images(w->views, N, (uint64_t)w->state.step);
    for (size_t i = 0; i < N; i++) {
        w->ids[i] = (int64_t)((size_t)w->state.step * N + i);
        w->offsets[i + 1] = w->offsets[i] + 1 + i;
    }
    for (size_t t = 0; t < w->offsets[N]; t++)
        w->tokens[t] = (int32_t)((t * t + (size_t)w->state.step) % IDS);
    if (train_learner_step(&w->learner, &w->batch, &result, &err) !=
        TRAIN_APPLIED) {
        printf("# %s %s\n", err.msg, result.reason ? result.reason : "");
        return NAN;
    }
    return result.loss.value;
}

static int
same_weights(struct world *a, struct world *b, int k)
{
    size_t n;
    const float *x = nn_net_params(a->encoder[k].net, &n);
    const float *y = nn_net_params(b->encoder[k].net, &n);

    return !memcmp(x, y, n * sizeof *x);
}

static void
images_and_texts_come_together(void)
{
    struct world *w = begin(0, -1);
    double first = step(w), last = first;

    for (int i = 1; i < 40 * STEPS; i++) {
        w->state.epoch = 0;
        last = step(w);
    }
    T(last < 0.5 && first > 1, "the loss falls, from %g to %g", first, last);
    end(w);
}

/* The largest difference between gradients, over the largest number. */
static double
apart(struct world *a, struct world *b, int k)
{
    size_t n;
    double most = 0, large = 0;
    const float *x = nn_net_grads(a->encoder[k].net);
    const float *y = nn_net_grads(b->encoder[k].net);

    nn_net_params(a->encoder[k].net, &n);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)x[i] - y[i]));
        large = fmax(large, fabs((double)y[i]));
    }
    return most / large;
}

static void
micro_batches_are_of_both_towers(void)
{
    for (size_t micro = 1; micro <= 3; micro += 2) {
        struct world *whole = begin(0, -1), *parts = begin(micro, -1);
        double off[TRAIN_ENCODERS];

        step(whole);
        step(parts);
        for (int k = 0; k < TRAIN_ENCODERS; k++)
            off[k] = apart(parts, whole, k);
        T(off[0] < 1e-4 && off[1] < 1e-4,
          "%zu at a time give the gradients of the whole, off by %.1e, %.1e",
          micro, off[0], off[1]);
        end(whole);
        end(parts);
    }
}

static int
there(const char *name)
{
    char *path = mem_format("%s/%s", folder, name);
    const int is = file_exists(path);

    free(path);
    return is;
}

static int
each(struct world *w, int (*what)(struct train_encoder *encoder,
                                  const char *folder, struct err *err))
{
    struct err err = {""};
    int rc = 0;

    for (int k = 0; k < TRAIN_ENCODERS; k++)
        rc |= what(&w->encoder[k], folder, &err);
    if (rc)
        printf("# %s\n", err.msg);
    return rc;
}

static void
one_folder_has_both(void)
{
    static const char *const names[] = {"model.safetensors", "head.safetensors",
                                        "optim.safetensors", "text.safetensors",
                                        "text-optim.safetensors"};
    struct world *w = begin(0, -1), *again = begin(0, -1);
    size_t found = 0;

    step(w);
    T(!each(w, train_encoder_save), "both are saved");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found += (size_t)there(names[i]);
    T(found == 5, "in five files");
    T(!each(again, train_encoder_load) && same_weights(w, again, 0) &&
          same_weights(w, again, 1),
      "and loaded");
    again->state = w->state;
    T(step(w) == step(again) && same_weights(w, again, 0) &&
          same_weights(w, again, 1),
      "the next step has the same bits");
    end(w);
    end(again);
}

static void
a_locked_tower_stays(void)
{
    for (int k = 0; k < TRAIN_ENCODERS; k++) {
        struct world *w = begin(3, k), *fresh = begin(3, k);
        struct err err;

        if (file_remove(folder, &err) || file_mkdir(folder, 0700, &err))
            abort();
        T(isfinite(step(w)) && isfinite(step(w)) && same_weights(w, fresh, k) &&
              !same_weights(w, fresh, !k),
          "the locked one of %s stays, the other moves",
          k ? "texts" : "images");
        T(!each(w, train_encoder_save) && there("model.safetensors") &&
              there("text.safetensors") && there("optim.safetensors") == k &&
              there("text-optim.safetensors") == !k,
          "it is saved without moments");
        T(!each(fresh, train_encoder_load) && same_weights(w, fresh, !k),
          "and loaded so");
        end(w);
        end(fresh);
    }
}

int
main(void)
{
    struct err err;

    if (!mkdtemp(folder))
        return 1;
    images_and_texts_come_together();
    micro_batches_are_of_both_towers();
    one_folder_has_both();
    a_locked_tower_stays();
    file_remove(folder, &err);
    return t_done();
}
