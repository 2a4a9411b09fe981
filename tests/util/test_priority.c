#include <sys/resource.h>

#include "t.h"
#include "util/limits.h"

int
main(void)
{
    const int before = getpriority(PRIO_PROCESS, 0);

    priority_lower(PRIORITY_LOW);
    T(getpriority(PRIO_PROCESS, 0) ==
          (before > PRIORITY_LOW ? before : PRIORITY_LOW),
      "below the trainer");
    priority_lower(PRIORITY_IDLE);
    T(getpriority(PRIO_PROCESS, 0) == 19, "the lowest");
    priority_lower(PRIORITY_IDLE);
    priority_lower(PRIORITY_LOW);
    T(getpriority(PRIO_PROCESS, 0) == 19, "a low priority is not raised");
    return t_done();
}
