#pragma once

#include <stddef.h>

#include "nn/net.h"
#include "nn/optim.h"
#include "util/err.h"
#include "util/json.h"

/*
 * An encoder on disk, inside the folder of a checkpoint (nn/checkpoint.h):
 *
 *     model.safetensors   the backbone, named and shaped as torchvision's
 *                         state_dict, including num_batches_tracked, so that
 *                         torchvision loads it with strict names
 *     head.safetensors    the projection head; absent with head "none"
 *     optim.safetensors   the optimiser's moments, per tensor
 *     text.safetensors    a text encoder with its projection, named and shaped
 *                         as open_clip's or Hugging Face's
 *     text-optim.safetensors   its moments
 *     config.json         among other things, "encoder": the struct nn_spec,
 *                         and "text": that of the text encoder, if there is one
 *
 * Reading is strict: it refuses a tensor that is missing, unknown, or of
 * another dtype or shape, by name.
 */

/* The weights of an encoder of this library or of another program. */
struct nn_weights {
    const struct nn_tensor *tensor; /* [n] */
    size_t n;
    float *params, *statistics; /* tensor offsets count from here */
    int texts;                  /* 1: of a text encoder */
};

/* nn_net_weights() returns the weights of a net, owned by the net. */
struct nn_weights nn_net_weights(struct nn_net *net);

/* nn_weights_save() writes model.safetensors and head.safetensors, or
 * text.safetensors, into a folder; `steps` is num_batches_tracked. */
int nn_weights_save(const char *folder, const struct nn_weights *blocks,
                    long steps, struct err *err);

/* nn_weights_load() fills the blocks from those files; on error they are
 * undefined. */
int nn_weights_load(const char *folder, const struct nn_weights *blocks,
                    struct err *err);

/* The same for the state of a net's optimiser. */
int nn_optim_save(const char *folder, const struct nn_net *net,
                  struct nn_optim *optim, struct err *err);
int nn_optim_load(const char *folder, const struct nn_net *net,
                  struct nn_optim *optim, struct err *err);

/* nn_spec_put() returns a spec as a new JSON object; nn_spec_get() reads one,
 * and the spec's strings are valid as long as that object. */
json_t *nn_spec_put(const struct nn_spec *spec);
int nn_spec_get(struct nn_spec *spec, const json_t *object, struct err *err);

/* An encoder opened from a checkpoint. */
struct nn_model {
    struct nn_net *net;
    struct nn_spec spec; /* its strings are in config */
    int widened;    /* 1: it was trained in bfloat16, which this processor does
                       not support, so the net is in f32 */
    json_t *config; /* all of config.json */
    json_t *about;  /* identifies the encoder: the spec as trained, folder and
                       digest of the checkpoint's manifest */
    char *folder;   /* of the checkpoint; `about` has it only if it is UTF-8 */
};

/*
 * nn_model_read() verifies a checkpoint's digests and sets all members but the
 * net, then nn_model_build() makes that; in between the spec may be changed
 * (the image size, say).  Free it with nn_model_release(); after an error there
 * is nothing to free.
 *   path      a checkpoint, or a run directory for its newest one
 *   texts     1: the text encoder; -1 if the checkpoint has none
 *   max_rows  images or texts that the net encodes at once, at most
 *   train     1: with gradients (nn_net_new())
 *   average   1: with the mean of its weights, nn_average_use()
 */
int nn_model_read(struct nn_model *model, const char *path, int texts,
                  struct err *err);
int nn_model_build(struct nn_model *model, size_t max_rows, int train,
                   int average, struct err *err);

/* nn_model_fits() returns 0 if an encoder can read the first `views` views of a
 * data set of `samples` samples, else -1: a table (NN_IDS) has rows for one
 * data set only. */
int nn_model_fits(const struct nn_model *model, size_t samples, size_t views,
                  struct err *err);
void nn_model_release(struct nn_model *model);
