#ifndef DATA_GATHER_H
#define DATA_GATHER_H

#include "data/pool.h"
#include "image/view.h"
#include "util/batch.h"

/*
 * The pixels of a batch: views of some samples and one view each of some
 * further ones, made sample by sample.  A bad sample is replaced by one that
 * is good and not in the batch (data_pool_substitute()), the same one in
 * every process that makes the batch.
 *
 *     data_gather_begin(&gather, ...);
 *     while ((rc = data_gather_next(&gather, ...)) > 0)
 *         something that must not wait;
 *
 * A struct data_gather starts as zeros and keeps its memory from batch to
 * batch.
 */

/* What a batch is to be made of. */
struct data_wanted {
    struct batch batch; /* epoch, b, v, ids, below the data set's size, view_of;
                         * extra's n, ids, view and epoch */
    size_t size;        /* pixels a side */

    /* For a caller that makes the views itself: called with the image of a
     * sample, of which view number `view` of that epoch belongs into row `row`
     * of `pixel`, rows of size x size x 3 bytes.  The image lasts until make()
     * returns.  NULL: image_view() fills the row. */
    void (*make)(void *of, const struct image *image, int64_t id,
                 uint64_t epoch, uint64_t view, size_t row);
    void *of;
};

struct data_gather {
    struct data_wanted want;
    struct batch batch; /* what was made: that of want, with the ids, pixels and
                         * substitutes that were used */
    int64_t *ids;       /* [b+r] the samples used */
    uint8_t *pixel;     /* [v,b,size,size,3], then [r,size,size,3] */
    size_t at;          /* samples that are done */
    size_t ids_room, pixel_room, substituted_room;
    struct image_scratch *scratch;
};

/*
 * data_gather_begin() begins with a batch; the arrays in *want must last until
 * it is made.
 */
void data_gather_begin(struct data_gather *gather,
                       const struct data_wanted *want);

/*
 * data_gather_next() makes all views of the next sample: views 0 .. v - 1 of
 * one of the b samples; of an extra one the view that is named, or view
 * v where it is fresh.  With view_of, view k is that of epoch 0, whatever the
 * epoch is.
 *   recipe       its size is that of struct data_wanted
 *   seed, epoch  as in image_view()
 * Returns 1 when a sample is done, 0 when none is left, -1 when one could not
 * be read, or is bad and has no substitute.  *why is also set, to the reason,
 * where a sample was replaced: compare batch.n_substituted.
 */
int data_gather_next(struct data_gather *gather, struct data_pool *pool,
                     const struct image_recipe *recipe, uint64_t seed,
                     uint64_t epoch, struct err *why);

void data_gather_release(struct data_gather *gather);

/*
 * data_variants() says which `views` of A fixed views each sample of a batch
 * shows in an epoch: all, in their order, where A = views, else different ones
 * drawn at random, by a function of (seed, epoch, id).
 *   seed      as in image_view()
 *   ids       [b] the samples
 *   A         >= views
 *   variant   [views,b] out
 */
void data_variants(uint64_t seed, uint64_t epoch, size_t b, const int64_t *ids,
                   size_t A, size_t views, int64_t *variant);

#endif
