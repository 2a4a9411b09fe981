/*
 * foil-stop: has a run end after its step, from any terminal.
 *
 * The stage that trains holds RUN/lock, and foil-run, where it started the
 * stages, RUN/log/lock.  The kernel says whether somebody does and who it is,
 * so that a process number that is of another process by now is never asked.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum { NOBODY = 3 }; // exit code: nobody trains there

static const char *folder; // of the run
static int no_wait;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &folder, 0, 0, "RUN",
     "run directory, in place of the operand"},
    {"no-wait", 0, OPT_FLAG, &no_wait, 0, 0, NULL,
     "ask, and end without waiting for the end of the run"},
    {0},
};

static const struct opt_tool tool = {
    "foil-stop", "end a run after its step, saved", "[RUN]", 0, 1, opts,
};

/* How a lock of the run stands; dies where that cannot be seen. */
static struct lock
see_lock(const char *run, const char *name)
{
    char *path = mem_format("%s/%s", run, name);
    struct lock lock;
    struct err err;

    if (lock_look(path, &lock, &err))
        die("%s", err.msg);
    free(path);
    return lock;
}

/* Nobody holds a lock of the run: how that is said depends on who was the last
 * to hold one. */
_Noreturn static void
say_nobody(const char *run, const struct lock *last)
{
    if (!last->here)
        die("'%s' was trained last on the host '%s', by process %ld: whether "
            "it is still, 'foil stop' can see there alone",
            run, last->host, last->pid);
    say("nobody trains in '%s'", run);
    exit(NOBODY);
}

/* Ask a process to end, but one that was asked already: a second signal would
 * end it without saving. */
static void
ask_trainer(const char *run, const struct lock *lock)
{
    if (!lock->here)
        die("process %ld of the host '%s' trains in '%s': 'foil stop' ends it "
            "there",
            lock->pid, lock->host, run);
    if (lock->pid <= 0)
        die("a process that cannot be seen from here, as of another container, "
            "trains in '%s'",
            run);
    if (lock->stopping)
        say("process %ld was asked to end before; 'kill %ld' ends it at once, "
            "without saving its step",
            lock->pid, lock->pid);
    else if (kill((pid_t)lock->pid, SIGTERM))
        die("cannot ask process %ld, which trains in '%s', to end: %s",
            lock->pid, run, strerror(errno));
}

/* A pipeline holds the folder itself until all of it has ended. */
static int
folder_is_free(const char *run)
{
    const int fd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int is_free = fd < 0 || !flock(fd, LOCK_SH | LOCK_NB);

    if (fd >= 0)
        close(fd);
    return is_free;
}

/* Wait until a process holds the lock no more, and a pipeline around it has
 * ended, too. */
static void
wait_for_end(const char *run, const char *name, long pid)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct lock lock;

    for (;;) {
        lock = see_lock(run, name);
        if (lock.held && lock.pid != pid)
            return;
        if (!lock.held && (!strcmp(name, "lock") || folder_is_free(run)))
            return;
        nanosleep(&pause, NULL);
    }
}

/* Say what is left of the run. */
static void
say_end(const char *run)
{
    char *latest = mem_format("%s/latest", run), to[256] = "";

    if (readlink(latest, to, sizeof to - 1) > 0)
        say("'%s' has ended; its newest checkpoint is %s", run, to);
    else
        say("'%s' has ended, without a checkpoint", run);
    free(latest);
}

int
main(int argc, char **argv)
{
    static const char *const locks[] = {"log/lock", "lock"};
    const char *run;
    struct lock lock;

    opt_parse(&tool, argc, argv);
    run = folder;
    if (!run)
        opt_misuse("which run? want RUN, its directory");
    if (!file_exists(run))
        die("no run '%s': there is no such folder", run);
    for (int i = 0; i < 2; i++) {
        lock = see_lock(run, locks[i]);
        if (!lock.held)
            continue;
        ask_trainer(run, &lock);
        if (!no_wait) {
            wait_for_end(run, locks[i], lock.pid);
            say_end(run);
        }
        return EXIT_OK;
    }
    say_nobody(run, &lock);
}
