#ifndef UTIL_LOCK_H
#define UTIL_LOCK_H

#include <stddef.h>

#include "util/err.h"

/*
 * A file that one process holds as long as it lives, by a lock of fcntl(2):
 * the kernel lets go of it, however the process ends, and a copy of the file
 * holds nobody.  It says in a line which process that is, and where: "PID
 * HOST", with " stopping" behind it once the process was asked to end.
 */
enum { LOCK_HOST = 65 }; /* bytes of a host's name, zero included */

struct lock {
    int held;             /* a process holds it, as the kernel says */
    long pid;             /* it, or the last that did; 0: not known */
    char host[LOCK_HOST]; /* where the file says that it runs; "": nowhere */
    int here;             /* that is this machine, or nothing is said */
    int stopping;         /* it was asked to end */
};

/*
 * lock_take() holds a file, made where it is not there, until this process
 * ends, and writes into it which process holds it.  Returns 1, 0 when another
 * process has it, or -1.  A process takes a file once, and opens it for nothing
 * else: to close another descriptor of it would let go of it.
 */
int lock_take(const char *path, struct err *err);

/* lock_note_stopping() writes that this process was asked to end, in the files
 * that it holds: another signal would end it at once.  Thread-safe. */
void lock_note_stopping(void);

/* lock_look() says how a file stands.  Returns 0, also where it is not there,
 * or -1.  Not for a process that holds it. */
int lock_look(const char *path, struct lock *lock, struct err *err);

/* lock_held() returns 1 when a process holds FOLDER/lock, also one that has no
 * number here, as in another container; 0 where none does, or it cannot be
 * looked at. */
int lock_held(const char *folder);

/* lock_holder() returns the process that holds FOLDER/lock; 0 where none does,
 * or it cannot be looked at. */
long lock_holder(const char *folder);

#endif
