/* ZeroMQ's questions about keys: each has an answer of six parts, and only a
 * key that is allowed is let in. */
#include <string.h>
#include <zmq.h>

#include "util/err.h"
#include "wire/sock_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char right[32] = "an allowed key, of 32 bytes, yes";

static void *
open_peer(void *context)
{
    void *peer = zmq_socket(context, ZMQ_REQ);
    const int on = 1, limit_ms = 20000;

    REQUIRE(!zmq_setsockopt(peer, ZMQ_REQ_RELAXED, &on, sizeof on) &&
            !zmq_setsockopt(peer, ZMQ_RCVTIMEO, &limit_ms, sizeof limit_ms) &&
            !zmq_setsockopt(peer, ZMQ_REQ_CORRELATE, &on, sizeof on) &&
            !zmq_connect(peer, "inproc://zeromq.zap.01"));
    return peer;
}

/* One request: so many fields of so many bytes each, a right one where the
 * input says so. */
static int
ask(void *peer, const uint8_t *data, size_t len)
{
    static const char *const field[] = {"1.0", "1", "foil", "::1", "", "CURVE"};
    size_t n = len ? data[0] % 10 : 0;
    int sound = n == 7;

    for (size_t i = 0, at = 1; i < n; i++) {
        size_t want = at < len ? data[at] : 255;
        const int flags = ZMQ_DONTWAIT | (i + 1 < n ? ZMQ_SNDMORE : 0);

        at++;
        if (want == 255) {
            zmq_send(peer, i < 6 ? field[i] : right,
                     i < 6 ? strlen(field[i]) : sizeof right, flags);
            continue;
        }
        want = want * 2 < len - (at < len ? at : len) ? want * 2
               : at < len                             ? len - at
                                                      : 0;
        zmq_send(peer, want ? data + at : data, want, flags);
        at += want;
        sound = sound && i != 5 && i != 6;
    }
    return n ? sound : -1;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static void *context, *peer;
    static struct wire_zap *zap;
    static struct wire_cert cert = {.role = "augment"};
    static const struct wire_keys keys = {.allowed = &cert, .n = 1};
    struct err err = {""};
    char part[64], status[4] = "";
    int sound, more = 1, n = 0;
    unsigned refused;
    size_t size = sizeof more;

    if (!context) {
        context = zmq_ctx_new();
        REQUIRE(zmq_z85_encode(cert.public_key, (const uint8_t *)right,
                               sizeof right));
        zap = wire_zap_open(context, &keys, &err);
        REQUIRE(zap);
        peer = open_peer(context);
    }
    sound = ask(peer, data, len);
    if (sound < 0)
        return 0;
    for (; more; n++) {
        const int got = zmq_recv(peer, part, sizeof part, 0);

        REQUIRE(got >= 0);
        if (n == 2)
            memcpy(status, part, 3);
        REQUIRE(!zmq_getsockopt(peer, ZMQ_RCVMORE, &more, &size));
    }
    refused = wire_zap_refused(zap, &err);
    REQUIRE(n == 6 && refused <= 1 && (!refused || *err.msg));
    REQUIRE(!strcmp(status, refused ? "400" : "200"));
    REQUIRE(!sound || !refused);
    return 0;
}
