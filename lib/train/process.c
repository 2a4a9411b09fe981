#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/average.h"
#include "program.h"
#include "util/file.h"
#include "util/mem.h"

/* Offsets of an encoder's arrays in the shared memory. */
struct place {
    size_t input[2], z, dz, params, statistics, ids, weights, scale, made, tau,
        group, sums, coefficients; /* in bytes */
};

struct process {
    struct train_program *program;
    const char *tower;
    enum nn_input_kind kind;
    size_t rows, image, context; /* largest number; of an image; tokens */
    struct train_encoder of;     /* a copy, for the sizes of images */
    size_t dim;
    struct train_tensors tensors;
    struct place at;
    struct nn_input input; /* of the batch */
    int slot;              /* its slot */
    const uint8_t *next;   /* the images in the other slot, or NULL */
    size_t n_next;         /* their number */
    int mean;              /* 1: the program computes a mean of weights */
    int frozen, micro;
    int features;            /* 1: its rows are features before the head */
    int loss;                /* 1: the program computes the loss */
    size_t weighed;          /* largest number of rows with weights */
    int sums;                /* 1: the program can compute row sums */
    int late;                /* 1: it can update before its norm is known */
    int ahead;               /* 1: the next forward was sent already */
    struct batch next_batch; /* of that */
    int deferred;            /* 1: the next forward does not wait */
    float *late_z; /* where z of the last forward is still to be written */
    int known;     /* 1: the weights in memory are current */
    long steps;    /* batches that they were trained on */
    int stats_finite;
    char *engine;
};

static void *
memory_at(const struct process *e, size_t at)
{
    return e->program->memory + at;
}

/* Sends a request with the answer "ok". */
static int
request_ok(struct process *e, char *line, struct err *err)
{
    struct stage_answer answer = {0};
    const int rc = train_program_request(e->program, line, &answer, err);

    free(answer.ok);
    return rc;
}

/* ----------------------------------------------------------------- a step */

/* Bytes of a batch in the memory, foil-encoder(5). */
static size_t
input_bytes(const struct process *e)
{
    if (e->kind == NN_TOKENS)
        return (e->rows + 1) * sizeof(int64_t) +
               e->rows * e->context * sizeof(int32_t);
    return e->rows * (e->kind == NN_IDS ? sizeof(int32_t) : e->image);
}

static void
write_input(struct process *e, const struct nn_input *input, int slot)
{
    void *to = memory_at(e, e->at.input[slot]);

    if (e->kind == NN_TOKENS) {
        const size_t first = input->offsets[0];
        const size_t n = input->offsets[input->n] - first;
        int64_t *offset = to;

        REQUIRE(n <= e->rows * e->context);
        for (size_t i = 0; i <= input->n; i++)
            offset[i] = (int64_t)(input->offsets[i] - first);
        memcpy(offset + e->rows + 1, input->ids + first,
               n * sizeof *input->ids);
    } else if (e->kind == NN_IDS) {
        memcpy(to, input->ids, input->n * sizeof *input->ids);
    } else {
        const size_t large = train_encoder_large(&e->of, input->n);

        memcpy(to, input->images,
               large * e->image + (input->n - large) * e->of.small_image);
    }
}

/* Skips the copy if the batch was sent ahead. */
static int
process_take(void *self, const struct nn_input *input, struct err *err)
{
    struct process *e = self;
    const int expected =
        e->next && e->next == input->images && e->n_next == input->n;

    (void)err;
    e->input = *input;
    if (expected)
        e->slot = !e->slot;
    else
        write_input(e, input, e->slot);
    e->next = NULL;
    return 0;
}

/* Undoes a forward that was sent too early. */
static void
drop_ahead(struct process *e)
{
    if (!e->ahead)
        return;
    e->ahead = 0;
    train_program_send(e->program, mem_format("undo %s", e->tower));
}

static void
process_announce(void *self, const struct batch *batch)
{
    struct process *e = self;
    const struct batch *next = &e->next_batch;
    int64_t *ids = memory_at(e, e->at.ids);

    if (e->ahead && e->next && e->next == batch->pixels &&
        next->b == batch->b && !batch->extra.n && next->epoch == batch->epoch &&
        next->step == batch->step &&
        !memcmp(ids, batch->ids, batch->b * sizeof *ids))
        return; // the forward of that batch was sent already
    drop_ahead(e);
    memcpy(ids, batch->ids, batch->b * sizeof *ids);
    if (batch->extra.n)
        memcpy(ids + batch->b, batch->extra.ids, batch->extra.n * sizeof *ids);
    if (batch->made && e->loss)
        memcpy(memory_at(e, e->at.made), batch->made,
               batch->v * batch->b * batch->n_made * sizeof *batch->made);
    train_program_send(
        e->program,
        mem_format("batch %s samples=%zu extra=%zu epoch=%lld step=%lld "
                   "steps=%lld epochs=%lld made=%zu",
                   e->tower, batch->b, batch->extra.n, (long long)batch->epoch,
                   (long long)batch->step, (long long)batch->steps,
                   (long long)batch->epochs, batch->n_made));
}

static void
process_prefetch(void *self, const struct nn_input *input)
{
    struct process *e = self;

    if (e->kind != NN_IMAGES || e->next)
        return;
    write_input(e, input, !e->slot);
    e->next = input->images;
    e->n_next = input->n;
    train_program_send(e->program, mem_format("expect %s slot=%d n=%zu",
                                              e->tower, !e->slot, input->n));
}

static void
process_defer(void *self)
{
    struct process *e = self;

    e->deferred = 1;
}

static int
process_forward(void *self, size_t from, size_t to, enum nn_mode mode, float *z,
                struct err *err)
{
    struct process *e = self;
    char *line = mem_format(
        "forward %s slot=%d from=%zu to=%zu mode=%s again=%d sums=%d", e->tower,
        e->slot, from, to,
        mode == NN_TRAIN    ? "train"
        : mode == NN_ENCODE ? "encode"
                            : "fixed",
        !z, e->deferred);

    if (e->ahead && e->deferred) {
        e->ahead = e->deferred = 0;
        e->late_z = z;
        free(line);
        return 0;
    }
    drop_ahead(e);
    if (mode == NN_TRAIN)
        e->known = 0;
    if (e->deferred) {
        e->deferred = 0;
        e->late_z = z;
        train_program_send(e->program, line);
        return 0;
    }
    if (request_ok(e, line, err))
        return -1;
    if (z)
        memcpy(z, (float *)memory_at(e, e->at.z) + from * e->dim,
               (to - from) * e->dim * sizeof *z);
    return 0;
}

static int
process_sums(void *self, const struct train_sums *want,
             const struct loss_sums **sums, float **coefficient,
             struct err *err)
{
    static const char *const masks[] = {
        [LOSS_BATCH] = "batch",
        [LOSS_NEGATIVES] = "negatives",
        [LOSS_CROSS] = "cross",
        [LOSS_CROSS_NEGATIVES] = "cross-negatives",
    };
    struct process *e = self;

    if (want) {
        const size_t n = 2 * want->b;

        memcpy(memory_at(e, e->at.tau), want->tau, n * sizeof *want->tau);
        if (want->group)
            memcpy(memory_at(e, e->at.group), want->group,
                   n * sizeof *want->group);
        if (request_ok(e,
                       mem_format("sums %s samples=%zu mask=%s tau=%.17g "
                                  "groups=%d",
                                  e->tower, want->b, masks[want->mask],
                                  want->tau_all, !!want->group),
                       err))
            return -1;
        *sums = memory_at(e, e->at.sums);
        *coefficient = memory_at(e, e->at.coefficients);
    }
    // takes all of the deferred z, which is in the memory after any answer
    memcpy(e->late_z, memory_at(e, e->at.z),
           e->input.n * e->dim * sizeof *e->late_z);
    e->late_z = NULL;
    return 0;
}

enum { LOSS_MORE = 10 }; /* numbers of a program besides its loss */

/* Takes "loss=X NAME=Y ...". */
static int
take_loss(const char *words, struct loss_report *report)
{
    char name[32];
    double x;
    int rc, known = 0;

    while ((rc = stage_program_value(&words, name, sizeof name, &x)) > 0) {
        if (!strcmp(name, "loss")) {
            report->value = x;
            known = 1;
            continue;
        }
        if (report->more.n == LOSS_MORE || !isfinite(x))
            return -1;
        values_add(&report->more, name, x);
    }
    report->infonce = report->value; // no InfoNCE to compare with
    return rc || !known ? -1 : 0;
}

/* Writes weights to the memory and returns the request for the loss. */
static char *
put_weights(struct process *e, const struct loss_batch *batch)
{
    const size_t anchors = 2 * batch->b, columns = anchors + batch->extra;
    float *scale = memory_at(e, e->at.scale);

    if (!batch->weights)
        return mem_format("loss %s", e->tower);
    REQUIRE(columns <= e->weighed);
    memcpy(memory_at(e, e->at.weights), batch->weights,
           anchors * columns * sizeof *batch->weights);
    for (size_t i = 0; i < 2 * anchors; i++)
        scale[i] = batch->scale ? batch->scale[i] : 1;
    return mem_format("loss %s anchors=%zu columns=%zu", e->tower, anchors,
                      columns);
}

static int
process_loss(void *self, const struct loss_batch *batch,
             struct loss_report *report, struct err *err)
{
    struct process *e = self;
    struct stage_answer answer = {0};
    int rc =
        train_program_request(e->program, put_weights(e, batch), &answer, err);

    if (!rc && take_loss(answer.ok, report)) {
        err_set(err,
                "encoder: '%.100s' answered 'ok %.60s' to loss: want loss=X "
                "and up to %d NAME=Y",
                e->program->line, answer.ok, LOSS_MORE);
        rc = train_program_fail(e->program, err);
    }
    free(answer.ok);
    return rc;
}

static int
process_backward(void *self, size_t from, size_t to, int add, const float *dz,
                 struct err *err)
{
    struct process *e = self;

    (void)err;
    if (dz)
        memcpy((float *)memory_at(e, e->at.dz) + from * e->dim, dz,
               (to - from) * e->dim * sizeof *dz);
    train_program_send(e->program,
                       mem_format("backward %s from=%zu to=%zu add=%d sums=%d",
                                  e->tower, from, to, add, !dz && !e->loss));
    return 0;
}

static int
process_norm(void *self, double *length, struct err *err)
{
    struct process *e = self;
    static const struct train_number norm = {"norm", 0, INFINITY, 0};
    static const struct train_number steady = {"steady", 0, 1, 1};
    struct stage_answer answer = {0};
    double is_steady = 0;
    int found = 0, rc;

    rc = train_program_request(e->program, mem_format("norm %s", e->tower),
                               &answer, err);
    if (!rc)
        found = train_program_number(e->program, answer.ok, &norm, length, err);
    if (found > 0)
        found = train_program_number(e->program, answer.ok, &steady, &is_steady,
                                     err);
    if (!rc && !found) {
        err_set(err,
                "encoder: '%.100s' answered 'ok %.60s' to norm: want norm=X "
                "steady=0|1",
                e->program->line, answer.ok);
        rc = train_program_fail(e->program, err);
    }
    e->stats_finite = is_steady > 0;
    free(answer.ok);
    return rc || found < 0 ? -1 : 0;
}

static int
process_stats_finite(void *self)
{
    const struct process *e = self;

    return e->frozen || e->stats_finite;
}

static int
process_update(void *self, double rate, struct err *err)
{
    struct process *e = self;

    (void)err;
    e->known = 0;
    train_program_send(e->program,
                       mem_format("update %s rate=%.17g", e->tower, rate));
    return 0;
}

static void
process_update_early(void *self, double rate, const struct batch *next)
{
    struct process *e = self;

    e->known = 0;
    train_program_send(e->program, mem_format("update %s rate=%.17g finite=1",
                                              e->tower, rate));
    if (!next || !e->next)
        return;
    process_announce(e, next);
    e->next_batch = *next;
    e->ahead = 1;
    train_program_send(e->program,
                       mem_format("forward %s slot=%d from=0 to=%zu mode=train "
                                  "again=0 sums=1",
                                  e->tower, !e->slot, e->n_next));
}

static int
process_average(void *self, struct err *err)
{
    struct process *e = self;

    (void)err;
    if (e->mean)
        train_program_send(e->program, mem_format("average %s", e->tower));
    return 0;
}

static void
process_undo(void *self)
{
    struct process *e = self;

    e->known = e->ahead = 0;
    train_program_send(e->program, mem_format("undo %s", e->tower));
}

/* ------------------------------------------------------------ checkpoints */

static struct nn_weights
blocks_of(const struct process *e)
{
    return (struct nn_weights){
        .tensor = e->tensors.tensor,
        .n = e->tensors.n,
        .params = memory_at(e, e->at.params),
        .statistics = memory_at(e, e->at.statistics),
        .texts = e->kind == NN_TOKENS,
    };
}

/* Requests that the program writes `what` to the memory; *steps is 0 if the
 * answer has none. */
static int
fetch_blocks(struct process *e, const char *what, long *steps, struct err *err)
{
    static const struct train_number seen = {"steps", 0, 0x1p53, 1};
    struct stage_answer answer = {0};
    double number = 0;
    int rc;

    drop_ahead(e);
    rc = train_program_request(
        e->program, mem_format("get %s what=%s", e->tower, what), &answer, err);

    if (!rc &&
        train_program_number(e->program, answer.ok, &seen, &number, err) < 0)
        rc = -1;
    *steps = rc ? 0 : (long)number;
    free(answer.ok);
    return rc;
}

static int
process_get(void *self, struct nn_weights *blocks, long *steps, struct err *err)
{
    struct process *e = self;

    if (!e->known && fetch_blocks(e, "weights", &e->steps, err))
        return -1;
    e->known = 1;
    *blocks = blocks_of(e);
    *steps = e->steps;
    return 0;
}

static int
process_put(void *self, struct err *err)
{
    struct process *e = self;

    drop_ahead(e);
    return request_ok(e, mem_format("put %s", e->tower), err);
}

/* The mean of the parameters overwrites the parameters in memory. */
static int
save_mean(struct process *e, const char *folder, struct err *err)
{
    const struct nn_weights blocks = blocks_of(e);
    struct nn_average mean = {0};
    int rc;

    e->known = 0;
    if (fetch_blocks(e, "mean", &mean.steps, err))
        return -1;
    mean.mean = mem_array(e->tensors.params, sizeof *mean.mean);
    for (size_t i = 0; i < e->tensors.params; i++)
        mean.mean[i] = (double)blocks.params[i];
    rc = nn_average_save(folder, &blocks, &mean, err);
    nn_average_release(&mean);
    return rc;
}

static int
process_save(void *self, const char *folder, struct err *err)
{
    struct process *e = self;
    struct err why;
    FILE *file;
    char *path;
    int rc;

    drop_ahead(e);
    if (e->mean && save_mean(e, folder, err))
        return -1;
    path = mem_format("%s/%s.state", folder, e->tower);
    rc = request_ok(e, mem_format("save %s %s", e->tower, path), err);
    file = rc ? NULL : file_open(path, O_NOFOLLOW, &why);
    free(path);
    if (file)
        fclose(file);
    if (file || rc)
        return rc;
    err_set(err, "encoder: '%.100s' answered ok to save, but %s",
            e->program->line, why.msg);
    return train_program_fail(e->program, err);
}

/* Fails if the program has changed, for example rounded, the weights of a
 * checkpoint: the run would differ from the saved one. */
static int
check_put(struct process *e, struct err *err)
{
    const struct nn_weights put = blocks_of(e);
    const size_t params = e->tensors.params,
                 all = params + e->tensors.statistics;
    float *copy = mem_array(all, sizeof *copy);
    const char *changed = NULL;
    int rc;

    memcpy(copy, put.params, params * sizeof *copy);
    memcpy(copy + params, put.statistics, (all - params) * sizeof *copy);
    e->known = 0;
    rc = fetch_blocks(e, "weights", &e->steps, err);
    for (size_t i = 0; i < put.n && !rc && !changed; i++) {
        const struct nn_tensor *t = put.tensor + i;

        if (memcmp((t->statistic ? put.statistics : put.params) + t->offset,
                   copy + (t->statistic ? params : 0) + t->offset,
                   t->count * sizeof *copy) != 0)
            changed = t->name;
    }
    free(copy);
    if (changed) {
        err_set(err,
                "encoder: '%.100s' answers get with another '%.100s' than put "
                "wrote: it must hold weights in floats of 32 bits, as "
                "checkpoints do",
                e->program->line, changed);
        return train_program_fail(e->program, err);
    }
    e->known = !rc;
    return rc;
}

static int
process_load(void *self, const char *folder, struct err *err)
{
    struct process *e = self;
    char *line = mem_format("load %s %s/%s.state", e->tower, folder, e->tower);

    drop_ahead(e);
    return request_ok(e, line, err) ? -1 : check_put(e, err);
}

static int
process_init(void *self, const char *path, char **left, struct err *err)
{
    struct process *e = self;
    struct stage_answer answer = {0};

    e->known = 0;
    if (train_program_request(
            e->program, mem_format("init %s %s", e->tower, path), &answer, err))
        return -1;
    *left = answer.ok;
    return 0;
}

static char *
process_table(void *self)
{
    const struct process *e = self;

    return mem_format("%s %s%s\n", nn_arch_program, e->engine,
                      e->sums ? " sums" : "");
}

static void
process_close(void *self)
{
    struct process *e = self;

    train_tensors_release(&e->tensors);
    mem_free(e->engine, e);
}

static const struct train_encoder_ops ops = {
    .announce = process_announce,
    .take = process_take,
    .prefetch = process_prefetch,
    .defer = process_defer,
    .forward = process_forward,
    .sums = process_sums,
    .loss = process_loss,
    .backward = process_backward,
    .norm = process_norm,
    .stats_finite = process_stats_finite,
    .update = process_update,
    .update_early = process_update_early,
    .average = process_average,
    .undo = process_undo,
    .get = process_get,
    .put = process_put,
    .save = process_save,
    .load = process_load,
    .init = process_init,
    .table = process_table,
    .close = process_close,
};

/* ------------------------------------------------------------------- open */

/* Describes the input for the program. */
static char *
describe_input(const struct process *e, const struct nn_spec *net)
{
    const float *m = net->mean, *d = net->deviation;

    if (e->kind == NN_TOKENS)
        return mem_format("input=tokens context=%ld vocabulary=%ld",
                          net->context, net->vocabulary);
    if (e->kind == NN_IDS)
        return mem_format("input=ids ids=%ld", net->samples * net->views);
    return mem_format("input=pixels height=%zu width=%zu channels=%zu "
                      "mean=%.9g,%.9g,%.9g deviation=%.9g,%.9g,%.9g",
                      net->height, net->image_width, net->channels,
                      (double)m[0], (double)m[1], (double)m[2], (double)d[0],
                      (double)d[1], (double)d[2]);
}

static char *
describe_encoder(const struct process *e, const struct train_encoder_spec *spec,
                 long threads)
{
    const struct nn_optim_spec *o = &spec->optim;
    char *input = describe_input(e, &spec->net);
    char *groups =
        spec->small
            ? mem_format(
                  " views=%zu small=%zu small-height=%zu small-width=%zu",
                  spec->views, spec->small, spec->small_height,
                  spec->small_width)
            : mem_text("");
    char *line = mem_format(
        "open %s %s rows=%zu locked=%d average=%d loss=%d seed=%llu "
        "threads=%ld precision=%s accumulate=%ld optim=%s momentum=%.9g "
        "nesterov=%d "
        "beta1=%.9g beta2=%.9g epsilon=%.9g weight-decay=%.9g%s%s",
        e->tower, input, e->rows, e->frozen, e->mean, e->loss,
        (unsigned long long)spec->seed, threads,
        spec->net.bf16 ? "bf16" : "f32", o->accumulate, o->name, o->momentum,
        o->nesterov, o->beta1, o->beta2, o->epsilon, o->weight_decay,
        spec->features ? " layer=h" : "", groups);

    mem_free(input, groups);
    return line;
}

/* Returns the word NAME=WORD of an answer, without NAME=, or "". */
static char *
find_word(const char *ok, const char *name)
{
    const char *at = strstr(ok, name);

    at = at ? at + strlen(name) : "";
    return mem_format("%.*s", (int)strcspn(at, " "), at);
}

/* Takes "dim=D engine=WORD sums=0|1 late=0|1 layer=h groups=1". */
static int
take_open(struct process *e, const char *ok, struct err *err)
{
    static const struct train_number width = {"dim", 1, 1 << 20, 1};
    static const struct train_number summed = {"sums", 0, 1, 1},
                                     groups = {"groups", 0, 1, 1};
    char *layer = find_word(ok, "layer=");
    static const struct train_number delays = {"late", 0, 1, 1};
    double dim, sums, late, sizes;
    const int found = train_program_number(e->program, ok, &width, &dim, err);

    e->features = e->features && !strcmp(layer, "h");
    free(layer);
    if (found < 0 ||
        train_program_number(e->program, ok, &summed, &sums, err) < 0 ||
        train_program_number(e->program, ok, &groups, &sizes, err) < 0 ||
        train_program_number(e->program, ok, &delays, &late, err) < 0)
        return -1;
    if (e->of.small && !(sizes > 0))
        return err_set(err,
                       "encoder: '%.100s' reads images of one size, and views "
                       "have two: its answer to open lacks groups=1",
                       e->program->line);
    e->sums = sums > 0 && !e->frozen && !e->micro;
    e->late = late > 0;
    if (!found || !e->tensors.params)
        return err_set(err,
                       "encoder: '%.100s' answered 'ok %.60s' and %zu tensors "
                       "to open: want dim=D and one parameter at least",
                       e->program->line, ok, e->tensors.n);
    e->dim = (size_t)dim;
    e->engine = find_word(ok, "engine=");
    return 0;
}

/* Allocates the arrays in the memory and sends their offsets. */
static int
lay_out_memory(struct process *e, struct err *err)
{
    const size_t rows = e->rows, f4 = sizeof(float);
    const size_t anchors = e->sums ? 2 * rows : 0; // those of both towers
    const struct {
        const char *name;
        size_t *at, bytes;
    } arrays[] = {
        {"input0", &e->at.input[0], input_bytes(e)},
        {"input1", &e->at.input[1], input_bytes(e)},
        {"z", &e->at.z, rows * e->dim * f4},
        {"dz", &e->at.dz, rows * e->dim * f4},
        {"parameters", &e->at.params, e->tensors.params * f4},
        {"statistics", &e->at.statistics, e->tensors.statistics * f4},
        {"ids", &e->at.ids, rows * sizeof(int64_t)},
        {"weights", &e->at.weights, e->weighed * e->weighed * f4},
        {"scale", &e->at.scale, e->weighed * 2 * f4},
        {"made", &e->at.made, e->loss ? rows * BATCH_MADE_MAX * f4 : 0},
        {"tau", &e->at.tau, anchors * sizeof(double)},
        {"group", &e->at.group, anchors * sizeof(int64_t)},
        {"sums", &e->at.sums, anchors * sizeof(struct loss_sums)},
        {"coefficients", &e->at.coefficients, anchors * 2 * f4},
    };
    char *line = mem_format("layout %s", e->tower);

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i].at = train_program_grow(e->program, arrays[i].bytes, err);
        if (!*arrays[i].at) {
            free(line);
            return -1;
        }
        mem_append(&line, " %s=%zu", arrays[i].name, *arrays[i].at);
    }
    mem_append(&line, " size=%zu", e->program->size);
    return request_ok(e, line, err);
}

int
train_process_open(struct train_encoder *encoder, struct train_program *program,
                   const struct train_encoder_spec *spec, long threads,
                   struct err *err)
{
    const struct nn_spec *net = &spec->net;
    struct process *e = mem_array(1, sizeof *e);
    struct stage_answer answer = {.take = train_tensors_take,
                                  .of = &e->tensors};
    int rc;

    train_encoder_init(encoder, spec);
    *e = (struct process){
        .program = program,
        .kind = nn_encoder_reads(net->arch, NN_IDS) ? NN_IDS : NN_IMAGES,
        .rows = encoder->rows,
        .image = encoder->image,
        .of = *encoder,
        .context = (size_t)net->context,
        .tower = "image",
        .mean = spec->average && !spec->frozen,
        .frozen = spec->frozen,
        .micro = encoder->micro < encoder->rows,
        .features = spec->features,
        .loss = spec->loss,
        .weighed = spec->weighed,
    };
    if (net->vocabulary) {
        e->kind = NN_TOKENS;
        e->tower = "text";
    }
    rc = train_program_request(program, describe_encoder(e, spec, threads),
                               &answer, err);
    if (!rc)
        rc = take_open(e, answer.ok, err);
    if (!rc && strcmp(net->arch, nn_arch_program) && !spec->features)
        rc = train_tensors_match(&e->tensors, net, e->dim, program->line, err);
    free(answer.ok);
    if (!rc)
        rc = lay_out_memory(e, err);
    if (rc) {
        train_program_fail(program, err);
        process_close(e);
        *encoder = (struct train_encoder){0};
        return -1;
    }
    encoder->ops = &ops;
    encoder->self = e;
    encoder->kind = e->kind;
    encoder->dim = e->dim;
    encoder->features = e->features;
    encoder->sums = e->sums;
    encoder->late = e->sums && e->late;
    encoder->parameters = e->tensors.params;
    return 0;
}
