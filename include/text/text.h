#ifndef TEXT_TEXT_H
#define TEXT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

/*
 * A text as tokenisers see it.  Its normal form is made in this order: U+FFFD
 * for each maximal part that is no UTF-8; normalisation form C
 * (Unicode standard annex 15); one space for each run of White_Space, none at
 * the ends; lower case by the full mapping, without a locale, that is not
 * normalised again.
 *
 * No step looks across white space: the normal form of a text is that of its
 * words, with spaces between them.
 */

/*
 * text_word() finds the first word at *at or behind it in a text of len
 * bytes: a run of characters without White_Space.  1 with its place and length,
 * *at behind it; 0 where there is none.
 */
int text_word(const char *text, size_t len, size_t *at, const char **word,
              size_t *n);

/* text_fold() writes the normal form of a word of n >= 1 bytes over what
 * *fold held. */
void text_fold(const char *word, size_t n, struct data_bytes *fold);

/* text_append() adds n bytes to a text. */
void text_append(struct data_bytes *text, const void *from, size_t n);

/*
 * text_piece() is the length of the piece of a folded word, n >= 1, that
 * byte-level byte-pair encoding may not go beyond: the first of
 *
 *     's 't 're 've 'm 'll 'd | letters (category L) | one number (N) | others
 *
 * that fits (CLIP's pattern).
 */
size_t text_piece(const uint8_t *fold, size_t n);

/* What stands for bytes that are no UTF-8. */
enum { UTF8_BAD = 0xfffd };

/*
 * text_utf8_next() reads the character that begins at text, len >= 1: returns
 * how many bytes it has.  Bytes that are no UTF-8 (Unicode 15, table 3-7) are
 * UTF8_BAD, one for each maximal part: as many bytes as begin a character, or
 * one where none does (Unicode 15, section 3.9, "U+FFFD Substitution of Maximal
 * Subparts").
 */
size_t text_utf8_next(const void *text, size_t len, uint32_t *c);

/*
 * text_utf8_cut() is the largest length up to `most` that divides no character
 * of a text of len bytes.
 */
size_t text_utf8_cut(const void *text, size_t len, size_t most);

#endif
