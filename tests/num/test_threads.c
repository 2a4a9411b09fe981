#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "num/threads.h"
#include "t.h"

static char *self;

/* This program again, with a word that makes it call num_threads_sleep(). */
static void
start_again(const void *spin)
{
    unsetenv("OMP_WAIT_POLICY");
    unsetenv("GOMP_SPINCOUNT");
    if (spin)
        setenv("GOMP_SPINCOUNT", spin, 1);
    execl(self, "own name", "sleep", (char *)NULL);
    exit(127);
}

/* Says what came through the second execution. */
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
    c = child_run(start_again, NULL);
    T(!strcmp(c.out, "own name sleep 500"), "executed again: '%s'", c.out);
    c = child_run(start_again, "7");
    T(!strcmp(c.out, "own name sleep 7"), "not where it is set: '%s'", c.out);
    return t_done();
}
