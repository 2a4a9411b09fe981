#include <stdlib.h>
#include <string.h>

#include "num/pool.h"
#include "util/mem.h"

#include "dnn_op.h"

struct num_pool {
    struct num_pool_spec spec;
    const struct num_dnn *dnn;
    struct dnn_op forward, backward;
    size_t places;
};

struct num_map
num_pool_out(const struct num_pool_spec *spec)
{
    struct num_map y = spec->in;

    y.h = (spec->in.h + 2 * spec->pad - spec->kernel) / spec->stride + 1;
    y.w = (spec->in.w + 2 * spec->pad - spec->kernel) / spec->stride + 1;
    return y;
}

static dnnl_primitive_desc_t
describe(const struct num_dnn *dnn, const struct num_pool_spec *spec,
         const_dnnl_primitive_desc_t forward)
{
    struct num_map out = num_pool_out(spec);
    dnnl_memory_desc_t x = dnn_map(&spec->in), y = dnn_map(&out);
    dnnl_dim_t k = (dnnl_dim_t)spec->kernel, step = (dnnl_dim_t)spec->stride;
    dnnl_dim_t pad = (dnnl_dim_t)spec->pad;
    dnnl_dims_t steps = {step, step}, window = {k, k}, low = {pad, pad};
    dnnl_dims_t high = {
        ((dnnl_dim_t)out.h - 1) * step + k - (dnnl_dim_t)spec->in.h - pad,
        ((dnnl_dim_t)out.w - 1) * step + k - (dnnl_dim_t)spec->in.w - pad};
    dnnl_primitive_attr_t attr = dnn_attr();
    dnnl_primitive_desc_t found = NULL;
    dnnl_pooling_desc_t desc;

    if (forward)
        dnn_ok(dnnl_pooling_backward_desc_init(&desc, dnnl_pooling_max, &x, &y,
                                               steps, window, low, high));
    else
        dnn_ok(dnnl_pooling_forward_desc_init(
            &desc, spec->train ? dnnl_forward_training : dnnl_forward_inference,
            dnnl_pooling_max, &x, &y, steps, window, low, high));
    if (dnnl_primitive_desc_create(&found, &desc, attr, dnn->engine, forward))
        found = NULL;
    dnn_ok(dnnl_primitive_attr_destroy(attr));
    return found;
}

static void
make_op(struct dnn_op *op, const struct num_pool *pool,
        dnnl_primitive_desc_t desc, int from, int to,
        const dnnl_memory_desc_t *places)
{
    struct num_map out = num_pool_out(&pool->spec);
    dnnl_memory_desc_t x = dnn_map(&pool->spec.in), y = dnn_map(&out);
    int back = from == DNNL_ARG_DIFF_DST;

    dnn_op_init(op, pool->dnn, desc);
    dnn_op_arg(op, pool->dnn, from, back ? &y : &x);
    dnn_op_arg(op, pool->dnn, to, back ? &x : &y);
    if (pool->spec.train)
        dnn_op_arg(op, pool->dnn, DNNL_ARG_WORKSPACE, places);
}

struct num_pool *
num_pool_new(struct num_dnn *dnn, const struct num_pool_spec *spec)
{
    dnnl_primitive_desc_t forward = describe(dnn, spec, NULL), back = NULL;
    struct num_pool *pool = mem_array(1, sizeof *pool);
    dnnl_memory_desc_t places = {0};

    pool->dnn = dnn;
    pool->spec = *spec;
    if (forward && spec->train) {
        places =
            *dnnl_primitive_desc_query_md(forward, dnnl_query_workspace_md, 0);
        pool->places = dnn_size(&places);
        back = describe(dnn, spec, forward);
    }
    if (!forward || (spec->train && !back)) {
        dnnl_primitive_desc_destroy(forward);
        num_pool_free(pool);
        return NULL;
    }
    make_op(&pool->forward, pool, forward, DNNL_ARG_SRC, DNNL_ARG_DST, &places);
    if (back)
        make_op(&pool->backward, pool, back, DNNL_ARG_DIFF_DST,
                DNNL_ARG_DIFF_SRC, &places);
    return pool;
}

void
num_pool_free(struct num_pool *pool)
{
    if (!pool)
        return;
    dnn_op_release(&pool->forward);
    dnn_op_release(&pool->backward);
    free(pool);
}

size_t
num_pool_places(const struct num_pool *pool)
{
    return pool->places;
}

size_t
num_pool_scratch(const struct num_pool *pool)
{
    size_t a = pool->forward.room, b = pool->backward.room;

    return a > b ? a : b;
}

void
num_pool_forward(const struct num_pool *pool, const void *x, void *y,
                 void *places, void *scratch)
{
    dnn_op_run(&pool->forward, pool->dnn, (void *[]){(void *)x, y, places},
               scratch);
}

void
num_pool_backward(const struct num_pool *pool, const void *dy,
                  const void *places, void *dx, void *scratch)
{
    dnn_op_run(&pool->backward, pool->dnn,
               (void *[]){(void *)dy, dx, (void *)places}, scratch);
}

/* The place in x of the first of the largest in window `at` of y. */
static size_t
largest(const struct num_pool_spec *spec, const float *x, size_t at)
{
    struct num_map out = num_pool_out(spec);
    size_t q = at % out.w, p = at / out.w % out.h, plane = at / out.w / out.h;
    size_t best = SIZE_MAX;

    for (size_t r = 0; r < spec->kernel; r++)
        for (size_t s = 0; s < spec->kernel; s++) {
            size_t row = p * spec->stride + r, col = q * spec->stride + s;
            size_t here;

            if (row < spec->pad || row >= spec->in.h + spec->pad ||
                col < spec->pad || col >= spec->in.w + spec->pad)
                continue;
            here = (plane * spec->in.h + row - spec->pad) * spec->in.w + col -
                   spec->pad;
            if (best == SIZE_MAX || x[here] > x[best])
                best = here;
        }
    return best;
}

void
num_pool_forward_plain(const struct num_pool_spec *spec, const float *x,
                       float *y)
{
    struct num_map out = num_pool_out(spec);

    for (size_t at = 0; at < num_map_size(&out); at++)
        y[at] = x[largest(spec, x, at)];
}

void
num_pool_backward_plain(const struct num_pool_spec *spec, const float *x,
                        const float *dy, float *dx)
{
    struct num_map out = num_pool_out(spec);

    memset(dx, 0, num_map_size(&spec->in) * sizeof *dx);
    for (size_t at = 0; at < num_map_size(&out); at++)
        dx[largest(spec, x, at)] += dy[at];
}
