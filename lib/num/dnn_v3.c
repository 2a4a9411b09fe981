#include <string.h>

#include "dnn_op.h"

#if DNNL_VERSION_MAJOR >= 3

static const dnnl_dims_t dense; // a window without gaps

dnn_md
num_dnn_md_new(int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
               dnnl_format_tag_t tag)
{
    dnnl_memory_desc_t md;

    num_dnn_ok(dnnl_memory_desc_create_with_tag(&md, rank, dims, type, tag));
    return md;
}

dnn_md
num_dnn_md_of(const_dnnl_primitive_desc_t desc, dnnl_query_t which)
{
    dnnl_memory_desc_t md;

    num_dnn_ok(dnnl_memory_desc_clone(
        &md, dnnl_primitive_desc_query_md(desc, which, 0)));
    return md;
}

void
num_dnn_md_free(dnn_md md)
{
    if (md)
        num_dnn_ok(dnnl_memory_desc_destroy((dnnl_memory_desc_t)md));
}

void
num_dnn_post_add(dnnl_post_ops_t post)
{
    num_dnn_ok(dnnl_post_ops_append_sum(post, 1, 0, dnnl_data_type_undef));
}

void
num_dnn_post_relu(dnnl_post_ops_t post)
{
    num_dnn_ok(dnnl_post_ops_append_eltwise(post, dnnl_eltwise_relu, 0, 0));
}

/* 1 if an implementation is known to be wrong: the one in oneDNN 3.7 that
 * converts images from plain layout for a convolution of another layout.  With
 * AVX-512 its result is wrong, from 20 channels to 12 in the forward pass, from
 * 4 to 4 in the gradient of the images. */
static int
is_wrong(const_dnnl_primitive_desc_t desc)
{
    const char *name;

    num_dnn_ok(
        dnnl_primitive_desc_query(desc, dnnl_query_impl_info_str, 0, &name));
    return strstr(name, "ncsp_convolution") != NULL;
}

dnnl_primitive_desc_t
num_dnn_conv_find(const struct num_dnn *dnn, const struct dnn_conv *s,
                  enum num_conv_pass pass, dnnl_alg_kind_t how,
                  const_dnnl_primitive_attr_t attr,
                  const_dnnl_primitive_desc_t forward)
{
    dnnl_primitive_desc_t found = NULL;
    dnnl_status_t status;

    if (pass == NUM_CONV_FORWARD)
        status = dnnl_convolution_forward_primitive_desc_create(
            &found, dnn->engine, s->kind, how, s->x, s->w, s->bias, s->y,
            s->strides, dense, s->low, s->high, attr);
    else if (pass == NUM_CONV_BACK_DATA)
        status = dnnl_convolution_backward_data_primitive_desc_create(
            &found, dnn->engine, how, s->x, s->w, s->y, s->strides, dense,
            s->low, s->high, forward, attr);
    else
        status = dnnl_convolution_backward_weights_primitive_desc_create(
            &found, dnn->engine, how, s->x, s->dw, s->bias, s->y, s->strides,
            dense, s->low, s->high, forward, attr);
    if (status)
        return NULL;
    while (is_wrong(found))
        if (dnnl_primitive_desc_next_impl(found)) {
            num_dnn_ok(dnnl_primitive_desc_destroy(found));
            return NULL;
        }
    return found;
}

dnnl_primitive_desc_t
num_dnn_pool_find(const struct num_dnn *dnn, const struct dnn_pool *s,
                  const_dnnl_primitive_attr_t attr,
                  const_dnnl_primitive_desc_t forward)
{
    dnnl_primitive_desc_t found = NULL;
    dnnl_status_t status;

    if (forward)
        status = dnnl_pooling_backward_primitive_desc_create(
            &found, dnn->engine, dnnl_pooling_max, s->x, s->y, s->strides,
            s->window, dense, s->low, s->high, forward, attr);
    else
        status = dnnl_pooling_forward_primitive_desc_create(
            &found, dnn->engine, s->kind, dnnl_pooling_max, s->x, s->y,
            s->strides, s->window, dense, s->low, s->high, attr);
    return status ? NULL : found;
}

#endif
