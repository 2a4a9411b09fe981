#define _DEFAULT_SOURCE // MAP_ANONYMOUS

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "num/room.h"

/* Bytes of a buffer, with its alignment; and those that a tool itself needs. */
static const size_t buffer = 135266304, own = 16 << 20;

/* One buffer for each thread of OpenMP. */
static size_t
count_buffers(char **environment)
{
    static const char name[] = "OMP_NUM_THREADS=";
    long n = sysconf(_SC_NPROCESSORS_ONLN), wanted = 0;

    for (; *environment; environment++)
        if (!strncmp(*environment, name, sizeof name - 1))
            wanted = strtol(*environment + sizeof name - 1, NULL, 10);
    n = wanted > 0 && wanted < n ? wanted : n;
    return n > 1 ? (size_t)n : 1;
}

/* libc is not initialised yet: this may only make system calls. */
void
num_room_check(int argc, char **argv, char **environment)
{
    static const char sentence[] =
        ": the address space is too small for OpenBLAS, which needs 128 MiB "
        "for each thread: raise 'ulimit -v', or lower OMP_NUM_THREADS\n";
    const char *name = argc && *argv ? *argv : "foil", *slash;
    struct rlimit limit;
    size_t bytes;
    void *room;

    if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return;
    bytes = count_buffers(environment) * buffer + own;
    room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room != MAP_FAILED) {
        munmap(room, bytes);
        return;
    }
    slash = strrchr(name, '/');
    name = slash ? slash + 1 : name;
    if (write(STDERR_FILENO, name, strlen(name)) < 0 ||
        write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0)
        _exit(1);
    _exit(1);
}
