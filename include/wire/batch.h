#ifndef WIRE_BATCH_H
#define WIRE_BATCH_H

#include "wire/item.h"

/*
 * batch: views of a plan item, ready to be trained; augmenter to trainer.
 *
 *     session, epoch, step, steps, epochs   from the item
 *     height, width, channels   whole, 1 .. WIRE_SIDE_MAX; of every view
 *     rejected     whole  how many wanted images could not be used
 *     substituted  [[wanted, used] ...], optional, up to 1024 pairs
 *     ids          tensor i8 [b]: the samples that are really in views
 *     views        tensor u1 [v,b,h,w,c]: v views of each
 *     extra_ids    tensor i8 [r]       optional, both or neither:
 *     extra        tensor u1 [r,h,w,c] one view each of the item's extra
 *     tokens       tensor i4 [b,len]   optional: captions
 *     look         flag                optional: as in the item
 *
 * and which views they are, as in wire/views.h.
 */
enum { WIRE_SIDE_MAX = 4096, WIRE_SUBSTITUTED_MAX = 1024 };

struct wire_batch {
    struct wire_place at;
    int64_t steps, epochs;
    size_t n, n_views, height, width, channels; /* b, v, h, w, c */
    size_t n_extra, n_tokens;                   /* r, len */
    int64_t rejected;
    size_t n_substituted;
    int64_t (*substituted)[2]; /* [n_substituted]: wanted, used */
    const int64_t *ids;        /* [b] */
    const uint8_t *views;      /* [v,b,h,w,c] */
    const int64_t *extra_ids;  /* [r] */
    const uint8_t *extra;      /* [r,h,w,c] */
    const int32_t *tokens;     /* [b,len] or NULL */
    int look;
    struct wire_extra of_extra;
    struct wire_variants variants;
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/*
 * As in wire/item.h.  A decoded batch owns `substituted` and holds msg, which
 * the other arrays point into: nothing of the views is copied.
 */
struct wire_msg *wire_batch_put(const struct wire_batch *batch);
int wire_batch_get(struct wire_batch *batch, struct wire_msg *msg, int64_t size,
                   struct err *err);
void wire_batch_release(struct wire_batch *batch);

#endif
