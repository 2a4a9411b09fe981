#include <string.h>

#include "util/clock.h"
#include "wire/error.h"

#include "refusal.h"

/* Seconds between two errors to one peer. */
static const double pause_told = 0.1;

void
wire_refusal_tell(double *told, struct wire_sock *sock,
                  const struct wire_id *to, const struct err *why)
{
    const double now = clock_now();
    struct wire_error error = {.message = 1, .id = -1};
    struct wire_msg *msg;

    if (*told && now - *told < pause_told)
        return;
    *told = now;
    memcpy(error.reason, why->msg, sizeof error.reason);
    msg = wire_error_put(&error);
    wire_sock_send(sock, to, msg);
    wire_msg_free(msg);
}

int
wire_refusal_add(struct wire_refusal *refusal, struct wire_sock *sock,
                 const char *from, struct err *why)
{
    const struct err plain = *why;

    wire_refusal_tell(&refusal->told, sock, NULL, &plain);
    if (*from)
        err_set(why, "%.80s: %.400s", from, plain.msg);
    return tally_add(&refusal->n, why);
}

void
wire_refusal_last(struct wire *wire, struct wire_sock *sock,
                  const struct err *why)
{
    double told = 0;
    struct err ignored;

    wire_refusal_tell(&told, sock, NULL, why);
    wire_sock_wait(wire, NULL, -1, pause_told, &ignored);
}
