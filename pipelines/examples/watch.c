/*
 * A watcher in C: prints number and loss of each step of a run, and ends with
 * the run.
 *
 *     cc -D_POSIX_C_SOURCE=200809L -o watch watch.c \
 *         $(pkg-config --cflags --libs foil)
 *     ./watch ipc://run/events
 *
 * It connects; sampler.c is a stage that binds.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "run/live.h"
#include "util/opt.h"
#include "util/stop.h"

static void
print_loss(const struct wire_metrics *step)
{
    const double loss = value_find(step->values, step->n, "loss");

    if (!isnan(loss))
        printf("%jd %g\n", (intmax_t)step->step, loss);
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    static const char *const kinds[RUN_LISTENERS] = {"metrics event"};
    static const struct opt none[] = {{0}};
    static const struct opt_tool tool = {
        "watch", "print the loss of each step", "ENDPOINT", 1, 1, none};
    const char *endpoint = *opt_parse(&tool, argc, argv);
    static struct run_live live;
    struct err err;
    const int stop = stop_fd(&err);
    struct wire *wire = wire_open(NULL, &err);

    if (stop < 0 || !wire ||
        run_live_open(&live, wire, endpoint, kinds, 1000, &err))
        die("%s", err.msg);
    while (!live.over && wire_wait(wire, stop, 1, &err) > 0)
        while (!live.over && run_live_next(&live))
            if (wire_msg_kind(live.msg) == WIRE_METRICS)
                print_loss(&live.metrics);
    run_live_close(&live);
    wire_close(wire);
    return EXIT_OK;
}
