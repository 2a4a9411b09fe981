#ifndef STAGE_PROCESS_H
#define STAGE_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * A command that runs beside us, with all that it starts.  It leads a session
 * and a process group of its own, so that a terminal's Ctrl-C reaches us alone.
 *
 *     const struct stage_process_config config = {
 *         .argv = argv, .signal = SIGTERM, .grace_s = 10};
 *     struct stage_process process;
 *     int rc = stage_process_start(&process, &config); // 0, or errno
 *
 *     status = stage_process_wait(&process, -1);
 *
 * Nothing of it is left when we end, in whatever way, SIGKILL included: a guard
 * then ends all groups that run.  The guard is a shell, one for all processes
 * that we have started; when it was killed itself, stage_process_ended() starts
 * another.  A process that has left the group, by a session of its own, is
 * found by the group's mark, FOIL_GROUP in its environment.
 *
 * Thread-safe; one thread at a time has a process.
 */
enum stage_ask {
    /* The command itself is asked to end; the others of its group are killed
     * when it has ended. */
    STAGE_ASK_LEADER,
    /* The signal goes to the whole group: all commands of a script. */
    STAGE_ASK_GROUP,
    /* The whole group is asked, but when we end no signal is sent: its input,
     * of which we have the other end, ends then. */
    STAGE_ASK_INPUT
};

enum { STAGE_OURS = -1, STAGE_NULL = -2 }; /* as a descriptor */

struct stage_process_config {
    char *const *argv; /* NULL behind the last word; the first is looked for in
                          the folders of PATH */
    const int *fd;     /* [n_fd] its descriptors 0, 1, ...: one of ours,
                          STAGE_OURS: stays as it is, STAGE_NULL: /dev/null */
    size_t n_fd;
    enum stage_ask ask;
    int signal;     /* that asks it to end */
    double grace_s; /* seconds between our end and SIGKILL */
};

struct stage_process {
    pid_t pid;  /* also the number of its group; 0: nothing runs */
    int status; /* as of waitpid(), after its end */
    enum stage_ask ask;
    int signal;
    double grace_s;
    char mark[64];
    struct stage_process *next; /* of those that run */
};

/*
 * stage_process_start() starts a command; the process must stay in its place
 * until stage_process_end() or stage_process_wait().  Returns 0, or the number
 * of the error, as ENOENT where there is no such command.  Descriptors of ours
 * without FD_CLOEXEC are inherited.
 */
int stage_process_start(struct stage_process *process,
                        const struct stage_process_config *config);

/* stage_process_ended() returns 1 once the command itself has ended, and where
 * none runs; never blocks. */
int stage_process_ended(struct stage_process *process);

/* stage_process_ask() sends the signal that asks the command, or its group, to
 * end; stage_process_kill() sends SIGKILL to the group. */
void stage_process_ask(const struct stage_process *process);
void stage_process_kill(const struct stage_process *process);

/*
 * stage_process_end() kills what is left of the group, with a grace above 0 it
 * asks first and kills after these seconds, and waits for the command, and for
 * all of its group where we are a PR_SET_CHILD_SUBREAPER.  Processes that have
 * left the group are killed soon after, before the return when no other process
 * runs.  Harmless where none does.
 */
void stage_process_end(struct stage_process *process, double grace_s);

/*
 * stage_process_wait() waits until the command has ended, then kills what is
 * left of the group, and returns the status.
 *   stop  a descriptor that has it asked to end when it is readable, or -1
 */
int stage_process_wait(struct stage_process *process, int stop);

/* stage_process_code() returns the exit code of a status, as a shell has it. */
int stage_process_code(int status);

#endif
