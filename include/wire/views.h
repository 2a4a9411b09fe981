#ifndef WIRE_VIEWS_H
#define WIRE_VIEWS_H

/* Limits of the fields of a batch (util/batch.h) in item, batch and pairs. */
enum {
    WIRE_VIEW_MAX = 65535,
    WIRE_BATCH_MAX = 65536,
    WIRE_CAPTIONS_MAX = 64,       /* captions of a sample */
    WIRE_TOKENS_MAX = 4096,       /* tokens of a text */
    WIRE_VOCABULARY_MAX = 1 << 24 /* ids of tokens */
};

#endif
