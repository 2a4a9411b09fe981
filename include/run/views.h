#pragma once

#include "data/set.h"
#include "run/batches.h"

/*
 * Recreates the views that a run was trained on, from its folder and data set,
 * during the run or later: a view is a function of data set, seed, sample,
 * epoch and number (image/view.h), which run/batches.h records.  They equal,
 * byte for byte, the views that the trainer received.
 *
 *     views = run_views_open(run, NULL);
 *     run_views_step(views, 0, &record, &err);
 *     run_views_key(&record, row, &id, &epoch, &view);
 *     run_views_make(views, id, epoch, view, out, &err);
 *
 * One object serves one thread at a time.
 */
struct run_views;

/*
 * run_views_open() cannot fail.
 *   run, data  must live as long as the views.  data: path of the data set;
 *              NULL: the path that the augmenters used
 */
struct run_views *run_views_open(const char *run, const char *data);
void run_views_close(struct run_views *views);

/*
 * run_views_step() returns the batch of step `total`, or of the newest step if
 * `total` is 0, in *record, which is valid until the next call.  From then on
 * views are made as in this step.  -1 with a message if the step is not
 * recorded, if a user's program made the views, or if the data set is not found
 * or is not that of the run.  Opens the data set in the first call, and again
 * when a later step has another path; this reads and checks its whole index
 * once.
 */
int run_views_step(struct run_views *views, int64_t total,
                   struct run_batch_record *record, struct err *err);

/* run_views_key() returns id, epoch and number of the view in row `row` of a
 * batch: rows are [views,n], then [n_extra]. */
void run_views_key(const struct run_batch_record *record, size_t row,
                   int64_t *id, int64_t *epoch, int64_t *view);

/* For the step of the last run_views_step(): run_views_size() returns the side
 * of a view in pixels; run_views_set() the data set, valid until the next
 * run_views_step(). */
size_t run_views_size(const struct run_views *views);
const struct data_set *run_views_set(const struct run_views *views);

/*
 * run_views_make() makes a view, run_views_plain() the image without
 * augmentation in the size of a view (image_plain()).  -1 if the image cannot
 * be read, or there is no such view.
 *   out  [size,size,3]
 */
int run_views_make(struct run_views *views, int64_t id, int64_t epoch,
                   int64_t view, uint8_t *out, struct err *err);
int run_views_plain(struct run_views *views, int64_t id, uint8_t *out,
                    struct err *err);

/*
 * For the step of the last run_views_step(): run_views_texts() returns 1 if
 * the run also trained on captions.  run_views_text() returns the caption of a
 * sample that was chosen in an epoch, before tokens were dropped or cut, which
 * the caller frees; NULL if there is none.
 */
int run_views_texts(const struct run_views *views);
char *run_views_text(const struct run_views *views, int64_t id, int64_t epoch);
