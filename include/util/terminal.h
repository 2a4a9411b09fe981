#ifndef UTIL_TERMINAL_H
#define UTIL_TERMINAL_H

/* terminal_size() returns the columns of the terminal of a descriptor, 80 if
 * they are not known, or 0 if it is no terminal. *rows, unless NULL, becomes
 * its rows, 24 if they are not known; it is not set without a terminal. */
int terminal_size(int fd, int *rows);

#endif
