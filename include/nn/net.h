#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * An encoder with its projection head: a batch in (struct nn_input), features
 * and embeddings out, gradients back.  For images:
 *
 *     x = (u / 255 - mean) / deviation       per colour channel
 *     h = backbone(x)                        [n, features]  the pooled feature
 *     z = head(h)                            [n, dim]       not normalised
 *
 * The parameters are one block of f32 in torchvision's layouts (convolution
 * weights OIHW, linear weights [out,in]); tensors have the names of
 * torchvision's state_dict.  Running statistics of the norms are a second
 * block.  The engine derives other layouts and precisions from these blocks.
 * Results are the same bit for bit for the same block, input, number of threads
 * and kind of processor.
 *
 * resnet18, 34 and 50 are those of torchvision (He, Zhang, Ren and Sun 2015,
 * arXiv:1512.03385); resnet8 and resnet20 the small ones of its section 4.2,
 * with 1x1 convolutions in the shortcuts.  mlp is h = W relu(W x + b) + b (fc1,
 * fc2), linear is h = W x + b (fc), with the image as a row.
 *
 * vit is torchvision's vision transformer (Dosovitskiy et al. 2020,
 * arXiv:2010.11929): W numbers for each token, L layers, H heads, patches of
 * P x P pixels; h is the class token's row after the last norm.
 *
 * frozen is a head on rows x of numbers, the features of a frozen encoder: h =
 * P x + f(x), with f of L layers, GELU and layer norm between them (none with
 * the norm "none"), W numbers each.  P is the identity if x has W numbers, else
 * a layer without bias; the last layer of f is zero at first, so that h begins
 * as x, or as a random projection of it.
 *
 * For texts: clip is the text tower of CLIP (Radford et al. 2021,
 * arXiv:2103.00020) with open_clip's names; h is the row of the last token.
 * bow is the mean of the token vectors, normalised.  distilbert is that of Sanh
 * et al. 2019, arXiv:1910.01108, with Hugging Face's names; h is the row of the
 * first token.
 *
 * linear may read the image in a fixed basis: h = W (B x + c) + b.  B and c
 * are in the block of running statistics (basis.weight, basis.bias), zero until
 * nn_net_set_basis().  A ResNet may have fixed filters in its first layer,
 * conv1.weight, each direction of a basis and its negative, then a norm.
 * table reads ids instead of images: h is a row of free
 * parameters for each (image, view), with id = image x views + view.
 *
 * One thread at a time may use a net; two nets are independent.
 */
struct nn_spec {
    const char *arch; /* the encoder: one of nn_encoder_names(), with its sizes:
                         "resnet18", "clip:128x2" */
    const char *stem; /* imagenet (7x7 stride 2, max-pool) | small (3x3) */
    const char *norm; /* of ResNets: batch | group (of up to 32 groups) | none
                         (then convolutions have a bias) */
    const char *head; /* hidden and output widths, "512-128"; "none": z = h;
                         a trailing "-bn" adds batch norm after the hidden
                         layers: "512-128-bn"; "project:N": z = W h of N
                         numbers, head.proj.weight for images and
                         text_projection (W') for texts */
    long width;       /* channels of the first stage; 0: the arch's own
                         (64, and 16 for resnet8 and resnet20) */
    long hidden;      /* mlp, linear, table: width of h, and of mlp's hidden
                         layer; 0: 512 */
    long basis;       /* linear: rows of B; 0: the pixels themselves.  ResNets:
                         half of the fixed filters; 0: none is fixed.  rows:
                         numbers of a row */
    long samples, views;      /* table, rows: images, and rows of each */
    long vocabulary, context; /* texts: number of ids; maximum tokens */
    long second;     /* 1: of two encoders of rows the second, for texts */
    long quick_gelu; /* clip: x sigmoid(1.702 x), for OpenAI's weights */
    size_t height, image_width, channels; /* of the images: 8 .. 1024, 1 | 3; of
                                             rows 1, numbers, 4 */
    long feature_size;           /* of the images that features are made of;
                                    0: height and image_width */
    float mean[3], deviation[3]; /* of pixels / 255 */
    int bf16;   /* activations and products of ResNets and transformers in
                   bfloat16; needs AVX-512, and for a ResNet a width in
                   multiples of 16 */
    int direct; /* no Winograd convolutions (--conv direct) */
};

/*
 * A batch: n samples.  A network reads only the members of its kind:
 *
 *     NN_IMAGES  images
 *     NN_ROWS    rows
 *     NN_IDS     ids, one for each sample
 *     NN_TOKENS  ids and offsets: the tokens of sample i, one or more, are
 *                ids[offsets[i] .. offsets[i + 1]), packed without padding
 */
enum nn_input_kind { NN_IMAGES, NN_ROWS, NN_IDS, NN_TOKENS };

struct nn_input {
    size_t n;
    const uint8_t *images; /* [n,height,image_width,channels]; rows: bytes of
                              f4, with any alignment */
    const float *rows;     /* [n,width] */
    const int32_t *ids;    /* each in 0 .. nn_net_ids() - 1 */
    const size_t *offsets; /* [n + 1], ascending */
};

/* nn_input_slice() returns samples [from,to) of a batch; the slice points into
 * the arrays of the batch.
 *   width  numbers of an image or a row; not read for ids and tokens */
struct nn_input nn_input_slice(const struct nn_input *input,
                               enum nn_input_kind kind, size_t width,
                               size_t from, size_t to);

/* The tensors of the blocks, in the order of torchvision's state_dict. */
struct nn_tensor {
    const char *name; /* "layer1.0.conv1.weight", "head.0.bias", ... */
    size_t rank, shape[4];
    size_t offset, count; /* in floats, in its block */
    int statistic;        /* in the block of running statistics, no gradient */
    int decays;           /* 1: optimisers apply weight decay (nn/optim.h): its
                             rank is above 1, and it is neither a position
                             embedding nor a class token */
};

/*
 * nn_encoder_names() returns the names of all text encoders (texts = 1), or of
 * all others, as "resnet18|...|vit:WxLxP[xH]", for an option.
 * nn_encoder_reads() returns 1 if the encoder of an arch reads this kind;
 * nn_encoder_looks_up() returns 1 if it looks up fixed rows by id.
 * nn_encoder_of_rows() returns 1 if it reads rows of numbers, of frozen
 * encoders.  nn_encoder_any_size() returns 1 if its weights fit images of any
 * size. lib/nn/encoder.c has the table.
 */
const char *nn_encoder_names(int texts);
int nn_encoder_reads(const char *arch, enum nn_input_kind kind);
int nn_encoder_looks_up(const char *arch);
int nn_encoder_of_rows(const char *arch);
int nn_encoder_any_size(const char *arch);

/* The arch of an encoder that the user's own program computes, with its own
 * tensors; nn_net_new() refuses it. */
extern const char nn_arch_program[]; /* "program" */

struct nn_net;

/*
 * nn_net_new() builds the network for up to max_rows images at once.  With
 * train = 0 it stores no activations and no gradients: it needs a fraction of
 * the memory, and only nn_net_infer() may be called.  Weights are zero until
 * nn_net_init() or a checkpoint fills them.  The number of threads
 * (num/threads.h) must not change afterwards.  Returns NULL for an invalid
 * spec; err has the field and its valid values.
 *
 * Memory in training: 2 floats for each parameter, and the activations that
 * gradients need: 230 MB for 64 images of 32x32 through resnet18 with the small
 * stem, half of that with bf16.
 */
struct nn_net *nn_net_new(const struct nn_spec *spec, size_t max_rows,
                          int train, struct err *err);

/* nn_net_check() returns 0 if nn_net_new() would make such a network, else -1
 * and its error.  It allocates no weights and so is faster: by 5 ms for 2
 * million weights, by 30 ms for resnet18. */
int nn_net_check(const struct nn_spec *spec, struct err *err);

/* nn_net_bf16_faster() returns 1 if bfloat16 makes such an encoder faster on
 * this processor; 0 if the encoder or its width does not support it, or the
 * processor has no instruction for its products. */
int nn_net_bf16_faster(const struct nn_spec *spec);
void nn_net_free(struct nn_net *net);

/*
 * nn_net_init() draws torchvision's initial weights: kaiming normal fan_out
 * for convolutions, U(+-1/sqrt(fan_in)) for linear layers, 1 and 0 for norms.
 * W and b after a basis of k rows are normal with variance 1 / (k + 1); a table
 * is standard normal.  Weights of transformers are those of CLIP
 * (lib/nn/transformer.c): vectors of tokens and positions are normal with
 * deviation 0.02, positions in clip with 0.01; the class token is 0.
 */
void nn_net_init(struct nn_net *net, uint64_t seed);

size_t nn_net_features(const struct nn_net *net); /* width of h */
size_t nn_net_dim(const struct nn_net *net);      /* width of z */

/* nn_head_width() returns the width of z of a head (nn_spec.head); 0 for "none"
 * (z is as wide as h) and for an invalid head. */
size_t nn_head_width(const char *head);

/* nn_net_tensors() returns the tensors, owned by the net, and their number in
 * *n. */
const struct nn_tensor *nn_net_tensors(const struct nn_net *net, size_t *n);

/* The blocks, owned by the net; *count is their number of floats.  The caller
 * may write to params and statistics between calls.  nn_net_running() returns
 * the running statistics, that is, the statistics without a fixed basis or
 * rows.  nn_net_grads() has the layout of params; NULL without train. */
float *nn_net_params(struct nn_net *net, size_t *count);
float *nn_net_statistics(struct nn_net *net, size_t *count);
float *nn_net_running(struct nn_net *net, size_t *count);
float *nn_net_grads(struct nn_net *net);

/*
 * nn_net_set_basis() sets the basis, of k rows, of an encoder that has one: the
 * input of W is the k numbers <rows[i], x - rows[k]>, i < k.
 *   rows  [k + 1, height image_width channels], pixels in the order of images
 * Of a ResNet filter i of the first layer is rows[i], filter k + i -rows[i],
 * i < k = width / 2:
 *   rows  [k + 1, kernel kernel channels]; the last is not used
 */
void nn_net_set_basis(struct nn_net *net, const float *rows);

/* nn_net_kind() returns the kind of input that the network reads; nn_net_ids()
 * the number of ids, 0 if it reads no ids; nn_net_context() the maximum number
 * of tokens of a text, 0 if it reads no texts.  nn_net_texts() returns 1 for an
 * encoder of texts, by tokens or as the second one of rows. */
enum nn_input_kind nn_net_kind(const struct nn_net *net);
int nn_net_texts(const struct nn_net *net);
size_t nn_net_ids(const struct nn_net *net);
size_t nn_net_context(const struct nn_net *net);

/*
 * nn_net_forward() runs the network in training mode.  The mode selects the
 * statistics that batch norm uses:
 *
 *     NN_TRAIN   those of the n rows; also updates the running statistics
 *                (momentum 0.1, unbiased variance)
 *     NN_ENCODE  those of the n rows
 *     NN_FIXED   the running statistics, without a gradient: the same function
 *                as nn_net_infer(), in which rows do not depend on one another
 *
 * The next nn_net_backward() differentiates this call.
 *   input  n <= max_rows; not needed after the call
 *   h      [n,features] or NULL;  z [n,dim] or NULL
 */
enum nn_mode { NN_TRAIN, NN_ENCODE, NN_FIXED };
void nn_net_forward(struct nn_net *net, enum nn_mode mode,
                    const struct nn_input *input, float *h, float *z);

/*
 * nn_net_batch_statistics() returns the statistics of the rows of the last
 * forward pass, in NN_TRAIN or NN_ENCODE and before its backward pass, laid out
 * as nn_net_running(); valid until the next call.  nn_net_update_running()
 * updates the running statistics by them, also those of another net of the same
 * spec. NN_TRAIN is NN_ENCODE followed by both, bit for bit.
 */
const float *nn_net_batch_statistics(struct nn_net *net);
void nn_net_update_running(struct nn_net *net, const float *moves);

/*
 * nn_net_backward() computes dL/dparams from dL/dz [n,dim] for the last
 * nn_net_forward() and overwrites grads; with add = 1 it adds to them.  It
 * destroys the activations: one call for each forward pass.  nn_net_infer() may
 * be called in between.
 */
void nn_net_backward(struct nn_net *net, const float *dz, int add);

/* nn_net_watch() sets a callback for backward passes, called after each
 * operator: the gradients from index `from` of the block to its end are final.
 * NULL: none. */
void nn_net_watch(struct nn_net *net, void (*done)(void *self, size_t from),
                  void *self);

/*
 * A batch in parts that go through the network together, operator by operator,
 * with synchronised batch norm: its statistics are over all rows, also of parts
 * in other processes.  Each part is computed like a separate batch; only the
 * sums of a norm, in double, are over all parts: by one binary tree over the
 * parts of this process, then by add().  Bits depend only on the parts.
 */
struct nn_parts {
    size_t n;
    const struct nn_input *part; /* [n], of up to max_rows rows each */
    size_t rows;                 /* of the whole batch */

    /* Adds the sums of the parts in other processes to x [n]; all processes
     * call it in the same order with the same n.  NULL: no other processes. */
    void (*add)(void *self, double *x, size_t n);
    void *self;
};

/*
 * nn_net_forward_parts() is nn_net_forward() for all parts, in NN_TRAIN or
 * NN_ENCODE: the running statistics are updated once, by those of the batch.
 * nn_net_backward_parts() overwrites grads with the sum of the parts'
 * gradients, by the same tree, and also calls add().  Each part needs memory
 * for its activations: the first use allocates it, or nn_net_reserve() for
 * `parts` parts of max_rows rows.
 *   parts  nn_net_backward_parts() reads all of it again except `part`
 *   z, dz  [rows of the parts of this process,dim]; z may be NULL
 */
void nn_net_forward_parts(struct nn_net *net, enum nn_mode mode,
                          const struct nn_parts *parts, float *z);
void nn_net_backward_parts(struct nn_net *net, const float *dz);
void nn_net_reserve(struct nn_net *net, size_t parts);

/* nn_net_infer() runs the network in evaluation mode, with the running
 * statistics.  h and z may be NULL; without z the head is skipped. */
void nn_net_infer(struct nn_net *net, const struct nn_input *input, float *h,
                  float *z);

/* nn_net_memory() returns the bytes for parameters, gradients and the
 * activations of max_rows rows.  It does not count the engine's copies of the
 * weights, about as large as the weights. */
size_t nn_net_memory(const struct nn_net *net);

/* nn_net_onnx() returns the encoder, without its head, as an ONNX model of *n
 * bytes, which the caller frees (nn/export.h); NULL with an error if an
 * operator cannot be exported. */
void *nn_net_onnx(const struct nn_net *net, size_t *n, struct err *err);

/* nn_net_algorithms() returns one line per layer with its shape and the
 * algorithm chosen for each pass; the caller frees the text.  Checkpoints
 * store it, so that a run that would not be bit-equal is not resumed. */
char *nn_net_algorithms(const struct nn_net *net);
