#define _GNU_SOURCE
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "program.h"
#include "t.h"
#include "tiny.h"
#include "train/learner.h"
#include "train/process.h"
#include "util/mem.h"

/*
 * Encoders in a program (program.h, this test as a command) against the same
 * encoders in this process.
 */
enum { ROWS = 13, CONTEXT = 6, VOCABULARY = 40, STEPS = 3 };

static uint8_t images[2][ROWS * TINY_IMAGE];
static float dz[ROWS * 16];
static char self[4096]; // PATH_MAX

static struct train_encoder_spec
image_spec(size_t micro)
{
    struct train_encoder_spec spec = tiny_spec("batch", ROWS, micro);

    spec.average = 1;
    return spec;
}

static struct train_encoder_spec
text_spec(void)
{
    return (struct train_encoder_spec){
        .net = {.arch = "bow:8",
                .stem = "small",
                .norm = "batch",
                .head = "project:6",
                .vocabulary = VOCABULARY,
                .context = CONTEXT},
        .optim = {.name = "adam",
                  .beta1 = 0.9,
                  .beta2 = 0.99,
                  .epsilon = 1e-8,
                  .accumulate = 2},
        .rows = ROWS,
        .seed = 3,
        .average = 1,
    };
}

/* Starts a program with a fault. */
static struct train_program *
start(const char *which, const char *fault)
{
    char *line = mem_format("%s program %s '%s'", self, which, fault);
    struct err err = {""};
    struct train_program *program = train_program_open(line, 20, NULL, &err);

    T(program != NULL, "starts %s", err.msg);
    free(line);
    return program;
}

static struct train_encoder
open_native(const struct train_encoder_spec *spec)
{
    struct train_encoder encoder;
    struct err err = {""};

    T(!train_native_open(&encoder, spec, &err), "opens %s", err.msg);
    return encoder;
}

static struct train_encoder
open_process(struct train_program *program,
             const struct train_encoder_spec *spec)
{
    struct train_encoder encoder;
    struct err err = {""};

    T(!train_process_open(&encoder, program, spec, 1, &err), "opens %s",
      err.msg);
    return encoder;
}

static void
fill(void)
{
    struct rng rng;

    tiny_images(images[0], ROWS, 1);
    tiny_images(images[1], ROWS, 2);
    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof dz / sizeof *dz; i++)
        dz[i] = (float)rng_normal(&rng);
}

/* One step; with `next` that batch is sent ahead. */
static void
step(struct train_encoder *e, const struct nn_input *input,
     const struct nn_input *next, float *z)
{
    double length = 0;
    struct err err = {""};

    T(!train_encoder_forward(e, input, NN_TRAIN, z, &err) &&
          !train_encoder_backward(e, dz, &err),
      "forward and backward %s", err.msg);
    if (next)
        train_encoder_prefetch(e, next);
    T(!train_encoder_norm(e, &length, &err) && length > 0 &&
          train_encoder_stats_finite(e),
      "the gradient has a length %s", err.msg);
    T(!train_encoder_update(e, 0.05, &err) && !train_encoder_average(e, &err),
      "updated %s", err.msg);
}

/* Returns 1 if both have the same weights. */
static int
same_weights(struct train_encoder *a, struct train_encoder *b)
{
    struct nn_weights x, y;
    struct err err;
    int same =
        !train_encoder_get(a, &x, &err) && !train_encoder_get(b, &y, &err);

    for (size_t i = 0; i < x.n && same; i++) {
        const struct nn_tensor *t = x.tensor + i;

        same = !memcmp((t->statistic ? x.statistics : x.params) + t->offset,
                       (t->statistic ? y.statistics : y.params) + t->offset,
                       t->count * sizeof(float));
    }
    return same;
}

/* Returns 1 if both have the same parameters up to rounding. */
static int
near_weights(struct train_encoder *a, struct train_encoder *b)
{
    struct nn_weights x, y;
    struct err err;
    double off = 0;

    if (train_encoder_get(a, &x, &err) || train_encoder_get(b, &y, &err))
        return 0;
    for (size_t i = 0; i < a->parameters; i++)
        off = fmax(off, fabs((double)x.params[i] - y.params[i]));
    return off < 1e-5;
}

static void
images_have_the_same_bits(void)
{
    const size_t micro[] = {0, 5};

    for (int i = 0; i < 2; i++) {
        const struct train_encoder_spec spec = image_spec(micro[i]);
        struct train_program *program = start(i ? "micro" : "image", "");
        struct train_encoder ours = open_native(&spec),
                             theirs = open_process(program, &spec);
        float z[2][ROWS * TINY_DIM];

        T(theirs.dim == TINY_DIM && theirs.parameters == ours.parameters,
          "of the same size");
        for (int k = 0; k < STEPS; k++) {
            const struct nn_input now = {.n = ROWS - (size_t)k % 2,
                                         .images = images[k % 2]};
            const struct nn_input next = {.n = ROWS - (size_t)(k + 1) % 2,
                                          .images = images[(k + 1) % 2]};

            step(&ours, &now, NULL, z[0]);
            // sent ahead, another one sent ahead, not sent ahead
            step(&theirs, &now, k == 2 ? NULL : k ? &now : &next, z[1]);
            T(!memcmp(z[0], z[1], now.n * TINY_DIM * sizeof(float)),
              "step %d: the same embeddings", k);
        }
        T(same_weights(&ours, &theirs), "the same weights and statistics");
        train_encoder_close(&ours);
        train_encoder_close(&theirs);
        train_program_close(program);
    }
}

static void
texts_have_the_same_bits(void)
{
    const struct train_encoder_spec spec = text_spec();
    struct train_program *program = start("text", "");
    struct train_encoder ours = open_native(&spec),
                         theirs = open_process(program, &spec);
    int32_t ids[ROWS * CONTEXT];
    size_t offsets[ROWS + 1] = {4}; // after others
    float z[2][ROWS * 6];

    for (size_t i = 0; i < ROWS; i++)
        offsets[i + 1] = offsets[i] + 1 + i % 5;
    for (size_t i = 0; i < ROWS * CONTEXT; i++)
        ids[i] = (int32_t)(i * 7 % VOCABULARY);
    for (int k = 0; k < STEPS; k++) {
        const struct nn_input input = {
            .n = ROWS, .ids = ids, .offsets = offsets};

        step(&ours, &input, NULL, z[0]);
        step(&theirs, &input, NULL, z[1]);
        T(!memcmp(z[0], z[1], sizeof z[0]), "step %d: the same embeddings", k);
    }
    T(same_weights(&ours, &theirs), "the same weights");
    train_encoder_close(&ours);
    train_encoder_close(&theirs);
    train_program_close(program);
}

static void
undo_and_encode_change_nothing(void)
{
    const struct train_encoder_spec spec = image_spec(0);
    const struct nn_input input = {.n = ROWS, .images = images[0]};
    struct train_program *program = start("image", "");
    struct train_encoder ours = open_native(&spec),
                         theirs = open_process(program, &spec);
    float z[ROWS * TINY_DIM];
    struct err err;

    T(!train_encoder_forward(&theirs, &input, NN_ENCODE, z, &err) &&
          same_weights(&ours, &theirs),
      "encoding changes nothing");
    T(!train_encoder_forward(&theirs, &input, NN_TRAIN, z, &err) &&
          !same_weights(&ours, &theirs),
      "training updates statistics");
    train_encoder_undo(&theirs);
    T(same_weights(&ours, &theirs), "undo restores them");
    train_encoder_close(&ours);
    train_encoder_close(&theirs);
    train_program_close(program);
}

/* STEPS steps of an objective with an encoder; returns 1 if the encoder
 * computed dz. */
static int
take_steps(const struct loss_objective *o, struct train_encoder *encoder)
{
    const struct loss_settings settings = loss_settings_of(o);
    int64_t ids[ROWS / 2];
    struct train_state state = {0};
    struct train_samples samples;
    struct train_learner_spec spec = {
        .objective = o,
        .settings = &settings,
        .schedules = {.rate = {.base = 0.1}},
        .encoder = {encoder},
        .images = ROWS / 2,
        .samples = &samples,
        .state = &state,
    };
    const struct batch batch = {.steps = 9,
                                .epochs = 1,
                                .b = ROWS / 2,
                                .ids = ids,
                                .pixels = images[0]};
    struct train_learner learner;
    struct train_result result;
    struct err err = {""};
    int encoder_has_dz;

    for (size_t i = 0; i < ROWS / 2; i++)
        ids[i] = (int64_t)(2 * i + 1);
    for (size_t i = 0; o->params[i].name; i++)
        spec.schedules.value[i].base = settings.value[i];
    train_samples_init(&samples, o, ROWS, 0, &state);
    T(!train_learner_open(&learner, &spec, &err), "opens %s", err.msg);
    for (int step = 0; step < STEPS; step++)
        T(train_learner_step(&learner, &batch, &result, &err) == TRAIN_APPLIED,
          "%s: a step %s", o->name, err.msg);
    encoder_has_dz = learner.encoder_has_dz;
    if (o == &train_external)
        T(result.loss.more.n == 2 &&
              !strcmp(result.loss.more.value[0].name, "first") &&
              result.loss.more.value[0].value == (double)ids[0],
          "a program returns more numbers than its loss, and has the ids");
    T(value_find(result.values.value, result.values.n, "lr") ==
          (o == &train_external ? 7 : 0.1),
      "%s: the learning rate, or what the program reports as that", o->name);
    train_learner_close(&learner);
    train_samples_release(&samples);
    return encoder_has_dz;
}

static const char *const summed[] = {
    "simclr", "dcl",     "infonce",        "flatclr",        "clip",
    "sogclr", "isogclr", "sogclr_bimodal", "isogclr_bimodal"};

static void
row_sums_train_alike(const char *objective)
{
    const struct train_encoder_spec spec = image_spec(0);
    struct train_program *program = start("sums", "");
    struct train_encoder native = open_native(&spec);
    struct train_encoder process = open_process(program, &spec);
    struct err err;
    const struct loss_objective *o = loss_objective_find(objective, &err);

    T(!take_steps(o, &native), "%s: this process computes the gradient",
      objective);
    T(take_steps(o, &process), "%s: the program computes row sums", objective);
    T(near_weights(&native, &process), "%s: the same weights", objective);
    train_encoder_close(&native);
    train_encoder_close(&process);
    train_program_close(program);
}

static void
a_program_with_the_loss_has_the_same_bits(void)
{
    struct train_encoder_spec spec = image_spec(0);
    struct train_program *program = start("image", "");
    struct train_encoder native = open_native(&spec), process;
    struct err err;

    spec.loss = 1;
    process = open_process(program, &spec);
    take_steps(loss_objective_find("simclr", &err), &native);
    T(take_steps(&train_external, &process), "the program computes dz");
    T(same_weights(&native, &process),
      "the same weights by the program's loss");
    train_encoder_close(&native);
    train_encoder_close(&process);
    train_program_close(program);
}

static void
a_program_with_the_loss_gets_weights(void)
{
    enum { ANCHORS = ROWS / 2 * 2, ALL = ANCHORS * ROWS };
    struct train_encoder_spec spec = image_spec(0);
    struct train_program *program = start("image", "");
    struct train_encoder process;
    float z[ROWS * TINY_DIM], weights[ALL], scale[2 * ANCHORS];
    struct loss_batch batch = {.b = ROWS / 2, .extra = 1, .weights = weights};
    const struct nn_input input = {.n = ROWS, .images = images[0]};
    struct loss_report report = {0};
    struct err err = {""};

    for (size_t i = 0; i < ALL; i++)
        weights[i] = (float)i / 64;
    for (size_t i = 0; i < 2 * ANCHORS; i++)
        scale[i] = (float)i;
    spec.loss = 1;
    spec.weighed = ROWS;
    process = open_process(program, &spec);
    for (int with = 0; with < 2; with++) {
        batch.scale = with ? scale : NULL;
        report.more.n = 0;
        T(!train_encoder_forward(&process, &input, NN_TRAIN, z, &err) &&
              !train_encoder_loss(&process, &batch, &report, &err),
          "a loss %s", err.msg);
        T(report.more.n == 3 &&
              report.more.value[1].value == num_sum(ALL, weights) &&
              report.more.value[2].value ==
                  (with ? num_sum(2 * (size_t)ANCHORS, scale) : 2. * ANCHORS),
          "of weights and of %s", with ? "scales" : "scales of 1");
    }
    train_encoder_close(&process);
    train_program_close(program);
}

static void
an_answer_must_have_a_loss(void)
{
    struct train_encoder_spec spec = image_spec(0);
    struct train_program *program = start("image", "loss:ok metric=3");
    struct train_encoder process;
    struct loss_report report = {0};
    struct err err = {""};

    spec.loss = 1;
    process = open_process(program, &spec);
    T(train_encoder_loss(&process, &(struct loss_batch){0}, &report, &err) &&
          strstr(err.msg, "want loss=X"),
      "%s", err.msg);
    train_encoder_close(&process);
    train_program_close(program);
}

static void
remove_all(const char *folder)
{
    char *line = mem_format("rm -r %s", folder);

    T(!system(line), "removed");
    free(line);
}

static void
a_loaded_program_trains_to_the_same_bits(void)
{
    const struct train_encoder_spec spec = image_spec(0);
    const struct nn_input input = {.n = ROWS, .images = images[0]};
    struct train_program *one = start("image", ""), *two = start("image", "");
    struct train_encoder a = open_process(one, &spec),
                         b = open_process(two, &spec);
    struct train_encoder ours = open_native(&spec);
    float z[ROWS * TINY_DIM];
    const struct nn_weights blocks = nn_net_weights(train_native(&ours)->net);
    struct nn_average mean;
    struct err err = {""};

    nn_average_init(&mean, train_native(&ours)->net);
    step(&a, &input, NULL, z);
    mkdir("c", 0700);
    T(!train_encoder_part(&a).prepare(&a, &err) &&
          !train_encoder_part(&a).save(&a, "c", &err),
      "saved %s", err.msg);
    T(!nn_average_load("c", &blocks, &mean, &err) && mean.steps == 1,
      "with the mean of one step %s", err.msg);
    T(!nn_weights_load("c", &blocks, &err) && same_weights(&ours, &a),
      "model and head are those of the arch %s", err.msg);
    T(!train_encoder_part(&b).load(&b, "c", &err) && same_weights(&a, &b),
      "loaded %s", err.msg);
    step(&a, &input, NULL, z);
    step(&b, &input, NULL, z);
    T(same_weights(&a, &b),
      "the next step gives the same weights, momentum included");
    nn_average_release(&mean);
    train_encoder_close(&a);
    train_encoder_close(&b);
    train_encoder_close(&ours);
    train_program_close(one);
    train_program_close(two);
    remove_all("c");
}

static void
a_program_says_whether_it_makes_features(void)
{
    static const char *const answers[] = {"ok dim=6 layer=h", "ok dim=6"};
    struct train_encoder_spec spec = image_spec(0);

    spec.features = 1;
    for (int i = 0; i < 2; i++) {
        char *fault = mem_format("open:tensor a parameter 3;%s", answers[i]);
        struct train_program *program = start("image", fault);
        struct train_encoder e = open_process(program, &spec);

        T(e.dim == 6 && e.features == !i, "features with '%s'", answers[i]);
        train_encoder_close(&e);
        train_program_close(program);
        free(fault);
    }
}

static void
check_open_fails(const char *fault, const char *sentence)
{
    const struct train_encoder_spec spec = image_spec(0);
    struct train_program *program = start("image", fault);
    struct train_encoder e;
    struct err err = {""};

    T(train_process_open(&e, program, &spec, 1, &err) && !e.ops &&
          strstr(err.msg, sentence) && train_program_failed(program),
      "%s", err.msg);
    train_program_close(program);
}

static void
check_step_fails(const char *fault, const char *sentence)
{
    const struct train_encoder_spec spec = image_spec(0);
    const struct nn_input input = {.n = ROWS, .images = images[0]};
    struct train_program *program = start("image", fault);
    struct train_encoder e = open_process(program, &spec);
    float z[ROWS * TINY_DIM];
    double length;
    struct err err = {""}, again = {""};
    struct nn_weights blocks;
    int rc = train_encoder_forward(&e, &input, NN_TRAIN, z, &err) ||
             train_encoder_backward(&e, dz, &err) ||
             train_encoder_norm(&e, &length, &err) ||
             train_encoder_update(&e, 0.1, &err) ||
             train_encoder_part(&e).prepare(&e, &err);

    T(rc && strstr(err.msg, sentence), "%s", err.msg);
    T(train_program_failed(program), "the program has failed");
    T(train_encoder_get(&e, &blocks, &again) && !strcmp(err.msg, again.msg),
      "later calls fail with the same sentence");
    train_encoder_close(&e);
    train_program_close(program);
}

static void
faults_of_a_program_are_reported(void)
{
    check_open_fails("open:die", "ended with code 3");
    check_open_fails("open:error no torch", "encoder: no torch");
    check_open_fails("open:ok dim=6", "0 tensors");
    check_open_fails("open:tensor a parameter 3x;ok dim=6",
                     "want 'tensor NAME");
    check_open_fails("open:tensor a parameter 1x2x3x4x5;ok dim=6",
                     "4 numbers at most");
    check_open_fails("open:tensor a parameter 3;tensor a parameter 4;ok dim=6",
                     "two tensors 'a'");
    check_open_fails("open:tensor a parameter 3;ok", "want dim=D");
    check_open_fails("open:tensor a parameter 3;ok dim=0",
                     "answered dim=0: want a whole number, 1 to 1048576");
    check_open_fails("open:tensor a parameter 3;ok dim=1e9",
                     "answered dim=1e9: want a whole number, 1 to 1048576");
    check_open_fails("open:tensor a parameter 3;ok dim=6 sums=2",
                     "answered sums=2: want a whole number, 0 to 1");
    check_open_fails("open:tensor a parameter 3;ok dim=6",
                     "has no tensor 'conv1.weight'");
    check_open_fails("layout:error no memory", "no memory");
    check_step_fails("forward:die", "ended with code 3");
    check_step_fails("forward:error out of memory", "encoder: out of memory");
    check_step_fails("forward:what?", "answered 'what?'");
    check_step_fails("backward:die", "ended with code 3");
    check_step_fails("norm:ok", "want norm=X");
    check_step_fails("norm:ok norm=-1 steady=1",
                     "answered norm=-1: want a number, 0 or more");
    check_step_fails("norm:ok norm=1e steady=1",
                     "answered norm=1e: want a number, 0 or more");
    check_step_fails("norm:ok norm=1 steady=7",
                     "answered steady=7: want a whole number, 0 to 1");
    check_step_fails(
        "get:ok steps=-3",
        "answered steps=-3: want a whole number, 0 to 9007199254740992");
    check_step_fails(
        "get:ok steps=99999999999999999999999",
        "answered steps=99999999999999999999999: want a whole number");
    check_step_fails("update:error no optimiser", "no optimiser");
}

static void
a_hanging_program_times_out(void)
{
    const struct train_encoder_spec spec = image_spec(0);
    const struct nn_input input = {.n = ROWS, .images = images[0]};
    char *line = mem_format("%s program image forward:hang", self);
    struct err err = {""};
    struct train_program *program = train_program_open(line, 0.5, NULL, &err);
    struct train_encoder e = open_process(program, &spec);
    float z[ROWS * TINY_DIM];

    T(train_encoder_forward(&e, &input, NN_TRAIN, z, &err) &&
          strstr(err.msg, "did not answer in time"),
      "%s", err.msg);
    train_encoder_close(&e);
    train_program_close(program);
    free(line);
}

int
main(int argc, char **argv)
{
    char scratch[256];
    struct train_encoder_spec spec = image_spec(0);

    if (argc == 4) {
        if (!strcmp(argv[2], "text"))
            spec = text_spec();
        return program_main(&spec, !strcmp(argv[2], "sums"), argv[3]);
    }
    if (t_emulated()) {
        T_SKIP("a program that encodes", "an emulator starts no other program");
        return t_done();
    }
    T(realpath(argv[0], self) != NULL, "the path of this test");
    fill();
    child_scratch(scratch);
    images_have_the_same_bits();
    texts_have_the_same_bits();
    undo_and_encode_change_nothing();
    for (size_t i = 0; i < sizeof summed / sizeof *summed; i++)
        row_sums_train_alike(summed[i]);
    a_program_with_the_loss_has_the_same_bits();
    a_program_with_the_loss_gets_weights();
    an_answer_must_have_a_loss();
    a_loaded_program_trains_to_the_same_bits();
    a_program_says_whether_it_makes_features();
    faults_of_a_program_are_reported();
    a_hanging_program_times_out();
    T(!chdir("/") && !rmdir(scratch), "nothing else was written");
    return t_done();
}
