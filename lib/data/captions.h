#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/index.h"

#include "cells.h"
#include "layout.h"

/* Files that belong to images: classes, captions as text and in JSON. */

enum { CAPTIONS_MAX_JSON = 1 << 20 }; /* bytes of a .json with captions */

/* data_captions_tidy() removes control characters from a text of n bytes, and
 * blanks at its ends; returns the new length. */
size_t data_captions_tidy(char *text, size_t n);

/*
 * data_captions_line() adds one caption to those in *lines, which '\n'
 * separates: tidied, with blanks for line ends, at most TEXT_CAPTION_BYTES,
 * with U+FFFD for invalid UTF-8.  An empty caption and the 65th of a sample are
 * not added. *notes counts the changes.
 */
void data_captions_line(const char *text, size_t n, struct data_bytes *lines,
                        struct data_index_captions *notes);

/* data_captions_text() adds the captions of a text of n bytes, one a line. */
void data_captions_text(const char *text, size_t n, struct data_bytes *lines,
                        struct data_index_captions *notes);

/* Files that belong together, as their names are equal up to the first dot:
 * images, and their class and captions, in any order.  Starts as zeros. */
struct siblings {
    char *key; /* the name up to the first dot */
    size_t room, len;
    size_t first;            /* first sample of them */
    uint64_t caption, class; /* offsets in the text of the index; 0: none yet */
    struct data_bytes lines; /* captions, until there is an image */
    int has_text;            /* 1: the captions are from a .txt */
    struct data_bytes files; /* names of files with class or captions, each
                                with a final zero byte */
    struct data_index_captions notes; /* of these captions */
};

/* data_siblings_has() returns 1 if a file of that name belongs to them;
 * data_siblings_begin() begins new siblings with that file;
 * data_siblings_reset() empties the struct. */
int data_siblings_has(const struct siblings *siblings, const char *name);
void data_siblings_begin(struct siblings *siblings, const char *name,
                         size_t samples);
void data_siblings_reset(struct siblings *siblings, size_t samples);

/* data_siblings_captions() reads captions of n bytes, of a .txt, or of a .json;
 * those of a .txt replace those of a .json. */
void data_siblings_captions(struct siblings *siblings, int json,
                            const char *text, size_t n);

/* data_siblings_assign() assigns the captions to the images, if there are both,
 * and adds their counts to *notes. */
void data_siblings_assign(struct siblings *siblings, struct layout_parts *parts,
                          struct data_index_captions *notes);

void data_siblings_release(struct siblings *siblings);

/* data_table_read() assigns the captions of a table to the samples of an
 * unfinished index, as data_index_table(). */
int data_table_read(struct layout_parts *parts, const char *path,
                    const struct data_columns *columns,
                    struct data_index_captions *captions,
                    struct data_notes *notes, struct data_index_rows *rows,
                    struct err *err);
