#include <sys/wait.h>
#include <unistd.h>

#include "foil-run/process.h"
#include "t.h"

/* What the guard is told while a command is started: so many groups. */
static size_t
told(char *command, struct process *process, int *failed,
     struct guard_group group[4])
{
    char *argv[] = {command, NULL};
    const struct list_stage stage = {.argv = argv};
    struct guard guard;
    struct err err;
    ssize_t n;
    int fd[2];

    REQUIRE(!pipe(fd));
    guard.pipe = fd[1];
    *process = (struct process){.stage = &stage, .name = command};
    *failed = process_start(process, &guard, &err);
    REQUIRE(!close(fd[1]));
    n = read(fd[0], group, 4 * sizeof *group);
    REQUIRE(n >= 0 && !close(fd[0]));
    process->stage = NULL;
    return (size_t)n / sizeof *group;
}

int
main(void)
{
    char there[] = "true", none[] = "/dev/null/none";
    struct process process;
    struct guard_group group[4];
    int failed, status;

    T(told(there, &process, &failed, group) == 1 && !failed &&
          group[0].pid == process.pid,
      "the guard knows the group of a process that was started");
    REQUIRE(waitpid(process.pid, &status, 0) == process.pid);
    // who is not there to be seen as started was told of all the same
    T(told(none, &process, &failed, group) == 2 && failed && group[0].pid > 0 &&
          group[1].pid == -group[0].pid,
      "it does so before the command runs, and forgets what does not");
    return t_done();
}
