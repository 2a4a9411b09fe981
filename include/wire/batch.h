#pragma once

#include "util/batch.h"
#include "wire/codec.h"
#include "wire/progress.h"

/* The messages of edges plan and batch with samples; wire/progress.h has those
 * about progress. */

/* Limits of the fields of a batch (util/batch.h) in item, batch and
 * weights.get. */
enum {
    WIRE_VIEW_MAX = 65535,
    WIRE_SMALL_MAX = 64, /* views of a second size */
    WIRE_BATCH_MAX = 65536,
    WIRE_CAPTIONS_MAX = 64,       /* captions of a sample */
    WIRE_TOKENS_MAX = 4096,       /* tokens of a text */
    WIRE_VOCABULARY_MAX = 1 << 24 /* ids of tokens */
};

/* item: one step of the plan, from selector to augmenter. */
struct wire_item {
    int64_t session;    /* as in wire/progress.h */
    char run[128];      /* of the sender's hello; or "" */
    int64_t size;       /* images in the data set, >= 1; the bound of ids */
    char plan[256];     /* the options of the selector, for people; or "" */
    char order[33];     /* a digest of the order of this epoch; or "" */
    struct batch batch; /* place, b, ids, each once; v, fixed, view_of and extra
                         * as wanted */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/* wire_item_get() also refuses an item for a data set of another size. */
WIRE_SIZED(item, WIRE_ITEM)

/* batch: views of a plan item, ready to be trained; augmenter to trainer.
 * Arrays of a decoded batch point into the message, except `substituted`, which
 * is a copy; wire_batch_release() releases both. */
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
                                     * substituted; made; of extra all but z */
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

/* reject: samples that could not be used, from augmenter to selector. */
struct wire_reject {
    struct wire_place at; /* of the item that asked for them */
    char reason[256];
    size_t n;             /* >= 1 */
    const int64_t *ids;   /* [n] */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_HELD(reject, WIRE_REJECT)
