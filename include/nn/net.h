#ifndef NN_NET_H
#define NN_NET_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * An encoder with its projection head: a batch in (struct nn_input), features
 * and embeddings out, gradients back.  Of images:
 *
 *     x = (u / 255 - mean) / deviation       per colour channel
 *     h = backbone(x)                        [n, features]  the pooled feature
 *     z = head(h)                            [n, dim]       not normalised
 *
 * The parameters are one block of f32 in torchvision's layouts (convolution
 * weights OIHW, linear weights [out,in]), each tensor named as torchvision's
 * state_dict names it; running statistics of the norms are a second block.
 * Everything the engine needs in other layouts or precisions is derived from
 * these blocks.  Results are the same bit for bit for the same block, input,
 * number of threads and kind of processor.
 *
 * resnet18, 34 and 50 are He, Zhang, Ren and Sun 2015, arXiv:1512.03385, as
 * torchvision has them; resnet8 and resnet20 the small ones of its section
 * 4.2, with 1x1 convolutions in the shortcuts.  mlp is h = W relu(W x + b) + b
 * (fc1, fc2), linear is h = W x + b (fc), of the image as a row.
 *
 * vit is the vision transformer of Dosovitskiy et al. 2020, arXiv:2010.11929,
 * as torchvision has it: W numbers a token, L layers, H heads, patches of P x P
 * pixels; h is the class token's row behind the last norm.
 *
 * Of texts: clip is the text tower of CLIP (Radford et al. 2021,
 * arXiv:2103.00020) under open_clip's names, whose h is the row of the last
 * token; bow the mean of the token vectors, normalised; distilbert that of Sanh
 * et al. 2019, arXiv:1910.01108, under Hugging Face's names, whose h is the row
 * of the first token.
 *
 * linear may read the image in a fixed basis: h = W (B x + c) + b.  B and c are
 * kept with the running statistics (basis.weight, basis.bias), zero until
 * nn_net_set_basis().  table reads ids in place of images: h is a row of free
 * numbers for each (image, view), whose id is image x views + view.
 *
 * A net is for one thread at a time; two nets are independent of each other.
 */
struct nn_spec {
    const char *arch; /* the encoder: one of nn_encoder_words(), with its sizes:
                         "resnet18", "clip:128x2" */
    const char *stem; /* imagenet (7x7 stride 2, max-pool) | small (3x3) */
    const char *norm; /* batch | group (of up to 32 groups) | none (then
                         convolutions have a bias); of the ResNets */
    const char *head; /* hidden and output widths, "512-128"; "none": z = h;
                         a trailing "-bn" puts batch norm behind the hidden
                         layers: "512-128-bn"; "project:N": z = W h of N
                         numbers, head.proj.weight of images and
                         text_projection (W') of texts */
    long width;       /* channels of the first stage; 0: the arch's own
                         (64, and 16 for resnet8 and resnet20) */
    long hidden;      /* mlp, linear, table: width of h, and of mlp's hidden
                         layer; 0: 512 */
    long basis;       /* linear: rows of B; 0: the pixels themselves.  rows:
                         numbers of a row */
    long samples, views;      /* table, rows: images, and rows of each */
    long vocabulary, context; /* of texts: ids, and tokens of a text at most */
    long quick_gelu; /* clip: x sigmoid(1.702 x), for OpenAI's weights */
    size_t height, image_width, channels; /* of the images: 8 .. 1024, 1 | 3 */
    float mean[3], deviation[3];          /* of pixels / 255 */
    int bf16;   /* activations and products of ResNets and transformers in
                   bfloat16; needs AVX-512, and of a ResNet a width in multiples
                   of 16 */
    int direct; /* no Winograd convolutions (--conv direct) */
};

/*
 * A batch: n samples of the kind that the network reads, in the members below
 * that belong to this kind; the others are not read.
 *
 *     NN_IMAGES  images
 *     NN_ROWS    rows
 *     NN_IDS     ids, one for each sample
 *     NN_TOKENS  ids and offsets: the tokens of sample i, one or more, are
 *                ids[offsets[i] .. offsets[i + 1]).  All are packed end to end:
 *                there is no padding, and none is computed
 */
enum nn_input_kind { NN_IMAGES, NN_ROWS, NN_IDS, NN_TOKENS };

struct nn_input {
    size_t n;
    const uint8_t *images; /* [n,height,image_width,channels] */
    const float *rows;     /* [n,width] */
    const int32_t *ids;    /* each from 0 to below nn_net_ids() */
    const size_t *offsets; /* [n + 1], ascending */
};

/* nn_input_slice() returns samples [from,to) of a batch as a batch, whose
 * arrays are those of the whole.
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
    int decays;           /* optimisers treat it as a matrix (nn/optim.h): its
                             rank is above 1, and it is neither the embedding of
                             a position nor a class token */
};

/*
 * nn_encoder_words() returns the names of all encoders of texts (texts = 1), or
 * of all others, as "resnet18|...|vit:WxLxP[xH]", for an option.
 * nn_encoder_reads() returns 1 where the encoder of an arch reads this kind;
 * nn_encoder_looks_up() 1 where it looks up, by ids, rows that are given and
 * not trained.  lib/nn/encoder.c has the table.
 */
const char *nn_encoder_words(int texts);
int nn_encoder_reads(const char *arch, enum nn_input_kind kind);
int nn_encoder_looks_up(const char *arch);

/* The arch of an encoder that a program of the user computes, with tensors of
 * its own; nn_net_new() does not know it. */
extern const char nn_arch_program[]; /* "program" */

struct nn_net;

/*
 * nn_net_new() builds the network for up to max_rows images at once.  With
 * train = 0 it keeps no activations and has no gradients: a fraction of the
 * memory, and only nn_net_infer() may be called.  Weights are zero until
 * nn_net_init() or a checkpoint fills them.  It is made for the number of
 * threads in force (num/threads.h), which must stay.  NULL when the spec makes
 * no sense, with the field and the values that it may have.
 *
 * Memory in training: 2 floats a parameter, and the activations that gradients
 * need: 230 MB for 64 images of 32x32 through resnet18 with the small stem,
 * half of that with bf16.
 */
struct nn_net *nn_net_new(const struct nn_spec *spec, size_t max_rows,
                          int train, struct err *err);

/*
 * nn_net_check() returns 0 when nn_net_new() would make such a network, else -1
 * and its error.  It takes no memory for the weights, and so is faster: by 5 ms
 * for 2 million weights, by 30 ms for resnet18.
 */
int nn_net_check(const struct nn_spec *spec, struct err *err);

/*
 * nn_net_gains_bf16() returns 1 where bfloat16 is known to make such an encoder
 * faster on this processor, 0 where the encoder has none, its width does not
 * allow it, or the processor has no instruction for its products.
 */
int nn_net_gains_bf16(const struct nn_spec *spec);
void nn_net_free(struct nn_net *net);

/*
 * nn_net_init() draws torchvision's initial weights: kaiming normal fan_out
 * for convolutions, U(+-1/sqrt(fan_in)) for linear layers, 1 and 0 for norms.
 * W and b behind a basis of k rows are normal, of variance 1 / (k + 1); a
 * table is standard normal.  Weights of transformers are as CLIP has them
 * (lib/nn/transformer.h): vectors of tokens and positions normal with deviation
 * 0.02, of positions in clip 0.01; the class token 0.
 */
void nn_net_init(struct nn_net *net, uint64_t seed);

size_t nn_net_features(const struct nn_net *net); /* width of h */
size_t nn_net_dim(const struct nn_net *net);      /* width of z */

/* nn_head_width() returns the width of z that a head gives (nn_spec.head); 0
 * for "none", where it is that of h, or where there is no such head. */
size_t nn_head_width(const char *head);

/* nn_net_tensors() returns the tensors, owned by the net, and their number in
 * *n. */
const struct nn_tensor *nn_net_tensors(const struct nn_net *net, size_t *n);

/* The blocks, owned by the net, and their floats in *count: write to params and
 * statistics freely between calls.  nn_net_running() returns the part of the
 * statistics that a step moves, without a basis or rows, which are given.
 * nn_net_grads() has the layout of params, and is NULL without train. */
float *nn_net_params(struct nn_net *net, size_t *count);
float *nn_net_statistics(struct nn_net *net, size_t *count);
float *nn_net_running(struct nn_net *net, size_t *count);
float *nn_net_grads(struct nn_net *net);

/*
 * nn_net_set_basis() sets the basis of an encoder that has one of k rows: W is
 * given the k numbers <rows[i], x - rows[k]>, i < k.
 *   rows  [k + 1, height image_width channels], pixels in the order of images
 */
void nn_net_set_basis(struct nn_net *net, const float *rows);

/* nn_net_kind() returns the kind of input that the network reads; nn_net_ids()
 * how many ids there are, 0 where it reads no ids; nn_net_context() how many
 * tokens a text may have, 0 where it reads no texts. */
enum nn_input_kind nn_net_kind(const struct nn_net *net);
size_t nn_net_ids(const struct nn_net *net);
size_t nn_net_context(const struct nn_net *net);

/*
 * nn_net_forward() runs the network in training mode, with a choice of the
 * statistics that batch norm uses:
 *
 *     NN_TRAIN   the n rows' own statistics, which move the running ones
 *                (momentum 0.1, unbiased variance)
 *     NN_ENCODE  the n rows' own statistics; the running ones stay
 *     NN_FIXED   the running statistics, which stay and have no gradient: the
 *                function that nn_net_infer() computes, so that chunks of rows
 *                do not depend on one another
 *
 * The next nn_net_backward() differentiates what this call computed.
 *   input  n <= max_rows; not needed any more once this returns
 *   h      [n,features] or NULL;  z [n,dim] or NULL
 */
enum nn_mode { NN_TRAIN, NN_ENCODE, NN_FIXED };
void nn_net_forward(struct nn_net *net, enum nn_mode mode,
                    const struct nn_input *input, float *h, float *z);

/*
 * The running statistics of a net can be moved by rows that another net of the
 * same spec has seen: nn_net_moves() returns the statistics of the rows that
 * went forward last, in NN_TRAIN or NN_ENCODE and not back yet, laid out as
 * nn_net_running(), lent until the next call; nn_net_move() moves the running
 * ones by them.  NN_TRAIN is NN_ENCODE and then both, bit for bit.
 */
const float *nn_net_moves(struct nn_net *net);
void nn_net_move(struct nn_net *net, const float *moves);

/*
 * nn_net_backward() takes dL/dz [n,dim] of the last nn_net_forward() back and
 * overwrites grads with dL/dparams; with add = 1 it adds to them.  It uses up
 * the activations, so it can be called once for each forward; nn_net_infer()
 * may be called in between.
 */
void nn_net_backward(struct nn_net *net, const float *dz, int add);

/*
 * nn_net_watch() sets a function that is called after each operator of a
 * backward pass: the gradients from index `from` of the block to its end are
 * final then.  NULL: none.
 */
void nn_net_watch(struct nn_net *net, void (*went)(void *self, size_t from),
                  void *self);

/*
 * A batch in parts that go through the network side by side, operator by
 * operator, where batch norm takes the statistics of all rows, also of parts in
 * other processes (synchronised batch norm).  Each part is computed as a batch
 * of its own would be; only the sums of a norm, in double, are over all parts:
 * by one binary tree over the parts here, then by add().  Bits depend on the
 * parts alone.
 */
struct nn_parts {
    size_t n;
    const struct nn_input *part; /* [n], of up to max_rows rows each */
    size_t rows;                 /* of the whole batch */

    /* Adds to x [n] the sums of the parts in other processes; each process with
     * parts calls it in the same order with the same n.  NULL: all are here. */
    void (*add)(void *self, double *x, size_t n);
    void *self;
};

/*
 * nn_net_forward_parts() is nn_net_forward() of all parts, in NN_TRAIN or
 * NN_ENCODE: the running statistics move once, by those of the batch.
 * nn_net_backward_parts() overwrites grads with the sum of the parts'
 * gradients, by the same tree; add() is called again.  The activations of each
 * part take memory, made when it comes, or before by nn_net_reserve() for so
 * many parts of max_rows rows.
 *   parts  read again by nn_net_backward_parts(), but for `part`
 *   z, dz  [rows of the parts here,dim]; z may be NULL
 */
void nn_net_forward_parts(struct nn_net *net, enum nn_mode mode,
                          const struct nn_parts *parts, float *z);
void nn_net_backward_parts(struct nn_net *net, const float *dz);
void nn_net_reserve(struct nn_net *net, size_t parts);

/* nn_net_infer() runs the network in evaluation mode: with the running
 * statistics, which stay.  z may be NULL (the head is then skipped), and h. */
void nn_net_infer(struct nn_net *net, const struct nn_input *input, float *h,
                  float *z);

/*
 * nn_net_memory() returns how many bytes the net holds for parameters,
 * gradients and the activations of max_rows rows.  Copies of the weights that
 * the engine makes, about as large as the weights, are not counted.
 */
size_t nn_net_memory(const struct nn_net *net);

/*
 * nn_net_onnx() returns the encoder, without its head, as an ONNX model, *n
 * bytes to be given to free() (nn/export.h); NULL with a sentence where an
 * operator has no form there.
 */
void *nn_net_onnx(const struct nn_net *net, size_t *n, struct err *err);

/* nn_net_algorithms() returns, as text to be given to free(), one line per
 * layer with its shape and the algorithm chosen for each pass: kept in
 * checkpoints, so that a resumed run can be refused where it would not be
 * bit-equal. */
char *nn_net_algorithms(const struct nn_net *net);

#endif
