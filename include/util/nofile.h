#ifndef UTIL_NOFILE_H
#define UTIL_NOFILE_H

/*
 * nofile_raise() raises the number of files that this process may have open
 * at once as far as it may (RLIMIT_NOFILE, soft to hard).
 *
 * Returns the limit that holds now.
 */
unsigned long nofile_raise(void);

#endif
