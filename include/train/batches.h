#ifndef TRAIN_BATCHES_H
#define TRAIN_BATCHES_H

#include <stddef.h>
#include <stdint.h>

#include "train/part.h"
#include "util/err.h"
#include "util/json.h"

/*
 * What was in the batch of each step of a run, so that its images can be made
 * again (train/views.h): two files in the run directory, written by its
 * trainer.
 *
 * batches.i32 has a row for each step, of whole numbers of four bytes, their
 * little end first:
 *
 *     total, epoch, step                its place; a row of zeros is none
 *     ids      [images]                 the samples
 *     variant  [views,images]           where they are fixed: which of these
 *     extra    [extra], [extra], [extra]  further images: ids, epochs, views
 *
 * What a batch has less than the most is filled up with -1.  View v of sample i
 * is the view of number v in that epoch, or of number variant[v,i] in epoch 0;
 * an extra image is the view of the number and the epoch beside it.  A sample
 * that could not be used stands there as its substitute.
 *
 * batches.jsonl says where rows are and how views are made, a line for each
 * start of the trainer:
 *
 *     version        1
 *     first, offset  the row of step `first` is so many bytes from the start;
 *                    those of the next steps follow
 *     width          numbers of a row
 *     images, views, fixed, extra   the sizes; fixed: there are variants
 *     digest         of the data set
 *     making         what an augmenter said of itself (foil-wire(5)); or none
 *
 * The last line whose `first` is at most N is that of step N.
 */
struct train_shown {
    int64_t total; /* the step: as many are done with it, from 1 */
    int64_t epoch, step;
    size_t n, views, n_extra;
    const int64_t *ids;         /* [n] */
    const int64_t *variant;     /* [views,n], or NULL: not fixed */
    const int64_t *extra_ids;   /* [n_extra], and of each */
    const int64_t *extra_view;  /* the view, -1: number `views` of this epoch;
                                   NULL: all are such */
    const int64_t *extra_epoch; /* its epoch; NULL: 0 */
};

/* Where rows are, as a line says it. */
struct train_rows {
    int64_t first, offset;
    int64_t images, views, extra;
    int fixed;
};

struct train_batches {
    int rows, lines; /* descriptors, or -1 */
    struct train_rows at;
    int known;      /* 1: `at` is written down */
    int64_t newest; /* the last step that came, of `at` */
    int64_t end;    /* of the rows, in bytes; -1: not known */
    int32_t *row;
    size_t room;
};

/*
 * train_batches_open() opens both files of a run of which `total` steps are
 * done, and cuts off the rows of steps that will be done again; of a run
 * without a step all.  Before it is {.rows = -1, .lines = -1}.
 */
int train_batches_open(struct train_batches *batches, const char *run,
                       int64_t total, struct err *err);
void train_batches_close(struct train_batches *batches);

/*
 * train_batches_put() writes the row of a step, after a line where it is the
 * first since it was opened, larger than those before, or an earlier one than
 * they.  One write each, so that a reader sees whole ones; what a full disk has
 * no room for is cut off, and that step has no row.
 *   most    further images that a batch may have, where this one has some
 *   digest  of the data set
 *   making  what augmenters say, ""; no JSON object is as good as ""
 * Returns 0; -1 where it could not be written, or has numbers above 2^31 - 1.
 */
int train_batches_put(struct train_batches *batches,
                      const struct train_shown *shown, size_t most,
                      const char *digest, const char *making, struct err *err);

/* train_batches_part() returns it as a part of a checkpoint: the rows of its
 * steps are on the disk before it is committed. */
struct train_part train_batches_part(struct train_batches *batches);

/*
 * train_batches_get() reads what was in the batch of a step, total > 0, or the
 * newest, total 0, of a run that may be under way.  *line, the object of its
 * line, is to be given to json_decref(), and the memory that `shown` points to,
 * *memory, to free().  -1 with a sentence, and nothing to free, where nothing
 * is known of that step.
 */
int train_batches_get(const char *run, int64_t total, struct train_shown *shown,
                      json_t **line, int64_t **memory, struct err *err);

#endif
