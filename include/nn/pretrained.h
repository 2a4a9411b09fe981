#pragma once

#include "nn/net.h"
#include "util/err.h"

/*
 * Weights trained by another program, from a safetensors file
 * (nn/safetensors.h) with their published names:
 *
 *     resnet18, 34, 50   torchvision's state_dict, or foil's model.safetensors
 *     vit                the same; also torchvision's older mlp.linear_1, ...
 *     clip               open_clip's, the text tower's with or without "text."
 *     distilbert         Hugging Face's, with or without "distilbert."
 *
 * Names are strict: a tensor that is missing, unknown, or of another shape is
 * refused by name.  Three differences are allowed:
 *
 *     - the file has no projection head: that of the net does not change
 *       (head.*; text_projection of distilbert)
 *     - the file has tensors outside the encoder, which are skipped:
 *       classifiers fc.* and heads.*, batch counts; for texts visual.*,
 *       logit_scale, logit_bias and vocab_*
 *     - the file has vectors for more positions than the context: the first are
 *       loaded; fewer are refused
 *
 * Numbers may be F32, F64, F16 or BF16 and become f32; all must be finite.
 */

/*
 * nn_pretrained_load() fills the net's blocks; on error they are undefined.
 *   skipped  out: the names of skipped tensors, as "fc. (2), logit_scale (1)",
 *            or "", which the caller frees; may be NULL
 */
int nn_pretrained_load(const char *path, struct nn_net *net, char **skipped,
                       struct err *err);
