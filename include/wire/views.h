#ifndef WIRE_VIEWS_H
#define WIRE_VIEWS_H

/* Bounds of what item, batch and pairs say of a batch (util/batch.h). */
enum {
    WIRE_VIEW_MAX = 65535,
    WIRE_BATCH_MAX = 65536,
    WIRE_CAPTIONS_MAX = 64,       /* of a sample */
    WIRE_TOKENS_MAX = 4096,       /* of a text */
    WIRE_VOCABULARY_MAX = 1 << 24 /* ids of tokens */
};

#endif
