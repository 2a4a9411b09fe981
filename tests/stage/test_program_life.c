#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t.h"
#include "user_program.h"

/* The number of descriptors of this process. */
static size_t
descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    size_t n = 0;

    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void
nothing_is_inherited(void)
{
    struct text text = {{0}, 0};
    struct stage_program *c, *other;
    char ok[64], group[32];

    for (int fd = 3; fd < 1024; fd++) // those that the test has inherited
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    other = start("read x", NULL, 60);
    c = start("read x; cd /proc/self/fd; echo *; "
              "cd /; ps -o pgid= -p $$ | tr -d ' '; echo ok",
              NULL, 60);
    snprintf(group, sizeof group, "|%d|", (int)getpgrp());
    // 4 is the folder, while the shell lists it
    T(ask(c, "go", &text, ok) == STAGE_ANSWERED &&
          !strncmp(text.at, "0 1 2 3 4|", 10),
      "a program has four descriptors");
    T(!strstr(text.at, group), "a program has its own process group");
    stage_program_close(c);
    stage_program_close(other);
}

struct worker {
    pthread_t thread;
    int number, good;
};

static void *
work(void *arg)
{
    struct worker *worker = arg;
    struct err why;
    struct stage_program_config config = {
        .name = "mine",
        .line = "while read n; do echo $n >&2; echo $((n + 1)); echo ok; done",
        .limit_s = 60,
        .longest = 100,
        .most = 1};
    struct stage_program *c = stage_program_open(&config, &why);
    struct text text = {{0}, 0};
    struct stage_answer answer = {.take = add_line, .of = &text};
    char line[16], want[16];

    worker->good = c != NULL;
    for (int i = 0; i < 20 && c; i++) {
        text.at[0] = 0;
        snprintf(line, sizeof line, "%d", 100 * worker->number + i);
        snprintf(want, sizeof want, "%d|", 100 * worker->number + i + 1);
        worker->good &=
            stage_program_ask(c, line, -1, &answer, &why) == STAGE_ANSWERED &&
            !strcmp(text.at, want);
        free(answer.ok);
    }
    stage_program_close(c);
    return NULL;
}

static void
eight_at_once(void)
{
    struct worker worker[8] = {0};
    int good = 1;

    for (int i = 0; i < 8; i++) {
        worker[i].number = i;
        REQUIRE(!pthread_create(&worker[i].thread, NULL, work, &worker[i]));
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(worker[i].thread, NULL);
        good &= worker[i].good;
    }
    T(good, "eight threads have a program each");
}

/* Waits until no process is in the group: 1, or 0 after 20 s. */
static int
gone(pid_t group)
{
    const struct timespec pause = {.tv_nsec = 50000000};

    for (int i = 0; i < 400; i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (kill(-group, 0) && errno == ESRCH)
            return 1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* A program that reads nothing and ignores signals ends with the process that
 * started it. */
static void
nothing_outlives_the_parent(void)
{
    static const char busy[] = "trap '' TERM HUP; read x; "
                               "ps -o pgid= -p $$ | tr -d ' '; echo ok; "
                               "sleep 1000 & while :; do sleep 1; done";
    int fd[2];
    char group[16] = "";
    pid_t pid;

    REQUIRE(!prctl(PR_SET_CHILD_SUBREAPER, 1) && !pipe(fd));
    fflush(NULL);
    pid = fork();
    if (!pid) {
        struct text text = {{0}, 0};
        struct stage_program *c = start(busy, NULL, 60);
        char ok[64];

        if (ask(c, "go", &text, ok) != STAGE_ANSWERED ||
            write(fd[1], text.at, 16) != 16)
            _exit(1);
        pause();
    }
    close(fd[1]);
    REQUIRE(read(fd[0], group, sizeof group - 1) > 0);
    T(atoi(group) > 1, "a program works for another process");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    T(gone(atoi(group)), "if that is killed, no process is left of either");
    close(fd[0]);
}

static void
a_close_ends_all(void)
{
    struct text text = {{0}, 0}, printed = {{0}, 0};
    struct stage_program *c =
        start("read x; ps -o pgid= -p $$ | tr -d ' '; echo ok; sleep 1000 & "
              "read x; echo bye >&2",
              &printed, 60);
    char ok[64];

    REQUIRE(ask(c, "go", &text, ok) == STAGE_ANSWERED);
    stage_program_close(c);
    T(strstr(printed.at, "mine: bye|") != NULL,
      "a program ends at the end of its input, and may still print");
    T(gone(atoi(text.at)), "its remaining processes are killed");
    stage_program_close(NULL);
}

int
main(void)
{
    const size_t before = descriptors();

    if (t_emulated()) {
        T_SKIP("a program and its children", "an emulator has no part in them");
        return t_done();
    }
    nothing_is_inherited();
    eight_at_once();
    nothing_outlives_the_parent();
    a_close_ends_all();
    T(descriptors() == before, "no descriptor is left");
    return t_done();
}
