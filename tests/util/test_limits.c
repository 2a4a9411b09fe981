#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "t.h"
#include "util/limits.h"

/* Returns 1 if so many descriptors can be open at once. */
static int
can_open(int n)
{
    int last = fcntl(STDIN_FILENO, F_DUPFD, n - 1);

    if (last >= 0)
        close(last);
    return last == n - 1;
}

static void
files_are_raised(void)
{
    struct rlimit files;

    T(open("/dev/null", O_RDONLY) >= 0 && !getrlimit(RLIMIT_NOFILE, &files),
      "the limits are known");
    files.rlim_max = 200;
    files.rlim_cur = 100;
    T(!setrlimit(RLIMIT_NOFILE, &files) && !can_open(200),
      "the soft limit is below the hard one");
    T(nofile_raise() == 200, "the new limit is the hard one");
    T(can_open(200), "200 files can be open");
    T(nofile_raise() == 200, "a second time changes nothing");
}

static void
priority_is_lowered(void)
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
}

int
main(void)
{
    files_are_raised();
    priority_is_lowered();
    return t_done();
}
