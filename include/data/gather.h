#pragma once

#include "data/pool.h"
#include "data/row.h"
#include "image/view.h"
#include "util/batch.h"

/*
 * The pixels of a batch: views of some samples, maybe of two sizes, and one
 * view each of some further ones, made sample by sample.  A bad sample is
 * replaced by a good one that is not in the batch (data_pool_substitute()), the
 * same one in every process that makes the batch.
 *
 *     data_gather_begin(&gather, ...);
 *     while ((rc = data_gather_next(&gather, ...)) > 0) urgent work;
 *
 * A struct data_gather starts as zeros; later batches reuse its memory.
 */

/* The batch to make. */
struct data_wanted {
    struct batch batch; /* epoch, b, v, ids, below the data set's size, view_of;
                         * extra's n, ids, view and epoch */
    size_t size;        /* pixels a side */
    struct data_row row; /* of rows of numbers, which have no size; d is 0: of
                            images */
    struct data_pool *pair;   /* rows for extra samples, and for all */
    struct data_row pair_row; /* views but the first; or NULL */
    size_t pair_each; /* rows of each sample there: one is drawn in an epoch */
    size_t small_views; /* u, further views of a second size; 0: none */
    const struct image_recipe *small; /* recipe of the small views */

    /*
     * For a caller that makes the views itself: called with the image of a
     * sample, to write view number `view` of that epoch to row `row` of
     * `pixel`, rows of size x size x 3 bytes.  The image is valid until make()
     * returns.  NULL: image_view() fills the row.
     */
    void (*make)(void *of, const struct image *image, int64_t id,
                 uint64_t epoch, uint64_t view, size_t row);
    void *of;
};

struct data_gather {
    struct data_wanted want;
    struct batch batch; /* the result: that of want, with the ids, pixels and
                         * substitutes that were used */
    int64_t *ids;       /* [b+r] the samples used */
    uint8_t *pixel;     /* [v,b,size,size,3], [r,size,size,3], then the small
                         * ones, [u,b,...] */
    size_t at;          /* samples done */
    size_t ids_room, pixel_room, substituted_room;
    struct image_scratch *scratch;
};

/*
 * data_gather_begin() begins with a batch; the arrays in *want must stay valid
 * until it is made.  data_gather_bytes() returns the bytes of a view:
 * of two sets of rows those of the wider one, with zeros after a shorter row.
 */
size_t data_gather_bytes(const struct data_wanted *want);
void data_gather_begin(struct data_gather *gather,
                       const struct data_wanted *want);

/*
 * data_gather_next() makes all views of the next sample: views 0 .. v + u - 1
 * of one of the b samples; of an extra one the view that the batch names, or
 * else view v.  With view_of, view k is that of epoch 0 in every epoch. recipe
 * its size is that of struct data_wanted seed, epoch  as in image_view()
 * Returns 1 if a sample was made, 0 if none is left, -1 if one could not be
 * read, or is bad and has no substitute.  *why is also set, to the reason, if a
 * sample was replaced: compare batch.n_substituted.
 */
int data_gather_next(struct data_gather *gather, struct data_pool *pool,
                     const struct image_recipe *recipe, uint64_t seed,
                     uint64_t epoch, struct err *why);

void data_gather_release(struct data_gather *gather);

/*
 * data_variants() chooses `views` of the A fixed views of each sample of a
 * batch for an epoch: all, in their order, if A = views, else different ones at
 * random, as a function of (seed, epoch, id).
 *   seed      as in image_view()
 *   ids       [b] the samples
 *   A         >= views
 *   variant   [views,b] out
 */
void data_variants(uint64_t seed, uint64_t epoch, size_t b, const int64_t *ids,
                   size_t A, size_t views, int64_t *variant);
