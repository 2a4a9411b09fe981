#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/mem.h"

/*
 * Normalisation of text for tokenisers, in this order: U+FFFD for each maximal
 * invalid part of UTF-8; normalisation form C (Unicode standard annex 15); one
 * space for each run of White_Space, none at the ends; lower case by the full
 * mapping, without a locale and without another normalisation.
 *
 * No step crosses white space: the normal form of a text is that of its words,
 * separated by spaces.
 */

/* text_word() finds the first word from *at on in a text of len bytes: a run of
 * characters without White_Space.  Returns 1 with its start and length, and
 * moves *at after it; 0 if there is none. */
int text_word(const char *text, size_t len, size_t *at, const char **word,
              size_t *n);

/* text_line() returns the line from *at < len on, of *n bytes without its end,
 * LF or CR LF, and moves *at after it. */
const char *text_line(const char *text, size_t len, size_t *at, size_t *n);

/* text_fold() writes the normal form of a word of n >= 1 bytes to *fold, which
 * it overwrites. */
void text_fold(const char *word, size_t n, struct data_bytes *fold);

/* text_append() adds n bytes to a text. */
void text_append(struct data_bytes *text, const void *from, size_t n);

/* text_append_utf8() adds n bytes with U+FFFD for each invalid part of UTF-8;
 * returns 1 if there was any. */
int text_append_utf8(struct data_bytes *text, const char *from, size_t n);

/*
 * text_piece() returns the length of the first piece of a folded word, n >= 1;
 * byte-pair encoding does not merge across pieces.  It is the first match of
 *
 *     's 't 're 've 'm 'll 'd | letters (category L) | one number (N) | others
 *
 * (CLIP's pattern).
 */
size_t text_piece(const uint8_t *fold, size_t n);

/* Replaces invalid UTF-8. */
enum { UTF8_BAD = 0xfffd };

/*
 * text_utf8_next() reads the character that begins at text, len >= 1, and
 * returns its length in bytes.  Invalid UTF-8 (Unicode 15, table 3-7) is
 * UTF8_BAD, one for each maximal subpart: as many bytes as can begin a
 * character, or one byte (Unicode 15, section 3.9, "U+FFFD Substitution of
 * Maximal Subparts").
 */
size_t text_utf8_next(const void *text, size_t len, uint32_t *c);

/* text_utf8_cut() returns the largest length up to `most` that does not split a
 * character of a text of len bytes. */
size_t text_utf8_cut(const void *text, size_t len, size_t most);
