#pragma once

#include "util/batch.h"
#include "util/err.h"
#include "util/json.h"

/*
 * The batch of each step of a run, from which its images can be made again
 * (run/views.h).  The trainer writes two files in the run directory.
 *
 * batches.i32 has a row of 32-bit little-endian integers for each step:
 *
 *     total, epoch, step                the place of the step; all 0: no row
 *     ids      [images]                 the samples
 *     variant  [views,images]           fixed views only: number of the view
 *     extra    [extra], [extra], [extra]  further images: ids, epochs, views
 *
 * Unused places in a smaller batch are -1.  View v of sample i is view number
 * v of that epoch, or view number variant[v,i] of epoch 0 where views are
 * fixed; an extra image has its own epoch and view number.  A sample that could
 * not be used is replaced by the id of its substitute.
 *
 * batches.jsonl has a line for each start of the trainer and for each change
 * of the plan: where rows are, which plan chose them, and how views are made:
 *
 *     version        1
 *     first, offset  the row of step `first` is at this offset in bytes; the
 *                    rows of later steps follow
 *     width          numbers in a row
 *     images, views, fixed, extra   sizes; fixed: rows have `variant`
 *     digest         of the data set
 *     view_options   how an augmenter makes views (foil-wire(5)); may be
 *                    absent; `making` in lines of foil 1.0
 *     plan           options of the selector (foil-wire(5)); may be absent
 *
 * The line of step N is the last line with `first` <= N.
 */
enum { RUN_IMAGES_MAX = 65536 }; /* images in a batch */

struct run_batch_record {
    int64_t total;      /* steps done, including this one: >= 1 */
    const char *plan;   /* for writing only; NULL or "": unchanged */
    struct batch batch; /* epoch, step, b, v, ids, view_of, and extra's n, ids,
                         * view and epoch: a new view has number v in this
                         * epoch */
};

/* Where rows are, from a line of batches.jsonl. */
struct run_rows {
    int64_t first, offset;
    int64_t images, views, extra;
    int fixed;
};

/* The writer; {.rows = -1, .lines = -1} is closed. */
struct run_batches {
    int rows, lines; /* descriptors, or -1 */
    struct run_rows at;
    int known; /* 1: `at` and `plan` are in batches.jsonl */
    char plan[256];
    int64_t newest; /* the last step written with `at` */
    int64_t end;    /* bytes of rows; -1: unknown */
    int32_t *row;
    size_t room;
};

/* run_batches_open() opens both files of a run with `total` steps done, and
 * truncates the rows of later steps, which will run again.  Call
 * run_batches_close() after an error, too. */
int run_batches_open(struct run_batches *batches, const char *run,
                     int64_t total, struct err *err);
void run_batches_close(struct run_batches *batches);

/*
 * run_batches_put() writes the row of a step.  It first writes a line to
 * batches.jsonl if the row is the first since the files were opened, does not
 * fit the sizes of the last line, has another plan, or precedes the step of
 * that line.  Each row and line is one write, so readers see whole ones; a row
 * that does not fit on a full disk is cut off.
 *   most    most extra images of a batch; used if this batch has some
 *   digest  of the data set
 *   view_options  a JSON object from an augmenter; other text counts as none
 * Returns 0, or -1 where the write failed or a number exceeds 2^31 - 1.
 */
int run_batches_put(struct run_batches *batches,
                    const struct run_batch_record *record, size_t most,
                    const char *digest, const char *view_options,
                    struct err *err);

/* run_batches_sync() calls fsync() on both files of a struct run_batches, as
 * before a checkpoint of these steps is committed: 0 or -1. */
int run_batches_sync(void *batches, struct err *err);

/*
 * run_batches_get() reads the batch of step `total`, or of the newest step if
 * `total` is 0; the run may be active.  The caller releases *line, the object
 * from batches.jsonl, with json_decref(), and *memory, which `record` points
 * into, with free().  Returns -1 with a message, and nothing to release, if
 * that step is not recorded.
 */
int run_batches_get(const char *run, int64_t total,
                    struct run_batch_record *record, json_t **line,
                    int64_t **memory, struct err *err);

/* run_batches_plans() returns the plans of a run, each where it replaces
 * another one, as an array for json_decref(). */
json_t *run_batches_plans(const char *run);
