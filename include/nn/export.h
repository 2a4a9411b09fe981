#pragma once

#include "nn/model.h"

/*
 * Encoders for other programs, one file each, without the projection head; a
 * text encoder includes its projection if the other program's does.
 *
 * Both files describe how to prepare an image: resize the short side to the
 * size (bilinear, antialiased), crop the centre; then turn its 8-bit RGB u
 * [height,width,3] into planes x = (u / 255 - mean) / deviation,
 * [3,height,width].
 */

/*
 * nn_export_safetensors() writes the backbone's tensors, named and shaped as
 * torchvision's, with strings as metadata: arch, stem, norm, width, height,
 * image_width, channels, mean, deviation, features (width of h), resize,
 * foil (the version that wrote it) and checkpoint (digest of its manifest).
 * Tensors of a text encoder are named and shaped as those of open_clip's text
 * tower, including text_projection, or of Hugging Face's DistilBertModel;
 * vocabulary (number of ids), context and tokens describe its input.
 * foil-train --init reads the file.  All or nothing.
 */
int nn_export_safetensors(const char *path, const struct nn_model *model,
                          struct err *err);

/*
 * nn_export_onnx() writes an ONNX model, opset 17, with input "image", f32
 * [N,3,height,width], planes of u / 255, and output "features", f32
 * [N,features]; mean and deviation are in the graph.  Returns -1 for an encoder
 * with an operator that this code cannot export.  All or nothing.
 */
int nn_export_onnx(const char *path, const struct nn_model *model,
                   struct err *err);
