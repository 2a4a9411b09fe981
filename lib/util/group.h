#ifndef UTIL_GROUP_H
#define UTIL_GROUP_H

#include <sys/types.h>

#include "util/err.h"

/*
 * A program of the user's with all that it starts: a process group of its own,
 * so that a terminal's Ctrl-C does not reach it, which a keeper leads.  The
 * keeper is a shell that waits for our end, however it comes, and then kills
 * the group: PR_SET_PDEATHSIG would kill it at the end of the thread that
 * started it.  As long as we have not waited for the keeper, no other group has
 * that number.
 *
 * A process that has left the group, by a session of its own, is found by the
 * group's mark, FOIL_GROUP in its environment.  To be a subreaper would make
 * the stage wait for processes of others, find nothing after the stage's own
 * SIGKILL, and not tell them from its own children.
 */
struct group {
    pid_t keeper, pid; /* 0: there is none */
    int keep;          /* the keeper reads its other end */
    int status;        /* of the program, as of waitpid() */
    char mark[64];
};

/*
 * group_start() starts `sh -c LINE` with descriptors 0 to 3 as given, all above
 * 3 and CLOEXEC: the fourth is $FOIL_MEMORY in its environment.  No descriptor
 * of ours is inherited otherwise.
 */
int group_start(struct group *group, char *line, const int fd[4],
                struct err *err);

/* group_ended() returns 1 once the program itself has ended; never blocks. */
int group_ended(struct group *group);

/* group_ask() sends the program and all that it has started SIGTERM. */
void group_ask(const struct group *group);

/* group_end() kills what is left, and processes that have left the group, and
 * waits for the group: SIGKILL has no delay.  Harmless on an empty one. */
void group_end(struct group *group);

#endif
