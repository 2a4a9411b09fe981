#ifndef DATA_SIDECAR_H
#define DATA_SIDECAR_H

#include <stddef.h>

#include "data/index.h"

/* What lies beside images in words: classes, captions as text and in JSON. */

enum { SIDECAR_MAX_JSON = 1 << 20 }; /* bytes of a .json with captions */

/*
 * data_sidecar_tidy() takes from a text of n bytes what would garble a terminal
 * or a table, and blanks at its ends; returns its length.
 */
size_t data_sidecar_tidy(char *text, size_t n);

/*
 * data_sidecar_line() adds one caption to those in *lines, which are separated
 * by '\n': tidy, line ends as blanks, of DATA_CAPTION_BYTES at most, with
 * U+FFFD for what is no UTF-8.  An empty one is none; the 65th of a sample is
 * not added.  *notes counts what was changed.
 */
void data_sidecar_line(const char *text, size_t n, struct data_bytes *lines,
                       struct data_index_captions *notes);

/* data_sidecar_text() adds those of a text of n bytes, one a line. */
void data_sidecar_text(const char *text, size_t n, struct data_bytes *lines,
                       struct data_index_captions *notes);

/*
 * data_sidecar_json() adds those of a JSON object: the string "caption", or the
 * strings of the list "captions".  What is no object is counted as broken.
 */
void data_sidecar_json(const char *text, size_t n, struct data_bytes *lines,
                       struct data_index_captions *notes);

/* data_sidecar_add() adds counts up. */
void data_sidecar_add(struct data_index_captions *sum,
                      const struct data_index_captions *more);

#endif
