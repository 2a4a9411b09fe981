#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "zap.h"

enum { VERSION, REQUEST, DOMAIN, ADDRESS, IDENTITY, MECHANISM, KEY, FIELDS };

enum { FIELD_MAX = 256, KEY_BYTES = 32 };

struct request {
    size_t n, len[FIELDS];
    char field[FIELDS][FIELD_MAX];
};

void *
wire_zap_open(void *context, struct err *err)
{
    void *zap = zmq_socket(context, ZMQ_REP);
    const int linger_ms = 0;

    if (zap && !zmq_setsockopt(zap, ZMQ_LINGER, &linger_ms, sizeof linger_ms) &&
        !zmq_bind(zap, "inproc://zeromq.zap.01"))
        return zap;
    err_set(err, "cannot check keys: %s", zmq_strerror(errno));
    if (zap)
        zmq_close(zap);
    return NULL;
}

/* 1 with a request, 0 when there is none. */
static int
receive(void *zap, struct request *r)
{
    int more = 1;
    size_t size = sizeof more;

    *r = (struct request){0};
    while (more) {
        char field[FIELD_MAX];
        int n = zmq_recv(zap, field, sizeof field, ZMQ_DONTWAIT);

        if (n < 0)
            return 0;
        if (r->n < FIELDS && n < FIELD_MAX) {
            memcpy(r->field[r->n], field, (size_t)n);
            r->len[r->n] = (size_t)n;
        }
        r->n++;
        zmq_getsockopt(zap, ZMQ_RCVMORE, &more, &size);
    }
    return 1;
}

static void
answer(void *zap, const struct request *r, const char *role)
{
    zmq_send(zap, "1.0", 3, ZMQ_SNDMORE);
    zmq_send(zap, r->field[REQUEST], r->len[REQUEST], ZMQ_SNDMORE);
    zmq_send(zap, role ? "200" : "400", 3, ZMQ_SNDMORE);
    zmq_send(zap, role ? "OK" : "no", 2, ZMQ_SNDMORE);
    zmq_send(zap, role ? role : "", role ? strlen(role) : 0, ZMQ_SNDMORE);
    zmq_send(zap, "", 0, 0);
}

int
wire_zap_serve(void *zap, const struct wire_keys *keys, struct err *why)
{
    struct request r;

    while (receive(zap, &r)) {
        const char *role = NULL;

        if (r.n == FIELDS && r.len[KEY] == KEY_BYTES &&
            !strcmp(r.field[MECHANISM], "CURVE"))
            role = wire_keys_role(keys, r.field[KEY]);
        answer(zap, &r, role);
        if (role)
            continue;
        err_set(why, "refused a key that is not allowed, from %.64s",
                r.field[ADDRESS]);
        return 1;
    }
    return 0;
}
