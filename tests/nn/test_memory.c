#include <stdlib.h>

#include "nn/encoder.h"
#include "nn/graph.h"
#include "nn/operator.h"
#include "num/threads.h"
#include "t.h"
#include "util/mem.h"

/*
 * Plans are executed without numbers: each write records its contents, and each
 * read must find the contents that it expects.
 */
struct note {
    size_t at, bytes, what;
};

/* GRADIENT + a value, SUMS + an operator */
enum { SCRATCH = 1 << 20, GRADIENT = 1 << 21, SUMS = 1 << 22 };

struct walk {
    const struct nn_graph *graph;
    const struct nn_plan *plan;
    struct note *notes;
    size_t n, room, wrong;
};

static size_t
bytes_of(const struct walk *w, size_t value)
{
    const struct num_map map = nn_map(w->graph, w->plan, value);

    return num_map_bytes(&map);
}

/* The contents at a value: a fused norm is the input of its reader. */
static size_t
what_of(const struct walk *w, size_t value)
{
    const size_t writer = w->graph->values[value].writer;

    if (writer == nn_none || !w->plan->steps[writer].fused)
        return value;
    return what_of(w, w->plan->steps[writer].op.in[0]);
}

static void
writes(struct walk *w, size_t at, size_t bytes, size_t what)
{
    if (at == nn_none || !bytes)
        return;
    w->wrong += at % 64 || at + bytes > w->plan->bytes;
    mem_grow(&w->notes, &w->room, w->n + 1, sizeof *w->notes);
    w->notes[w->n++] = (struct note){at, bytes, what};
}

static void
reads(struct walk *w, size_t at, size_t bytes, size_t what)
{
    size_t i = w->n;

    while (i > 0 && (w->notes[i - 1].at >= at + bytes ||
                     at >= w->notes[i - 1].at + w->notes[i - 1].bytes))
        i--;
    w->wrong +=
        i == 0 || w->notes[i - 1].what != what || w->notes[i - 1].at != at;
}

static void
reads_value(struct walk *w, size_t at, size_t value)
{
    reads(w, at, bytes_of(w, value), what_of(w, value));
}

/* Sums of images of step i, by a neighbour or the step itself. */
static void
sums(struct walk *w, size_t i, int made)
{
    const size_t bytes = w->plan->steps[i].needs.sums;

    if (!made)
        writes(w, w->plan->sums, bytes, SUMS + i);
    else if (bytes)
        reads(w, w->plan->sums, bytes, SUMS + i);
}

static void
forward(struct walk *w)
{
    writes(w, w->plan->input, bytes_of(w, 0), 0);
    for (size_t i = 0; i < w->graph->n_ops; i++) {
        const struct nn_step *s = &w->plan->steps[i];

        if (s->skip)
            continue;
        writes(w, s->scratch, s->needs.scratch, SCRATCH);
        if (!w->plan->train)
            writes(w, s->state, s->needs.state, SCRATCH);
        for (size_t k = 0; k < s->op.n_in; k++)
            reads_value(w, s->in[k], s->op.in[k]);
        sums(w, i, s->sums_by_previous);
        if (s->fused)
            continue;
        writes(w, s->out, bytes_of(w, s->op.out), s->op.out);
        for (size_t k = 0; k < s->op.n_in; k++) // is read meanwhile
            if (s->in[k] != s->out)
                reads_value(w, s->in[k], s->op.in[k]);
        if (i + 1 < w->graph->n_ops && s[1].sums_by_previous)
            sums(w, i + 1, 0);
    }
    reads_value(w, w->plan->output, w->graph->output);
    reads_value(w, w->plan->feature, w->graph->feature);
}

/* The values of forward that backward of a step reads. */
static void
reads_values(struct walk *w, const struct nn_step *s)
{
    for (size_t k = 0; k < s->op.n_in; k++)
        if (s->needs.reads & 1u << k)
            reads_value(
                w, s->recomputed[k] == nn_none ? s->in[k] : s->recomputed[k],
                s->op.in[k]);
    if (s->needs.reads & NN_READS_OUT)
        reads_value(w,
                    s->recomputed_out == nn_none ? s->out : s->recomputed_out,
                    s->op.out);
}

static void
recomputes(struct walk *w, const struct nn_recompute *task)
{
    const struct nn_op *op =
        &w->plan->steps[w->graph->values[task->value].writer].op;

    for (size_t k = 0; k < op->n_in; k++)
        reads_value(w, task->in[k], op->in[k]);
    writes(w, task->out, bytes_of(w, task->value), task->value);
    for (size_t k = 0; k < op->n_in; k++) // is read meanwhile
        reads_value(w, task->in[k], op->in[k]);
}

static void
add_up(struct walk *w, size_t value, struct nn_sum sum)
{
    if (sum.to == nn_none)
        return;
    reads(w, sum.to, bytes_of(w, value), GRADIENT + value);
    reads(w, sum.from, bytes_of(w, value), GRADIENT + value);
}

/* Step i computes the sums of the previous one, of the latter's input. */
static void
sums_before(struct walk *w, size_t i)
{
    const struct nn_step *s = &w->plan->steps[i - 1];
    const size_t out = bytes_of(w, s->op.out);

    reads_values(w, s);
    reads(w, s->dy, out, GRADIENT + s->op.out);
    if (s->dy2 != nn_none)
        reads(w, s->dy2, out, GRADIENT + s->op.out);
    sums(w, i - 1, 0);
}

static void
back_step(struct walk *w, size_t i)
{
    const struct nn_step *s = &w->plan->steps[i];
    const size_t out = bytes_of(w, s->op.out);

    add_up(w, s->op.out, s->before);
    writes(w, s->back_scratch, s->needs.scratch, SCRATCH);
    reads_values(w, s);
    reads(w, s->dy, out, GRADIENT + s->op.out);
    if (s->dy2 != nn_none)
        reads(w, s->dy2, out, GRADIENT + s->op.out);
    for (size_t k = 0; k < s->op.n_in; k++)
        writes(w, s->dx[k], bytes_of(w, s->op.in[k]), GRADIENT + s->op.in[k]);
    reads_values(w, s); // meanwhile
    sums(w, i, s->back_sums_by_next);
    if (i > 0 && s[-1].back_sums_by_next)
        sums_before(w, i);
    for (size_t k = 0; k < s->op.n_in; k++)
        add_up(w, s->op.in[k], s->after[k]);
}

static void
backward(struct walk *w)
{
    size_t next = 0;

    writes(w, w->plan->dz, bytes_of(w, w->graph->output),
           GRADIENT + w->graph->output);
    for (size_t i = w->graph->n_ops; i-- > 0;) {
        while (next < w->plan->n_recompute &&
               w->plan->recompute[next].before == i)
            recomputes(w, &w->plan->recompute[next++]);
        if (w->plan->steps[i].dy != nn_none)
            back_step(w, i);
    }
    w->wrong += next < w->plan->n_recompute;
}

static void
build(struct nn_graph *graph, const struct nn_spec *spec)
{
    struct err err;
    const struct nn_encoder *encoder = nn_encoder_find(spec->arch, &err);
    struct num_map images = {.c = spec->channels,
                             .h = spec->height,
                             .w = spec->image_width,
                             .block = 1};
    size_t x =
        nn_graph_input(graph, encoder->input,
                       encoder->input == NN_IMAGES ? images : nn_graph_rows(1));

    graph->feature = nn_encoder_build(graph, encoder, spec, x);
    graph->feature_ops = graph->n_ops;
    graph->output = nn_head(graph, spec->head, graph->feature);
}

/* Executes a plan of a graph, which is released: what was lost, and how many
 * bytes the plan has. */
static size_t
lost(struct num_dnn *dnn, struct nn_graph *graph, size_t n, int train,
     size_t *bytes)
{
    struct walk w = {.graph = graph};
    struct nn_plan *plan = nn_plan_new(
        graph, (struct nn_plan){
                   .dnn = dnn,
                   .n = n,
                   .tokens = n * (graph->each ? graph->each : graph->context),
                   .train = train});

    w.plan = plan;
    forward(&w);
    if (train)
        backward(&w);
    w.wrong += w.n <= 5;
    *bytes = plan->bytes;
    nn_plan_free(plan);
    nn_graph_release(graph);
    free(w.notes);
    return w.wrong;
}

/* kept: the most bytes of the block, or 0. */
static void
nothing_is_lost(struct num_dnn *dnn, const char *arch, const char *norm,
                size_t n, int train, size_t most)
{
    const struct nn_spec spec = {.arch = arch,
                                 .stem = "small",
                                 .norm = norm,
                                 .head = "64-32",
                                 .height = 32,
                                 .image_width = 32,
                                 .channels = 3,
                                 .vocabulary = 100,
                                 .context = 24};
    struct nn_graph graph = {0};
    size_t bytes;

    build(&graph, &spec);
    T(!lost(dnn, &graph, n, train, &bytes),
      "%s, %s, %zu rows, %s: nothing is lost", arch, norm, n,
      train ? "training" : "evaluation");
    if (most)
        T(bytes <= most, "%s: %zu bytes at most, %zu", arch, most, bytes);
}

/* After the last attention only one token of a sample is read, so no other is
 * computed: values there have a row for each sample. */
static void
one_token_is_computed(const char *arch)
{
    const struct nn_spec spec = {.arch = arch,
                                 .head = "32",
                                 .height = 32,
                                 .image_width = 32,
                                 .channels = 3,
                                 .vocabulary = 100,
                                 .context = 24};
    struct nn_graph graph = {0};
    size_t after = 0, rows = 0;

    build(&graph, &spec);
    for (size_t i = 0; i < graph.feature_ops; i++) {
        if (graph.ops[i].is == &nn_op_attention)
            after = rows = 0;
        else
            rows += graph.values[graph.ops[i].out].tokens;
        after++;
    }
    T(after > 5 && !rows,
      "%s: of %zu operators from the last attention on, "
      "%zu compute tokens",
      arch, after - 1, rows);
    nn_graph_release(&graph);
}

static size_t
add_conv(struct nn_graph *graph, size_t in, const char *name)
{
    const size_t c = graph->values[in].map.c;
    const size_t tensor = nn_graph_conv_tensors(graph, name, 64, c, 3, 0, 0);

    return nn_graph_conv(graph, in, tensor, 1, 1);
}

static size_t
add_norm(struct nn_graph *graph, size_t in, const char *name, size_t add)
{
    const size_t tensor =
        nn_graph_norm_tensors(graph, name, NUM_NORM_BATCH, 64);

    return nn_graph_norm(graph, in, tensor, NUM_NORM_BATCH, add, 0);
}

/* A large sum is recomputed for backward of the operator that reads it, from
 * `first`, which only a later operator's backward reads: that is run earlier.
 * Its term is `first`, or another sum with `first` that no backward reads. */
static void
shortcut_is_kept_for_its_sum(struct num_dnn *dnn, int deep)
{
    const struct num_map images = {.c = 3, .h = 32, .w = 32, .block = 1};
    struct nn_graph graph = {0};
    const size_t x = nn_graph_input(&graph, NN_IMAGES, images);
    const size_t first = add_conv(&graph, x, "first");
    size_t sum, read, bytes;

    sum = add_norm(&graph, add_conv(&graph, x, "a"), "a.norm", first);
    if (deep)
        sum = add_norm(&graph, add_conv(&graph, x, "b"), "b.norm", sum);
    read = add_conv(&graph, sum, "read");
    sum = add_norm(&graph, read, "read.norm", add_conv(&graph, first, "later"));
    graph.feature = nn_graph_mean(&graph, sum);
    graph.feature_ops = graph.n_ops;
    graph.output = nn_head(&graph, "32", graph.feature);
    T(!lost(dnn, &graph, 64, 1, &bytes),
      "a shortcut %sis there when the sum is recomputed",
      deep ? "of a shortcut " : "");
}

int
main(void)
{
    static const char *const arch[] = {"resnet20",   "resnet18",   "resnet50",
                                       "vit:64x2x4", "clip:64x2",  "bow:32",
                                       "mlp",        "distilbert", "linear"};
    struct num_dnn *dnn;

    num_threads(1);
    dnn = num_dnn_new();
    for (size_t i = 0; i < sizeof arch / sizeof *arch; i++)
        for (int train = 0; train < 2; train++)
            nothing_is_lost(dnn, arch[i], "batch", i == 2 ? 8 : 64, train, 0);
    one_token_is_computed("vit:64x2x4");
    one_token_is_computed("clip:64x2");
    one_token_is_computed("distilbert");
    nothing_is_lost(dnn, "resnet20", "group", 64, 1, 0);
    nothing_is_lost(dnn, "resnet20", "none", 5, 1, 0);
    for (int deep = 0; deep < 2; deep++)
        shortcut_is_kept_for_its_sum(dnn, deep);
    if (num_map_block(16) == 16) // the stored bytes are as counted
        nothing_is_lost(dnn, "resnet18", "batch", 64, 1, (size_t)180 << 20);
    num_dnn_free(dnn);
    return t_done();
}
