#pragma once

#include <stddef.h>

/* Files that are built into a program, such as those of a web page.
 * scripts/embed generates their table.  Each has a zero after its last byte. */
struct asset {
    const char *name; /* "view.js" */
    const unsigned char *bytes;
    size_t size;
};

extern const struct asset assets[]; /* a NULL name ends the table */
