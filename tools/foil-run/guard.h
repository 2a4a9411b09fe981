#ifndef FOIL_RUN_GUARD_H
#define FOIL_RUN_GUARD_H

#include <sys/types.h>

#include "util/err.h"

/*
 * A second process that knows which process groups are ours.  When this one
 * ends without having told it that they are gone, killed by kill -9 say, it
 * kills them: what a stage has started itself as well, which no parent-death
 * signal reaches.  Leaders have got SIGTERM by that signal, and have `grace`
 * seconds; the rest of a group ends with its leader.  Of the group of a script
 * the guard asks all to end, and all have these seconds.
 */
struct guard {
    pid_t pid;
    int pipe; /* to it; its end is ours */
};

/* What the guard reads from its pipe. */
struct guard_group {
    pid_t pid; /* below zero: it is to be forgotten */
    int is_script;
};

/* guard_open() starts it: before any stage, and with SIGPIPE ignored.  No other
 * thread may run.  -1 on error. */
int guard_open(struct guard *guard, double grace, struct err *err);

/* guard_watch() tells it of a group, which is a script's or not, guard_forget()
 * that nothing is left of it.  A guard that was killed itself is passed over in
 * silence. */
void guard_watch(const struct guard *guard, pid_t group, int is_script);
void guard_forget(const struct guard *guard, pid_t group);

/* guard_close() ends it and waits for that. */
void guard_close(struct guard *guard);

#endif
