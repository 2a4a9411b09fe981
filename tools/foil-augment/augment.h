#ifndef FOIL_AUGMENT_H
#define FOIL_AUGMENT_H

#include "data/captions.h"
#include "data/jpeg.h"
#include "data/view.h"
#include "util/digest.h"

/* What the command line of foil-augment says; tools/foil-augment.1. */
struct augment_options {
    const char *data, *run, *plan, *batches, *keys, *allow, *sheet, *vocabulary;
    struct data_recipe recipe;
    struct data_captions_how text;
    enum data_policy policy;
    long views, augmentations, seed, max_pixels, cache, room, max_items, rows,
        columns;
    int filter;
    double max_bad;
};

const struct augment_options *augment_options_get(int argc, char **argv);

/* augment_recipe() names what decides views and choice of captions, besides
 * the data set and the vocabulary. */
void augment_recipe(char hex[DIGEST_HEX]);

enum { AUGMENT_RECIPE = 64 }; /* room of a recipe in a hello */

#endif
