#ifndef WIRE_BATCH_H
#define WIRE_BATCH_H

#include "wire/item.h"

/*
 * batch: views of a plan item, ready to be trained; augmenter to trainer.  Of
 * a decoded one `substituted` is its own, and nothing of the views is copied.
 */
enum { WIRE_SIDE_MAX = 4096, WIRE_SUBSTITUTED_MAX = 1024 };

struct wire_batch {
    struct wire_place at;
    int64_t steps, epochs;          /* of the item */
    size_t n, n_views;              /* b, 1 .. WIRE_BATCH_MAX; v, >= 1 */
    size_t height, width, channels; /* h, w, c of every view, 1 ..
                                     * WIRE_SIDE_MAX */
    size_t n_extra, n_tokens;       /* r, len; 0: none */
    int64_t rejected;               /* wanted images that could not be used */
    size_t n_substituted;           /* up to WIRE_SUBSTITUTED_MAX */
    int64_t (*substituted)[2];      /* ids: wanted, used in its place */
    const int64_t *ids;       /* [b] that are really in views, each once */
    const uint8_t *views;     /* [v,b,h,w,c] */
    const int64_t *extra_ids; /* [r] or NULL */
    const uint8_t *extra;     /* [r,h,w,c] one view each of these */
    const int32_t *tokens;    /* [b,len] captions, or NULL */
    int encode_only;          /* as in the item */
    struct wire_extra of_extra;
    struct wire_variants variants; /* which views they are */
    struct wire_msg *msg;          /* held by a decoded one; else NULL */
};

WIRE_SIZED(batch, WIRE_BATCH)

#endif
