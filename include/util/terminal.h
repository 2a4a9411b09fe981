#ifndef UTIL_TERMINAL_H
#define UTIL_TERMINAL_H

/* terminal_size() returns how many columns the terminal of a descriptor has
 * now, 80 where it does not say, or 0 where there is no terminal.  Its rows, 24
 * where it does not say, go to *rows, which may be NULL; without a terminal
 * that is not set. */
int terminal_size(int fd, int *rows);

#endif
