#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/stop.h"

#include "sock_impl.h"

enum { VERSION, REQUEST, DOMAIN, ADDRESS, IDENTITY, MECHANISM, KEY, FIELDS };

enum { FIELD_MAX = 256, KEY_BYTES = 32 };

struct request {
    size_t n, len[FIELDS];
    char field[FIELDS][FIELD_MAX];
};

struct wire_zap {
    void *context, *socket;
    const struct wire_keys *keys;
    pthread_t thread;
    pthread_mutex_t lock; /* for the following */
    unsigned refused;     /* keys, not reported yet */
    struct err why;       /* reason of the last */
};

/* Waits for a request: 1, or 0 when the context is shut down. */
static int
receive_request(void *socket, struct request *r)
{
    int more = 1;
    size_t size = sizeof more;

    *r = (struct request){0};
    while (more) {
        char field[FIELD_MAX];
        int n = zmq_recv(socket, field, sizeof field, 0);

        if (n < 0)
            return 0;
        if (r->n < FIELDS && n < FIELD_MAX) {
            memcpy(r->field[r->n], field, (size_t)n);
            r->len[r->n] = (size_t)n;
        }
        r->n++;
        zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size);
    }
    return 1;
}

static void *
serve_requests(void *self)
{
    struct wire_zap *zap = self;
    struct request r;

    while (receive_request(zap->socket, &r)) {
        const char *role = NULL;

        if (r.n == FIELDS && r.len[KEY] == KEY_BYTES &&
            !strcmp(r.field[MECHANISM], "CURVE"))
            role = wire_keys_role(zap->keys, r.field[KEY]);
        if (!role) {
            pthread_mutex_lock(&zap->lock);
            zap->refused++;
            err_set(&zap->why, "refused a key that is not allowed, from %.64s",
                    r.field[ADDRESS]);
            pthread_mutex_unlock(&zap->lock);
        }
        zmq_send(zap->socket, "1.0", 3, ZMQ_SNDMORE);
        zmq_send(zap->socket, r.field[REQUEST], r.len[REQUEST], ZMQ_SNDMORE);
        zmq_send(zap->socket, role ? "200" : "400", 3, ZMQ_SNDMORE);
        zmq_send(zap->socket, role ? "OK" : "no", 2, ZMQ_SNDMORE);
        zmq_send(zap->socket, role ? role : "", role ? strlen(role) : 0,
                 ZMQ_SNDMORE);
        zmq_send(zap->socket, "", 0, 0);
    }
    zmq_close(zap->socket);
    return NULL;
}

struct wire_zap *
wire_zap_open(void *context, const struct wire_keys *keys, struct err *err)
{
    struct wire_zap *zap = mem_array(1, sizeof *zap);
    const int linger_ms = 0;
    int rc;

    zap->context = context;
    zap->keys = keys;
    zap->socket = zmq_socket(context, ZMQ_REP);
    pthread_mutex_init(&zap->lock, NULL);
    if (!zap->socket ||
        zmq_setsockopt(zap->socket, ZMQ_LINGER, &linger_ms, sizeof linger_ms) ||
        zmq_bind(zap->socket, "inproc://zeromq.zap.01"))
        err_set(err, "cannot check keys: %s", zmq_strerror(errno));
    else if ((rc = stop_create_thread(&zap->thread, serve_requests, zap)))
        err_set(err, "cannot check keys: no thread: %s", strerror(rc));
    else
        return zap;
    if (zap->socket)
        zmq_close(zap->socket);
    pthread_mutex_destroy(&zap->lock);
    free(zap);
    return NULL;
}

unsigned
wire_zap_refused(struct wire_zap *zap, struct err *why)
{
    unsigned n;

    pthread_mutex_lock(&zap->lock);
    n = zap->refused;
    zap->refused = 0;
    *why = zap->why;
    pthread_mutex_unlock(&zap->lock);
    return n;
}

void
wire_zap_close(struct wire_zap *zap)
{
    if (!zap)
        return;
    zmq_ctx_shutdown(zap->context);
    pthread_join(zap->thread, NULL);
    pthread_mutex_destroy(&zap->lock);
    free(zap);
}
