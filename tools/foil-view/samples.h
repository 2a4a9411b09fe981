#ifndef FOIL_VIEW_SAMPLES_H
#define FOIL_VIEW_SAMPLES_H

#include "picture.h"
#include "util/json.h"

/* What the newest checkpoint of a run keeps of each sample: the temperatures
 * that its objective has learnt, and which samples were replaced.  Zeros are
 * an empty one. */
struct samples {
    char *checkpoint; /* its path; NULL: none was read */
    double due;       /* when the next may be read: a large one costs */
    json_t *shown;
};

enum { SAMPLES_EXTREMES = 12, SAMPLES_REPLACED = 24, SAMPLES_BINS = 40 };

/* samples_read() reads the newest checkpoint where it is another one than
 * before; 1 when there is something new.  O(bytes of the file). */
int samples_read(struct samples *samples, const char *run,
                 struct pictures *pictures);

/*
 * samples_show() returns null where nothing is known, else
 *
 *     {checkpoint,
 *      columns: [{name, each, n, mean, low, high, counts: [],
 *                 smallest: [{id, caption, label, x}], largest: []}],
 *      replaced: {n, list: [{id, label, used, epoch, step, times, reason}]}}
 *
 * A column has a number for each sample that was seen, or for each of `each`
 * captions of it, where caption is its words.  Why a sample was replaced is
 * found by reading it again; null where it can be read now, or its data set is
 * not there.
 */
json_t *samples_show(const struct samples *samples);
void samples_release(struct samples *samples);

#endif
