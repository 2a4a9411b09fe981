#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

#include "child.h"
#include "t.h"
#include "util/file.h"
#include "util/lock.h"

static struct err err;

/* Holds the file until it is killed; writes a byte once it does. */
static pid_t
hold(int stopping)
{
    int fd[2];
    char byte = 0;
    pid_t pid;

    if (pipe(fd))
        return -1;
    pid = fork();
    if (!pid) {
        byte = (char)('0' + lock_take("lock", &err));
        if (stopping)
            lock_note_stopping();
        if (write(fd[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    T(read(fd[0], &byte, 1) == 1 && byte == '1', "a process takes the file");
    close(fd[0]);
    close(fd[1]);
    return pid;
}

static void
put(const char *line)
{
    T(!file_write("lock", line, strlen(line), &err), "a file of other bytes");
}

static void
try_to_take(const void *arg)
{
    (void)arg;
    exit(lock_take("lock", &err) == 0 ? 0 : 3);
}

static void
one_that_is_held(int stopping)
{
    const pid_t pid = hold(stopping);
    struct lock lock;
    struct child c;

    T(!lock_look("lock", &lock, &err) && lock.held && lock.here &&
          lock.pid == (long)pid,
      "another process sees its holder");
    T(lock_held(".") && lock_holder(".") == (long)pid,
      "another process sees the holder by its folder");
    T(lock.stopping == stopping,
      "another process sees whether the holder was asked to end");
    c = child_run(try_to_take, NULL);
    T(c.code == 0, "another process cannot take it");
    T(!lock_look("lock", &lock, &err) && lock.pid == (long)pid,
      "a failed attempt does not change its line");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    T(!lock_look("lock", &lock, &err) && !lock.held && lock.here &&
          lock.pid == (long)pid,
      "a killed process leaves a line, but no lock");
}

static void *
note(void *unused)
{
    lock_note_stopping();
    return unused;
}

/* The thread of signals starts before a file is taken: for tsan. */
static void
noted_concurrently(void)
{
    pthread_t thread;
    int taken;

    if (pthread_create(&thread, NULL, note, NULL))
        abort();
    taken = lock_take("concurrent", &err);
    pthread_join(thread, NULL);
    T(taken == 1, "a file is taken while another thread notes the end");
}

int
main(void)
{
    char folder[256], line[64];
    struct lock lock;

    child_scratch(folder);
    T(!lock_look("lock", &lock, &err) && !lock.held && !lock.pid && lock.here,
      "a missing file is not held");
    T(!lock_held(".") && !lock_holder("."),
      "the folder of a missing file is not held");
    one_that_is_held(0);
    one_that_is_held(1);
    noted_concurrently();
    snprintf(line, sizeof line, "%ld elsewhere\n", (long)getpid());
    put(line);
    T(!lock_look("lock", &lock, &err) && !lock.held && !lock.here &&
          !strcmp(lock.host, "elsewhere"),
      "a line of another host");
    put("");
    T(!lock_look("lock", &lock, &err) && !lock.held && lock.here,
      "an empty file: of an older version");
    T(lock_take("own", &err) == 1 && !lock_removed() && !unlink("own") &&
          lock_removed(),
      "removal of a held file is detected");
    T(lock_look(folder, &lock, &err) == -1, "a folder is an error");
    T(lock_take("none/lock", &err) == -1,
      "a file in a missing folder is an error");
    if (chdir("/") || file_remove(folder, &err))
        return 1;
    return t_done();
}
