#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nn/net.h"
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
 *     batch      images and extra: their largest numbers; views of each image,
 *                if not 2; small: how many of these have a second size, its
 *                height and width
 *     engine     processor and table: the bits of the result depend on them
 *     state      progress of the run (struct train_state)
 */

/* Limits of a config. */
#define TRAIN_SIZE_MAX ((int64_t)1 << 48) /* samples of a data set */
enum { TRAIN_CAPTIONS_MAX = 64 };         /* captions of a sample */

/* The shape of batches, taken from the first batch and saved in checkpoints. */
struct train_shape {
    char digest[33];      /* of the data set; "": unknown */
    int64_t size;         /* samples of the data set */
    size_t images, extra; /* largest numbers in a batch */
    size_t per_image;     /* views of each of its images; with texts 2 */
    size_t height, width, channels;
    size_t small, small_height, small_width; /* the last `small` views of each
                                                image have that size */
    size_t captions;   /* largest number of a sample; 0: there are no texts */
    size_t vocabulary; /* its tokens; not saved here */
    size_t views; /* of a sample, each with a row of an embedding table: the
                     views of a batch, or the fixed views */
    size_t basis; /* rows of the fixed basis that pixels are projected to; or
                     0 */
};

/* The progress of a run and counts of its events; a part of config.json. */
struct train_state {
    int64_t epoch, step;   /* the first step of the plan that was not done */
    int64_t steps, epochs; /* of this epoch; of the run; 0: not known yet */
    int64_t total;         /* steps done */
    int64_t images;        /* images trained */
    int64_t substituted;   /* images that replaced unusable ones */
    int64_t skipped;       /* steps that were not applied because a number was
                              not finite */
    int64_t steps_without_service; /* steps without their negatives service */
    char plan[256]; /* the options of the last step's plan; or "" */
    char order[33]; /* digest of the order of `epoch`, if it has begun and its
                     * plan has one; else "" */
};

/* train_state_put() returns the state as an object, for json_decref(), with a
 * whole number for each count, and the texts that are not "". train_state_get()
 * reads such an object, or one of an older foil; it returns 0, or -1 if a
 * number is missing or out of range, or a text has another type. */
json_t *train_state_put(const struct train_state *state);
int train_state_get(struct train_state *state, const json_t *object,
                    struct err *err);

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
