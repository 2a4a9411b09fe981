#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "num/vec.h"
#include "util/mem.h"

#include "encoder.h"
#include "onnx.h"
#include "run.h"

/* Plans are cached for this many row counts: full batches, the last batch of an
 * epoch, and others. */
enum { PLANS = 4 };

static const float momentum = 0.1f; // of the running statistics

/* Memory and plans of one mode. */
struct mode {
    struct nn_plan *plan[PLANS];
    size_t next; /* the next one to replace */
    char *block;
    size_t bytes;
};

/* Memory for a part of a batch in training. */
struct side {
    struct mode mode;
    float *grads;
};

struct nn_net {
    struct nn_graph graph;
    struct num_dnn *dnn;
    float mean[4], deviation[4];
    size_t max_rows;
    int direct, train;
    float *params, *statistics;
    float *moves; /* statistics of the last batch, laid out as `statistics` */
    struct mode inference;
    char *algorithms;
    struct side *side; /* [n_sides] in training, one for each part */
    size_t n_sides;
    struct nn_run *runs;   /* [n_runs] of the last forward pass, a run for each
                              part of the batch */
    size_t n_runs;         /* 0: their values are gone */
    struct nn_parts parts; /* of nn_net_forward_parts(); else empty */
    size_t *final;         /* [n_ops]; NULL: no callback */
    void (*done)(void *self, size_t from);
    void *watcher;
};

static int
check_choice(const char *value, const char *field, const char *choices,
             struct err *err)
{
    const char *found = strstr(choices, value);
    size_t len = strlen(value);

    if (len && found && (found == choices || found[-1] == ' ') &&
        (!found[len] || found[len] == ' '))
        return 0;
    return err_set(err, "no %s '%s': want one of %s", field, value, choices);
}

static int
check_range(long value, const char *field, long low, long high, struct err *err)
{
    if (value >= low && value <= high)
        return 0;
    return err_set(err, "bad %s %ld: want %ld to %ld", field, value, low, high);
}

static int
check_bf16(const struct nn_encoder *encoder, const struct nn_spec *spec,
           struct err *err)
{
    const size_t width = spec->width ? (size_t)spec->width : encoder->width;

    if (!num_dnn_bf16())
        return err_set(err, "bfloat16 needs a processor with AVX-512: use "
                            "--precision f32, or auto");
    if (encoder->width && width % 16)
        return err_set(
            err, "bfloat16 needs a width in multiples of 16, not %zu", width);
    return 0;
}

int
nn_net_bf16_faster(const struct nn_spec *spec)
{
    struct err none;
    const struct nn_encoder *encoder = nn_encoder_find(spec->arch, &none);

    return encoder && encoder->bf16 && num_dnn_bf16_faster() &&
           !check_bf16(encoder, spec, &none);
}

/* Checks that images are rows of f4 if the encoder reads these, only then. */
static int
check_row_form(const struct nn_spec *spec, int rows, struct err *err)
{
    if (rows != (spec->channels == sizeof(float)))
        return err_set(err,
                       rows ? "the encoder %s reads rows of numbers, not images"
                            : "the encoder %s reads images, not rows of "
                              "numbers, which are for frozen",
                       spec->arch);
    return rows ? check_range((long)spec->image_width, "numbers of a row", 1,
                              8192, err)
                : 0;
}

static int
check_images(const struct nn_spec *spec, struct err *err)
{
    if (check_range((long)spec->height, "image height", 8, 1024, err) ||
        check_range((long)spec->image_width, "image width", 8, 1024, err))
        return -1;
    if (spec->channels != 1 && spec->channels != 3)
        return err_set(err, "images of %zu channels: want 1 or 3",
                       spec->channels);
    for (size_t k = 0; k < spec->channels; k++)
        if (!(spec->deviation[k] > 0))
            return err_set(err, "deviation of channel %zu is not above 0", k);
    return 0;
}

/* Checks all of the spec that does not need a graph. */
static int
check_net_spec(const struct nn_spec *spec, size_t max_rows, struct err *err)
{
    const struct nn_encoder *encoder = nn_encoder_find(spec->arch, err);

    if (!encoder || check_choice(spec->stem, "stem", "imagenet small", err) ||
        check_choice(spec->norm, "norm", "batch group none", err) ||
        nn_head_check(spec->head, err) ||
        check_range(spec->width, "width", 0, 1024, err) ||
        check_range(spec->hidden, "hidden width", 0, 65536, err) ||
        check_range((long)max_rows, "number of rows", 1, 1 << 20, err) ||
        check_range(spec->basis, "rows of a basis", 0, 65536, err) ||
        (encoder->input == NN_IMAGES &&
         check_row_form(spec, encoder->rows, err)) ||
        (encoder->input != NN_TOKENS && !encoder->rows &&
         check_images(spec, err)) ||
        nn_encoder_check(encoder, spec, err))
        return -1;
    if (spec->basis && !encoder->basis)
        return err_set(err,
                       "a basis is for the encoder linear and ResNets, not for "
                       "%s",
                       spec->arch);
    if (spec->basis && encoder->width && !strcmp(spec->norm, "none"))
        return err_set(err, "a ResNet with a basis needs the norm batch or "
                            "group");
    if (encoder->basis && encoder->input == NN_IDS && !spec->basis)
        return err_set(err,
                       "the encoder %s has rows of 0 numbers: want a basis "
                       "of 1 or more",
                       spec->arch);
    if (encoder->input == NN_IDS &&
        (check_range(spec->samples, "number of images", 1, 1L << 31, err) ||
         check_range(spec->views, "number of views", 1, 65536, err) ||
         check_range(spec->samples * spec->views, "number of views of images",
                     1, INT32_MAX, err)))
        return -1;
    return spec->bf16 && encoder->bf16 ? check_bf16(encoder, spec, err) : 0;
}

static void
build_graph(struct nn_graph *graph, const struct nn_spec *spec)
{
    struct err none;
    const struct nn_encoder *encoder = nn_encoder_find(spec->arch, &none);
    struct num_map images = {
        .c = spec->channels,
        .h = spec->height,
        .w = spec->image_width,
        .block = 1,
        .bf16 = encoder->bf16 && spec->bf16,
    };
    size_t x;

    graph->rows = encoder->rows;
    graph->texts = encoder->input == NN_TOKENS || spec->second;
    if (encoder->rows || encoder->input != NN_IMAGES)
        images = nn_graph_rows(encoder->rows ? spec->image_width : 1);
    x = nn_graph_input(graph, encoder->input, images);

    graph->feature = nn_encoder_build(graph, encoder, spec, x);
    graph->feature_ops = graph->n_ops;
    graph->output = nn_head(graph, spec->head, graph->feature);
}

/* Returns the plan for n samples, from the cache or a new one. */
static const struct nn_plan *
plan_for(struct nn_net *net, struct mode *mode, size_t n, size_t tokens)
{
    const int train = mode != &net->inference;
    struct nn_plan *plan;

    for (size_t i = 0; i < PLANS; i++)
        if (mode->plan[i] && mode->plan[i]->n == n &&
            mode->plan[i]->tokens == tokens)
            return mode->plan[i];
    plan = nn_plan_new(&net->graph, (struct nn_plan){.dnn = net->dnn,
                                                     .n = n,
                                                     .tokens = tokens,
                                                     .train = train,
                                                     .direct = net->direct});
    if (!plan)
        return NULL;
    if (net->n_runs && net->runs->plan == mode->plan[mode->next])
        net->n_runs = 0;
    nn_plan_free(mode->plan[mode->next]);
    mode->plan[mode->next] = plan;
    mode->next = (mode->next + 1) % PLANS;
    if (mode->bytes < plan->bytes) {
        free(mode->block);
        mode->block = mem_aligned(plan->bytes, 1);
        mode->bytes = plan->bytes;
    }
    return plan;
}

static void
make_sides(struct nn_net *net, size_t parts)
{
    struct side *more;

    if (parts <= net->n_sides)
        return;
    more = mem_array(parts, sizeof *more);
    if (net->n_sides)
        memcpy(more, net->side, net->n_sides * sizeof *more);
    for (size_t k = net->n_sides; k < parts; k++)
        more[k].grads = mem_aligned(net->graph.params, sizeof(float));
    free(net->side);
    net->side = more;
    net->n_sides = parts;
}

/* A net without its parameters. */
static struct nn_net *
new_planned_net(const struct nn_spec *spec, size_t max_rows, int train,
                struct err *err)
{
    const struct nn_plan *plan;
    struct nn_net *net;

    if (check_net_spec(spec, max_rows, err))
        return NULL;
    net = mem_array(1, sizeof *net);
    memcpy(net->mean, spec->mean, sizeof spec->mean);
    memcpy(net->deviation, spec->deviation, sizeof spec->deviation);
    net->max_rows = max_rows;
    net->direct = spec->direct;
    net->train = train;
    build_graph(&net->graph, spec);
    net->dnn = num_dnn_new();
    // texts of one token: the plan grows with longer ones
    if (train)
        make_sides(net, 1);
    plan = plan_for(net, train ? &net->side->mode : &net->inference, max_rows,
                    max_rows * (net->graph.each ? net->graph.each : 1));
    if (!plan) {
        err_set(err, "this processor cannot run '%s' with these options",
                spec->arch);
        nn_net_free(net);
        return NULL;
    }
    net->algorithms = mem_text("");
    for (size_t i = 0; i < net->graph.n_ops; i++) {
        const struct nn_step *step = &plan->steps[i];
        char *line;

        if (step->skip || !step->op.is->describe)
            continue;
        line = step->op.is->describe(&net->graph, step);
        mem_append(&net->algorithms, "%s", line);
        free(line);
    }
    return net;
}

int
nn_net_check(const struct nn_spec *spec, struct err *err)
{
    struct nn_net *net = new_planned_net(spec, 1, 0, err);

    nn_net_free(net);
    return net ? 0 : -1;
}

struct nn_net *
nn_net_new(const struct nn_spec *spec, size_t max_rows, int train,
           struct err *err)
{
    struct nn_net *net = new_planned_net(spec, max_rows, train, err);

    if (!net)
        return NULL;
    net->params = mem_aligned(net->graph.params, sizeof(float));
    net->statistics = mem_aligned(net->graph.statistics, sizeof(float));
    if (train)
        net->moves = mem_aligned(net->graph.statistics, sizeof(float));
    return net;
}

size_t
nn_net_memory(const struct nn_net *net)
{
    size_t bytes = (net->graph.params + net->graph.statistics) * sizeof(float) +
                   net->inference.bytes;

    for (size_t k = 0; k < net->n_sides; k++)
        bytes += net->graph.params * sizeof(float) + net->side[k].mode.bytes;
    return bytes;
}

static void
mode_release(struct mode *mode)
{
    for (size_t i = 0; i < PLANS; i++)
        nn_plan_free(mode->plan[i]);
    free(mode->block);
    *mode = (struct mode){.block = NULL};
}

void
nn_net_free(struct nn_net *net)
{
    if (!net)
        return;
    mode_release(&net->inference);
    for (size_t k = 0; k < net->n_sides; k++) {
        mode_release(&net->side[k].mode);
        free(net->side[k].grads);
    }
    mem_free(net->side, net->runs, net->final);
    num_dnn_free(net->dnn);
    nn_graph_release(&net->graph);
    mem_free(net->algorithms, net->params, net->statistics, net->moves, net);
}

void
nn_net_init(struct nn_net *net, uint64_t seed)
{
    nn_graph_init(&net->graph, seed, net->params, net->statistics);
}

void
nn_net_set_basis(struct nn_net *net, const float *rows)
{
    nn_graph_set_basis(&net->graph, rows, net->statistics);
}

size_t
nn_net_features(const struct nn_net *net)
{
    return net->graph.values[net->graph.feature].map.c;
}

size_t
nn_net_dim(const struct nn_net *net)
{
    return net->graph.values[net->graph.output].map.c;
}

const struct nn_tensor *
nn_net_tensors(const struct nn_net *net, size_t *n)
{
    *n = net->graph.n_tensors;
    return net->graph.tensors;
}

float *
nn_net_params(struct nn_net *net, size_t *count)
{
    if (count)
        *count = net->graph.params;
    return net->params;
}

float *
nn_net_statistics(struct nn_net *net, size_t *count)
{
    if (count)
        *count = net->graph.statistics;
    return net->statistics;
}

float *
nn_net_running(struct nn_net *net, size_t *count)
{
    *count = net->graph.statistics - net->graph.fixed;
    return net->statistics + net->graph.fixed;
}

float *
nn_net_grads(struct nn_net *net)
{
    return net->n_sides ? net->side->grads : NULL;
}

enum nn_input_kind
nn_net_kind(const struct nn_net *net)
{
    return net->graph.input;
}

int
nn_net_texts(const struct nn_net *net)
{
    return net->graph.texts;
}

size_t
nn_net_ids(const struct nn_net *net)
{
    return net->graph.ids;
}

size_t
nn_net_context(const struct nn_net *net)
{
    return net->graph.each ? 0 : net->graph.context;
}

/* Copies a batch into a plan's block; returns a run of it. */
static struct nn_run
start_run(struct nn_net *net, struct mode *mode, const struct nn_input *input)
{
    struct nn_run run = {.graph = &net->graph,
                         .params = net->params,
                         .statistics = net->statistics};

    REQUIRE(input->n >= 1 && input->n <= net->max_rows);
    run.plan =
        plan_for(net, mode, input->n, nn_graph_tokens(&net->graph, input));
    REQUIRE(run.plan);
    run.block = mode->block;
    nn_run_input(&run, input, net->mean, net->deviation);
    return run;
}

/* Copies rows out of the block, unless `to` is NULL. */
static void
copy_out(const struct nn_run *run, size_t place, size_t width, float *to)
{
    if (to)
        memcpy(to, run->block + place, run->plan->n * width * sizeof *to);
}

const float *
nn_net_batch_statistics(struct nn_net *net)
{
    struct nn_run run;

    REQUIRE(net->n_runs && net->runs->mode != NN_FIXED);
    run = *net->runs;
    run.statistics = net->moves;
    nn_run_measure(&run);
    return net->moves + net->graph.fixed;
}

void
nn_net_update_running(struct nn_net *net, const float *moves)
{
    size_t n;
    float *running = nn_net_running(net, &n);

    for (size_t k = 0; k < n; k++)
        running[k] += momentum * (moves[k] - running[k]);
}

void
nn_net_watch(struct nn_net *net, void (*done)(void *self, size_t from),
             void *self)
{
    free(net->final);
    net->final = done ? mem_array(net->graph.n_ops, sizeof *net->final) : NULL;
    net->done = done;
    net->watcher = self;
    if (done)
        nn_run_final(&net->graph, net->final);
}

void
nn_net_reserve(struct nn_net *net, size_t parts)
{
    make_sides(net, parts);
    for (size_t k = 0; k < parts; k++)
        plan_for(net, &net->side[k].mode, net->max_rows,
                 net->max_rows * (net->graph.each ? net->graph.each : 1));
}

static struct nn_runs
runs_of(const struct nn_net *net)
{
    const size_t n = net->n_runs;
    struct nn_runs runs = {.n = n,
                           .run = net->runs,
                           .final = net->final,
                           .done = net->done,
                           .self = net->watcher,
                           .recomputed = mem_array(n, sizeof(size_t))};

    REQUIRE(n);
    if (net->parts.n) {
        runs.parts = &net->parts;
        runs.sums = mem_array(nn_run_shared(net->runs) * n, sizeof(double));
    }
    return runs;
}

static void
release_runs(struct nn_runs *runs)
{
    mem_free(runs->recomputed, runs->sums);
}

static void
run_forward(struct nn_net *net, enum nn_mode mode, size_t n,
            const struct nn_input *part, float *z)
{
    const size_t dim = nn_net_dim(net);
    struct nn_runs runs;

    REQUIRE(net->train);
    make_sides(net, n);
    free(net->runs);
    net->runs = mem_array(n, sizeof *net->runs);
    net->n_runs = 0;
    for (size_t p = 0; p < n; p++) {
        net->runs[p] = start_run(net, &net->side[p].mode, part + p);
        net->runs[p].mode = mode;
        net->runs[p].rows = net->parts.rows;
        net->runs[p].grads = net->side[p].grads;
    }
    net->n_runs = n;
    runs = runs_of(net);
    nn_run_forward(&runs);
    release_runs(&runs);
    for (size_t p = 0; z && p < n; p++) {
        copy_out(net->runs + p, net->runs[p].plan->output, dim, z);
        z += net->runs[p].plan->n * dim;
    }
    if (mode == NN_TRAIN)
        nn_net_update_running(net, nn_net_batch_statistics(net));
}

static void
run_backward(struct nn_net *net, const float *dz, int add)
{
    const size_t dim = nn_net_dim(net);
    struct nn_runs runs = runs_of(net);

    for (size_t p = 0; p < net->n_runs; p++) {
        struct nn_run *run = net->runs + p;

        run->add = add;
        memcpy(run->block + run->plan->dz, dz, run->plan->n * dim * sizeof *dz);
        dz += run->plan->n * dim;
    }
    nn_run_backward(&runs);
    release_runs(&runs);
    net->n_runs = 0; // backward destroyed their values
}

void
nn_net_forward(struct nn_net *net, enum nn_mode mode,
               const struct nn_input *input, float *h, float *z)
{
    net->parts = (struct nn_parts){.n = 0};
    run_forward(net, mode, 1, input, z);
    copy_out(net->runs, net->runs->plan->feature, nn_net_features(net), h);
}

void
nn_net_backward(struct nn_net *net, const float *dz, int add)
{
    REQUIRE(!net->parts.n);
    run_backward(net, dz, add);
}

void
nn_net_forward_parts(struct nn_net *net, enum nn_mode mode,
                     const struct nn_parts *parts, float *z)
{
    REQUIRE(parts->n && mode != NN_FIXED);
    net->parts = *parts;
    run_forward(net, mode, parts->n, parts->part, z);
}

void
nn_net_backward_parts(struct nn_net *net, const float *dz)
{
    REQUIRE(net->parts.n);
    run_backward(net, dz, 0);
}

void
nn_net_infer(struct nn_net *net, const struct nn_input *input, float *h,
             float *z)
{
    struct nn_run run = start_run(net, &net->inference, input);

    nn_run_infer(&run, z ? net->graph.n_ops : net->graph.feature_ops);
    copy_out(&run, run.plan->feature, nn_net_features(net), h);
    copy_out(&run, run.plan->output, nn_net_dim(net), z);
}

void *
nn_net_onnx(const struct nn_net *net, size_t *n, struct err *err)
{
    struct nn_onnx onnx = {.graph = &net->graph,
                           .params = net->params,
                           .statistics = net->statistics};

    return nn_onnx_model(&onnx, net->mean, net->deviation, n, err);
}

char *
nn_net_algorithms(const struct nn_net *net)
{
    return mem_text(net->algorithms);
}

struct nn_input
nn_input_slice(const struct nn_input *input, enum nn_input_kind kind,
               size_t width, size_t from, size_t to)
{
    struct nn_input slice = *input;

    slice.n = to - from;
    switch (kind) {
    case NN_IMAGES:
        slice.images += from * width;
        break;
    case NN_ROWS:
        slice.rows += from * width;
        break;
    case NN_IDS:
        slice.ids += from;
        break;
    case NN_TOKENS:
        slice.offsets += from;
        break;
    }
    return slice;
}
