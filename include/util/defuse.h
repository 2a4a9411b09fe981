#ifndef UTIL_DEFUSE_H
#define UTIL_DEFUSE_H

/*
 * defuse() makes other people's text safe to print, in its place: every byte
 * that is no UTF-8 or of a control character, those of C1 and of the direction
 * of writing (U+202A to U+202E, U+2066 to U+2069) included, becomes '?', which
 * moves no cursor, makes no second line and turns no text around; a tab becomes
 * a blank.
 * Thread-safe.
 */
void defuse(char *text);

#endif
