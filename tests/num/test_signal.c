/*
 * A signal may arrive during a product.  oneDNN's stack pointer is then in the
 * heap, below which the frame of a handler overwrites data: so stop_fd() has no
 * handler.
 */
#include <signal.h>
#include <time.h>

#include "child.h"
#include "num/gemm.h"
#include "num/threads.h"
#include "t.h"
#include "util/mem.h"
#include "util/stop.h"

enum { ROWS = 16, IN = 512, OUT = 32, TRIES = 64 };

/* Another process ends the caller after some microseconds. */
static void
end_me_in(long us)
{
    const struct timespec pause = {.tv_nsec = us * 1000};
    const pid_t caller = getpid();

    if (fork() == 0) {
        nanosleep(&pause, NULL);
        kill(caller, SIGTERM);
        _exit(0);
    }
}

/* oneDNN's memory begins after foil's, at a varying distance from the next
 * page. */
static void
multiply_until_stopped(const void *arg)
{
    const int try = *(const int *)arg;
    float *x = mem_array(ROWS * IN, sizeof *x);
    float *w = mem_array(OUT * IN, sizeof *w);
    float *y = mem_array(ROWS * OUT + 16 * (size_t)try, sizeof *y);
    struct err err;

    if (stop_fd(&err) < 0)
        exit(3);
    num_threads(1);
    num_gemm_nt(ROWS, OUT, IN, 1, x, w, 0, y); // compiles the kernel
    end_me_in(1000 + 37 * try);
    while (!stop_requested())
        num_gemm_nt(ROWS, OUT, IN, 1, x, w, 0, y);
    num_gemm_nt(ROWS, OUT, IN, 1, x, w, 0, y);
    free(x);
    free(w);
    free(y);
}

int
main(void)
{
    int good = 0;

    for (int i = 0; i < TRIES; i++) {
        struct child c = child_run(multiply_until_stopped, &i);

        good += c.code == 0;
        if (c.code)
            printf("# exit %d, signal %d: %s", c.code, c.signal, c.err);
    }
    T(good == TRIES, "%d of %d products survive a signal", good, TRIES);
    return t_done();
}
