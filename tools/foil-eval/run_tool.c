#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

enum { WORDS = 16 };

/* What a child does: become the tool, quiet on stdout, and end with us. */
_Noreturn static void
become_tool(char **argv)
{
    const int null = open("/dev/null", O_RDWR);

    if (prctl(PR_SET_PDEATHSIG, SIGTERM) || null < 0 ||
        dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        _exit(126);
    stop_unblock();
    execv(argv[0], argv);
    _exit(127);
}

/*
 * Runs a tool to its end: 1 when it did its work, 0 when it failed, -1 when we
 * were asked to stop, which it then was, too.  The pipe is closed when it ends.
 */
static int
run_tool(const struct judge *judge, char **argv)
{
    struct pollfd wait[2] = {{.fd = judge->stop, .events = POLLIN}};
    int life[2], status = 0;
    pid_t pid;

    if (pipe(life))
        die("cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid = fork();
    if (!pid) {
        close(life[0]);
        become_tool(argv);
    }
    close(life[1]);
    if (pid < 0)
        die("cannot start '%s': %s", argv[0], strerror(errno));
    wait[1] = (struct pollfd){.fd = life[0], .events = POLLIN};
    while (poll(wait, 2, -1) < 0 && errno == EINTR)
        continue;
    if (stop_asked())
        kill(pid, SIGTERM);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(life[0]);
    if (stop_asked())
        return -1;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

int
judge_run_tool(const struct judge *judge, const char *tool,
               const char *const *words)
{
    char *argv[WORDS + 1] = {mem_format("%s/%s", judge->bin, tool)};
    int n = 1, rc;

    for (; words[n - 1]; n++) {
        REQUIRE(n < WORDS);
        argv[n] = mem_text(words[n - 1]);
    }
    argv[n] = NULL;
    rc = run_tool(judge, argv);
    while (n--)
        free(argv[n]);
    return rc;
}
