#ifndef UTIL_NOFILE_H
#define UTIL_NOFILE_H

/* nofile_raise() raises the limit of open files of this process to its maximum
 * (RLIMIT_NOFILE, soft to hard).  Returns the new limit. */
unsigned long nofile_raise(void);

#endif
