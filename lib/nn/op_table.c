#include "num/tokens.h"
#include "util/err.h"
#include "util/mem.h"

#include "plan.h"

/* Of a table in a graph: the deviation of its initial values. */
static size_t
add(struct nn_graph *graph, size_t in, size_t tensor, size_t out,
    double deviation)
{
    double *set = mem_array(1, sizeof *set);

    *set = deviation;
    graph->ids = graph->tensors[tensor].count / out;
    return nn_graph_add(graph,
                        (struct nn_op){.is = &nn_op_table,
                                       .n_in = 1,
                                       .in = {in},
                                       .tensor = tensor,
                                       .set = set},
                        nn_graph_rows(out));
}

size_t
nn_graph_table(struct nn_graph *graph, size_t in, size_t samples, size_t views,
               size_t out)
{
    size_t tensor = nn_graph_tensor(graph, "table", "weight", 0, 3,
                                    (size_t[]){samples, views, out});

    return add(graph, in, tensor, out, 1);
}

size_t
nn_graph_embedding(struct nn_graph *graph, size_t in, const char *name,
                   size_t ids, size_t out, double deviation)
{
    size_t tensor =
        nn_graph_tensor(graph, name, "weight", 0, 2, (size_t[]){ids, out});

    return add(graph, in, tensor, out, deviation);
}

static void
init(const struct nn_graph *graph, const struct nn_op *op, uint64_t seed,
     float *params, float *statistics)
{
    (void)statistics;
    nn_draw(graph, op->tensor, seed, *(const double *)op->set, 0, params);
}

/* Rows that are looked up, their width, and how many there are. */
struct lookup {
    size_t n, width, rows;
};

static struct lookup
lookup_of(const struct nn_graph *graph, const struct nn_plan *plan,
          const struct nn_op *op)
{
    const struct nn_tensor *t = &graph->tensors[op->tensor];
    const size_t width = t->shape[t->rank - 1];

    return (struct lookup){nn_map(graph, plan, op->out).n, width,
                           t->count / width};
}

static int
prepare(const struct nn_graph *graph, const struct nn_plan *plan,
        struct nn_step *step)
{
    const struct lookup s = lookup_of(graph, plan, &step->op);

    step->needs = (struct nn_needs){
        .reads = 1,
        .scratch =
            plan->train ? num_embed_room(s.n, s.rows) * sizeof(uint32_t) : 0,
    };
    return 0;
}

static void
forward(const struct nn_call *call)
{
    const struct lookup s = lookup_of(call->graph, call->plan, &call->step->op);
    const int32_t *ids = call->x[0];

    for (size_t i = 0; i < s.n; i++)
        REQUIRE(ids[i] >= 0 && (size_t)ids[i] < s.rows);
    num_embed(s.n, s.width, ids, nn_param(call, 0), call->y);
}

static void
backward(const struct nn_call *call)
{
    const struct lookup s = lookup_of(call->graph, call->plan, &call->step->op);

    num_embed_back(s.n, s.width, s.rows, call->x[0], call->dy, call->add,
                   nn_grad(call, 0), call->scratch);
}

const struct nn_operator nn_op_table = {
    .name = "table",
    .init = init,
    .prepare = prepare,
    .forward = forward,
    .backward = backward,
};
