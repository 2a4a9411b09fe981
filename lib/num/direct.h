#ifndef NUM_DIRECT_H
#define NUM_DIRECT_H

#include "dnn_op.h"

/*
 * Convolutions by oneDNN, any shape: direct sums, or its own Winograd where
 * spec.how wants that.
 *
 * The threads of its gradient of the weights wait for each other in loops that
 * never sleep, in bfloat16 with stride 2 thousands of times a call: beside one
 * other busy process it took 300 times as long, and all of the processors.  So
 * each thread has images of its own, as many as the others, through a primitive
 * for one thread, and their gradients are added in order.  Where weights are
 * many or no number of parts divides the images, threads share them after all.
 */
struct direct_part {
    struct num_dnn *dnn;
    struct dnn_op op;
};

struct num_direct {
    struct num_conv_spec spec;
    const struct num_dnn *dnn;
    struct dnn_op pass[2]; /* forward, back_data */
    struct dnn_op to[2];   /* weights out of OIHW: forward, back_data */
    struct dnn_op from[2]; /* gradient into OIHW: overwritten, added to */
    size_t weights;        /* bytes for weights in any layout */
    size_t parts;
    struct direct_part *part; /* [parts]: back_weights */
};

/* num_direct_init() begins with no pass, num_direct_make() adds one: -1 where
 * oneDNN has none.  num_direct_release() frees all. */
void num_direct_init(struct num_direct *direct, const struct num_dnn *dnn,
                     const struct num_conv_spec *spec);
int num_direct_make(struct num_direct *direct, enum num_conv_pass pass);
void num_direct_release(struct num_direct *direct);

/* oneDNN's name of what does a pass, or "-" without it. */
const char *num_direct_name(const struct num_direct *direct,
                            enum num_conv_pass pass);

/* Bytes of scratch, 64-aligned, that a pass wants. */
size_t num_direct_scratch(const struct num_direct *direct,
                          enum num_conv_pass pass);

/* As num_conv_forward() and its like. */
void num_direct_forward(const struct num_direct *direct, const void *x,
                        const float *w, const float *b, void *y, void *scratch);
void num_direct_back_data(const struct num_direct *direct, const void *dy,
                          const float *w, void *dx, void *scratch);
void num_direct_back_weights(const struct num_direct *direct, const void *x,
                             const void *dy, float *dw, float *db,
                             int accumulate, void *scratch);

#endif
