#ifndef FOIL_AUGMENT_MAKER_H
#define FOIL_AUGMENT_MAKER_H

#include "data/gather.h"
#include "data/pool.h"
#include "wire/item.h"

#include "augment.h"
#include "text.h"

/*
 * A maker turns a plan item into a batch: the images of its ids, decoded, and
 * their augmented views.  It speaks with nobody: what others should hear of
 * goes through the functions of its watcher.
 */
struct augment_watcher {
    /* The bad sample pair[0] was replaced by its substitute pair[1];
     * why says what is wrong.  first: this sample was not known to be bad. */
    void (*substituted)(void *data, const struct wire_place *at,
                        const int64_t pair[2], int first,
                        const struct err *why);
    void (*lives)(void *data); /* between two images: to show life */
    void *data;
};

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
};

/* Opens the data set; ends the tool where that fails. */
void augment_maker_open(struct augment_maker *maker,
                        const struct augment_options *options);
void augment_maker_close(struct augment_maker *maker);

/* 0 where the views of an item's batch have no more than so many bytes, and its
 * extra images neither; else -1 with a sentence. */
int augment_maker_fits(const struct augment_maker *maker,
                       const struct wire_item *item, size_t most,
                       struct err *err);

/* Says once, before the first batch, what memory `room` of them take. */
void augment_maker_tell(const struct augment_maker *maker,
                        const struct wire_item *item, size_t room);

/*
 * The batch of an item, as a message.  Ends the tool where too many samples are
 * bad, or where the item is for other fixed views than ours.
 */
struct wire_msg *augment_maker_make(struct augment_maker *maker,
                                    const struct wire_item *item);

/* Names what all augmenters of a run must have in common besides the data. */
void augment_maker_recipe(const struct augment_maker *maker,
                          char recipe[AUGMENT_RECIPE]);

/* Draws the contact sheet of --sheet. */
void augment_maker_sheet(struct augment_maker *maker);

#endif
