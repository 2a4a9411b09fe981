#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"

#include "refusal.h"

/* Seconds for which a last error is given time to leave. */
static const double last_pause = 0.1;

int
wire_refusal_add(struct wire_refusal *refusal, double now)
{
    const double earned = (now - refusal->as_of) * WIRE_REFUSALS_RATE;

    refusal->budget = refusal->count
                          ? fmin(refusal->budget + earned, WIRE_REFUSALS_RATE)
                          : WIRE_REFUSALS_RATE;
    refusal->as_of = now;
    refusal->count++;
    refusal->row++;
    if (refusal->budget < 1)
        return 0;
    refusal->budget--;
    return 1;
}

void
wire_refusal_good(struct wire_refusal *refusal, enum wire_kind kind)
{
    if (kind != WIRE_HELLO && kind != WIRE_BEAT && kind != WIRE_NEXT &&
        kind != WIRE_ERROR)
        refusal->row = 0;
}

void
wire_refusal_tell(struct wire_refusal *refusal, struct wire_sock *sock,
                  const struct wire_id *to, const struct wire_subject *subject,
                  const struct err *why)
{
    struct wire_error error = {.id = -1, .of = *subject};
    struct wire_msg *msg;

    // an error is never answered with an error: two ends would not come to rest
    if (!wire_refusal_add(refusal, clock_now()) ||
        !strcmp(subject->kind, wire_kind_name(WIRE_ERROR)))
        return;
    error.count = refusal->count;
    memcpy(error.reason, why->msg, sizeof error.reason);
    msg = wire_error_put(&error);
    wire_sock_send(sock, to, msg);
    wire_msg_free(msg);
}

void
wire_refusal_words(const struct wire_error *error, const char *from,
                   struct err *why)
{
    char place[80] = "";

    if (error->of.at.session >= 0)
        snprintf(place, sizeof place, " of epoch %jd, step %jd",
                 (intmax_t)error->of.at.epoch, (intmax_t)error->of.at.step);
    err_set(why, "%.100s refuses our %s%s: %.300s", from, error->of.kind, place,
            error->reason);
}

void
wire_refusal_last(struct wire *wire, struct wire_sock *sock,
                  const struct err *why)
{
    struct wire_refusal first = {0};
    const struct wire_subject hello = {"hello", {-1, 0, 0}, 0};
    struct err ignored;

    wire_refusal_tell(&first, sock, NULL, &hello, why);
    wire_sock_wait(wire, NULL, -1, last_pause, &ignored);
}
