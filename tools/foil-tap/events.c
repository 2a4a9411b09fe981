#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/event.h"
#include "wire/feed.h"

#include "tap.h"

/* Seconds without a message that are worth a word. */
static const double patience = 10;

/* Whether the trainer says with it that its run is over. */
static int
is_stop(const struct wire_msg *msg)
{
    struct wire_event event;
    struct err ignored;

    return wire_msg_kind(msg) == WIRE_EVENT &&
           !wire_event_get(&event, msg, &ignored) &&
           !strcmp(event.what, "stop");
}

/* Until something has come, says once where it is awaited. */
static void
tell_silence(const char *endpoint, double *since)
{
    if (!*since || clock_now() - *since < patience)
        return;
    say("nothing has come from '%s' in %.0f seconds: does a trainer run there?",
        endpoint, patience);
    *since = 0;
}

/* Tells all that there is now: 1 when it was the last. */
static int
tell_all(struct tap *tap, struct wire_listener *listener, double *since)
{
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc, over = 0;

    while (!over && (rc = wire_listener_next(listener, &msg, &missed, &err))) {
        const struct wire_record from = {clock_wall(), 0};

        *since = 0;
        if (rc < 0) {
            tap_complain(err.msg);
            continue;
        }
        if (missed)
            say("messages lost on the way to us: %ju", (uintmax_t)missed);
        over = tap_report(tap, msg, &from) || (!tap->follow && is_stop(msg));
        wire_msg_free(msg);
    }
    return over;
}

void
tap_events(struct tap *tap, const char *given, const char *none)
{
    const struct wire_limits limits = {.queue = 1000};
    // events are listened to in any case, if only for the last one
    char *endpoint = wire_endpoint(given, tap->run, "events");
    char *heard =
        *tap->kinds ? mem_format("%s event", tap->kinds) : mem_text("");
    struct wire_listener *listener;
    double since = clock_now();
    struct err err;

    (void)none;
    if (!endpoint)
        opt_misuse("where are the events? -r DIR or an endpoint");
    tap_open(tap);
    listener = wire_listener_open(tap->wire, endpoint, heard, &limits, &err);
    if (!listener)
        die("%s", err.msg);
    free(heard);
    while (wire_wait(tap->wire, tap->stop, 1, &err) > 0 &&
           !tell_all(tap, listener, &since))
        tell_silence(endpoint, &since);
    free(endpoint);
    wire_listener_close(listener);
    tap_close(tap);
}
