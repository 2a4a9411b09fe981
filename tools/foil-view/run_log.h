#ifndef FOIL_VIEW_RUN_LOG_H
#define FOIL_VIEW_RUN_LOG_H

#include "history.h"
#include "util/json.h"

/*
 * run_log_read() returns the log up to now as the run directory has it, in the
 * order of time: the epochs in the metrics, the checkpoints that exist and, if
 * no trainer runs, a line "stop".
 *
 *   living  1: a trainer runs
 *   steps   of the whole run; 0: unknown
 *   most    lines: the last ones
 */
json_t *run_log_read(const char *run, const struct history *history, int living,
                     int64_t steps, size_t most);

#endif
