#pragma once

#include <stddef.h>
#include <sys/types.h>

/*
 * A child process and its descendants.  It leads its own session and process
 * group, so Ctrl-C in a terminal reaches only the parent.
 *
 *     const struct stage_process_config config = {
 *         .argv = argv, .signal = SIGTERM, .grace_s = 10};
 *     struct stage_process process;
 *     int rc = stage_process_start(&process, &config); // 0, or errno
 *
 *     status = stage_process_wait(&process, -1);
 *
 * No process is left when the parent ends, even by SIGKILL: a guard then ends
 * all running groups.  The guard is one shell for all children; if it is
 * killed, stage_process_ended() starts another.  A process that left the group
 * for its own session is found by the group's mark, FOIL_GROUP in its
 * environment.
 *
 * Thread-safe, but a process is for one thread at a time.
 */
enum stage_terminate {
    /* The signal goes to the command; once it has ended, the rest of its group
     * is killed. */
    STAGE_TERMINATE_LEADER,
    /* The signal goes to the whole group: all commands of a script. */
    STAGE_TERMINATE_GROUP,
    /* The signal goes to the whole group, but none is sent when the parent
     * ends: the command's input ends then. */
    STAGE_TERMINATE_INPUT
};

enum { STAGE_INHERIT = -1, STAGE_NULL = -2 }; /* as a descriptor */

struct stage_process_config {
    char *const *argv; /* ends with NULL; the program is searched in PATH */
    const int *fd;     /* [n_fd] its descriptors 0, 1, ...: one to duplicate;
                          STAGE_INHERIT: inherited; STAGE_NULL: /dev/null */
    size_t n_fd;
    enum stage_terminate ask;
    int signal;     /* that asks the command to end */
    double grace_s; /* between the parent's end and SIGKILL */
};

struct stage_process {
    pid_t pid;  /* also the process group; 0: not running */
    int status; /* of waitpid(), once it has ended */
    enum stage_terminate ask;
    int signal;
    double grace_s;
    char mark[64];
    struct stage_process *next; /* in the list of running processes */
};

/*
 * stage_process_start() starts a command; *process must not move until
 * stage_process_end() or stage_process_wait().  Returns 0, or an errno value,
 * such as ENOENT for an unknown command.  Descriptors without FD_CLOEXEC are
 * inherited.
 */
int stage_process_start(struct stage_process *process,
                        const struct stage_process_config *config);

/* stage_process_ended() returns 1 if the command has ended or none was
 * started; never blocks. */
int stage_process_ended(struct stage_process *process);

/* stage_process_terminate() sends the signal that asks the command, or its
 * group, to end; stage_process_kill() sends SIGKILL to the group. */
void stage_process_terminate(const struct stage_process *process);
void stage_process_kill(const struct stage_process *process);

/*
 * stage_process_end() kills what is left of the group and waits for the
 * command, and for the whole group if the caller is a PR_SET_CHILD_SUBREAPER.
 * With grace_s > 0 it sends the signal first and kills after that time.
 * Processes that left the group are killed soon after; before the return if no
 * other process runs.  Does nothing if none runs.
 */
void stage_process_end(struct stage_process *process, double grace_s);

/*
 * stage_process_wait() waits until the command has ended, then kills what is
 * left of the group, and returns the status.
 *   stop  when this descriptor is readable, the command is asked to end; or -1
 */
int stage_process_wait(struct stage_process *process, int stop);

/* stage_process_code() returns the exit code of a status, as in a shell. */
int stage_process_code(int status);
