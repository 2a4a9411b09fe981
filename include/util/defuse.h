#ifndef UTIL_DEFUSE_H
#define UTIL_DEFUSE_H

/*
 * defuse() makes other people's text safe to print, in its place: every byte
 * that is no UTF-8 and every control character, C1's included, becomes '?',
 * which moves no cursor and makes no second line; a tab becomes a blank.
 * Thread-safe.
 */
void defuse(char *text);

#endif
