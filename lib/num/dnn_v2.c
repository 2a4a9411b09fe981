#include <stdlib.h>

#include "util/mem.h"

#include "dnn_op.h"

#if DNNL_VERSION_MAJOR < 3

dnn_md
num_dnn_md_new(int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
               dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t *md = mem_array(1, sizeof *md);

    num_dnn_ok(dnnl_memory_desc_init_by_tag(md, rank, dims, type, tag));
    return md;
}

dnn_md
num_dnn_md_of(const_dnnl_primitive_desc_t desc, dnnl_query_t which)
{
    dnnl_memory_desc_t *md = mem_array(1, sizeof *md);

    *md = *dnnl_primitive_desc_query_md(desc, which, 0);
    return md;
}

void
num_dnn_md_free(dnn_md md)
{
    free((void *)md);
}

void
num_dnn_post_add(dnnl_post_ops_t post)
{
    num_dnn_ok(dnnl_post_ops_append_sum(post, 1));
}

void
num_dnn_post_relu(dnnl_post_ops_t post)
{
    num_dnn_ok(dnnl_post_ops_append_eltwise(post, 1, dnnl_eltwise_relu, 0, 0));
}

dnnl_primitive_desc_t
num_dnn_conv_find(const struct num_dnn *dnn, const struct dnn_conv *s,
                  enum num_conv_pass pass, dnnl_alg_kind_t how,
                  const_dnnl_primitive_attr_t attr,
                  const_dnnl_primitive_desc_t forward)
{
    dnnl_primitive_desc_t found = NULL;
    dnnl_convolution_desc_t desc;

    if (pass == NUM_CONV_FORWARD)
        num_dnn_ok(dnnl_convolution_forward_desc_init(
            &desc, s->kind, how, s->x, s->w, s->bias, s->y, s->strides, s->low,
            s->high));
    else if (pass == NUM_CONV_BACK_DATA)
        num_dnn_ok(dnnl_convolution_backward_data_desc_init(
            &desc, how, s->x, s->w, s->y, s->strides, s->low, s->high));
    else
        num_dnn_ok(dnnl_convolution_backward_weights_desc_init(
            &desc, how, s->x, s->dw, s->bias, s->y, s->strides, s->low,
            s->high));
    return dnnl_primitive_desc_create(&found, &desc, attr, dnn->engine, forward)
               ? NULL
               : found;
}

dnnl_primitive_desc_t
num_dnn_pool_find(const struct num_dnn *dnn, const struct dnn_pool *s,
                  const_dnnl_primitive_attr_t attr,
                  const_dnnl_primitive_desc_t forward)
{
    dnnl_primitive_desc_t found = NULL;
    dnnl_pooling_desc_t desc;

    if (forward)
        num_dnn_ok(dnnl_pooling_backward_desc_init(&desc, dnnl_pooling_max,
                                                   s->x, s->y, s->strides,
                                                   s->window, s->low, s->high));
    else
        num_dnn_ok(dnnl_pooling_forward_desc_init(
            &desc, s->kind, dnnl_pooling_max, s->x, s->y, s->strides, s->window,
            s->low, s->high));
    return dnnl_primitive_desc_create(&found, &desc, attr, dnn->engine, forward)
               ? NULL
               : found;
}

#endif
