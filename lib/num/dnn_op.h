#ifndef NUM_DNN_OP_H
#define NUM_DNN_OP_H

#include <dnnl.h>
#include <stddef.h>

#include "num/dnn.h"
#include "num/map.h"

struct num_dnn {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
};

/* dnn_ok() is REQUIRE for oneDNN: what was described well must work. */
void dnn_ok(dnnl_status_t status);

/* dnn_map() describes a map; dnn_size() says how many bytes a tensor has. */
dnnl_memory_desc_t dnn_map(const struct num_map *map);
size_t dnn_size(const dnnl_memory_desc_t *desc);

enum { DNN_ARGS = 6 };

/*
 * A primitive with the places of its arguments.  Zeroed it is none: then
 * dnn_op_release() does nothing and `room` is 0.
 */
struct dnn_op {
    dnnl_primitive_t primitive;
    int count;
    dnnl_exec_arg_t arg[DNN_ARGS];
    dnnl_memory_t scratchpad;
    size_t room;      /* bytes of scratch it wants */
    const char *name; /* of oneDNN's implementation, static */
};

/* dnn_attr() returns attributes that leave the scratchpad to the caller. */
dnnl_primitive_attr_t dnn_attr(void);

/*
 * dnn_op_init() makes the primitive out of its description, and destroys the
 * description.  Then each argument is announced once, in the order in which
 * dnn_op_run() will be given the data.
 */
void dnn_op_init(struct dnn_op *op, const struct num_dnn *dnn,
                 dnnl_primitive_desc_t desc);
void dnn_op_arg(struct dnn_op *op, const struct num_dnn *dnn, int which,
                const dnnl_memory_desc_t *desc);
void dnn_op_run(const struct dnn_op *op, const struct num_dnn *dnn,
                void *const *data, void *scratch);
void dnn_op_release(struct dnn_op *op);

/* dnn_op_reorder() makes a change of layout: to = from, or to += from. */
void dnn_op_reorder(struct dnn_op *op, const struct num_dnn *dnn,
                    const dnnl_memory_desc_t *from,
                    const dnnl_memory_desc_t *to, int add);

#endif
