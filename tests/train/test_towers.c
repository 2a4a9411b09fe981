/* Two encoders, of images and of texts, in one learner: gradients by
 * micro-batches, one checkpoint, one of them frozen. */
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "nn/model.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "tiny.h"
#include "train/learner.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIZE = 12, N = 4, STEPS = SIZE / N, IDS = 9, MOST = 5, DIM = 6 };

static char folder[256];

/* Negatives with the weights of a test: for rows of the batch, extra texts,
 * rows from outside. */
struct chosen {
    float w[2 * N * (2 * N + 2 * N + 2 * N)], outside[(2 * N + 1) * DIM];
    size_t extra, n_outside;
};

struct world {
    struct chosen chosen;
    struct train_negatives negatives;
    struct train_encoder encoder[TRAIN_ENCODERS];
    struct loss_settings settings;
    struct train_samples samples;
    struct train_state state;
    struct train_learner learner;
    struct batch batch;
    int64_t ids[N];
    uint8_t views[N * TINY_IMAGE];
    int32_t tokens[2 * N * MOST];
    size_t offsets[2 * N + 1];
};

static struct train_encoder_spec
spec_of(int k, size_t micro, int frozen)
{
    struct train_encoder_spec spec = tiny_spec("group", N, micro);

    spec.net.head = "project:6";
    spec.optim.name = "adamw";
    spec.frozen = frozen;
    if (k) {
        spec.net.arch = "clip:16x1x2";
        spec.net.vocabulary = IDS;
        spec.net.context = MOST;
    }
    return spec;
}

static int
weigh(void *self, const struct batch *step, struct weights *weights,
      int *without_service, struct err *err)
{
    const struct chosen *chosen = self;

    (void)err;
    REQUIRE(step->extra.n == chosen->extra && step->dim == DIM);
    *without_service = 0;
    *weights = (struct weights){
        .rows = 2 * N,
        .columns = 2 * N + chosen->extra + chosen->n_outside,
        .w = chosen->w,
        .n_outside = chosen->n_outside,
        .outside = chosen->outside,
    };
    return 1;
}

/* micro: 0 or rows in a micro-batch; frozen: the frozen tower, or -1; extra:
 * largest number of extra texts. */
static struct world *
begin_as(const char *objective, size_t micro, int frozen, size_t extra)
{
    struct world *w = mem_array(1, sizeof *w);
    struct err err = {""};
    struct train_learner_spec spec = {
        .objective = loss_objective_find(objective, &err),
        .settings = &w->settings,
        .encoder = {&w->encoder[0], &w->encoder[1]},
        .images = N,
        .extra = extra,
        .negatives = &w->negatives,
        .samples = &w->samples,
        .state = &w->state,
    };

    w->negatives = (struct train_negatives){.self = &w->chosen, .weigh = weigh};
    w->settings = loss_settings_of(spec.objective);
    spec.schedules.rate.base = 0.01;
    for (size_t i = 0; spec.objective->params[i].name; i++)
        spec.schedules.value[i].base = w->settings.value[i];
    train_samples_init(&w->samples, spec.objective, SIZE, 0, &w->state);
    for (int k = 0; k < TRAIN_ENCODERS; k++) {
        struct train_encoder_spec of = spec_of(k, micro, k == frozen);

        of.rows += k ? extra : 0;

        if (train_native_open(&w->encoder[k], &of, &err))
            printf("# %s\n", err.msg);
    }
    if (train_learner_open(&w->learner, &spec, &err))
        printf("# %s\n", err.msg);
    w->batch = (struct batch){.steps = STEPS,
                              .epochs = 2,
                              .b = N,
                              .ids = w->ids,
                              .pixels = w->views,
                              .tokens = w->tokens,
                              .offsets = w->offsets};
    return w;
}

static struct world *
begin(size_t micro, int frozen)
{
    return begin_as("clip", micro, frozen, 0);
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
    for (size_t e = 0; e < w->batch.extra.n; e++)
        w->offsets[N + e + 1] = w->offsets[N + e] + 1 + e;
    for (size_t t = 0; t < w->offsets[N + w->batch.extra.n]; t++)
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
    const float *x = nn_net_params(train_native(&a->encoder[k])->net, &n);
    const float *y = nn_net_params(train_native(&b->encoder[k])->net, &n);

    return !memcmp(x, y, n * sizeof *x);
}

static void
the_loss_falls(void)
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
relative_difference(struct world *a, struct world *b, int k)
{
    size_t n;
    double most = 0, large = 0;
    const float *x = nn_net_grads(train_native(&a->encoder[k])->net);
    const float *y = nn_net_grads(train_native(&b->encoder[k])->net);

    nn_net_params(train_native(&a->encoder[k])->net, &n);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)x[i] - y[i]));
        large = fmax(large, fabs((double)y[i]));
    }
    return most / large;
}

static void
micro_batches_work_in_both_towers(void)
{
    for (size_t micro = 1; micro <= 3; micro += 2) {
        struct world *whole = begin(0, -1), *parts = begin(micro, -1);
        double off[TRAIN_ENCODERS];

        step(whole);
        step(parts);
        for (int k = 0; k < TRAIN_ENCODERS; k++)
            off[k] = relative_difference(parts, whole, k);
        T(off[0] < 1e-4 && off[1] < 1e-4,
          "%zu at a time: the gradients of the whole batch, off by %.1e, %.1e",
          micro, off[0], off[1]);
        end(whole);
        end(parts);
    }
}

static int
has_file(const char *name)
{
    char *path = mem_format("%s/%s", folder, name);
    const int is = file_exists(path);

    free(path);
    return is;
}

/* Saves or loads both encoders: 0, or -1 with a message. */
static int
each(struct world *w, int load)
{
    struct err err = {""};
    int rc = 0;

    for (int k = 0; k < TRAIN_ENCODERS; k++) {
        const struct train_part part = train_encoder_part(&w->encoder[k]);

        rc |= (load ? part.load : part.save)(part.self, folder, &err);
    }
    if (rc)
        printf("# %s\n", err.msg);
    return rc;
}

static void
one_folder_stores_both(void)
{
    static const char *const names[] = {"model.safetensors", "head.safetensors",
                                        "optim.safetensors", "text.safetensors",
                                        "text-optim.safetensors"};
    struct world *w = begin(0, -1), *again = begin(0, -1);
    size_t found = 0;

    step(w);
    T(!each(w, 0), "both are saved");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found += (size_t)has_file(names[i]);
    T(found == 5, "in five files");
    T(!each(again, 1) && same_weights(w, again, 0) && same_weights(w, again, 1),
      "both are loaded");
    again->state = w->state;
    T(step(w) == step(again) && same_weights(w, again, 0) &&
          same_weights(w, again, 1),
      "the next step has the same bits");
    end(w);
    end(again);
}

static void
a_frozen_tower_is_unchanged(void)
{
    for (int k = 0; k < TRAIN_ENCODERS; k++) {
        struct world *w = begin(3, k), *fresh = begin(3, k);
        struct err err;

        if (file_remove(folder, &err) || file_mkdir(folder, 0700, &err))
            abort();
        T(isfinite(step(w)) && isfinite(step(w)) && same_weights(w, fresh, k) &&
              !same_weights(w, fresh, !k),
          "the frozen encoder of %s is unchanged, the other is trained",
          k ? "texts" : "images");
        T(!each(w, 0) && has_file("model.safetensors") &&
              has_file("text.safetensors") &&
              has_file("optim.safetensors") == k &&
              has_file("text-optim.safetensors") == !k,
          "it is saved without moments");
        T(!each(fresh, 1) && same_weights(w, fresh, !k),
          "an encoder saved without moments is loaded without them");
        end(w);
        end(fresh);
    }
}

static int
fails(void *self, const struct nn_input *input, struct err *err)
{
    (void)self;
    (void)input;
    return err_set(err, "it fails");
}

static int
fails_update(void *self, double rate, struct err *err)
{
    (void)rate;
    return fails(self, NULL, err);
}

/* A failure at the start of a step, and one at its end. */
static void
a_failed_encoder_fails_the_step(void)
{
    for (int i = 0; i < 2; i++) {
        struct world *w = begin(0, -1), *fresh = begin(0, -1);
        const struct train_encoder_ops *own = w->encoder[0].ops;
        struct train_encoder_ops broken = *own;

        if (i == 0)
            broken.take = fails;
        else
            broken.update = fails_update;
        w->encoder[0].ops = &broken;
        T(isnan(step(w)) && !w->state.total && !w->state.step,
          "a step with a failed encoder does not advance the state");
        w->encoder[0].ops = own;
        T(same_weights(w, fresh, 0) && same_weights(w, fresh, 1),
          "a step with a failed encoder changes no weight");
        end(w);
        end(fresh);
    }
}

/* Weights with rows that sum to 1, none for rows of the same kind: images have
 * texts as negatives, texts have images. */
static void
choose(struct chosen *chosen, size_t extra, size_t n_outside)
{
    const size_t columns = 2 * N + extra + n_outside;
    struct rng rng;

    rng_init(&rng, 3, RNG_TEST, extra, n_outside, 0);
    chosen->extra = extra;
    chosen->n_outside = n_outside;
    for (size_t r = 0; r < 2 * N; r++) {
        float *w = chosen->w + r * columns;
        double sum = 0;

        for (size_t c = 0; c < columns; c++) {
            const int is_negative = c < 2 * N ? r / N != c / N && r % N != c % N
                                    : c < 2 * N + extra ? r < N
                                                        : 1;

            w[c] = is_negative ? (float)rng_unit(&rng) : 0;
            sum += w[c];
        }
        for (size_t c = 0; c < columns; c++)
            w[c] = (float)(w[c] / sum);
    }
    for (size_t i = 0; i < n_outside * DIM; i++)
        chosen->outside[i] = (float)rng_normal(&rng);
    num_unit_rows(n_outside, DIM, chosen->outside, chosen->outside, NULL);
}

/* The loss after moving the weights of tower k by `by` along u. */
static double
loss_at(struct world *w, int k, const float *at, const float *u, double by)
{
    size_t n;
    float *p = nn_net_params(train_native(&w->encoder[k])->net, &n);
    double loss;

    for (size_t i = 0; i < n; i++)
        p[i] = at[i] + (float)by * u[i];
    w->state = (struct train_state){0};
    loss = step(w);
    memcpy(p, at, n * sizeof *p);
    return loss;
}

/* Central differences of the loss, with constant weights of negatives, against
 * the gradient of a tower; rows from outside are constant, extra texts not. */
static double
slope_off(struct world *w, int k)
{
    const double by = 2e-3;
    size_t n;
    const float *g = nn_net_grads(train_native(&w->encoder[k])->net);
    float *p = nn_net_params(train_native(&w->encoder[k])->net, &n), *grads,
          *at, *u;
    double slope, want, scale;
    struct rng rng;

    at = memcpy(mem_array(n, sizeof *at), p, n * sizeof *p);
    u = mem_array(n, sizeof *u);
    rng_init(&rng, 4, RNG_TEST, (uint64_t)k, 0, 0);
    for (size_t i = 0; i < n; i++)
        u[i] = (float)rng_normal(&rng) / sqrtf((float)n);
    loss_at(w, k, at, u, 0);
    grads = memcpy(mem_array(n, sizeof *grads), g, n * sizeof *g);
    want = num_dot(n, grads, u);
    scale = sqrt(num_dot(n, grads, grads) * num_dot(n, u, u));
    slope = (loss_at(w, k, at, u, by) - loss_at(w, k, at, u, -by)) / (2 * by);
    free(at);
    free(u);
    free(grads);
    return fabs(slope - want) / scale;
}

static void
extra_and_outside_rows_count(void)
{
    static const struct {
        size_t extra, n_outside;
        const char *what;
    } kinds[] = {{0, 0, "the batch only"},
                 {3, 0, "extra texts"},
                 {0, 2 * N, "rows from outside"},
                 {2, 5, "both"}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (size_t micro = 0; micro <= 3; micro += 3) {
            const size_t extra = kinds[i].extra;
            struct world *w = begin_as("emc2_bimodal", micro, -1, extra);
            double off[TRAIN_ENCODERS];

            w->learner.spec.schedules.rate.base = 0; // weights do not change
            w->batch.extra.n = extra;
            w->batch.extra.ids = w->ids;
            choose(&w->chosen, extra, kinds[i].n_outside);
            for (int k = 0; k < TRAIN_ENCODERS; k++)
                off[k] = slope_off(w, k);
            T(off[0] < 5e-3 && off[1] < 5e-3,
              "%s%s: the gradient is the slope, off by %.1e, %.1e",
              kinds[i].what, micro ? ", in micro-batches" : "", off[0], off[1]);
            end(w);
        }
}

static void
too_many_outside_rows_are_refused(void)
{
    struct world *w = begin_as("emc2_bimodal", 0, -1, 0);
    struct train_result result;
    struct err err = {""};

    choose(&w->chosen, 0, 2 * N);
    step(w);
    choose(&w->chosen, 0, 2 * N + 1);
    T(train_learner_step(&w->learner, &w->batch, &result, &err) ==
              TRAIN_FAILED &&
          strstr(err.msg, "8 at most"),
      "more rows than chains: %s", err.msg);
    end(w);
}

int
main(void)
{
    struct err err;

    num_threads(1); // steps too small to share
    child_folder(folder);
    the_loss_falls();
    micro_batches_work_in_both_towers();
    one_folder_stores_both();
    a_frozen_tower_is_unchanged();
    a_failed_encoder_fails_the_step();
    extra_and_outside_rows_count();
    too_many_outside_rows_are_refused();
    file_remove(folder, &err);
    return t_done();
}
