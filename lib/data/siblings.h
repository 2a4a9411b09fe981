#ifndef DATA_SIBLINGS_H
#define DATA_SIBLINGS_H

#include <stddef.h>
#include <stdint.h>

#include "data/index.h"

#include "layout.h"

/*
 * Files that belong together, since they have one name up to the first dot:
 * images, and a class and captions for them, in any order.  Starts as zeros.
 */
struct siblings {
    char *key; /* that name */
    size_t room, len;
    size_t first;            /* sample that may be one of them */
    uint64_t caption, class; /* in the text of the index; 0: none so far */
    struct data_bytes lines; /* captions, until there is an image */
    int has_text;            /* they are of a .txt */
    struct data_bytes files; /* names of files with class or captions, each
                                ended by a zero byte */
    struct data_index_captions notes; /* of these */
};

/* data_siblings_has() returns 1 where a file of that name belongs to them;
 * data_siblings_enter() begins with others, which that file belongs to;
 * data_siblings_leave() with none. */
int data_siblings_has(const struct siblings *siblings, const char *name);
void data_siblings_enter(struct siblings *siblings, const char *name,
                         size_t samples);
void data_siblings_leave(struct siblings *siblings, size_t samples);

/* data_siblings_file() adds the name of a file with a class or captions. */
void data_siblings_file(struct siblings *siblings, const char *name);

/* data_siblings_text() and data_siblings_json() take captions of a .txt and of
 * a .json, of n bytes; the former replace the latter. */
void data_siblings_text(struct siblings *siblings, const char *text, size_t n);
void data_siblings_json(struct siblings *siblings, const char *text, size_t n);

/* data_siblings_settle() gives the images the captions, if there are both, and
 * adds what was done to these. */
void data_siblings_settle(struct siblings *siblings, struct layout_parts *parts,
                          struct data_index_captions *notes);

void data_siblings_release(struct siblings *siblings);

#endif
