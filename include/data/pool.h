#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "image/codec.h"
#include "util/err.h"

/*
 * A cache of decoded images, for a caller that reads samples repeatedly.
 * Decoded images are cached until keep_bytes are used, and never evicted: for
 * samples in random order no other policy has more hits.  Bad samples (missing,
 * changed, not a sound image, too large) are recorded, too.  A sample that
 * could not be read for an external reason (DATA_UNREAD, data/set.h) is not
 * bad, and has no substitute.  The pixels of a row of numbers (data/row.h) are
 * its bytes, in an image that is one pixel high; it is not cached.
 */
struct data_pool;

struct data_pool_settings {
    enum image_policy policy; /* for files that decode with a warning */
    size_t max_pixels;        /* of an image */
    size_t keep_bytes;        /* maximum bytes of decoded pixels in the cache */
    int captioned;            /* a sample without a caption is bad */
};

/* data_pool_new() does not own the set, which must outlive the pool.  It uses 9
 * bytes a sample, plus the cached images. */
struct data_pool *data_pool_new(struct data_set *set,
                                const struct data_pool_settings *how);
void data_pool_free(struct data_pool *pool);

/*
 * data_pool_get() returns the pixels of a sample, id < size of the set; they
 * last until the next call.  NULL, with its name and the reason, if the sample
 * is bad or could not be read; data_pool_unread() distinguishes them.
 *   region  what the caller reads of the image (NULL: all of it): other pixels
 *           may be undefined
 */
const struct image *data_pool_get(struct data_pool *pool, size_t id,
                                  const struct image_region *region,
                                  struct err *err);

/* data_pool_unread() returns 1 if the latest sample could not be read, 0 if it
 * was bad or good. */
int data_pool_unread(const struct data_pool *pool);

/* data_pool_bad() returns the number of bad samples so far. */
size_t data_pool_bad(const struct data_pool *pool);

/*
 * data_pool_substitute() finds the substitute of a bad sample: from a random
 * sample on, keyed by (seed, id, epoch), the first good one in the order of ids
 * that is not in `taken`.  The same arguments give the same substitute.
 *   taken  [n] ids that are not allowed: those of the batch
 * Returns its id, or -1 if there is none, or one could not be read.
 */
int64_t data_pool_substitute(struct data_pool *pool, uint64_t seed, size_t id,
                             uint64_t epoch, size_t n, const int64_t *taken,
                             struct err *err);
