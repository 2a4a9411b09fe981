#ifndef FOIL_VIEW_ASSET_H
#define FOIL_VIEW_ASSET_H

#include <stddef.h>

/* The files of the page, which are in the program: build/x/tools/foil-view/
 * assets.c is made of them; each has a zero
 * behind its last byte. */
struct asset {
    const char *name; /* "view.js" */
    const unsigned char *bytes;
    size_t size;
};

extern const struct asset assets[]; /* NULL behind the last name */

#endif
