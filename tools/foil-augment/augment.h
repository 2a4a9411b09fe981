#ifndef FOIL_AUGMENT_H
#define FOIL_AUGMENT_H

#include "image/codec.h"
#include "image/view.h"
#include "stage/stage.h"
#include "text/captions.h"
#include "util/digest.h"
#include "util/err.h"

/* The command line of foil-augment, see tools/foil-augment.1. */
struct augment_options {
    struct stage_options stage;
    const char *data, *plan, *batches, *sheet, *vocabulary;
    const char *command; /* --view-command, or NULL: by the recipe */
    double limit;        /* seconds of the command for a batch */
    struct image_recipe recipe;
    const char *spec; /* of the recipe, as text */
    struct text_captions_settings text;
    enum image_policy policy;
    long views, augmentations, seed, max_pixels, cache, room, max_items, rows,
        columns;
    int filter, dry;
    double max_bad;
};

struct wire_place;

/* Callbacks while a batch is made. */
struct augment_watcher {
    /* The bad sample pair[0] was replaced by pair[1] because of `why`. first:
     * it was not known to be bad before. */
    void (*substituted)(void *data, const struct wire_place *at,
                        const int64_t pair[2], int first,
                        const struct err *why);
    void (*progress)(void *data); /* called often: the work goes on */
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

#endif
