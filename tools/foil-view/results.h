#ifndef FOIL_VIEW_RESULTS_H
#define FOIL_VIEW_RESULTS_H

#include "hub.h"

/* What evaluations found in the checkpoints of a run: the newest lines of
 * RUN/results.jsonl.  Zeros are an empty one. */
struct results {
    long offset;  /* of the file, up to where it was read */
    json_t *list; /* NULL: none */
};

/* results_read() takes in what is new in the file, and tells pages of each
 * line; all of it where the file is shorter than it was.
 *   hub  NULL: nobody is told */
void results_read(struct results *results, const char *run, struct hub *hub);

/* results_show() returns the lines, an array. */
json_t *results_show(const struct results *results);
void results_release(struct results *results);

#endif
