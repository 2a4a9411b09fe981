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
      "beside the trainer");
    priority_lower(PRIORITY_SPARE);
    T(getpriority(PRIO_PROCESS, 0) == 19, "as low as can be");
    priority_lower(PRIORITY_SPARE);
    priority_lower(PRIORITY_BESIDE);
    T(getpriority(PRIO_PROCESS, 0) == 19, "what is low is not raised");
    return t_done();
}
