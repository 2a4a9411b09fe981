#ifndef UTIL_DEFUSE_H
#define UTIL_DEFUSE_H

/*
 * defuse() makes text from outside safe to print, in place: '?' replaces each
 * byte of invalid UTF-8 or of a control character, including C1 and the
 * characters that change the direction of writing (U+202A to U+202E, U+2066 to
 * U+2069).  So the text cannot move the cursor, start a line or turn other text
 * around.  A tab becomes a blank.  Thread-safe.
 */
void defuse(char *text);

#endif
