/*
 * foil-stop: ends a run after its current step, from any terminal.
 *
 * The training stage holds RUN/lock; foil-run, if it started the stages, holds
 * RUN/log/lock.  The kernel reports whether a process holds a lock, and which,
 * so a reused process number never gets the signal.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "run/settings.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum { EXIT_NO_TRAINER = 3 }; // exit code: no trainer runs there

static const char *folder; // of the run
static int no_wait;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &folder, 0, 0, "RUN",
     "run directory, instead of the operand"},
    {"no-wait", 0, OPT_FLAG, &no_wait, 0, 0, NULL,
     "send the request, but do not wait for the end of the run"},
    {0},
};

static const struct opt_tool tool = {
    "foil-stop", "end a run after its step, and save it", "[RUN]", 0, 1, opts,
};

/* The state of a lock of the run; dies if that cannot be read. */
static struct lock
read_lock(const char *run, const char *name)
{
    struct lock lock;
    struct err err;

    or_die(lock_look(mem_temp("%s/%s", run, name), &lock, &err), &err);
    return lock;
}

/* Asks a process to end, unless it was asked before: a second signal would end
 * it without saving. */
static void
ask_trainer(const char *run, const struct lock *lock)
{
    if (!lock->here)
        die("process %ld on the host '%s' trains in '%s': run 'foil stop' "
            "there",
            lock->pid, lock->host, run);
    if (lock->pid <= 0)
        die("a process that is not visible here, such as one in another "
            "container, trains in '%s'",
            run);
    if (lock->stopping)
        log_message(
            "process %ld was asked to end before; 'kill %ld' ends it at once, "
            "without saving its step",
            lock->pid, lock->pid);
    else if (kill((pid_t)lock->pid, SIGTERM))
        die("cannot ask process %ld, which trains in '%s', to end: %s",
            lock->pid, run, strerror(errno));
}

/* A pipeline locks the folder itself until all of its processes have ended. */
static int
folder_is_free(const char *run)
{
    const int fd = open(run, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int is_free = fd < 0 || !flock(fd, LOCK_SH | LOCK_NB);

    if (fd >= 0)
        close(fd);
    return is_free;
}

/* Waits until the process has released the lock, and its pipeline has ended. */
static void
wait_for_end(const char *run, const char *name, long pid)
{
    const struct timespec pause = {.tv_nsec = 50000000};
    struct lock lock;

    for (;;) {
        lock = read_lock(run, name);
        if (lock.held && lock.pid != pid)
            return;
        if (!lock.held && (!strcmp(name, "lock") || folder_is_free(run)))
            return;
        nanosleep(&pause, NULL);
    }
}

int
main(int argc, char **argv)
{
    static const char *const locks[] = {"log/lock", "lock"};
    const char *run;
    char newest[256] = "";
    struct lock lock;
    struct err err;

    opt_parse(&tool, argc, argv);
    run = folder;
    if (!run)
        opt_misuse("RUN is missing: the run directory");
    if (!file_exists(run))
        die("no run '%s': there is no such folder", run);
    or_die(run_check(run, &err), &err);
    for (int i = 0; i < 2; i++) {
        lock = read_lock(run, locks[i]);
        if (!lock.held)
            continue;
        ask_trainer(run, &lock);
        if (!no_wait) {
            wait_for_end(run, locks[i], lock.pid);
            if (readlink(mem_keep_format("%s/latest", run), newest,
                         sizeof newest - 1) > 0)
                log_message("'%s' has ended; its newest checkpoint is %s", run,
                            newest);
            else
                log_message("'%s' has ended, without a checkpoint", run);
        }
        return EXIT_OK;
    }
    if (!lock.here) // no process here holds a lock; on that host one may
        die("'%s' was last trained on the host '%s', by process %ld: run "
            "'foil stop' there to see whether it still is",
            run, lock.host, lock.pid);
    log_message("no trainer runs in '%s'", run);
    return EXIT_NO_TRAINER;
}
