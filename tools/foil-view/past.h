#ifndef FOIL_VIEW_PAST_H
#define FOIL_VIEW_PAST_H

#include "history.h"
#include "util/json.h"

/*
 * past_log() returns what a folder says of what happened before anybody
 * listened, as lines of the log in the order of time: the last epochs that
 * were done, of the metrics; the checkpoints that there are; and, where no
 * trainer has the run, that it stopped.
 *
 *   most   lines
 *   steps  of the whole run; 0: not known
 */
json_t *past_log(const char *run, const struct history *history, int living,
                 int64_t steps, size_t most);

#endif
