#ifndef NN_EXPORT_H
#define NN_EXPORT_H

#include "nn/model.h"

/*
 * Encoders for other programs, one file each, without the projection head; an
 * encoder of texts has its projection where those programs have it, too.
 *
 * Both files say how to prepare an image: the short side resized to the size
 * (bilinear, antialiased), the centre cropped; then, of its 8-bit RGB u
 * [height,width,3], x = (u / 255 - mean) / deviation as planes
 * [3,height,width].
 */

/*
 * nn_export_safetensors() writes the backbone's tensors, named and shaped as
 * torchvision's, with texts as metadata: arch, stem, norm, width, height,
 * image_width, channels, mean, deviation, features (width of h), resize,
 * foil (the version that wrote it) and checkpoint (digest of the manifest it
 * comes from).  Of texts, tensors are named and shaped as those of open_clip's
 * text tower, text_projection included, or of Hugging Face's DistilBertModel;
 * vocabulary (how many ids), context and tokens describe the texts that it
 * reads.  foil-train --init reads the file.  All or nothing.
 */
int nn_export_safetensors(const char *path, const struct nn_model *model,
                          struct err *err);

/*
 * nn_export_onnx() writes an ONNX model, opset 17, of input "image", f32
 * [N,3,height,width], planes of u / 255, and output "features", f32
 * [N,features]; mean and deviation are in the graph.  Refused: an encoder with
 * an operator that has no form in ONNX here.  All or nothing.
 */
int nn_export_onnx(const char *path, const struct nn_model *model,
                   struct err *err);

#endif
