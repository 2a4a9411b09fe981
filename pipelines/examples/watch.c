/*
 * A watcher of one's own in C: prints number and loss of each step of a run,
 * and ends with it.
 *
 *     cc -D_POSIX_C_SOURCE=200809L -o watch watch.c \
 *         $(pkg-config --cflags --libs foil)
 *     ./watch ipc://run/events
 *
 * It connects; sampler.c is a stage that binds.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/opt.h"
#include "util/stop.h"
#include "wire/event.h"
#include "wire/feed.h"
#include "wire/metrics.h"

/* 1 when the run is over. */
static int
take(const struct wire_msg *msg)
{
    static struct wire_metrics metrics;
    struct wire_event event;
    struct err ignored;

    if (wire_msg_kind(msg) == WIRE_EVENT &&
        !wire_event_get(&event, msg, &ignored))
        return !strcmp(event.what, "stop");
    if (wire_msg_kind(msg) == WIRE_METRICS &&
        !wire_metrics_get(&metrics, msg, &ignored))
        for (size_t i = 0; i < metrics.n; i++)
            if (!strcmp(metrics.values[i].name, "loss"))
                printf("%jd %g\n", (intmax_t)metrics.step,
                       metrics.values[i].value);
    fflush(stdout);
    return 0;
}

int
main(int argc, char **argv)
{
    static const struct opt none[] = {{0}};
    static const struct opt_tool tool = {
        "watch", "print the loss of each step", "ENDPOINT", 1, 1, none};
    const char *endpoint = *opt_parse(&tool, argc, argv);
    const struct wire_limits limits = {.queue = 1000};
    struct err err;
    struct wire *wire = wire_open(NULL, &err);
    struct wire_listener *listener =
        wire
            ? wire_listener_open(wire, endpoint, "metrics event", &limits, &err)
            : NULL;
    const int stop = listener ? stop_fd(&err) : -1;
    struct wire_msg *msg;
    uint64_t missed;
    int over = 0;

    if (stop < 0)
        die("%s", err.msg);
    while (!over && wire_wait(wire, stop, 1, &err) > 0)
        while (!over && wire_listener_next(listener, &msg, &missed, &err) > 0) {
            over = take(msg);
            wire_msg_free(msg);
        }
    wire_listener_close(listener);
    wire_close(wire);
    return EXIT_OK;
}
