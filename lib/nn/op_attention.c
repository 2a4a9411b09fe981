#include "num/attention.h"
#include "num/half.h"
#include "util/err.h"

#include "operator.h"

struct attention {
    size_t heads;
    int causal;
};

size_t
nn_graph_attention(struct nn_graph *graph, size_t n_in, const size_t *in,
                   size_t heads, int causal)
{
    const struct attention set = {heads, causal};
    struct nn_op op = {.is = &nn_op_attention, .n_in = n_in, .tensor = nn_none};
    const struct nn_value *x = &graph->values[in[0]];
    const size_t width = n_in == 1 ? x->map.c / 3 : x->map.c;
    struct num_map rows = nn_graph_rows(width);

    REQUIRE(n_in == 1 || n_in == 3);
    REQUIRE(x->tokens && graph->context && width % heads == 0);
    for (size_t k = 0; k < n_in; k++) {
        op.in[k] = in[k];
        REQUIRE(graph->values[in[k]].map.c == width * (n_in == 1 ? 3 : 1) &&
                graph->values[in[k]].map.bf16 == x->map.bf16);
    }
    rows.bf16 = x->map.bf16;
    return nn_graph_add(graph, op, rows, &set, sizeof set);
}

static int
attention_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
                  struct nn_step *step)
{
    const struct attention *set = step->op.set;
    const struct num_map map = nn_map(graph, plan, step->op.out);

    step->needs = (struct nn_needs){
        .scratch = num_attention_scratch(graph->context, map.c / set->heads) *
                   sizeof(float),
        .state = 2 * map.n * set->heads * sizeof(float),
        .reads = step->op.n_in == 1 ? 1 : 7,
    };
    return 0;
}

/* Queries, keys or values (k = 0, 1, 2), or their gradients: in three arrays,
 * or in one array side by side. */
static void *
attention_part(const struct nn_call *call, void *const *arrays, size_t k)
{
    const struct num_map map = nn_map_out(call);

    return call->step->op.n_in == 1
               ? num_half_at(arrays[0], k * map.c, map.bf16)
               : arrays[k];
}

static struct num_attention
attention_args(const struct nn_call *call)
{
    const struct attention *set = call->step->op.set;
    const struct num_map map = nn_map_out(call);
    void *const *x = (void *const *)call->x;

    return (struct num_attention){
        .n = call->plan->n,
        .offsets = call->offsets,
        .longest = call->graph->context,
        .heads = set->heads,
        .d = map.c / set->heads,
        .causal = set->causal,
        .stride = call->step->op.n_in == 1 ? 3 * map.c : map.c,
        .bf16 = map.bf16,
        .q = attention_part(call, x, 0),
        .k = attention_part(call, x, 1),
        .v = attention_part(call, x, 2),
        .y = call->y,
        .top = call->state,
        .share = (float *)call->state + map.n * set->heads,
        .scratch = call->scratch,
    };
}

static void
attention_forward(const struct nn_call *call)
{
    const struct num_attention args = attention_args(call);

    num_attention_forward(&args);
}

static void
attention_backward(const struct nn_call *call)
{
    struct num_attention args = attention_args(call);

    // either all three have a gradient, or none
    REQUIRE(call->dx[0] &&
            (call->step->op.n_in == 1 || (call->dx[1] && call->dx[2])));
    args.dy = call->dy;
    args.dq = attention_part(call, call->dx, 0);
    args.dk = attention_part(call, call->dx, 1);
    args.dv = attention_part(call, call->dx, 2);
    num_attention_backward(&args);
}

const struct nn_operator nn_op_attention = {
    .name = "attention",
    .prepare = attention_prepare,
    .forward = attention_forward,
    .backward = attention_backward,
};
