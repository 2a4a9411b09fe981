#include <sys/resource.h>

#include "util/priority.h"

void
priority_low(void)
{
    (void)setpriority(PRIO_PROCESS, 0, 19);
}
