#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"

#include "link.h"

int
flow_refusal_add(struct flow_refusal *refusal, double now)
{
    const double earned = (now - refusal->as_of) * FLOW_REFUSALS_RATE;

    refusal->budget = refusal->count
                          ? fmin(refusal->budget + earned, FLOW_REFUSALS_RATE)
                          : FLOW_REFUSALS_RATE;
    refusal->as_of = now;
    refusal->count++;
    refusal->streak++;
    if (refusal->budget < 1)
        return 0;
    refusal->budget--;
    return 1;
}

void
flow_refusal_good(struct flow_refusal *refusal, enum wire_kind kind)
{
    if (kind != WIRE_HELLO && kind != WIRE_HEARTBEAT && kind != WIRE_WANT &&
        kind != WIRE_ERROR)
        refusal->streak = 0;
}

enum flow_about
flow_error_about(const struct wire_error *error)
{
    if (error->rehello)
        return FLOW_ABOUT_GREETING;
    if (*error->of.kind)
        return FLOW_ABOUT_MESSAGE;
    return error->id >= 0 ? FLOW_ABOUT_REQUEST : FLOW_ABOUT_US;
}

void
flow_link_init(struct flow_link *link, struct wire *wire, enum wire_edge edge,
               enum wire_side side, const struct wire_hello *hello)
{
    *link = (struct flow_link){
        .wire = wire, .edge = edge, .side = side, .hello = *hello};
    link->hello.version = WIRE_VERSION;
    wire_hello_name(&link->hello);
}

void
flow_link_release(struct flow_link *link)
{
    wire_sock_close(link->sock);
    wire_want_release(&link->want);
    wire_msg_free(link->msg);
}

int
flow_link_poll_refused(struct flow_link *link, struct flow_event *event)
{
    *event = (struct flow_event){.kind = FLOW_REPORT};
    return wire_refused(link->wire, &event->why);
}

int
flow_link_read(struct flow_link *link, struct wire_id *from,
               struct flow_event *event)
{
    int rc;

    wire_want_release(&link->want);
    wire_msg_free(link->msg);
    link->msg = NULL;
    *event = (struct flow_event){.kind = FLOW_MESSAGE};
    rc = wire_sock_recv(link->sock, from, &link->msg, &event->why);
    event->msg = link->msg;
    return rc;
}

int
flow_link_decode(struct flow_link *link, struct flow_event *event)
{
    const enum wire_kind kind = wire_msg_kind(link->msg);
    struct wire_end end;

    if (kind == WIRE_WANT) {
        event->want = &link->want;
        return wire_want_get(&link->want, link->msg, &event->why);
    }
    if (kind != WIRE_END)
        return 0;
    if (wire_end_get(&end, link->msg, &event->why))
        return -1;
    event->at = end.at;
    event->kind = end.over ? FLOW_OVER : FLOW_ENDED;
    return 0;
}

int
flow_link_check(const struct flow_link *link, enum wire_kind kind,
                const struct wire_subject *subject, struct err *err)
{
    const enum wire_side from =
        link->side == WIRE_BINDS ? WIRE_CONNECTS : WIRE_BINDS;

    if (!wire_edge_allows_kind(link->edge, from, kind))
        return err_set(err, "sent %s, which this end does not accept",
                       wire_kind_name(kind));
    return subject->at.session < 0
               ? 0
               : wire_session_check(subject->at.session, err);
}

void
flow_link_error(struct flow_link *link, const struct wire_id *to,
                struct wire_error error, const char *reason)
{
    struct wire_msg *msg;

    snprintf(error.reason, sizeof error.reason, "%s", reason);
    msg = wire_error_put(&error);
    wire_sock_send(link->sock, to, msg);
    wire_msg_free(msg);
}

int
flow_link_refuse(struct flow_link *link, const struct wire_id *to,
                 struct flow_refusal *refusal, const char *name,
                 const struct wire_subject *subject, struct flow_event *event)
{
    struct wire_error error = {.id = -1, .of = *subject};

    link->last = event->why;
    // an error is never answered with an error: two ends would never stop
    if (flow_refusal_add(refusal, clock_now()) &&
        strcmp(subject->kind, wire_kind_name(WIRE_ERROR)) != 0) {
        error.count = refusal->count;
        flow_link_error(link, to, error, link->last.msg);
    }
    err_set(&event->why, "%.200s: %.300s", name, link->last.msg);
    event->kind = FLOW_REPORT;
    return tally_add(&link->refused, &event->why);
}

int
flow_link_on_refusal(struct flow_link *link, const struct wire_error *error,
                     const char *name, struct flow_event *event)
{
    const enum wire_edge ours =
        link->side == WIRE_BINDS ? WIRE_EDGE_PLAN : WIRE_EDGE_BATCH;
    const int placed = error->of.at.session >= 0;
    char place[80] = "";
    int print;

    if (placed)
        snprintf(place, sizeof place, " of epoch %jd, step %jd",
                 (intmax_t)error->of.at.epoch, (intmax_t)error->of.at.step);
    err_set(&event->why, "%.100s refuses our %s%s: %.300s", name,
            error->of.kind, place, error->reason);
    link->last = event->why;
    event->kind = FLOW_REPORT;
    event->at = error->of.at;
    print = tally_add(&link->errors, &event->why);
    if (link->edge != ours || !placed)
        return print;
    event->kind = FLOW_ITEM_REFUSED;
    if (!print)
        *event->why.msg = '\0';
    return 1;
}
