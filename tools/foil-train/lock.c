#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "train.h"
#include "util/mem.h"

int
train_lock(const char *run, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = mem_format("%s/lock", run);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), rc = 0;

    if (fd < 0)
        rc = err_sys(err, "cannot open '%s'", path);
    else if (fcntl(fd, F_SETLK, &whole))
        rc = errno == EACCES || errno == EAGAIN
                 ? err_set(err, "another foil-train has '%s'", run)
                 : err_sys(err, "cannot lock '%s'", path);
    free(path);
    return rc;
}

int
train_check_free(const char *run, struct err *err)
{
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char *path = mem_format("%s/lock", run);
    int fd = open(path, O_RDWR | O_CLOEXEC), rc = 0;

    if (fd < 0)
        rc = errno == ENOENT ? 0 : err_sys(err, "cannot open '%s'", path);
    else if (fcntl(fd, F_GETLK, &whole))
        rc = err_sys(err, "cannot look at the lock '%s'", path);
    else if (whole.l_type != F_UNLCK)
        rc = err_set(err, "another foil-train has '%s'", run);
    if (fd >= 0)
        close(fd);
    free(path);
    return rc;
}
