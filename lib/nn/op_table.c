#include "num/tokens.h"
#include "util/err.h"

#include "operator.h"

/* Adds a lookup in a tensor, initially normal with that deviation. */
static size_t
add_table(struct nn_graph *graph, size_t in, size_t tensor, size_t out,
          double deviation, int bf16)
{
    struct num_map rows = nn_graph_rows(out);

    rows.bf16 = bf16;
    graph->ids = graph->tensors[tensor].count / out;
    graph->initial[tensor].deviation = deviation;
    return nn_graph_add_one(graph, &nn_op_table, in, tensor, rows, NULL, 0);
}

size_t
nn_graph_table(struct nn_graph *graph, size_t in, size_t samples, size_t views,
               size_t out)
{
    size_t tensor = nn_graph_tensor(graph, "table", "weight", 0, 3,
                                    (size_t[]){samples, views, out});

    return add_table(graph, in, tensor, out, 1, 0);
}

size_t
nn_graph_rows_of(struct nn_graph *graph, size_t in, size_t samples,
                 size_t views, size_t out)
{
    size_t tensor = nn_graph_tensor(graph, "rows", "weight", 1, 3,
                                    (size_t[]){samples, views, out});

    graph->fixed = graph->statistics;
    return add_table(graph, in, tensor, out, 0, 0);
}

size_t
nn_graph_embedding(struct nn_graph *graph, size_t in, const char *name,
                   size_t ids, size_t out, double deviation, int bf16)
{
    size_t tensor =
        nn_graph_tensor(graph, name, "weight", 0, 2, (size_t[]){ids, out});

    return add_table(graph, in, tensor, out, deviation, bf16);
}

/* n rows of that width are looked up in a table of `rows`. */
struct lookup {
    size_t n, width, rows;
    int bf16;
};

static struct lookup
lookup_of(const struct nn_graph *graph, const struct nn_plan *plan,
          const struct nn_op *op)
{
    const struct nn_tensor *t = &graph->tensors[op->tensor];
    const size_t width = t->shape[t->rank - 1];

    const struct num_map map = nn_map(graph, plan, op->out);

    return (struct lookup){map.n, width, t->count / width, map.bf16};
}

static int
table_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
              struct nn_step *step)
{
    const struct lookup s = lookup_of(graph, plan, &step->op);
    const int learns =
        plan->train && !graph->tensors[step->op.tensor].statistic;

    step->needs = (struct nn_needs){
        .reads = learns,
        .scratch =
            learns ? num_embed_scratch(s.n, s.rows) * sizeof(uint32_t) : 0,
    };
    return 0;
}

static void
table_forward(const struct nn_call *call)
{
    const struct lookup s = lookup_of(call->graph, call->plan, &call->step->op);
    const int32_t *ids = call->x[0];

    for (size_t i = 0; i < s.n; i++)
        REQUIRE(ids[i] >= 0 && (size_t)ids[i] < s.rows);
    num_embed(s.n, s.width, s.bf16, ids, nn_param(call, 0), call->y);
}

static void
table_backward(const struct nn_call *call)
{
    const struct lookup s = lookup_of(call->graph, call->plan, &call->step->op);

    if (nn_tensor(call, 0)->statistic)
        return;
    num_embed_back(s.n, s.width, s.bf16, s.rows, call->x[0], call->dy,
                   call->add, nn_grad(call, 0), call->scratch);
}

const struct nn_operator nn_op_table = {
    .name = "table",
    .prepare = table_prepare,
    .forward = table_forward,
    .backward = table_backward,
};
