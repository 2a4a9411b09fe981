#include <sys/resource.h>

#include "t.h"
#include "util/priority.h"

int
main(void)
{
    const int before = getpriority(PRIO_PROCESS, 0);

    priority_lower(PRIORITY_BESIDE);
    T(getpriority(PRIO_PROCESS, 0) ==
          (before > PRIORITY_BESIDE ? before : PRIORITY_BESIDE),
      "below the trainer");
    priority_lower(PRIORITY_SPARE);
    T(getpriority(PRIO_PROCESS, 0) == 19, "the lowest");
    priority_lower(PRIORITY_SPARE);
    priority_lower(PRIORITY_BESIDE);
    T(getpriority(PRIO_PROCESS, 0) == 19, "a low priority is not raised");
    return t_done();
}
