#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "num/threads.h"
#include "num/vec.h"
#include "sample/how_of.h"
#include "shortest.h"
#include "train/learner.h"
#include "train/native.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_pairs TEXT OBJECTIVE f32|bf16 STEPS [alone]: the least processor time
 * of a step on 128 images and their captions, in ms, and the peak memory, in
 * MB, with one thread.  The work of foil-train without its sockets: ResNet-18
 * of width 32 with the stem of ImageNet on images of 32x32, captions of 9
 * tokens on average by the encoder TEXT, OBJECTIVE, AdamW; emc2_bimodal has
 * chains of its own with a bank.  A first epoch is not counted.  "alone" is
 * what is between the encoders and what comes back to them: from embeddings to
 * weights and the gradient.  scripts/benchmarks/pairs_peer.py is the same in
 * PyTorch.
 */
enum { PAIRS = 128, SIDE = 32, SAMPLES = 7424, DIM = 128 };
enum { EPOCH = SAMPLES / PAIRS };
enum {
    IDS = 3253,
    CONTEXT = 24,
    LEAST = 5,
    MOST = 13,
    IMAGE = 3 * SIDE * SIDE
};

struct bench {
    struct train_encoder encoder[TRAIN_ENCODERS];
    struct loss_settings settings;
    struct train_samples samples;
    struct train_scalars scalars;
    struct train_state state;
    struct train_local_sampler inside;
    struct train_negatives negatives;
    struct train_learner learner;
    struct batch batch;
    uint8_t views[PAIRS * IMAGE];
    int32_t tokens[PAIRS * MOST], captions[PAIRS];
    int64_t ids[PAIRS], view_of[2 * PAIRS];
    size_t offsets[PAIRS + 1];
    size_t made;              /* batches */
    float z[2 * PAIRS * DIM]; /* embeddings, without encoders */
};

static int
open_encoders(struct bench *b, const char *text, int bf16, struct err *err)
{
    for (int k = 0; k < TRAIN_ENCODERS; k++) {
        struct train_encoder_spec spec = {
            .net = {.arch = k ? text : "resnet18",
                    .stem = "imagenet",
                    .norm = "batch",
                    .head = "project:128",
                    .bf16 = bf16},
            .optim = {.name = "adamw", .weight_decay = 0.05, .beta2 = 0.98},
            .rows = PAIRS,
            .seed = 1};

        if (k) {
            spec.net.vocabulary = IDS;
            spec.net.context = CONTEXT;
        } else {
            spec.net.width = 32;
            spec.net.height = spec.net.image_width = SIDE;
            spec.net.channels = 3;
            for (int i = 0; i < 3; i++)
                spec.net.deviation[i] = 1;
        }
        if (train_native_open(&b->encoder[k], &spec, err))
            return -1;
    }
    return 0;
}

static int
setup(struct bench *b, const char *text, const char *objective, int bf16,
      struct err *err)
{
    struct sample_settings once = how_of("emc2"),
                           cross = how_of("emc2_bimodal");
    const struct nn_optim_spec adamw = {.name = "adamw", .beta2 = 0.98};
    struct train_learner_spec spec = {
        .objective = loss_objective_find(objective, err),
        .settings = &b->settings,
        .encoder = {&b->encoder[0], &b->encoder[1]},
        .images = PAIRS,
        .samples = &b->samples,
        .scalars = &b->scalars,
        .state = &b->state,
        .negatives = &b->negatives,
    };

    if (!spec.objective || open_encoders(b, text, bf16, err))
        return -1;
    once.seed = cross.seed = 1;
    b->settings = loss_settings_of(spec.objective);
    spec.schedules.rate.base = 1e-3;
    for (size_t i = 0; spec.objective->params[i].name; i++)
        spec.schedules.value[i].base = b->settings.value[i];
    train_samples_init(&b->samples, spec.objective, SAMPLES, 1, &b->state);
    train_local_sampler_init(
        &b->inside, &b->samples,
        spec.objective->cross_weights_only ? &cross : &once, 0);
    b->negatives = train_local_sampler_negatives(&b->inside);
    if (train_scalars_open(&b->scalars, spec.objective, &b->settings, &adamw,
                           err))
        return -1;
    return train_learner_open(&b->learner, &spec, err);
}

/* Pixels and tokens at random. */
static void
fill(struct bench *b)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof b->views; i++)
        b->views[i] = (uint8_t)rng_below(&rng, 256);
    for (size_t t = 0; t < PAIRS * MOST; t++)
        b->tokens[t] = (int32_t)rng_below(&rng, IDS);
    for (size_t i = 0; i < 2 * PAIRS * DIM; i++)
        b->z[i] = (float)rng_normal(&rng) +
                  (i % (PAIRS * DIM) == i ? 0 : b->z[i - PAIRS * DIM]);
    num_unit_rows(2 * PAIRS, DIM, b->z, b->z, NULL);
}

/* The next samples of an epoch, which are in another order in each of 28
 * epochs; captions of lengths in turn. */
static void
make(struct bench *b, size_t number)
{
    const size_t stride = 2 * (b->made++ / EPOCH % 28) + 31;

    for (size_t i = 0; i < PAIRS; i++) {
        const size_t at = (size_t)b->state.step * PAIRS + i;

        b->ids[i] = (int64_t)(at * stride % SAMPLES);
        b->view_of[PAIRS + i] = 1;
        b->offsets[i + 1] =
            b->offsets[i] + LEAST + (i + number) % (MOST - LEAST + 1);
    }
    b->batch = (struct batch){.epoch = b->state.epoch,
                              .step = b->state.step,
                              .steps = EPOCH,
                              .epochs = 1000,
                              .b = PAIRS,
                              .ids = b->ids,
                              .pixels = b->views,
                              .tokens = b->tokens,
                              .offsets = b->offsets,
                              .captions = b->captions,
                              .fixed = 2,
                              .view_of = b->view_of};
}

static void
step(void *bench, size_t number)
{
    struct bench *b = bench;
    struct train_result result;
    struct err err = {""};

    make(b, number);
    if (train_learner_step(&b->learner, &b->batch, &result, &err) !=
        TRAIN_APPLIED) {
        fprintf(stderr, "bench_pairs: a step failed: %s\n", err.msg);
        exit(1);
    }
}

static void
weigh(struct bench *b, struct weights *weights)
{
    const struct batch step = {.epoch = (uint64_t)b->batch.epoch,
                               .step = (uint64_t)b->batch.step,
                               .beta = 1 / b->settings.value[LOSS_TAU],
                               .v = 2,
                               .b = PAIRS,
                               .dim = DIM,
                               .fixed = 2,
                               .ids = b->ids,
                               .view_of = b->view_of,
                               .z = b->z};
    struct err err;
    int alone;

    REQUIRE(b->negatives.weigh(b->negatives.self, &step, weights, &alone,
                               &err) > 0);
    sample_store_write(&b->samples.store, weights->sampler, weights->n_tables,
                       weights->tables);
}

/* A step without encoders, whose embeddings stay. */
static void
step_alone(void *bench, size_t number)
{
    struct bench *b = bench;
    struct train_learner *l = &b->learner;
    struct weights weights = {0};
    struct loss_batch batch = {.b = PAIRS, .dim = DIM};
    struct loss_report report;

    make(b, number);
    if (l->spec.objective->needs_weights)
        weigh(b, &weights);
    batch.extra = batch.constant = weights.n_outside;
    batch.weights = weights.w;
    batch.scale = weights.scale;
    memcpy(l->z, b->z, sizeof b->z);
    if (weights.n_outside)
        memcpy(l->z + 2 * PAIRS * DIM, weights.outside,
               weights.n_outside * DIM * sizeof *l->z);
    loss_objective_run(l->spec.objective, &b->settings, &batch, l->z,
                       l->columns, l->dz, l->work, &report);
    b->state.total++;
    if (++b->state.step == EPOCH) {
        b->state.step = 0;
        b->state.epoch++;
    }
}

static void
release(struct bench *b)
{
    train_learner_close(&b->learner);
    train_local_sampler_release(&b->inside);
    train_scalars_close(&b->scalars);
    train_samples_release(&b->samples);
    for (int k = 0; k < TRAIN_ENCODERS; k++)
        train_encoder_close(&b->encoder[k]);
    free(b);
}

int
main(int argc, char **argv)
{
    struct bench *b = mem_array(1, sizeof *b);
    void (*work)(void *bench, size_t number) = argc == 6 ? step_alone : step;
    struct err err;

    if (argc != 5 && (argc != 6 || strcmp(argv[5], "alone")))
        return 2;
    num_threads_sleep(argv); // as foil-train does
    num_threads(1);
    if (setup(b, argv[1], argv[2], !strcmp(argv[3], "bf16"), &err)) {
        fprintf(stderr, "bench_pairs: %s\n", err.msg);
        return 1;
    }
    fill(b);
    for (size_t i = 0; i < EPOCH; i++)
        work(b, i);
    print_shortest(work, b, strtoul(argv[4], NULL, 10), clock_cpu);
    release(b);
    return 0;
}
