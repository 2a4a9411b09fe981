#include <stdlib.h>

#include "num/pool.h"
#include "util/mem.h"

#include "dnn_op.h"
#include "lanes.h"
#include "planes.h"

struct num_pool {
    struct num_pool_spec spec;
    const struct num_dnn *dnn;
    struct dnn_op forward, backward;
    size_t argmax;
};

struct num_map
num_pool_out(const struct num_pool_spec *spec)
{
    struct num_map y = spec->in;

    y.h = (spec->in.h + 2 * spec->pad - spec->kernel) / spec->stride + 1;
    y.w = (spec->in.w + 2 * spec->pad - spec->kernel) / spec->stride + 1;
    return y;
}

static struct dnn_pool
tensors_of(const struct num_pool_spec *spec)
{
    struct num_map out = num_pool_out(spec);
    dnnl_dim_t k = (dnnl_dim_t)spec->kernel, step = (dnnl_dim_t)spec->stride;
    dnnl_dim_t pad = (dnnl_dim_t)spec->pad;

    return (struct dnn_pool){
        .x = num_dnn_map(&spec->in),
        .y = num_dnn_map(&out),
        .window = {k, k},
        .strides = {step, step},
        .low = {pad, pad},
        .high = {((dnnl_dim_t)out.h - 1) * step + k - (dnnl_dim_t)spec->in.h -
                     pad,
                 ((dnnl_dim_t)out.w - 1) * step + k - (dnnl_dim_t)spec->in.w -
                     pad},
        .kind = spec->train ? dnnl_forward_training : dnnl_forward_inference,
    };
}

static dnnl_primitive_desc_t
find_pool_desc(const struct num_dnn *dnn, const struct dnn_pool *s,
               const_dnnl_primitive_desc_t forward)
{
    dnnl_primitive_attr_t attr = num_dnn_attr(0, 0);
    dnnl_primitive_desc_t found = num_dnn_pool_find(dnn, s, attr, forward);

    num_dnn_ok(dnnl_primitive_attr_destroy(attr));
    return found;
}

static void
make_op(struct dnn_op *op, const struct num_pool *pool,
        const struct dnn_pool *s, dnnl_primitive_desc_t desc, dnn_md argmax)
{
    int back = op == &pool->backward;

    num_dnn_op_init(op, pool->dnn, desc);
    num_dnn_op_arg(op, pool->dnn, back ? DNNL_ARG_DIFF_DST : DNNL_ARG_SRC,
                   back ? s->y : s->x);
    num_dnn_op_arg(op, pool->dnn, back ? DNNL_ARG_DIFF_SRC : DNNL_ARG_DST,
                   back ? s->x : s->y);
    if (pool->spec.train)
        num_dnn_op_arg(op, pool->dnn, DNNL_ARG_WORKSPACE, argmax);
}

struct num_pool *
num_pool_new(struct num_dnn *dnn, const struct num_pool_spec *spec)
{
    struct num_pool *pool = mem_array(1, sizeof *pool);
    struct dnn_pool s = tensors_of(spec);
    dnnl_primitive_desc_t forward = find_pool_desc(dnn, &s, NULL), back = NULL;
    dnn_md argmax = NULL;

    pool->dnn = dnn;
    pool->spec = *spec;
    if (forward && spec->train) {
        argmax = num_dnn_md_of(forward, dnnl_query_workspace_md);
        pool->argmax = dnnl_memory_desc_get_size(argmax);
        back = find_pool_desc(dnn, &s, forward);
    }
    if (!forward || (spec->train && !back)) {
        dnnl_primitive_desc_destroy(forward);
        num_pool_free(pool);
        pool = NULL;
    } else {
        make_op(&pool->forward, pool, &s, forward, argmax);
        if (back)
            make_op(&pool->backward, pool, &s, back, argmax);
    }
    num_dnn_md_free(argmax);
    num_dnn_md_free(s.x);
    num_dnn_md_free(s.y);
    return pool;
}

void
num_pool_free(struct num_pool *pool)
{
    if (!pool)
        return;
    num_dnn_op_release(&pool->forward);
    num_dnn_op_release(&pool->backward);
    free(pool);
}

size_t
num_pool_argmax_bytes(const struct num_pool *pool)
{
    return pool->argmax;
}

size_t
num_pool_scratch(const struct num_pool *pool)
{
    size_t a = pool->forward.room, b = pool->backward.room;

    return a > b ? a : b;
}

void
num_pool_forward(const struct num_pool *pool, const void *x, void *y,
                 void *argmax, void *scratch)
{
    num_dnn_op_run(&pool->forward, pool->dnn, (void *[]){(void *)x, y, argmax},
                   scratch);
}

void
num_pool_backward(const struct num_pool *pool, const void *dy,
                  const void *argmax, void *dx, void *scratch)
{
    num_dnn_op_run(&pool->backward, pool->dnn,
                   (void *[]){(void *)dy, dx, (void *)argmax}, scratch);
}

void
num_mean(const struct num_map *map, const void *x, float *h)
{
    size_t b = map->block;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * planes_count(map); at++) {
        float sum[LANES];

        num_planes()->sum(planes_size(map), map->bf16, planes_at(map, x, 0, at),
                          sum);
        for (size_t j = 0; j < b; j++) {
            double all = 0;

            for (size_t l = j; l < LANES; l += b)
                all += sum[l];
            h[at * b + j] = (float)(all / (double)(map->h * map->w));
        }
    }
}

void
num_mean_back(const struct num_map *map, const float *dh, void *dx)
{
    float pixels = (float)(map->h * map->w);

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * planes_count(map); at++) {
        float value[LANES];

        for (size_t l = 0; l < LANES; l++)
            value[l] = dh[at * map->block + l % map->block] / pixels;
        num_planes()->fill(planes_size(map), map->bf16, value,
                           planes_at(map, dx, 0, at));
    }
}
