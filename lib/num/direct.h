#pragma once

#include "dnn_op.h"

/*
 * Convolutions by oneDNN, any shape: direct sums, or its Winograd if spec.how
 * selects that.
 *
 * The threads of its weight gradient busy-wait for each other, in bfloat16 with
 * stride 2 thousands of times in a call: with one other busy process it took
 * 300 times as long, and all of the processors.  So each thread processes an
 * equal part of the images with a primitive for one thread, and the gradients
 * of the parts are added in order.  If there are many weights, or no number of
 * parts divides the images, the threads share a primitive after all.
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

/* num_direct_init() starts without a pass; num_direct_make() prepares one, -1
 * if oneDNN has none.  num_direct_release() frees all. */
void num_direct_init(struct num_direct *direct, const struct num_dnn *dnn,
                     const struct num_conv_spec *spec);
int num_direct_make(struct num_direct *direct, enum num_conv_pass pass);
void num_direct_release(struct num_direct *direct);

/* oneDNN's name of the implementation of a pass; "-" if it is not prepared. */
const char *num_direct_name(const struct num_direct *direct,
                            enum num_conv_pass pass);

/* Bytes of scratch, 64-aligned, of a pass. */
size_t num_direct_scratch(const struct num_direct *direct,
                          enum num_conv_pass pass);

/* num_direct_run() runs a pass, as num_conv_run() does. */
void num_direct_run(const struct num_direct *direct, enum num_conv_pass pass,
                    const struct num_conv_args *args);
