#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "util/lock.h"
#include "util/mem.h"

enum { MOST = 4 }; // locked files of a process

static int locked[MOST];    // their descriptors
static atomic_int n_locked; // atomic, as another thread may read it

/* Writes name and state of this process.  A failed write only costs readers the
 * name: the lock is the kernel's. */
static void
write_line(int fd, const char *state)
{
    struct utsname us;
    char line[512];
    int n;

    if (uname(&us))
        *us.nodename = 0;
    n = snprintf(line, sizeof line, "%ld %.*s%s\n", (long)getpid(),
                 LOCK_HOST - 1, us.nodename, state);
    if (pwrite(fd, line, (size_t)n, 0) != n || ftruncate(fd, n))
        return;
}

int
lock_take(const char *path, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    if (fcntl(fd, F_SETLK, &whole)) {
        const int other = errno == EACCES || errno == EAGAIN;

        if (!other)
            err_sys(err, "cannot lock '%s'", path);
        close(fd);
        return other ? 0 : -1;
    }
    write_line(fd, "");
    if (n_locked < MOST) {
        locked[n_locked] = fd; // before the count includes it
        n_locked++;
    }
    return 1;
}

int
lock_removed(void)
{
    struct stat st;

    for (int i = 0; i < n_locked; i++)
        if (!fstat(locked[i], &st) && !st.st_nlink)
            return 1;
    return 0;
}

void
lock_note_stopping(void)
{
    for (int i = 0; i < n_locked; i++)
        write_line(locked[i], " stopping");
}

int
lock_look(const char *path, struct lock *lock, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char line[512] = "", state[16] = "";
    struct utsname us;
    int rc = 0;

    *lock = (struct lock){.here = 1};
    if (fd < 0)
        return errno == ENOENT ? 0 : err_sys(err, "cannot open '%s'", path);
    if (fcntl(fd, F_GETLK, &whole) || read(fd, line, sizeof line - 1) < 0)
        rc = err_sys(err, "cannot look at the lock '%s'", path);
    close(fd);
    sscanf(line, "%ld %64s %15s", &lock->pid, lock->host, state);
    lock->held = !rc && whole.l_type != F_UNLCK;
    lock->stopping = !strcmp(state, "stopping");
    lock->here =
        !*lock->host ||
        (!uname(&us) && !strncmp(us.nodename, lock->host, LOCK_HOST - 1));
    if (lock->held && lock->here)
        lock->pid = (long)whole.l_pid;
    return rc;
}

/* Returns the state of FOLDER/lock; not held if the file cannot be read. */
static struct lock
look_in(const char *folder)
{
    struct lock lock = {0};
    struct err ignored;

    if (lock_look(mem_temp("%s/lock", folder), &lock, &ignored))
        lock.held = 0;
    return lock;
}

int
lock_held(const char *folder)
{
    return look_in(folder).held;
}

long
lock_holder(const char *folder)
{
    const struct lock lock = look_in(folder);

    return lock.held ? lock.pid : 0;
}
