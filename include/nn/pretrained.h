#ifndef NN_PRETRAINED_H
#define NN_PRETRAINED_H

#include "nn/net.h"
#include "util/err.h"

/*
 * Weights that another program trained, out of a safetensors file
 * (nn/safetensors.h) under their published names:
 *
 *     resnet18, 34, 50   torchvision's state_dict, or foil's model.safetensors
 *     vit                the same; also torchvision's older mlp.linear_1, ...
 *     clip               open_clip's, the text tower's with or without "text."
 *     distilbert         Hugging Face's, with or without "distilbert."
 *
 * Names are strict: a tensor that is missing, one too many, or one of another
 * shape is refused by name.  Three things are no fault:
 *
 *     - a file without the projection head, which stays as it is (head.*; the
 *       text_projection of distilbert)
 *     - tensors of the other program behind or beside the encoder, which are
 *       left out: classifiers fc.* and heads.*, counts of batches; of texts
 *       visual.*, logit_scale, logit_bias and vocab_*
 *     - vectors of more positions than a text may have tokens: the first are
 *       taken, and fewer are refused
 *
 * Numbers are F32, or F64, F16 or BF16, which become f32; all must be finite.
 */

/*
 * nn_pretrained_load() fills the net's blocks; on error they are undefined.
 *   left  out: the names left out, as "fc. (2), logit_scale (1)", or "", to be
 *         given to free(); NULL: not wanted
 */
int nn_pretrained_load(const char *path, struct nn_net *net, char **left,
                       struct err *err);

#endif
