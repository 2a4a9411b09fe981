#pragma once

#include <dnnl.h>
#include <stddef.h>

#include "num/conv.h"
#include "num/dnn.h"
#include "num/map.h"
#include "num/pool.h"
#include "util/err.h"

/* Primitives of oneDNN for the files of this room.  The differences between
 * versions 2 and 3 are in dnn_v2.c and dnn_v3.c; only one of them is
 * compiled. */

struct num_dnn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

/* num_dnn_ok() aborts unless oneDNN returned success. */
static inline void
num_dnn_ok(dnnl_status_t status)
{
    REQUIRE(status == dnnl_success);
}

/*
 * dnn_md describes a tensor.  It is a value in version 2 and a pointer in 3;
 * here it is a pointer, freed by num_dnn_md_free(), or NULL.  num_dnn_md_new()
 * describes a tensor by extents, type and layout, num_dnn_md_of() one of a
 * primitive, num_dnn_map() a map.
 */
#if DNNL_VERSION_MAJOR < 3
typedef const dnnl_memory_desc_t *dnn_md;
#else
typedef const_dnnl_memory_desc_t dnn_md;
#endif
dnn_md num_dnn_md_new(int rank, const dnnl_dims_t dims, dnnl_data_type_t type,
                      dnnl_format_tag_t tag);
dnn_md num_dnn_md_of(const_dnnl_primitive_desc_t desc, dnnl_query_t which);
void num_dnn_md_free(dnn_md md);
dnn_md num_dnn_map(const struct num_map *map);

/* num_dnn_attr() returns attributes with which the caller allocates the
 * scratchpad; with `add` the result is added to the output, with `relu` it is
 * then clipped at 0. */
dnnl_primitive_attr_t num_dnn_attr(int add, int relu);
void num_dnn_post_add(dnnl_post_ops_t post);
void num_dnn_post_relu(dnnl_post_ops_t post);

/* The tensors of a convolution, and its strides and padding. */
struct dnn_conv {
    dnn_md x, y, bias; /* bias: or NULL */
    dnn_md w, dw;      /* weights and gradient in oneDNN's layout */
    dnn_md plain;      /* both as plain f32 OIHW */
    dnnl_dims_t strides, low, high;
    dnnl_prop_kind_t kind; /* of the forward pass */
};

/* The tensors of a maximum over windows. */
struct dnn_pool {
    dnn_md x, y;
    dnnl_dims_t window, strides, low, high;
    dnnl_prop_kind_t kind; /* of the forward pass */
};

/* These find an implementation, or return NULL if there is none.  A backward
 * pass needs the description of the forward pass. */
dnnl_primitive_desc_t num_dnn_conv_find(const struct num_dnn *dnn,
                                        const struct dnn_conv *conv,
                                        enum num_conv_pass pass,
                                        dnnl_alg_kind_t how,
                                        const_dnnl_primitive_attr_t attr,
                                        const_dnnl_primitive_desc_t forward);
dnnl_primitive_desc_t num_dnn_pool_find(const struct num_dnn *dnn,
                                        const struct dnn_pool *pool,
                                        const_dnnl_primitive_attr_t attr,
                                        const_dnnl_primitive_desc_t forward);

enum { DNN_ARGS = 6 };

/* A primitive with its arguments.  A zeroed struct has no primitive:
 * num_dnn_op_release() does nothing, and `room` is 0. */
struct dnn_op {
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t arg[DNN_ARGS];
    dnnl_memory_t scratchpad;
    size_t room; /* bytes of scratch */
    char *name;  /* of oneDNN's implementation */
};

/* num_dnn_op_init() makes the primitive from its description, and destroys the
 * description.  Then num_dnn_op_arg() adds each argument, in the order of the
 * data of num_dnn_op_run(). */
void num_dnn_op_init(struct dnn_op *op, const struct num_dnn *dnn,
                     dnnl_primitive_desc_t desc);
void num_dnn_op_arg(struct dnn_op *op, const struct num_dnn *dnn, int which,
                    dnn_md desc);
void num_dnn_op_run(const struct dnn_op *op, const struct num_dnn *dnn,
                    void *const *data, void *scratch);
void num_dnn_op_release(struct dnn_op *op);

/* num_dnn_op_reorder() makes a conversion of layout: to = from, or with `add`
 * to += from. */
void num_dnn_op_reorder(struct dnn_op *op, const struct num_dnn *dnn,
                        dnn_md from, dnn_md to, int add);
