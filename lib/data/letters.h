#pragma once

#include <stddef.h>
#include <stdint.h>

/* In pixels, before zooming: a letter, and the distance to the next. */
enum { LETTER_WIDTH = 5, LETTER_HEIGHT = 7, LETTER_STEP = 6 };

/* data_letters_count() returns the letters of a text in UTF-8: one for each
 * code point. */
size_t data_letters_count(const char *text);

/*
 * data_letters_write() writes a text in black.  A letter that is not printable
 * ASCII becomes '?'; a text of more than `most` letters is cut to end in "..".
 *   zoom   >= 1: a dot becomes zoom x zoom pixels
 *   pixel  the upper left corner of the text, in a picture of `width` x ... x 3
 */
void data_letters_write(const char *text, size_t most, size_t zoom,
                        size_t width, uint8_t *pixel);
