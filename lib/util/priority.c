#include <sys/resource.h>

#include "util/priority.h"

void
priority_lower(enum priority nice)
{
    if (getpriority(PRIO_PROCESS, 0) < (int)nice)
        (void)setpriority(PRIO_PROCESS, 0, (int)nice);
}
