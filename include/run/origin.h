#pragma once

#include "util/err.h"
#include "util/json.h"

/*
 * RUN/origin.jsonl: which commands made a run.  A line for each command of a
 * stage, and another one when it is started later and anything has changed:
 *
 *     of         the stage, "augment", or its option: "augment --view-command"
 *     command
 *     files      digest of each file that a word of the command names, by path;
 *                not for the command of one of foil's tools
 *     foil, processor, time
 *
 * A file below 1 MiB is copied to RUN/files/DIGEST-NAME.
 */

/*
 * run_origin_note() adds such a line if it is new, and creates RUN if needed.
 * Returns 1 with a message if a file of the last line of that name has
 * changed; else 0.  It ignores errors, as no run needs the file.
 *   run  NULL: does nothing
 */
int run_origin_note(const char *run, const char *of, const char *command,
                    struct err *changed);

/* run_origin_read() returns the last line of each name, by name, which the
 * caller releases with json_decref(). */
json_t *run_origin_read(const char *run);
