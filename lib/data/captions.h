#ifndef DATA_CAPTIONS_H
#define DATA_CAPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "data/index.h"

#include "cells.h"
#include "layout.h"

/* What lies beside images in words: classes, captions as text and in JSON. */

enum { CAPTIONS_MAX_JSON = 1 << 20 }; /* bytes of a .json with captions */

/*
 * data_captions_tidy() takes from a text of n bytes what would garble a
 * terminal or a table, and blanks at its ends; returns its length.
 */
size_t data_captions_tidy(char *text, size_t n);

/*
 * data_captions_line() adds one caption to those in *lines, which are separated
 * by '\n': tidy, line ends as blanks, of TEXT_CAPTION_BYTES at most, with
 * U+FFFD for what is no UTF-8.  An empty one is none; the 65th of a sample is
 * not added.  *notes counts what was changed.
 */
void data_captions_line(const char *text, size_t n, struct data_bytes *lines,
                        struct data_index_captions *notes);

/* data_captions_text() adds those of a text of n bytes, one a line. */
void data_captions_text(const char *text, size_t n, struct data_bytes *lines,
                        struct data_index_captions *notes);

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

/* data_siblings_captions() takes captions of n bytes, of a .txt, or of a .json,
 * which those of a .txt replace. */
void data_siblings_captions(struct siblings *siblings, int json,
                            const char *text, size_t n);

/* data_siblings_settle() gives the images the captions, if there are both, and
 * adds what was done to these. */
void data_siblings_settle(struct siblings *siblings, struct layout_parts *parts,
                          struct data_index_captions *notes);

void data_siblings_release(struct siblings *siblings);

/*
 * data_table_read() gives the samples of an index in the making the captions of
 * a table, as data_index_table() says.
 */
int data_table_read(struct layout_parts *parts, const char *path,
                    const struct data_columns *columns,
                    struct data_index_captions *captions,
                    struct data_notes *notes, struct data_index_rows *rows,
                    struct err *err);

#endif
