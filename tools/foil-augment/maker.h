#ifndef FOIL_AUGMENT_MAKER_H
#define FOIL_AUGMENT_MAKER_H

#include "data/gather.h"
#include "data/pool.h"
#include "text/vocabulary.h"
#include "util/spare.h"
#include "wire/item.h"

#include "augment.h"
#include "command.h"

/* Captions of a batch as tokens; all zeros where no vocabulary was given. */
struct augment_text {
    const struct augment_options *options;
    const struct data_set *set;
    struct text_vocabulary *vocabulary;
    size_t most;                           /* K */
    int32_t *tokens, *lengths, *captions;  /* [b,len], [b], [b] */
    int32_t *extra_tokens, *extra_lengths; /* [s,len], [s] */
    size_t tokens_room, lengths_room, captions_room, extra_tokens_room,
        extra_lengths_room;
};

/*
 * A maker turns a plan item into a batch: the images of its ids, decoded, and
 * their augmented views.  It speaks with nobody: what others should hear of
 * goes through the functions of its watcher.
 *
 * While nobody waits, images are decoded and views made by a thread of the
 * lowest priority, so that a trainer on the same machine keeps its processor
 * time; as soon as somebody waits, by the caller's.
 */
struct augment_maker {
    const struct augment_options *options;
    struct augment_watcher watcher;
    struct data_set *set;
    struct data_pool *pool;
    uint64_t seed; /* of the views: ours, mixed with the data set's digest */
    size_t bad;    /* samples that turned out bad so far */
    struct data_gather gather;
    int64_t *variant; /* [views,b] which of the fixed views, drawn by us */
    size_t variant_room;
    struct augment_text text;
    struct augment_command *command; /* or NULL */
    int stop;                        /* descriptor that ends a wait for it */
    struct spare *spare; /* that thread; NULL: all by the caller's */
};

/* Opens the data set; ends the tool where that fails. */
void augment_maker_open(struct augment_maker *maker,
                        const struct augment_options *options);
void augment_maker_close(struct augment_maker *maker);

/* 0 where the views of an item's batch and its extra images have no more than
 * so many bytes; else -1 with a sentence. */
int augment_maker_fits(const struct augment_maker *maker,
                       const struct wire_item *item, size_t most,
                       struct err *err);

/* Says once, before the first batch, what memory `room` of them take. */
void augment_maker_tell(const struct augment_maker *maker,
                        const struct wire_item *item, size_t room);

/*
 * The batch of an item, as a message.  Ends the tool where too many samples are
 * bad, where the item is for other fixed views than ours, and where a command
 * fails, or is waited for and we are asked to stop.
 */
struct wire_msg *augment_maker_make(struct augment_maker *maker,
                                    const struct wire_item *item);

/* Names what all augmenters of a run must have in common besides the data. */
void augment_maker_recipe(const struct augment_maker *maker,
                          char recipe[AUGMENT_RECIPE]);

/* Draws the contact sheet of --sheet. */
void augment_maker_sheet(struct augment_maker *maker);

/*
 * serve.c: augment_serve() gets items from a selector and brings their batches
 * to a trainer (flow/relay.h), until the run is over, --max-items are sent, or
 * a signal comes; it ends the tool where that cannot be.
 */
void augment_serve(struct augment_maker *maker, struct stage *stage);

#endif
