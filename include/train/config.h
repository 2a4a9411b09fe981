#ifndef TRAIN_CONFIG_H
#define TRAIN_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "nn/net.h"
#include "train/state.h"
#include "util/err.h"
#include "util/json.h"

/*
 * config.json of a checkpoint (nn/checkpoint.h reads it): what is known about a
 * run before its arrays are loaded.
 *
 *     format, version, foil   "foil-config", 1, the version of foil
 *     options    the options of the run (run/settings.h)
 *     encoder    the spec of the net (nn/model.h)
 *     text       the spec of the text encoder, if there is one
 *     dataset    digest and size; with texts also the largest number of
 *                captions of a sample
 *     batch      images and extra: their largest numbers
 *     engine     processor and table: the bits of the result depend on them
 *     state      progress of the run (train/state.h)
 */

/* Limits of a config. */
#define TRAIN_SIZE_MAX ((int64_t)1 << 48) /* samples of a data set */
enum { TRAIN_CAPTIONS_MAX = 64 };         /* captions of a sample */

/* The shape of batches, taken from the first batch and saved in checkpoints. */
struct train_shape {
    char digest[33];      /* of the data set; "": unknown */
    int64_t size;         /* samples of the data set */
    size_t images, extra; /* largest numbers in a batch */
    size_t height, width, channels;
    size_t captions; /* largest number of a sample; 0: there are no texts */
    size_t views;    /* of a sample, each with a row of an embedding table: the
                        views of a batch, or the fixed views */
    size_t basis;    /* rows of the fixed basis that pixels are projected to; or
                        0 */
};

/* The parts of config.json.  The caller owns all pointers. */
struct train_config {
    json_t *options;
    const struct nn_spec *encoder;
    const struct nn_spec *text; /* or NULL */
    const char *table;          /* train_encoder_table() */
    const struct train_shape *shape;
    const struct train_state *state;
};

/* train_config_save() writes config.json into a folder. */
int train_config_save(const struct train_config *config, const char *folder,
                      struct err *err);

/* train_config_get() reads shape and state from a config. */
int train_config_get(const json_t *config, struct train_shape *shape,
                     struct train_state *state, struct err *err);

/*
 * train_config_check_processor() returns -1 if this processor, or the
 * instruction set that foil is limited to (util/isa.h), differs from the
 * config's, because it may round differently.  It accepts the difference if
 * overridden("processor") is 1.  train_config_check_table() returns -1 if the
 * encoder's table differs, unless overridden("table") or
 * overridden("processor") is 1.
 */
int train_config_check_processor(const json_t *config,
                                 int (*overridden)(const char *key),
                                 struct err *err);
int train_config_check_table(const json_t *config, const char *table,
                             int (*overridden)(const char *key),
                             struct err *err);

#endif
