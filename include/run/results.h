#pragma once

#include "run/lines.h"
#include "util/err.h"
#include "util/json.h"

/*
 * results.jsonl of a run directory: measures of its checkpoints, one object per
 * line, oldest first:
 *
 *     measure     "knn", "probe", ...
 *     step        of the checkpoint: steps done
 *     manifest    digest of the checkpoint's manifest
 *     time        of the measurement, in seconds since 1970
 *
 * and all that foil-eval(1) prints of a result.  Several programs may add lines
 * at the same time.
 */

#define RUN_RESULTS "results.jsonl"

/*
 * run_results_origin() finds the checkpoint that an encoder was opened from.
 * Returns 1 with its run directory in *run, which the caller frees, and its
 * step; 0 if it is not of a run, or has its initial weights; -1 with a message
 * if the run no longer has that checkpoint.
 *
 *     about   the encoder, as nn_model_read() describes it; may be NULL
 */
int run_results_origin(const json_t *about, char **run, long *step,
                       struct err *err);

/* run_results_add() appends `result`, which has the measure, with step,
 * manifest and time as a line: 0 or -1. */
int run_results_add(const char *run, long step, const char *manifest,
                    const json_t *result, struct err *err);

/*
 * run_results_next() returns the next result (run/lines.h): 1 with an object,
 * which the caller releases with json_decref(); 1 with NULL if earlier results
 * are no longer all in the file, and the next call returns the first; 0 if
 * there is none now.  A line that is no object with measure and step, such as
 * the incomplete line of a writer that died, is skipped.
 */
int run_results_next(struct run_lines *lines, const char *run, json_t **result);

/*
 * run_results_text() returns 1 with a result of an epoch as a sentence, "epoch
 * 12: 1-NN 71.0 % (raw pixels 66.0 %)"; 0 if it has no epoch and text.
 *   result  may be NULL
 */
enum { RUN_RESULTS_TEXT = 200 };
int run_results_text(const json_t *result, char text[RUN_RESULTS_TEXT]);

/* run_results_read() returns all results as an array, empty if there are none,
 * which the caller releases with json_decref(); NULL if the file cannot be
 * read. */
json_t *run_results_read(const char *run, struct err *err);

/* run_results_manifest() writes the digest of a checkpoint's manifest as 32
 * hexadecimal digits and a zero: 0 or -1. */
int run_results_manifest(const char *run, long step, char hex[33],
                         struct err *err);
