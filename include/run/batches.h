#ifndef RUN_BATCHES_H
#define RUN_BATCHES_H

#include "util/batch.h"
#include "util/err.h"
#include "util/json.h"

/*
 * What was in the batch of each step of a run, so that its images can be made
 * again (run/views.h): two files in the run directory, written by its
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
 * Places that a smaller batch leaves are -1.  View v of sample i is the view of
 * number v in that epoch, or of number variant[v,i] in epoch 0; an extra image
 * is the view of the number and the epoch beside it.  In place of a sample that
 * could not be used stands its substitute.
 *
 * batches.jsonl says where rows are, by what plan, and how views are made, a
 * line for each start of the trainer and each change of the plan:
 *
 *     version        1
 *     first, offset  the row of step `first` is so many bytes from the start;
 *                    those of the next steps follow
 *     width          numbers of a row
 *     images, views, fixed, extra   the sizes; fixed: there are variants
 *     digest         of the data set
 *     making         what an augmenter said of itself (foil-wire(5)); or none
 *     plan           the options of the selector (foil-wire(5)); or none
 *
 * The last line whose `first` is at most N is that of step N.
 */
enum { RUN_IMAGES_MAX = 65536 }; /* images of a batch at most */

struct run_shown {
    int64_t total;      /* steps done, with this one: >= 1 */
    const char *plan;   /* written only; NULL or "": as before */
    struct batch batch; /* epoch, step, b, v, ids, view_of, and extra's n, ids,
                         * view and epoch: a new view is that of number v in
                         * this epoch */
};

/* Where rows are: members of a line of batches.jsonl. */
struct run_rows {
    int64_t first, offset;
    int64_t images, views, extra;
    int fixed;
};

/* The writer's end; {.rows = -1, .lines = -1} is closed. */
struct run_batches {
    int rows, lines; /* descriptors, or -1 */
    struct run_rows at;
    int known; /* 1: `at` and `plan` are written down */
    char plan[256];
    int64_t newest; /* the last step that came, of `at` */
    int64_t end;    /* of the rows, in bytes; -1: not known */
    int32_t *row;
    size_t room;
};

/*
 * run_batches_open() opens both files of a run of which `total` steps are
 * done, and cuts off the rows of all later steps, which will be done again.
 * After an error it has to be closed, too.
 */
int run_batches_open(struct run_batches *batches, const char *run,
                     int64_t total, struct err *err);
void run_batches_close(struct run_batches *batches);

/*
 * run_batches_put() writes the row of a step.  A line comes before it where
 * the row is the first one since the files were opened, does not fit the form
 * of the last line, is of another plan, or of a step before that line's.  Each
 * is one write, so that a reader sees whole ones; a row that a full disk has no
 * room for is cut off.
 *   most    further images that a batch may have, where this one has some
 *   digest  of the data set
 *   making  a JSON object, as augmenters say it; any other text counts as none
 * Returns 0; -1 where it could not be written, or has numbers above 2^31 - 1.
 */
int run_batches_put(struct run_batches *batches, const struct run_shown *shown,
                    size_t most, const char *digest, const char *making,
                    struct err *err);

/* run_batches_sync() has the kernel write all rows to the disk, as before a
 * checkpoint of their steps is committed: 0 or -1.
 *   batches  a struct run_batches; the type is that of a checkpoint's part */
int run_batches_sync(void *batches, struct err *err);

/*
 * run_batches_get() reads what was in the batch of a step, total > 0, or of
 * the newest one, total 0; the run may be under way.  *line, the object that
 * the step's line has, is to be given to json_decref(); *memory, to which
 * `shown` points, to free().  -1 with a sentence, and nothing to free, where
 * nothing is known of that step.
 */
int run_batches_get(const char *run, int64_t total, struct run_shown *shown,
                    json_t **line, int64_t **memory, struct err *err);

#endif
