#ifndef UTIL_LOCK_H
#define UTIL_LOCK_H

#include <stddef.h>

#include "util/err.h"

/*
 * A file that one process holds as long as it lives, by a lock of fcntl(2): the
 * kernel releases it, however the process ends, and a copy of the file is not
 * held.  The file has a line that says which process holds it, and where: "PID
 * HOST", with " stopping" behind it once the process was asked to end.
 */
enum { LOCK_HOST = 65 }; /* bytes of a host's name, zero included */

struct lock {
    int held;             /* 1: a process holds it, as the kernel says */
    long pid;             /* of that process, or the last one; 0: not known */
    char host[LOCK_HOST]; /* of that process, by the file; "": it has none */
    int here;             /* 1: host is this machine, or "" */
    int stopping;         /* 1: the process was asked to end */
};

/*
 * lock_take() holds a file, made where it is not there, until this process
 * ends, and writes into it which process holds it.  Returns 1, 0 when another
 * process has it, or -1.  A process takes a file once, and must not open it
 * for anything else: closing another descriptor of it would release the lock.
 */
int lock_take(const char *path, struct err *err);

/* lock_removed() returns 1 where a file that this process holds has no name any
 * more: its folder was removed. */
int lock_removed(void);

/* lock_note_stopping() writes that this process was asked to end, in the files
 * that it holds: another signal would end it at once.  Thread-safe. */
void lock_note_stopping(void);

/* lock_look() fills in *lock for a file.  Returns 0, also where the file is not
 * there, or -1.  Not for the process that holds it. */
int lock_look(const char *path, struct lock *lock, struct err *err);

/* lock_held() returns 1 when a process holds FOLDER/lock, also one whose pid is
 * not visible here, as in another container; 0 where none does, or the file
 * cannot be looked at. */
int lock_held(const char *folder);

/* lock_holder() returns the pid of the process that holds FOLDER/lock; 0 where
 * none does, or the file cannot be looked at. */
long lock_holder(const char *folder);

#endif
