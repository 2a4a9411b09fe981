#pragma once

#include "data/gather.h"
#include "data/pool.h"
#include "image/codec.h"
#include "image/view.h"
#include "stage/stage.h"
#include "text/captions.h"
#include "text/vocabulary.h"
#include "util/arena.h"
#include "util/digest.h"
#include "util/spare.h"
#include "wire/batch.h"

/* The command line of foil-augment, see tools/foil-augment.1. */
struct augment_options {
    struct stage_options stage;
    const char *data, *plan, *batches, *sheet, *vocabulary;
    const char *pair;           /* a second set of rows, or NULL */
    const char *command;        /* --view-command, or NULL: by the recipe */
    double limit;               /* seconds of the command for a batch */
    struct image_recipe recipe; /* its size is that of epoch 0 */
    struct image_sizes sizes;
    const char *spec; /* of the recipe, as text */
    struct text_captions_settings text;
    struct image_recipe small; /* of a second group of views */
    const char *small_spec;
    size_t small_views; /* 0: there is none */
    enum image_policy policy;
    long views, augmentations, seed, max_pixels, cache, room, max_items, rows,
        columns;
    long bad_shards; /* < 0: any number */
    int filter, dry;
    double max_bad;
};

/* Callbacks while a batch is made. */
struct augment_watcher {
    /* The bad sample pair[0] was replaced by pair[1] because of `why`. first:
     * it was not known to be bad before. */
    void (*substituted)(void *data, const struct wire_place *at,
                        const int64_t pair[2], int first,
                        const struct err *why);
    void (*progress)(void *data); /* called often while a batch is made */
    int (*is_wanted)(void *data); /* 1: the trainer waits for this batch */
    void *data;
};

const struct augment_options *augment_options_get(int argc, char **argv);

/* augment_recipe() writes a digest of all settings that decide the views and
 * the choice of captions, except the data set and the vocabulary. */
void augment_recipe(char hex[DIGEST_HEX]);

/* augment_view_options() writes how views are made as JSON for a hello
 * (foil-wire(5)), without the path of the data set if that does not fit in
 * `room` bytes. */
void augment_view_options(char *view_options, size_t room);

enum { AUGMENT_RECIPE = 64 }; /* bytes of a recipe in a hello */

/*
 * The program of --view-command.  Shared memory begins with the views that it
 * must make; at `table` there is a row for each view, then the decoded images:
 *
 *     [rows,size,size,3] u1   views
 *     [rows,5]           i8 offset of the image's pixels in bytes, its height
 *                        and width, sample, seed below 2^53
 *     [height,width,3]   u1   of each image
 */
struct augment_command;

/* augment_command_open() ends the tool if the program cannot be started. */
struct augment_command *
augment_command_open(const struct augment_options *options, uint64_t seed);
void augment_command_close(struct augment_command *command);

/* augment_command_begin() begins a batch, and sets want->make so that
 * data_gather_next() stores its images here; ends the tool if memory cannot be
 * allocated. */
void augment_command_begin(struct augment_command *command,
                           struct data_wanted *want);

/*
 * augment_command_make() makes all views, in the layout of `pixel` in struct
 * data_gather, with the numbers of the program for a loss in batch->made, which
 * are valid until the next one.  It calls watcher->progress() meanwhile.  A
 * lost program is restarted once; if it is lost again, or at a stop, the tool
 * ends.
 */
void augment_command_make(struct augment_command *command,
                          const struct augment_watcher *watcher, int stop,
                          uint8_t *pixel, struct batch *batch);

/*
 * A maker turns a plan item into a batch: the images of its ids, decoded, and
 * their augmented views.  It uses no sockets: it reports through the callbacks
 * of its watcher.
 *
 * While the trainer does not wait, a thread of the lowest priority decodes
 * images and makes views, to leave processor time to a trainer on the same
 * machine; once it waits, the caller's thread does.
 */
struct augment_maker {
    const struct augment_options *options;
    struct augment_watcher watcher;
    struct data_set *set;
    struct data_pool *pool;
    struct data_set *pair; /* of --pair, or NULL */
    struct data_pool *pair_pool;
    struct data_row row, pair_row; /* d is 0 if the samples are images */
    uint64_t seed; /* of the views: --seed mixed with the data set's digest */
    size_t bad;    /* bad samples so far */
    struct data_gather gather;
    int64_t *variant; /* [views,b] fixed views drawn here */
    size_t variant_room;
    struct text_vocabulary *vocabulary; /* NULL: no captions */
    size_t most_captions;               /* K */
    struct arena arrays;                /* captions of a batch as tokens */
    struct augment_command *command;    /* or NULL */
    int stop;                           /* descriptor that ends a wait */
    struct spare *spare; /* the low-priority thread; NULL: none */
};

/* Opens the data set; ends the tool on error. */
void augment_maker_open(struct augment_maker *maker,
                        const struct augment_options *options);
void augment_maker_close(struct augment_maker *maker);

/* 0 if the views of an item's batch and its extra images have at most `most`
 * bytes; else -1 with a message. */
int augment_maker_fits(const struct augment_maker *maker,
                       const struct wire_item *item, size_t most,
                       struct err *err);

/* Prints, before the first batch, how much memory `room` batches take. */
void augment_maker_report(const struct augment_maker *maker,
                          const struct wire_item *item, size_t room);

/* Returns the batch of an item, as a message.  Ends the tool if too many
 * samples are bad, the item is for other fixed views, or a command fails; also
 * at a stop while waiting for the command. */
struct wire_msg *augment_maker_make(struct augment_maker *maker,
                                    const struct wire_item *item);

/*
 * fetch.c: the files of items.  augment_fetch_join() is for those of a
 * selector; it returns NULL if files are not fetched (data/fetch.h), and ends
 * the tool if two windows of the plan do not fit.  augment_fetch_ready() is
 * data_fetch_ready() for the files of an item; those of the window of the
 * trainer's place and of the next are fetched after them.
 */
struct augment_fetch;
struct augment_fetch *augment_fetch_join(struct data_set *set,
                                         const struct wire_hello *selector);
void augment_fetch_close(struct augment_fetch *fetch);
int augment_fetch_ready(struct augment_fetch *fetch,
                        const struct wire_item *item,
                        const struct wire_place *place, size_t *failed,
                        struct err *err);

/* Writes the recipe: what all augmenters of a run must share besides the
 * data. */
void augment_maker_recipe(const struct augment_maker *maker,
                          char recipe[AUGMENT_RECIPE]);

/* Draws the contact sheet of --sheet. */
void augment_maker_sheet(struct augment_maker *maker);

/* serve.c: augment_serve() gets items from a selector and sends their batches
 * to a trainer (flow/relay.h), until the run is over, --max-items are sent, or
 * a signal arrives; ends the tool on error. */
void augment_serve(struct augment_maker *maker, struct stage *stage);
