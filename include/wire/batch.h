#ifndef WIRE_BATCH_H
#define WIRE_BATCH_H

#include "wire/item.h"

/*
 * batch: views of a plan item, ready to be trained; augmenter to trainer.
 * Arrays of a decoded one point into the message, but for `substituted`, which
 * is a copy; wire_batch_release() frees both.
 */
enum {
    WIRE_SIDE_MAX = 4096,
    WIRE_SUBSTITUTED_MAX = 1024,
    WIRE_SHARDS_MAX = 65536
};

struct wire_batch {
    struct wire_place at;
    int64_t steps, epochs;          /* of the item */
    char plan[256], order[33];      /* of the item */
    size_t n, n_views;              /* b, 1 .. WIRE_BATCH_MAX; v, >= 1 */
    size_t height, width, channels; /* h, w, c of every view, 1 ..
                                     * WIRE_SIDE_MAX */
    size_t n_extra, n_tokens;       /* r, extra samples; len, longest text in
                                     * tokens, up to WIRE_TOKENS_MAX; 0: none */
    int64_t rejected;               /* wanted images that could not be used */
    size_t n_substituted;           /* up to WIRE_SUBSTITUTED_MAX */
    int64_t (*substituted)[2];      /* ids: wanted, used in its place */
    const int64_t *ids;   /* [b] of views, substitutes included, each once */
    const uint8_t *views; /* [v,b,h,w,c] */
    const int64_t *extra_ids; /* [r] or NULL */
    const uint8_t *extra;     /* [r,h,w,c] one view each of these */
    int64_t shard[2]; /* s, V: this is shard s of V of the item; 0, 0: all of
                       * the item */
    /* One caption of each sample, as tokens.  Decoding does not check that the
     * last token is the one that ends a text: that takes the vocabulary. */
    int64_t texts;              /* K, the most captions that a sample has, up to
                                 * WIRE_CAPTIONS_MAX; 0: no captions */
    int64_t vocabulary;         /* V, tokens are below it */
    const int32_t *tokens;      /* [b,len]; what is behind a row's end does not
                                 * count; or NULL, as are both that follow */
    const int32_t *lengths;     /* [b] 2 .. len */
    const int32_t *captions;    /* [b] which of its captions, 0 .. K - 1 */
    size_t n_texts;             /* s, extra captions; 0: none */
    const int64_t *extra_texts; /* [s,2] as in the item, or NULL */
    const int32_t *extra_tokens, *extra_lengths; /* [s,len], [s] */
    int encode_only;                             /* as in the item */
    struct wire_extra of_extra;
    struct wire_variants variants; /* which views of their samples they are */
    struct wire_msg *msg;          /* held by a decoded one; else NULL */
};

WIRE_SIZED(batch, WIRE_BATCH)

#endif
