#ifndef FOIL_VIEW_PAST_H
#define FOIL_VIEW_PAST_H

#include "history.h"
#include "util/json.h"

/*
 * past_log() returns the log up to now as the run directory has it, in the
 * order of time: the epochs in the metrics, the checkpoints that exist and, if
 * no trainer runs, a line "stop".
 *
 *   living  1: a trainer runs
 *   steps   of the whole run; 0: unknown
 *   most    lines: the last ones
 */
json_t *past_log(const char *run, const struct history *history, int living,
                 int64_t steps, size_t most);

#endif
