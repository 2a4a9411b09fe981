#pragma once

/* terminal_size() returns the columns of the terminal of a descriptor, 80 if
 * they are not known, or 0 if it is no terminal. *rows, unless NULL, becomes
 * its rows, 24 if they are not known; it is not set without a terminal. */
int terminal_size(int fd, int *rows);

/*
 * defuse() makes text from outside safe to print, in place: '?' replaces each
 * byte of invalid UTF-8 or of a control character, including C1 and the
 * characters that change the direction of writing (U+202A to U+202E, U+2066 to
 * U+2069).  So the text cannot move the cursor, start a line or turn other text
 * around.  A tab becomes a blank.  Thread-safe.
 */
void defuse(char *text);
