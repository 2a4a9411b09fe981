#include <sys/resource.h>

#include "t.h"
#include "util/priority.h"

int
main(void)
{
    priority_low();
    T(getpriority(PRIO_PROCESS, 0) == 19, "as low as can be");
    priority_low();
    T(getpriority(PRIO_PROCESS, 0) == 19,
      "lowered twice, it is as low as once");
    return t_done();
}
