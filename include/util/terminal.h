#ifndef UTIL_TERMINAL_H
#define UTIL_TERMINAL_H

/* terminal_size() returns how many columns the terminal of a descriptor has
 * now, 80 where it does not say, or 0 where there is no terminal; its rows (24)
 * go to *rows, which may be NULL. */
int terminal_size(int fd, int *rows);

#endif
