#ifndef UTIL_ASSET_H
#define UTIL_ASSET_H

#include <stddef.h>

/* Files that are in a program, such as those of a page: scripts/embed makes the
 * table of them.  Each has a zero behind its last byte. */
struct asset {
    const char *name; /* "view.js" */
    const unsigned char *bytes;
    size_t size;
};

extern const struct asset assets[]; /* NULL behind the last name */

#endif
