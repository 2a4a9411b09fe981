#ifndef TEXT_UTF8_H
#define TEXT_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* What stands for bytes that are no UTF-8. */
enum { UTF8_BAD = 0xfffd };

/*
 * data_utf8_next() reads the character that begins at text, len >= 1: returns
 * how many bytes it has.  Bytes that are no UTF-8 (Unicode 15, table 3-7) are
 * UTF8_BAD, one for each maximal part: as many bytes as begin a character, or
 * one where none does (Unicode 15, section 3.9, "U+FFFD Substitution of Maximal
 * Subparts").
 */
size_t data_utf8_next(const void *text, size_t len, uint32_t *c);

/*
 * data_utf8_cut() is the largest length up to `most` that divides no character
 * of a text of len bytes.
 */
size_t data_utf8_cut(const void *text, size_t len, size_t most);

#endif
