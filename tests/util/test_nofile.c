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

int
main(void)
{
    struct rlimit files;

    if (open("/dev/null", O_RDONLY) < 0 || getrlimit(RLIMIT_NOFILE, &files))
        return 1;
    files.rlim_max = 200;
    files.rlim_cur = 100;
    T(!setrlimit(RLIMIT_NOFILE, &files) && !can_open(200),
      "the soft limit is below the hard one");
    T(nofile_raise() == 200, "the new limit is the hard one");
    T(can_open(200), "so many files can be open");
    T(nofile_raise() == 200, "a second time changes nothing");
    return t_done();
}
