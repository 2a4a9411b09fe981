#ifndef FOIL_AUGMENT_H
#define FOIL_AUGMENT_H

#include "image/jpeg.h"
#include "image/view.h"
#include "stage/stage.h"
#include "text/captions.h"
#include "util/digest.h"
#include "util/err.h"

/* What the command line of foil-augment says; tools/foil-augment.1. */
struct augment_options {
    struct stage_options stage;
    const char *data, *plan, *batches, *sheet, *vocabulary;
    const char
        *command; /* that makes the views in place of the recipe; or NULL */
    double limit; /* seconds that it has for a batch */
    struct image_recipe recipe;
    const char *spec; /* of it, as it was given */
    struct text_captions_how text;
    enum image_policy policy;
    long views, augmentations, seed, max_pixels, cache, room, max_items, rows,
        columns;
    int filter, dry;
    double max_bad;
};

struct wire_place;

/* The observer of a batch while it is made, which knows whether anybody waits
 * for it. */
struct augment_watcher {
    /* The bad sample pair[0] was replaced by its substitute pair[1];
     * why says what is wrong.  first: this sample was not known to be bad. */
    void (*substituted)(void *data, const struct wire_place *at,
                        const int64_t pair[2], int first,
                        const struct err *why);
    void (*lives)(void *data); /* again and again: to show life */
    int (*waits)(void *data);  /* somebody waits for a batch of ours: 1 */
    void *data;
};

const struct augment_options *augment_options_get(int argc, char **argv);

/* augment_recipe() names what decides views and choice of captions, besides
 * the data set and the vocabulary. */
void augment_recipe(char hex[DIGEST_HEX]);

/* augment_making() says for a hello how the views are made, as JSON
 * (foil-wire(5)); without the path of the data set where that has no room. */
void augment_making(char *making, size_t room);

enum { AUGMENT_RECIPE = 64 }; /* room of a recipe in a hello */

#endif
