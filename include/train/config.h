#ifndef TRAIN_CONFIG_H
#define TRAIN_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "nn/net.h"
#include "train/state.h"
#include "util/err.h"
#include "util/json.h"

/*
 * config.json of a checkpoint (nn/checkpoint.h reads it): all that is known of
 * a run before its arrays are loaded.
 *
 *     format, version, foil   "foil-config", 1, the version of foil
 *     options    the options that were given (run/settings.h)
 *     encoder    the spec of its net (nn/model.h)
 *     text       the same of the encoder of texts, if there is one
 *     dataset    digest and size; with texts captions, the most of a sample
 *     batch      images and extra: the largest
 *     engine     processor and table: which bits come out depends on these
 *     state      how far the run is (train/state.h)
 */

/* The most samples, captions of one, and images in a batch, that a config may
 * have. */
#define TRAIN_SIZE_MAX ((int64_t)1 << 48)
enum { TRAIN_CAPTIONS_MAX = 64 };

/* The form of batches: the first one tells it, a checkpoint keeps it. */
struct train_shape {
    char digest[33];      /* of the data set; "": not known */
    int64_t size;         /* its samples */
    size_t images, extra; /* at most, in a batch */
    size_t height, width, channels;
    size_t captions; /* the most that a sample has; 0: there are no texts */
    size_t views;    /* of a sample, each with a row of an embedding table:
                        those of a batch, or its fixed views */
    size_t basis;    /* rows of the fixed basis that pixels are seen in; or 0 */
};

/* The parts of config.json.  All is lent. */
struct train_config {
    json_t *options;
    const struct nn_spec *encoder;
    const struct nn_spec *text; /* or NULL */
    const char *table;          /* train_encoder_table() */
    const struct train_shape *shape;
    const struct train_state *state;
};

/* train_config_save() writes it into a folder. */
int train_config_save(const struct train_config *config, const char *folder,
                      struct err *err);

/* train_config_get() finds shape and state in a config. */
int train_config_get(const json_t *config, struct train_shape *shape,
                     struct train_state *state, struct err *err);

/* train_config_processor() returns machine and model of the processor, and the
 * instruction set that foil is bound to if the processor has more, to be given
 * to free(): another may round otherwise. */
char *train_config_processor(void);

/*
 * train_config_check_processor() returns -1 where this processor, or the
 * instruction set that foil is bound to (util/isa.h), is not that of the
 * config, unless overridden("processor") is 1: it may round otherwise.
 * train_config_check_table() returns -1 where the encoder's table is another,
 * unless overridden("table") or overridden("processor") is 1.
 */
int train_config_check_processor(const json_t *config,
                                 int (*overridden)(const char *key),
                                 struct err *err);
int train_config_check_table(const json_t *config, const char *table,
                             int (*overridden)(const char *key),
                             struct err *err);

#endif
