#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "folder.h"
#include "stage/process.h"
#include "t.h"

static int
start(struct stage_process *process, const char *line, enum stage_terminate ask,
      double grace_s, int out)
{
    char sh[] = "sh", option[] = "-c", copy[512];
    char *argv[] = {sh, option, copy, NULL};
    const int fd[] = {STAGE_NULL, out};
    const struct stage_process_config config = {.argv = argv,
                                                .fd = fd,
                                                .n_fd = 2,
                                                .ask = ask,
                                                .signal = SIGTERM,
                                                .grace_s = grace_s};

    snprintf(copy, sizeof copy, "%s", line);
    return stage_process_start(process, &config);
}

static int
code_of(const char *line)
{
    struct stage_process process;

    REQUIRE(!start(&process, line, STAGE_TERMINATE_LEADER, 1, STAGE_INHERIT));
    return stage_process_code(stage_process_wait(&process, -1));
}

static void
a_command_ends(void)
{
    struct stage_process process;

    T(code_of("exit 3") == 3 && code_of("kill -9 $$") == 137,
      "a command's end has a code");
    T(code_of("[ \"${FOIL_GROUP#$PPID.}\" != \"$FOIL_GROUP\" ]") == 0,
      "it has a mark");
    T(code_of("! read x") == 0, "a command has nothing to read");
    T(!start(&process, "exit 5", STAGE_TERMINATE_LEADER, 1, STAGE_INHERIT) &&
          stage_process_wait(&process, -1) == 5 << 8 &&
          stage_process_ended(&process) && !process.pid,
      "nothing runs afterwards");
}

static void
a_command_is_found(void)
{
    char path[] = "./plain", none[] = "/dev/null/none";
    char *argv[] = {none, NULL};
    struct stage_process_config config = {.argv = argv, .signal = SIGTERM};
    struct stage_process process;

    T(stage_process_start(&process, &config) == ENOTDIR && !process.pid,
      "a missing command");
    put_text(path, "exit 7\n");
    REQUIRE(!chmod(path, 0700));
    argv[0] = path;
    T(!stage_process_start(&process, &config) &&
          stage_process_code(stage_process_wait(&process, -1)) == 7,
      "a script needs no '#!'");
}

static void
a_stop_asks(void)
{
    struct stage_process process;
    char byte;
    int fd[2], ready[2];

    REQUIRE(!pipe(fd) && !pipe(ready) && write(fd[1], "", 1) == 1);
    REQUIRE(!start(&process, "trap 'exit 9' TERM; echo; sleep 100 & wait",
                   STAGE_TERMINATE_LEADER, 1, ready[1]));
    REQUIRE(read(ready[0], &byte, 1) == 1);
    T(stage_process_code(stage_process_wait(&process, fd[0])) == 9,
      "a stop asks the command to end");
    REQUIRE(!start(&process, "trap '' TERM; echo; while :; do sleep 1; done",
                   STAGE_TERMINATE_GROUP, 1, ready[1]));
    REQUIRE(read(ready[0], &byte, 1) == 1);
    stage_process_end(&process, 0.1);
    T(stage_process_code(process.status) == 137,
      "a command that ignores the signal is killed in time");
    for (int i = 0; i < 2; i++) {
        close(fd[i]);
        close(ready[i]);
    }
}

/* Starts a process that owns a command and checks it until killed.  All its
 * descendants have the other end of `out`, except the guard. */
static pid_t
start_owner(const char *line, enum stage_terminate ask, double grace_s,
            int *out)
{
    struct stage_process process;
    int fd[2];
    pid_t pid;

    REQUIRE(!pipe(fd));
    fflush(NULL);
    pid = fork();
    REQUIRE(pid >= 0);
    if (!pid) {
        close(fd[0]);
        if (start(&process, line, ask, grace_s, fd[1]) ||
            write(fd[1], ".", 1) != 1)
            _exit(1);
        close(fd[1]);
        while (!stage_process_ended(&process))
            poll(NULL, 0, 10);
        _exit(0);
    }
    close(fd[1]);
    *out = fd[0];
    return pid;
}

/* Waits until the command prints "up" and its owner ".", in any order. */
static void
wait_until_up(int out)
{
    char text[4];

    for (size_t n = 0; n < sizeof text;) {
        const ssize_t got = read(out, text + n, sizeof text - n);

        REQUIRE(got > 0);
        n += (size_t)got;
    }
}

/* Kills an owner and reads the output of its command until all processes have
 * ended. */
static void
kill_owner(pid_t owner, int out, char text[64])
{
    size_t n = 0;
    ssize_t got;

    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    while (n < 63 && (got = read(out, text + n, 63 - n)) > 0)
        n += (size_t)got;
    text[n] = 0;
    close(out);
}

static const char *
output_of(const char *line, enum stage_terminate ask, double grace_s)
{
    static char text[64];
    int out;
    const pid_t owner = start_owner(line, ask, grace_s, &out);

    wait_until_up(out);
    kill_owner(owner, out, text);
    return text;
}

#define WAITS "while :; do sleep 0.1; done"
#define DEAF "trap '' TERM HUP; echo up; " WAITS

static void
nothing_outlives_the_parent(void)
{
    T(!strcmp(output_of("trap 'echo asked; exit' TERM; (trap 'echo wrong' "
                        "TERM; "
                        "echo up; " WAITS ") & wait",
                        STAGE_TERMINATE_LEADER, 60),
              "asked\n"),
      "the leader gets the signal, and the others end with it");
    T(!strcmp(output_of("trap 'echo asked; exit' TERM; (trap 'echo asked; "
                        "exit' "
                        "TERM; echo up; " WAITS ") & wait",
                        STAGE_TERMINATE_GROUP, 60),
              "asked\nasked\n"),
      "all commands of a script get the signal");
    T(!strcmp(output_of("trap 'echo wrong' TERM; echo up; " WAITS,
                        STAGE_TERMINATE_INPUT, 0.3),
              ""),
      "a command with an input gets no signal, but is killed in time");
    T(!strcmp(output_of(DEAF, STAGE_TERMINATE_LEADER, 0.3), ""),
      "a command that ignores signals is killed in time");
    T(!strcmp(output_of("setsid sh -c \"trap '' TERM HUP; echo up; " WAITS
                        "\" & wait",
                        STAGE_TERMINATE_LEADER, 60),
              ""),
      "a process in its own session ends with the leader");
}

/* The guard of an owner: the child that is not the command; or 0. */
static pid_t
guard_of(pid_t owner)
{
    char path[64], line[64];
    pid_t found = 0;
    long pid;
    FILE *file, *words;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)owner,
             (int)owner);
    file = fopen(path, "r");
    while (file && fscanf(file, "%ld", &pid) == 1) {
        snprintf(path, sizeof path, "/proc/%ld/environ", pid);
        words = fopen(path, "r");
        memset(line, 0, sizeof line);
        if (words && fread(line, 1, 11, words) &&
            strncmp(line, "FOIL_GROUP=", 11) != 0)
            found = (pid_t)pid;
        if (words)
            fclose(words);
    }
    if (file)
        fclose(file);
    return found;
}

static void
a_guard_is_replaced(void)
{
    char text[64];
    int out;
    const pid_t owner = start_owner(DEAF, STAGE_TERMINATE_LEADER, 0.3, &out);
    pid_t first, next = 0;

    wait_until_up(out);
    first = guard_of(owner);
    REQUIRE(first);
    kill(first, SIGKILL);
    for (int i = 0; i < 1000 && (!next || next == first); i++) {
        poll(NULL, 0, 10);
        next = guard_of(owner);
    }
    T(next && next != first, "a guard that was killed is replaced");
    poll(NULL, 0, 100);
    kill_owner(owner, out, text);
    T(!*text, "the next one ends what runs");
}

int
main(void)
{
    if (t_emulated()) {
        T_SKIP("processes", "an emulator has no part in them");
        return t_done();
    }
    enter_folder();
    a_command_ends();
    a_command_is_found();
    a_stop_asks();
    nothing_outlives_the_parent();
    a_guard_is_replaced();
    REQUIRE(!leave_folder());
    return t_done();
}
