#pragma once

#include "util/err.h"

/*
 * A file that one process holds until it exits, by a lock of fcntl(2): the
 * kernel releases it, however the process ends, and a copy of the file is not
 * held.  The file has a line with the process that holds it: "PID HOST",
 * followed by " stopping" once the process was asked to end.
 */
enum { LOCK_HOST = 65 }; /* bytes of a host's name, zero included */

struct lock {
    int held;             /* 1: a process holds the lock */
    long pid;             /* of that process, or the last one; 0: not known */
    char host[LOCK_HOST]; /* of that process; "": not in the file */
    int here;             /* 1: host is this machine, or "" */
    int stopping;         /* 1: the process was asked to end */
};

/*
 * lock_take() creates a file if necessary, locks it until this process exits,
 * and writes its line.  Returns 1, 0 if another process holds it, or -1.  A
 * process takes a file once, and must not open it for anything else: closing
 * another descriptor of it would release the lock.
 */
int lock_take(const char *path, struct err *err);

/* lock_removed() returns 1 if a file that this process holds was unlinked, as
 * when its folder was removed. */
int lock_removed(void);

/* lock_note_stopping() adds " stopping" to the files that this process holds:
 * from now on another signal ends it at once.  Thread-safe. */
void lock_note_stopping(void);

/* lock_look() fills in *lock for a file.  Returns 0, also if there is no such
 * file, or -1.  Not for the process that holds it. */
int lock_look(const char *path, struct lock *lock, struct err *err);

/* lock_held() returns 1 if a process holds FOLDER/lock, even if its pid is not
 * visible here, as in another container; lock_holder() its pid.  Both return 0
 * if none does or the file cannot be read. */
int lock_held(const char *folder);
long lock_holder(const char *folder);
