#include <stdlib.h>

#include "plan.h"
#include "util/err.h"
#include "util/mem.h"

enum { ALIGN = 64 };

/* Takes bytes from the block; returns where they begin. */
static size_t
carve(struct nn_plan *plan, size_t bytes)
{
    size_t at = plan->bytes;

    plan->bytes += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static size_t
size_max(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct num_map
map_of(const struct nn_graph *graph, const struct nn_plan *plan, size_t value)
{
    struct num_map map = graph->values[value];

    map.n = plan->n;
    return map;
}

static size_t
value_bytes(const struct nn_graph *graph, const struct nn_plan *plan,
            size_t value)
{
    struct num_map map = map_of(graph, plan, value);

    return num_map_bytes(&map);
}

/*
 * Places that are lent: each is as large as the largest that was ever in it,
 * so they are carved from the block when all is known.
 */
enum { SLOTS = 8 };

struct slots {
    size_t bytes[SLOTS], at[SLOTS];
    int taken[SLOTS];
};

static size_t
slot_take(struct slots *slots, size_t bytes)
{
    size_t s = 0;

    while (s < SLOTS && slots->taken[s])
        s++;
    REQUIRE(s < SLOTS);
    slots->taken[s] = 1;
    if (slots->bytes[s] < bytes)
        slots->bytes[s] = bytes;
    return s;
}

static void
slot_return(struct slots *slots, size_t s)
{
    REQUIRE(slots->taken[s]);
    slots->taken[s] = 0;
}

static void
slots_carve(struct slots *slots, struct nn_plan *plan)
{
    for (size_t s = 0; s < SLOTS; s++)
        slots->at[s] = carve(plan, slots->bytes[s]);
}

/*
 * The table: Winograd for 3x3 at stride 1 with enough channels that its
 * transforms are paid for (measured: design/performance.md, 3).
 */
static int
winograd_pays(const struct num_conv_spec *spec)
{
    return spec->kernel == 3 && spec->stride == 1 && !spec->in.bf16 &&
           spec->in.block == 16 && spec->in.c >= 32 && spec->out >= 32;
}

static int
make_conv(struct nn_plan *plan, const struct nn_graph *graph,
          struct num_dnn *dnn, size_t i, int direct)
{
    const struct nn_op *op = &graph->ops[i];
    const struct nn_op *next = i + 1 < graph->n_ops ? op + 1 : NULL;
    struct num_map out = map_of(graph, plan, op->out);
    struct num_conv_spec spec = {
        .in = map_of(graph, plan, op->in),
        .out = out.c,
        .block = out.block,
        .kernel = op->kernel,
        .stride = op->stride,
        .pad = op->pad,
        .bias = op->bias,
        .train = plan->train,
        .back_data = plan->train && op->in != 0,
    };

    if (!plan->train && next && next->kind == NN_NORM && next->in == op->out &&
        next->norm != NUM_NORM_GROUP) {
        plan->steps[i + 1].skip = 1;
        spec.bias = 1;
        spec.relu = next->relu;
        spec.add = next->add != nn_none;
    }
    for (int pass = 0; pass < 3; pass++)
        spec.winograd[pass] = !direct && winograd_pays(&spec);
    plan->steps[i].conv = num_conv_new(dnn, &spec);
    return plan->steps[i].conv ? 0 : -1;
}

static int
make_pool(struct nn_plan *plan, const struct nn_graph *graph,
          struct num_dnn *dnn, size_t i)
{
    const struct nn_op *op = &graph->ops[i];
    struct num_pool_spec spec = {
        .in = map_of(graph, plan, op->in),
        .kernel = op->kernel,
        .stride = op->stride,
        .pad = op->pad,
        .train = plan->train,
    };

    plan->steps[i].pool = num_pool_new(dnn, &spec);
    return plan->steps[i].pool ? 0 : -1;
}

/* Primitives, and the largest scratch of any. */
static int
make_steps(struct nn_plan *plan, const struct nn_graph *graph,
           struct num_dnn *dnn, int direct)
{
    size_t scratch = 0, work = 0, folded = 0, counts = 0;

    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        struct nn_step *step = &plan->steps[i];
        size_t need = 0;

        if (op->kind == NN_CONV) {
            const struct nn_tensor *w = &graph->tensors[op->tensor];

            if (make_conv(plan, graph, dnn, i, direct))
                return -1;
            need = num_conv_scratch(step->conv);
            folded = size_max(folded, w->count + w->shape[0]);
        } else if (op->kind == NN_MAX) {
            if (make_pool(plan, graph, dnn, i))
                return -1;
            need = num_pool_scratch(step->pool);
        } else if (op->kind == NN_NORM) {
            step->norm = (struct num_norm){
                op->norm, map_of(graph, plan, op->out), op->groups, op->relu};
            work = size_max(work, num_norm_work(&step->norm));
            counts = size_max(counts, num_norm_counts(&step->norm));
        }
        scratch = size_max(scratch, need);
    }
    plan->scratch = carve(plan, scratch);
    plan->work = carve(plan, work * sizeof(double));
    if (!plan->train) {
        plan->folded = carve(plan, folded * sizeof(float));
        plan->counts = carve(plan, 2 * counts * sizeof(float));
    }
    return 0;
}

/*
 * Training: values keep their places until the next forward.  Two need not: an
 * activation without a norm is made in place, and the shortcut's value is only
 * ever added, so that all shortcuts share one spare place.
 */
static void
place_values(struct nn_plan *plan, const struct nn_graph *graph, size_t *place)
{
    size_t spare = 0;

    for (size_t i = 0; i < graph->n_ops; i++)
        if (graph->ops[i].kind == NN_NORM && !graph->ops[i].relu)
            spare =
                size_max(spare, value_bytes(graph, plan, graph->ops[i].out));
    spare = carve(plan, spare);
    place[0] = carve(plan, value_bytes(graph, plan, 0));
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        struct nn_step *step = &plan->steps[i];
        size_t counts = num_norm_counts(&step->norm) * sizeof(float);

        if (op->kind == NN_NORM && op->norm == NUM_NORM_NONE)
            place[op->out] = place[op->in];
        else if (op->kind == NN_NORM && !op->relu)
            place[op->out] = spare;
        else
            place[op->out] = carve(plan, value_bytes(graph, plan, op->out));
        if (op->kind == NN_NORM) {
            step->mean = carve(plan, counts);
            step->variance = carve(plan, counts);
        }
        if (op->kind == NN_MAX)
            step->places = carve(plan, num_pool_places(step->pool));
    }
}

/*
 * Training: a gradient lives from the operator that makes it to the one that
 * takes it.  grad[v] are the one or two that flow into value v.
 */
static void
place_gradients(struct nn_plan *plan, const struct nn_graph *graph)
{
    size_t(*grad)[2] = mem_array(graph->n_values, sizeof *grad);
    struct slots slots = {.bytes = {0}};

    for (size_t v = 0; v < graph->n_values; v++)
        grad[v][0] = grad[v][1] = nn_none;
    plan->dz = slot_take(&slots, value_bytes(graph, plan, graph->output));
    grad[graph->output][0] = plan->dz;
    for (size_t i = graph->n_ops; i-- > 0;) {
        const struct nn_op *op = &graph->ops[i];
        struct nn_step *step = &plan->steps[i];
        size_t bytes = value_bytes(graph, plan, op->in), used;

        step->dy = grad[op->out][0];
        step->dy2 = grad[op->out][1];
        step->dx = step->dadd = nn_none;
        used = step->dy2;
        if (op->kind != NN_NORM) {
            if (op->in)
                step->dx = slot_take(&slots, bytes);
            slot_return(&slots, step->dy);
        } else if (op->add == nn_none) {
            step->dx = step->dy;
        } else {
            step->dadd = step->dy;
            step->dx = used != nn_none ? used : slot_take(&slots, bytes);
            used = nn_none;
            grad[op->add][grad[op->add][0] != nn_none] = step->dadd;
        }
        if (used != nn_none)
            slot_return(&slots, used);
        if (step->dx != nn_none)
            grad[op->in][grad[op->in][0] != nn_none] = step->dx;
    }
    slots_carve(&slots, plan);
    plan->dz = slots.at[plan->dz];
    for (size_t i = 0; i < graph->n_ops; i++) {
        struct nn_step *step = &plan->steps[i];
        size_t *slot[] = {&step->dy, &step->dy2, &step->dx, &step->dadd};

        for (size_t j = 0; j < sizeof slot / sizeof *slot; j++)
            if (*slot[j] != nn_none)
                *slot[j] = slots.at[*slot[j]];
    }
    free(grad);
}

/* How many operators read each value; one more for those given to the caller.
 */
static size_t *
readers(const struct nn_graph *graph)
{
    size_t *uses = mem_array(graph->n_values, sizeof *uses);

    for (size_t i = 0; i < graph->n_ops; i++) {
        uses[graph->ops[i].in]++;
        if (graph->ops[i].add != nn_none)
            uses[graph->ops[i].add]++;
    }
    uses[graph->feature]++;
    uses[graph->output]++;
    return uses;
}

/*
 * Inference: a value's place is free again after its last reader.  What a norm
 * makes takes the place of what it reads, and a merged convolution adds to the
 * shortcut where that is.
 */
static void
share_values(struct nn_plan *plan, const struct nn_graph *graph, size_t *place)
{
    size_t *uses = readers(graph);
    struct slots slots = {.bytes = {0}};

    place[0] = slot_take(&slots, value_bytes(graph, plan, 0));
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        size_t in = op->in, add = op->add, out = op->out, over = nn_none;

        if (op->kind == NN_NORM && !plan->steps[i].skip)
            over = in;
        if (op->kind == NN_CONV && i + 1 < graph->n_ops &&
            plan->steps[i + 1].skip) {
            add = graph->ops[i + 1].add;
            out = graph->ops[i + 1].out;
            over = add;
        }
        if (plan->steps[i].skip) {
            place[in] = place[out]; // its convolution has written there
            continue;
        }
        REQUIRE(over == nn_none || uses[over] == 1);
        place[out] = over == nn_none
                         ? slot_take(&slots, value_bytes(graph, plan, out))
                         : place[over];
        if (in != over && --uses[in] == 0)
            slot_return(&slots, place[in]);
        if (add != nn_none && add != over && --uses[add] == 0)
            slot_return(&slots, place[add]);
    }
    slots_carve(&slots, plan);
    for (size_t v = 0; v < graph->n_values; v++)
        place[v] = slots.at[place[v]];
    free(uses);
}

struct nn_plan *
nn_plan_new(const struct nn_graph *graph, struct num_dnn *dnn, size_t n,
            int train, int direct)
{
    struct nn_plan *plan = mem_array(1, sizeof *plan);
    size_t *place = mem_array(graph->n_values, sizeof *place);

    plan->n = n;
    plan->train = train;
    plan->n_steps = graph->n_ops;
    plan->steps = mem_array(graph->n_ops, sizeof *plan->steps);
    if (make_steps(plan, graph, dnn, direct)) {
        nn_plan_free(plan);
        plan = NULL;
        goto out;
    }
    if (train) {
        place_values(plan, graph, place);
        place_gradients(plan, graph);
    } else {
        share_values(plan, graph, place);
    }
    plan->images = place[0];
    plan->feature = place[graph->feature];
    plan->output = place[graph->output];
    for (size_t i = 0; i < graph->n_ops; i++) {
        const struct nn_op *op = &graph->ops[i];
        struct nn_step *step = &plan->steps[i];

        step->in = place[op->in];
        step->add = op->add == nn_none ? nn_none : place[op->add];
        step->out = place[op->out];
    }

out:
    free(place);
    return plan;
}

void
nn_plan_free(struct nn_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->n_steps; i++) {
        num_conv_free(plan->steps[i].conv);
        num_pool_free(plan->steps[i].pool);
    }
    free(plan->steps);
    free(plan);
}
