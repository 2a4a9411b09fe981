#include <math.h>
#include <stdlib.h>

#include "flow/outlet.h"
#include "util/clock.h"
#include "util/mem.h"

/* Seconds between two connection tests of the peer with the missing item. */
static const double probe_every_s = 0.5;

struct flow_outlet *
flow_outlet_open(struct wire *wire, const struct flow_outlet_config *config,
                 struct err *err)
{
    struct flow_server_config server = config->server;
    struct flow_outlet *outlet = mem_array(1, sizeof *outlet);

    server.edge = WIRE_EDGE_PLAN;
    outlet->check_place = config->check_place;
    outlet->tool = config->tool;
    outlet->producer = flow_producer_new(config->lease);
    outlet->server = flow_server_open(wire, &server, err);
    if (outlet->server)
        return outlet;
    flow_outlet_close(outlet);
    return NULL;
}

void
flow_outlet_close(struct flow_outlet *outlet)
{
    if (!outlet)
        return;
    flow_server_close(outlet->server);
    flow_producer_free(outlet->producer);
    free(outlet);
}

/* ---- receiving: 1 when there is an event ------------------------------- */

static int
on_next(struct flow_outlet *outlet, struct flow_event *event)
{
    const double now = clock_now();
    struct wire_want *want = event->want;
    struct wire_place at;
    uint64_t holder;

    at = flow_producer_place(outlet->producer);
    if ((want->at.session > at.session &&
         wire_session_check(want->at.session, &event->why)) ||
        (outlet->check_place &&
         outlet->check_place(outlet->tool, want, &event->why)))
        return flow_server_refuse(outlet->server, event);
    event->kind = flow_producer_on_snapshot(outlet->producer, event->peer,
                                            event->want, now);
    event->at = event->want->at;
    if (event->kind == FLOW_REPORT) {
        err_set(&event->why,
                "two trainers want this plan: the one of session %jd gets "
                "nothing while a later one trains; start a selector for each, "
                "with a run directory of its own",
                (intmax_t)event->at.session);
        return flow_server_refuse(outlet->server, event);
    }
    if (event->kind != FLOW_NOTHING)
        return 1;
    at = flow_producer_place(outlet->producer);
    holder = flow_producer_holder(outlet->producer, &at);
    if (holder && now - outlet->probed >= probe_every_s) {
        outlet->probed = now;
        flow_server_ping(outlet->server, holder);
    }
    return 0;
}

int
flow_outlet_next(struct flow_outlet *outlet, struct flow_event *event)
{
    int rc = 0;

    while (!rc && flow_server_next(outlet->server, event)) {
        const enum flow_event_kind what = event->kind;

        rc = 1;
        if (what == FLOW_JOINED)
            flow_producer_join(outlet->producer, event->peer);
        if (what == FLOW_LEFT)
            outlet->freed = flow_producer_leave(outlet->producer, event->peer);
        if (what == FLOW_ITEM_REFUSED) {
            flow_producer_on_refusal(outlet->producer, event->peer, &event->at,
                                     clock_now());
            event->kind = FLOW_REPORT;
            rc = *event->why.msg != '\0';
        }
        if (what == FLOW_ENDED || what == FLOW_OVER) { // flow_outlet_is_over()
            flow_producer_on_end(outlet->producer, event->peer, &event->at,
                                 clock_now());
            rc = 0;
        }
        if (what == FLOW_MESSAGE && event->want)
            rc = on_next(outlet, event);
    }
    return rc;
}

int
flow_outlet_send_item(struct flow_outlet *outlet,
                      const struct flow_send_item *turn, struct wire_msg *item)
{
    const int sent = flow_server_send(outlet->server, turn->peer, item);

    flow_producer_mark_sent(outlet->producer, turn, sent, clock_now());
    return sent;
}

void
flow_outlet_send_end(struct flow_outlet *outlet)
{
    const struct wire_end end = {.at = flow_producer_fresh(outlet->producer)};
    const double now = clock_now();
    uint64_t peer;

    while ((peer = flow_producer_next_unnotified(outlet->producer, now))) {
        struct wire_msg *msg = wire_end_put(&end);

        flow_producer_mark_notified(outlet->producer, peer,
                                    flow_server_send(outlet->server, peer, msg),
                                    now);
        wire_msg_free(msg);
    }
}

int
flow_outlet_late(struct flow_outlet *outlet, struct err *words)
{
    const struct wire_hello *who;
    struct flow_late late;

    if (!flow_producer_late(outlet->producer, clock_now(), &late))
        return 0;
    who = flow_server_peer_hello(outlet->server, late.peer);
    err_set(words,
            "'%.100s' did not deliver epoch %jd, step %jd within %g seconds: "
            "its %zu items go to others, and it gets none for %g seconds",
            who ? who->peer : "", (intmax_t)late.at.epoch,
            (intmax_t)late.at.step, late.lease, late.taken, late.aside);
    return 1;
}

int
flow_outlet_is_over(const struct flow_outlet *outlet)
{
    return flow_producer_over(outlet->producer, clock_now());
}

void
flow_outlet_send_over(struct flow_outlet *outlet)
{
    const struct wire_place at = flow_producer_place(outlet->producer);

    flow_server_send_over(outlet->server, &at);
}

double
flow_outlet_pause_s(const struct flow_outlet *outlet)
{
    // due items may have no peer that wants them: do not busy-wait
    return fmin(fmax(flow_producer_due(outlet->producer, clock_now()), 0.05),
                1);
}
