#ifndef RUN_VIEWS_H
#define RUN_VIEWS_H

#include "data/set.h"
#include "run/batches.h"

/*
 * The views that a run was trained on, made again from its folder alone, while
 * it is under way or afterwards: a view is a function of data set, seed,
 * sample, epoch and number (image/view.h), and run/batches.h tells which
 * those are.  They are, byte for byte, the views that the trainer was given.
 *
 *     views = run_views_open(run, NULL);
 *     run_views_step(views, 0, &shown, &err);
 *     run_views_name(&shown, row, &id, &epoch, &view);
 *     run_views_make(views, id, epoch, view, out, &err);
 *
 * One object serves one thread at a time.
 */
struct run_views;

/*
 * run_views_open() only keeps copies of its arguments: it cannot fail.
 *   data  path of the data set; NULL: where the augmenters had it
 */
struct run_views *run_views_open(const char *run, const char *data);
void run_views_close(struct run_views *views);

/*
 * run_views_step() says what was in the batch of a step, total > 0, or of the
 * newest, total 0; what *shown points to lasts until the next call.  From here
 * on views are made as those of this step were.  -1 with a sentence where
 * nothing is known of the step, where a program of the user's made the views,
 * or where the data set is not found or is not that of the run.  Opens the data
 * set at the first call, and when a later step had it at another path; with it
 * all of its index is read and checked, once.
 */
int run_views_step(struct run_views *views, int64_t total,
                   struct run_shown *shown, struct err *err);

/* run_views_name() names the view that is row `row` of a batch: rows are
 * [views,n], then [n_extra]. */
void run_views_name(const struct run_shown *shown, size_t row, int64_t *id,
                    int64_t *epoch, int64_t *view);

/* Of the step that was asked for last: run_views_size() returns the pixels of
 * a view's side, run_views_set() the data set, lent until the next
 * run_views_step(). */
size_t run_views_size(const struct run_views *views);
const struct data_set *run_views_set(const struct run_views *views);

/*
 * run_views_make() makes a view, and run_views_plain() the image as it is,
 * in the size of a view (image_plain()).  -1 where the image cannot be read, or
 * there is no such view.
 *   out  [size,size,3]
 */
int run_views_make(struct run_views *views, int64_t id, int64_t epoch,
                   int64_t view, uint8_t *out, struct err *err);
int run_views_plain(struct run_views *views, int64_t id, uint8_t *out,
                    struct err *err);

/*
 * Of the step that was asked for last: run_views_texts() returns 1 where
 * captions were trained on, too, and run_views_text() the caption of a sample
 * that was chosen in an epoch, before tokens were left out or cut, to be given
 * to free(); NULL where there is none.
 */
int run_views_texts(const struct run_views *views);
char *run_views_text(const struct run_views *views, int64_t id, int64_t epoch);

#endif
