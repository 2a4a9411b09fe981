#ifndef FOIL_VIEW_BATCH_VIEW_H
#define FOIL_VIEW_BATCH_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/json.h"
#include "wire/drawn.h"

/*
 * A batch of a run as it was at a step: its samples, where the encoder put
 * their views, and what a sampler drew for them.  A page computes from it what
 * it shows: pairs, cosines, weights.  Zeros are an empty one.
 */
struct batch_view {
    int64_t epoch, step;
    size_t n, views, d;
    int texts;    /* 1: row n + i is the text of image i, and has no picture;
                     negatives of a row are those of the other kind */
    int64_t *ids; /* [n] */
    float *z;     /* [views,n,d] of unit length; NULL: not known */
    struct wire_drawn drawn; /* heaviest.k = 0: not known */
};

void batch_view_release(struct batch_view *batch);

/* batch_view_pictures() returns how many pictures an image has. */
size_t batch_view_pictures(const struct batch_view *batch);

/* batch_view_label() returns the class of a sample; -1: none, or not known. */
int batch_view_label(const struct data_set *set, int64_t id);

/*
 * batch_view_show() returns {epoch, step, ids, labels, views, pictures,
 * known}; known: it has embeddings.
 *   set  gives the labels; NULL: none
 */
json_t *batch_view_show(const struct batch_view *batch,
                        const struct data_set *set);

/* batch_view_embeddings() returns {beta, z}: f4 [views,n,d], the little end
 * first, in base64.  beta is the inverse temperature of the weights. */
json_t *batch_view_embeddings(const struct batch_view *batch, double beta);

/*
 * batch_view_drawn() returns what the sampler drew for a row, view * n + place,
 * below views n; null where that is not known:
 *
 *     {sampler, columns, outside, effective,
 *      negatives: [{id, label, view, epoch, weight, cosine, row}]}
 *
 * The row of a negative that is not in the batch is null.
 */
json_t *batch_view_drawn(const struct batch_view *batch,
                         const struct data_set *set, size_t row);

/* batch_view_negative() returns {id, label, view, epoch, weight, cosine}; -1:
 * not known. */
json_t *batch_view_negative(const struct data_set *set, int64_t id, int view,
                            int64_t epoch, float weight, float cosine);

#endif
