#ifndef WIRE_ITEM_H
#define WIRE_ITEM_H

#include "wire/codec.h"
#include "wire/next.h"
#include "wire/views.h"

/* item: one step of the plan, from selector to augmenter. */
struct wire_item {
    struct wire_place at;
    char run[128];        /* of the sender's hello; or "" */
    int64_t size;         /* images in the data set, >= 1; every id is below */
    int64_t steps;        /* in this epoch, > step */
    int64_t epochs;       /* planned in all, > epoch */
    char plan[256];       /* the options of the selector, for people; or "" */
    char order[33];       /* a digest of the order of this epoch; or "" */
    int encode_only;      /* features are wanted, nothing is trained */
    size_t n, n_extra;    /* b, 1 .. WIRE_BATCH_MAX; r, the same, or 0 */
    const int64_t *ids;   /* [b] samples that are trained, each once */
    const int64_t *extra; /* [r] further samples to encode; may repeat */
    size_t n_texts;       /* s, 1 .. WIRE_BATCH_MAX, or 0 */
    const int64_t *extra_texts; /* [s,2] further captions to encode: (sample,
                                 * which of its captions); or NULL */
    struct wire_extra of_extra;
    struct wire_variants variants; /* which views are wanted */
    struct wire_msg *msg;          /* held by a decoded one; else NULL */
};

/* wire_item_get() also refuses an item whose size is not that of our data
 * set. */
WIRE_SIZED(item, WIRE_ITEM)

#endif
