#pragma once

/* Files for decoders that want a path, in memory where there is /dev/shm. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/err.h"
#include "util/file.h"

static char scratch[3][64], scratch_home[64];

static inline void
scratch_remove(void)
{
    for (size_t i = 0; i < 3; i++)
        if (*scratch[i])
            unlink(scratch[i]);
}

/* scratch_write() replaces what is in a file. */
static inline void
scratch_write(const char *path, const void *bytes, size_t len)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    REQUIRE(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

/* scratch_put() writes file `which`, 0 to 2, and returns its path. */
static inline char *
scratch_put(size_t which, const void *bytes, size_t len)
{
    if (!*scratch[0])
        atexit(scratch_remove);
    snprintf(scratch[which], sizeof scratch[which], "%s/foil-fuzz-%ld-%zu",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm", (long)getpid(),
             which);
    scratch_write(scratch[which], bytes, len);
    return scratch[which];
}

static inline void
scratch_leave(void)
{
    struct err err;

    file_remove(scratch_home, &err);
}

/* scratch_folder() makes a folder for files with names, removed at the end. */
static inline const char *
scratch_folder(void)
{
    snprintf(scratch_home, sizeof scratch_home, "%s/foil-fuzz-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    REQUIRE(mkdtemp(scratch_home));
    atexit(scratch_leave);
    return scratch_home;
}
