#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "num/threads.h"
#include "t.h"

static char *self;

/* Runs this program again, with an argument that makes it call
 * num_threads_sleep(). */
static void
run_again(const void *spin)
{
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("GOMP_SPINCOUNT");
    if (spin)
        setenv("GOMP_SPINCOUNT", spin, 1);
    execl(self, "own name", "sleep", (char *)NULL);
    exit(127);
}

/* Prints what the second execution received. */
static int
sleeper(char **argv)
{
    num_threads_sleep(argv);
    printf("%s %s %s", argv[0], argv[1], getenv("GOMP_SPINCOUNT"));
    return 0;
}

int
main(int argc, char **argv)
{
    struct child c;

    if (argc == 2 && !strcmp(argv[1], "sleep"))
        return sleeper(argv);
    self = argv[0];
    T(num_threads(2) == 2 && omp_get_max_threads() == 2, "two threads");
    T(num_threads(0) == omp_get_num_procs(), "0: a thread a core");
    if (t_emulated()) {
        T_SKIP("executed again", "an emulator starts no programs");
        return t_done();
    }
    c = child_run(run_again, NULL);
    T(!strcmp(c.out, "own name sleep 500"), "executed again: '%s'", c.out);
    c = child_run(run_again, "7");
    T(!strcmp(c.out, "own name sleep 7"), "not where the variable is set: '%s'",
      c.out);
    return t_done();
}
