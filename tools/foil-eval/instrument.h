#ifndef FOIL_EVAL_INSTRUMENT_H
#define FOIL_EVAL_INSTRUMENT_H

#include "eval.h"
#include "eval/bias.h"
#include "eval/views.h"
#include "measured.h"
#include "stage/process.h"

/*
 * What the verbs share that look into contrast: rows that are the views of a
 * data set by a checkpoint, its images and captions by one with two encoders,
 * or features of any encoder, a file for each view.
 */
struct instrument_how {
    int negatives; /* the index of all|cross */
};
extern struct instrument_how instrument_how;

extern const struct opt instrument_opts[];

/* The groups of options that all of them take. */
#define INSTRUMENT_GROUPS \
    instrument_opts, views_opts, chunk_opts, threads_opts, output_opts, NULL

/* The operands of all of them. */
#define INSTRUMENT_OPERANDS "CHECKPOINT|VIEW [DATA|VIEW] ..."
enum { INSTRUMENT_MOST = 64 };

/*
 * The rows of a checkpoint with an encoder of texts: view 0 is the images of a
 * data set, whole, view 1 their captions, as foil-embed makes both.
 */
struct towers {
    char *checkpoint;            /* its folder */
    char *file[3];               /* images, captions, NULL */
    int life;                    /* while it is open, their folder is there */
    struct stage_process keeper; /* removes it */
};

struct instrument {
    struct eval_views rows;
    struct measured measured;    /* of a checkpoint */
    int encoder;                 /* 1: there is one, of images alone */
    struct towers towers;        /* of one with texts; else of NULL */
    float *z, *v;                /* [n,d] as they are, and of unit length */
    int64_t *id;                 /* [samples] their numbers in the data set */
    int64_t *group;              /* [samples] or NULL */
    struct data_classes classes; /* of the groups, n = 0: but numbers */
    json_t *origin;              /* what the rows are */
};

/*
 * instrument_open() takes the operands, CHECKPOINT DATA or files VIEW ..., or
 * the process ends.
 *   train  1: the encoder's gradients are wanted, where there is one
 */
void instrument_open(struct instrument *in, char **path, int train);
void instrument_release(struct instrument *in);

/* instrument_protocol() returns what the rows are, to be printed. */
json_t *instrument_protocol(const struct instrument *in);

/* instrument_group() returns the name of a sample's group, or its number in
 * `text`; NULL where it has none. */
const char *instrument_group(const struct instrument *in, size_t sample,
                             char text[24]);

/* spread() describes numbers: mean, deviation, median, and the quantiles .05
 * and .95. */
json_t *spread(size_t n, const double *x);

/* show_figure() is a number with its interval. */
json_t *show_figure(struct eval_figure figure);

#endif
