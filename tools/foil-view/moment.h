#ifndef FOIL_VIEW_MOMENT_H
#define FOIL_VIEW_MOMENT_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/json.h"

/*
 * Which negatives a sampler gave the most weight, of each row k, the heaviest
 * first; those of which nothing is known are -1.  The weight is 0 where there
 * are fewer.
 */
struct moment_drawn {
    char sampler[64];
    int64_t columns;            /* negatives that were weighed */
    size_t k;                   /* 0: nothing is known */
    int64_t *sample, *epoch;    /* [views n,k] */
    int32_t *row, *view;        /* [views n,k] row: of the batch, if below
                                   views n */
    float *w, *cosine;          /* [views n,k] */
    float *outside, *effective; /* [views n] */
};

/*
 * A batch of a run as it was at a step: which samples, and where the encoder
 * had put their views.
 */
struct moment {
    int64_t epoch, step;
    size_t n, views, d;
    int texts;    /* 1: row n + i is the text of image i, and has no picture;
                     negatives of a row are those of the other kind */
    int64_t *ids; /* [n] */
    float *z;     /* [views,n,d] of unit length; NULL: not known */
    struct moment_drawn drawn;
};

void moment_release(struct moment *moment);

/* moment_pictures() returns how many pictures an image has. */
size_t moment_pictures(const struct moment *moment);
void moment_drawn_release(struct moment_drawn *drawn);

/* moment_label() returns the class of a sample; -1: none, or not known. */
int moment_label(const struct data_set *set, int64_t id);

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
 * that weigh most by softmax exp(beta cosine), and as "drawn" those to which
 * its sampler gave the most; NULL where there is no such row, or no embedding.
 * O(views n d).
 */
json_t *moment_anchor(const struct moment *moment, const struct data_set *set,
                      size_t row, double beta);

#endif
