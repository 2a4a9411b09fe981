#ifndef FOIL_EMBED_PROJECTOR_H
#define FOIL_EMBED_PROJECTOR_H

#include "data/features.h"
#include "data/set.h"

/*
 * embed_projector() writes features for the projector of TensorBoard, which
 * shows them as points, or ends the tool with a sentence: in a folder, made
 * where it is not there, tensors.tsv, a row a line; metadata.tsv, of each its
 * id, class and file; and projector_config.pbtxt, which names both.
 */
void embed_projector(const char *folder, const struct data_features *features,
                     const struct data_set *set);

#endif
