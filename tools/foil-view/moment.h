#ifndef FOIL_VIEW_MOMENT_H
#define FOIL_VIEW_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/json.h"

/*
 * A batch of a run as it was at a step: which samples, and where the encoder
 * had put their views.
 */
struct moment {
    int64_t epoch, step;
    size_t n, views, d;
    int64_t *ids; /* [n] */
    float *z;     /* [views,n,d] of unit length; NULL: not known */
};

void moment_release(struct moment *moment);

/*
 * moment_show() returns the batch: its hardest pairs of different samples, the
 * cosines of all, and which of them are of one class.
 *   set   gives the labels; NULL: none
 *   tile  pixels of a view on its sprite, of so many columns
 */
json_t *moment_show(const struct moment *moment, const struct data_set *set,
                    size_t tile, size_t columns);

/*
 * moment_anchor() returns a row, view * n + place, with those of all others
 * that weigh most by softmax exp(beta cosine); NULL where there is no such row,
 * or no embedding.  O(views n d).
 */
json_t *moment_anchor(const struct moment *moment, const struct data_set *set,
                      size_t row, double beta);

#endif
