#include <limits.h>
#include <sys/resource.h>

#include "util/limits.h"

void
priority_lower(enum priority nice)
{
    if (getpriority(PRIO_PROCESS, 0) < (int)nice)
        (void)setpriority(PRIO_PROCESS, 0, (int)nice);
}

unsigned long
nofile_raise(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files))
        return 0;
    if (files.rlim_cur < files.rlim_max) {
        const struct rlimit more = {files.rlim_max, files.rlim_max};

        if (!setrlimit(RLIMIT_NOFILE, &more))
            files = more;
    }
    return files.rlim_cur < ULONG_MAX ? (unsigned long)files.rlim_cur
                                      : ULONG_MAX;
}
