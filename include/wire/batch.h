#ifndef WIRE_BATCH_H
#define WIRE_BATCH_H

#include "wire/item.h"

/*
 * batch: views of a plan item, ready to be trained; augmenter to trainer.
 * Arrays of a decoded batch point into the message, except `substituted`, which
 * is a copy; wire_batch_release() releases both.
 */
enum {
    WIRE_SIDE_MAX = 4096,
    WIRE_SUBSTITUTED_MAX = 1024,
    WIRE_SHARDS_MAX = 65536
};

struct wire_batch {
    int64_t session;                /* of the item */
    char plan[256], order[33];      /* of the item */
    struct batch batch;             /* place, b, v, ids, each once, fixed,
                                     * view_of, texts, captions, pixels,
                                     * substituted; of extra all but z */
    size_t height, width, channels; /* h, w, c of every view, 1 ..
                                     * WIRE_SIDE_MAX */
    int64_t rejected;               /* wanted images that could not be used */
    int64_t shard[2]; /* s, V: this is shard s of V of the item; 0, 0: all of
                       * the item */
    /* One caption of each sample, as tokens.  Decoding does not check that the
     * last token is the one that ends a text: that takes the vocabulary. */
    size_t n_tokens;        /* len, longest text in tokens, up to
                             * WIRE_TOKENS_MAX; 0: none */
    int64_t vocabulary;     /* V, every token is below it */
    const int32_t *tokens;  /* [b,len]; elements after a row's end are
                             * ignored; or NULL, then `lengths` is, too */
    const int32_t *lengths; /* [b] 2 .. len */
    const int32_t *extra_tokens, *extra_lengths; /* [s,len], [s] */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_SIZED(batch, WIRE_BATCH)

#endif
