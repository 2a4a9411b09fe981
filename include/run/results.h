#ifndef RUN_RESULTS_H
#define RUN_RESULTS_H

#include "run/lines.h"
#include "util/err.h"
#include "util/json.h"

/*
 * results.jsonl of a run directory: measures of its checkpoints, an object a
 * line, in the order in which they were made:
 *
 *     measure     "knn", "probe", ...
 *     step        of the checkpoint: steps that were done
 *     manifest    digest of the checkpoint's manifest
 *     time        of the measurement, in seconds since 1970
 *
 * and all that foil-eval(1) prints of a result.  Several programs may add lines
 * at the same time.
 */

#define RUN_RESULTS "results.jsonl"

/*
 * run_results_origin() finds the checkpoint that an encoder was opened from:
 * 1 with its run directory in *run, to be given to free(), and its step; 0 when
 * it is not of a run, or has its initial weights; -1 when the run has no such
 * checkpoint any more, with a sentence.
 *
 *     about   the encoder, as nn_model_open() describes it; may be NULL
 */
int run_results_origin(const json_t *about, char **run, long *step,
                       struct err *err);

/* run_results_add() appends a line to those of the run, 0 or -1: a copy of
 * `result`, which has the measure, with step, manifest and time. */
int run_results_add(const char *run, long step, const char *manifest,
                    const json_t *result, struct err *err);

/*
 * run_results_next() returns results as they come (run/lines.h): 1 with an
 * object, to be given to json_decref(); 1 with NULL, where the ones before are
 * not all in the file any more, and the next call begins with the first; 0
 * where there is none now.  A line that is no object with measure and step,
 * such as the last one of a writer that died, is passed over.
 */
int run_results_next(struct run_lines *lines, const char *run, json_t **result);

/* run_results_read() returns all of them as an array, to be given to
 * json_decref(); an empty one where there are none; NULL where the file cannot
 * be read. */
json_t *run_results_read(const char *run, struct err *err);

/*
 * run_results_manifest() writes the digest of a checkpoint's manifest as 32
 * hexadecimal digits and a zero: 0, or -1 on error.
 */
int run_results_manifest(const char *run, long step, char hex[33],
                         struct err *err);

#endif
