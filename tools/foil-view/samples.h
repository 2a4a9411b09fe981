#pragma once

#include "picture.h"
#include "util/json.h"

/* The state of samples in the newest checkpoint of a run: learnt temperatures,
 * and which samples were replaced.  A zeroed struct is empty. */
struct samples {
    char *checkpoint; /* path of the last one read; NULL: none */
    double due;       /* when the next one may be read */
    json_t *json;
};

enum { SAMPLES_EXTREMES = 12, SAMPLES_REPLACED = 24, SAMPLES_BINS = 40 };

/* samples_read() reads the newest checkpoint if it is a new one; 1 if it has
 * read one.  A slow read delays the next one.  O(bytes of the file). */
int samples_read(struct samples *samples, const char *run,
                 struct pictures *pictures);

/*
 * samples_json() returns null if nothing is known, else
 *
 *     {checkpoint,
 *      columns: [{name, each, n, mean, low, high, counts: [],
 *                 smallest: [{id, caption, label, x}], largest: []}],
 *      replaced: {n, list: [{id, label, used, epoch, step, times, reason}]}}
 *
 * A column has a number for each sample that was trained, or for each of its
 * `each` captions; `caption` is the text.  `reason` is the error of reading a
 * replaced sample again; null if it can be read now, or without a data set.
 */
json_t *samples_json(const struct samples *samples);
void samples_release(struct samples *samples);
