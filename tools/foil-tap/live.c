#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/feed.h"
#include "wire/proxy.h"

#include "tap.h"

static int
is_stop(const struct wire_msg *msg)
{
    struct wire_event event;
    struct err ignored;

    return wire_msg_kind(msg) == WIRE_EVENT &&
           !wire_event_get(&event, msg, &ignored) &&
           !strcmp(event.what, "stop");
}

/* Reports all messages that have arrived: 1 after the last of the run. */
static int
report_all(struct tap *tap, struct wire_listener *listener, int *silent)
{
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc, over = 0;

    while (!over && (rc = wire_listener_next(listener, &msg, &missed, &err))) {
        const struct wire_record from = {clock_wall(), 0};

        *silent = 0;
        if (rc < 0) {
            tap_complain(err.msg);
            continue;
        }
        if (missed)
            log_message("messages lost on the way here: %ju",
                        (uintmax_t)missed);
        over = tap_report(tap, msg, &from) || (!tap->follow && is_stop(msg));
        wire_msg_free(msg);
    }
    return over;
}

void
tap_events(struct tap *tap, char **operand)
{
    // always subscribe to events, at least for the last one
    char *kinds =
        *tap->kinds ? mem_format("%s event", tap->kinds) : mem_text("");
    const struct wire_limits limits = {.queue = 1000};
    const double since = clock_now();
    struct wire_listener *listener;
    struct err err;
    int silent = 1; // until a message has arrived, or the wait was reported

    if (!*operand && !tap->options.run)
        opt_misuse("where are the events? -r DIR or an endpoint");
    tap_open(tap);
    listener = wire_listener_open(
        tap->stage.wire, stage_endpoint(&tap->stage, *operand, "events"), kinds,
        &limits, &err);
    if (!listener)
        die("%s", err.msg);
    while (stage_wait(&tap->stage, 1) && !report_all(tap, listener, &silent))
        if (silent && clock_now() - since >= STAGE_REPORT_EVERY_S) {
            log_message(
                "no message from '%s' in %.0f seconds: does a trainer run "
                "there?",
                tap->stage.endpoint[0], STAGE_REPORT_EVERY_S);
            silent = 0;
        }
    free(kinds);
    wire_listener_close(listener);
    tap_close(tap);
}

void
tap_proxy(struct tap *tap, char **operand)
{
    const struct wire_limits limits = {.queue = 64};
    struct wire_proxy *proxy;
    struct wire_msg *msg;
    struct err err;
    int over = 0;

    tap_open(tap);
    proxy = wire_proxy_open(tap->stage.wire, operand[0], operand[1], tap->to,
                            &limits, &err);
    if (!proxy)
        die("%s", err.msg);
    while (!over && stage_wait(&tap->stage, 1)) {
        struct wire_record from = {0};
        int rc;

        while (wire_refused(tap->stage.wire, &err))
            log_message("%s", err.msg);
        while (!over && (rc = wire_proxy_next(proxy, &from.from, &msg, &err))) {
            if (rc < 0) {
                tap_complain(err.msg);
                continue;
            }
            from.time = clock_wall();
            over = tap_report(tap, msg, &from);
            wire_msg_free(msg);
        }
    }
    wire_proxy_close(proxy);
    tap_close(tap);
}
