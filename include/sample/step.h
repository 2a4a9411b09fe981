#ifndef SAMPLE_STEP_H
#define SAMPLE_STEP_H

#include <stddef.h>
#include <stdint.h>

/*
 * What the drawing of extra samples tells the weighing of each, which comes
 * some steps later and maybe in another process: arrays [extra], or NULL.
 *
 *   row     the row of the batch, view b + i, for which it was drawn; -1: for
 *           none.  The cache draws for an image i, row i
 *   view    of EMC2: the view in the state of that row's chain; -1: none
 *   log_q   of the cache: log of the probability of the draw
 */
struct sample_hints {
    const int32_t *row, *view;
    const float *log_q;
};

/*
 * A step of training as the samplers see it: v views of b images are anchors,
 * n = v b rows; extra samples from outside of the batch are columns besides.
 *
 * Drawing needs epoch, step, v, b, fixed, ids and variants; weighing all.
 */
struct sample_step {
    uint64_t epoch, step;       /* in its epoch: keys of the random numbers */
    double beta;                /* inverse temperature, finite, > 0 */
    size_t v, b, extra, dim;    /* v, b, dim >= 1 */
    size_t fixed;               /* A: each view is one of A fixed ones of its
                                   sample; 0: a new one each time */
    const int64_t *ids;         /* [b] */
    const int64_t *variants;    /* [v,b] < A; NULL without fixed views */
    const int64_t *extra_ids;   /* [extra] */
    const int64_t *extra_view;  /* [extra] which view; -1 or NULL: new */
    const int64_t *extra_epoch; /* [extra] of which epoch; NULL: 0, as of fixed
                                   views */
    const float *z;             /* [v,b,dim] embeddings of unit length */
    const float *extra_z;       /* [extra,dim] */
    struct sample_hints hints;
};

/* sample_step_views() returns how many chains an image has: A, or v. */
size_t sample_step_views(const struct sample_step *step);

/* A number for the metrics. */
struct sample_value {
    const char *name;
    double value;
};

#endif
