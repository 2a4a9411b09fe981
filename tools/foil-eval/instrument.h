#ifndef FOIL_EVAL_INSTRUMENT_H
#define FOIL_EVAL_INSTRUMENT_H

#include "eval.h"
#include "eval/bias.h"
#include "eval/views.h"
#include "measured.h"

/*
 * The common part of verbs that measure contrastive methods: rows are views of
 * a data set, embedded by a checkpoint; or its images and captions, embedded by
 * a checkpoint with two encoders; or features of any encoder, a file for each
 * view.
 */
extern const struct opt instrument_opts[];

/* The groups of options of all these verbs. */
#define INSTRUMENT_GROUPS \
    instrument_opts, views_opts, chunk_opts, threads_opts, output_opts, NULL

/* The operands of all these verbs. */
#define INSTRUMENT_OPERANDS "CHECKPOINT|VIEW [DATA|VIEW] ..."
enum { INSTRUMENT_MOST = 64 };

struct instrument {
    struct eval_views rows;
    struct measured measured; /* of a checkpoint without text encoder */
    int encoder;              /* 1: `measured` is open */
    char *bimodal;  /* folder of a checkpoint with a text encoder, or NULL */
    float *z, *v;   /* [n,d] embeddings, and of unit length */
    int64_t *id;    /* [samples] ids in the data set */
    int64_t *group; /* [samples] or NULL */
    struct data_classes classes; /* names of groups; n = 0: numbers */
    json_t *origin;              /* describes the rows */
};

/*
 * instrument_open() opens the operands, CHECKPOINT DATA or files VIEW ..., or
 * ends the process.
 *   train  1: with gradients of the encoder, if there is one
 */
void instrument_open(struct instrument *in, char **path, int train);
void instrument_release(struct instrument *in);

/* instrument_protocol() returns a description of the rows, to print. */
json_t *instrument_protocol(const struct instrument *in);

/* instrument_group() returns the name of a sample's group, or its number in
 * `text`; NULL if it has none. */
const char *instrument_group(const struct instrument *in, size_t sample,
                             char text[24]);

/* spread() describes numbers: mean, deviation, the standard error of the mean,
 * median, and the quantiles .05 and .95. */
json_t *spread(size_t n, const double *x);

/* show_figure() returns a number with its interval. */
json_t *show_figure(struct eval_figure figure);

#endif
