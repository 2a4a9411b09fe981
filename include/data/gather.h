#ifndef DATA_GATHER_H
#define DATA_GATHER_H

#include "data/pool.h"
#include "data/view.h"

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
 * Starts as zeros, keeps its room from batch to batch.
 */
struct data_wanted {
    size_t n, n_extra, views, size; /* b, r, v, pixels a side */
    const int64_t *ids, *extra;     /* [b], [r], below the data set's size */
    const int64_t *variant;         /* [v,b] which fixed view; or NULL */
    const int64_t *extra_view;  /* [r] which view, -1: a fresh one; or NULL */
    const int64_t *extra_epoch; /* [r] of which epoch; NULL: 0 */

    /* Takes an image of which row `row` of ->pixel is to be view `view` in an
     * epoch, and sees to it later; NULL: data_view() makes it at once. */
    void (*make)(void *of, const struct data_image *image, int64_t id,
                 uint64_t epoch, uint64_t view, size_t row);
    void *of;
};

struct data_gather {
    struct data_wanted want;
    int64_t *ids;              /* [b+r] the samples used */
    uint8_t *pixel;            /* [v,b,size,size,3], [r,size,size,3] */
    int64_t (*substituted)[2]; /* [n_substituted]: wanted, used instead */
    size_t n_substituted, at;
    size_t ids_room, pixel_room, substituted_room;
    struct data_scratch *scratch;
};

/*
 * data_gather_begin() begins with a batch; the arrays in *want must last until
 * it is made.
 */
void data_gather_begin(struct data_gather *gather,
                       const struct data_wanted *want);

/*
 * data_gather_next() makes all views of the next sample: views 0 .. v - 1, and
 * view v of an extra one, or the view that is named.  Where fixed views are
 * wanted, number k is view k of epoch 0, whatever the epoch is.
 *   recipe   of the size that was begun with
 *   seed, epoch   as in data_view()
 * Returns 1: one is made, 0: there was none left, -1: a sample could not be
 * read, or is bad and there is no substitute.  *why also names each substitute.
 */
int data_gather_next(struct data_gather *gather, struct data_pool *pool,
                     const struct data_recipe *recipe, uint64_t seed,
                     uint64_t epoch, struct err *why);

void data_gather_release(struct data_gather *gather);

/*
 * data_variants() says which `views` of A fixed views each sample of a batch
 * shows in an epoch: 0 .. v - 1 where these are all, else different ones drawn
 * at random.
 *   seed      as in data_view()
 *   A         >= views
 *   variant   [views,b] out
 */
void data_variants(uint64_t seed, uint64_t epoch, size_t b, const int64_t *ids,
                   size_t A, size_t views, int64_t *variant);

#endif
