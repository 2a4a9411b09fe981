#pragma once

/*
 * Sequences of messages to one end of an edge: the other end is a plain ZeroMQ
 * socket in the same process, which sends what a byte of the input says.  Most
 * are well-formed, so that they reach what the end keeps of its peers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "util/mem.h"
#include "wire/batch.h"
#include "wire/error.h"
#include "wire/hello.h"
#include "wire/progress.h"
#include "wire/sock_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The bytes of an input, one after another; 0 past the end. */
struct bytes {
    const uint8_t *data;
    size_t len;
};

static inline unsigned
byte(struct bytes *from)
{
    if (!from->len)
        return 0;
    from->len--;
    return *from->data++;
}

/* A place among few, so that they meet; now and then one far away. */
static inline struct wire_place
place(struct bytes *from)
{
    const unsigned x = byte(from);

    if (x == 255)
        return (struct wire_place){INT64_MAX, WIRE_EPOCH_MAX, WIRE_STEP_MAX};
    return (struct wire_place){1 + x % 3, x / 3 % 4, x / 12 % 8};
}

static inline struct wire_hello
hello(struct bytes *from)
{
    const unsigned x = byte(from);
    struct wire_hello hello = {.version = WIRE_VERSION, .size = 10};

    snprintf(hello.stage, sizeof hello.stage, "%s",
             x & 1 ? "train" : "augment");
    snprintf(hello.digest, sizeof hello.digest, "%032d", x % 32 == 31);
    snprintf(hello.peer, sizeof hello.peer, "p%u", x / 32 % 4);
    if (x / 128)
        *hello.peer = 0;
    if (x & 2)
        snprintf(hello.recipe, sizeof hello.recipe, "cifar");
    return hello;
}

static inline struct wire_msg *
small_batch(const struct wire_place *at)
{
    static const int64_t ids[] = {5, 6};
    static const uint8_t views[2 * 2 * 8 * 8 * 3];
    const struct wire_batch batch = {.session = at->session,
                                     .batch.epoch = at->epoch,
                                     .batch.step = at->step,
                                     .batch.steps = WIRE_STEP_MAX,
                                     .batch.epochs = WIRE_EPOCH_MAX,
                                     .batch.b = 2,
                                     .batch.v = 2,
                                     .height = 8,
                                     .width = 8,
                                     .channels = 3,
                                     .batch.ids = ids,
                                     .batch.pixels = views};

    return wire_batch_put(&batch);
}

static inline struct wire_msg *
small_item(const struct wire_place *at)
{
    static const int64_t ids[] = {5, 6};
    const struct wire_item item = {.session = at->session,
                                   .batch.epoch = at->epoch,
                                   .batch.step = at->step,
                                   .size = 10,
                                   .batch.steps = WIRE_STEP_MAX,
                                   .batch.epochs = WIRE_EPOCH_MAX,
                                   .batch.b = 2,
                                   .batch.ids = ids};

    return wire_item_put(&item);
}

static inline struct wire_msg *
small_error(const struct wire_place *at)
{
    struct wire_error error = {
        .reason = "who?", .id = -1, .rehello = at->step % 2 == 1, .of.at = *at};

    if (at->epoch)
        strcpy(error.of.kind, "item");
    return wire_error_put(&error);
}

/* The message that the next bytes stand for. */
static inline struct wire_msg *
message(struct bytes *from)
{
    static const int64_t ids[] = {5, 6};
    const unsigned kind = byte(from) % 11;
    const struct wire_place at = place(from);
    const unsigned x = byte(from);
    const int64_t have[] = {at.epoch, at.step + x % 3, at.epoch + 1, x % 8};
    const struct wire_want next = {.at = at,
                                   .serial = 1 + x % 16,
                                   .window = 1 + x / 16,
                                   .n_have = x % 5 % 3,
                                   .have = have,
                                   .room = x % 7};
    const struct wire_end end = {at, x % 2};
    const struct wire_reject reject = {
        .at = at, .reason = "no JPEG", .n = 2, .ids = ids};
    struct wire_hello first;

    switch (kind) {
    case 0:
    case 1:
        first = hello(from);
        return wire_hello_put(&first);
    case 2:
    case 3:
        return wire_want_put(&next);
    case 4:
    case 5:
        return wire_end_put(&end);
    case 6:
        return wire_heartbeat_put(&(struct wire_heartbeat){0});
    case 7:
        return wire_reject_put(&reject);
    case 8:
        return small_error(&at);
    case 9:
        return small_batch(&at);
    default:
        return small_item(&at);
    }
}

/* Send it, or where `noise` is set with one byte of its header changed. */
static inline void
post(void *socket, struct wire_msg *msg, unsigned noise)
{
    const size_t n = wire_msg_parts(msg);

    for (size_t i = 0; i < n; i++) {
        const struct wire_part part = wire_msg_part(msg, i);
        uint8_t *copy = mem_array(part.len, 1);
        const int flags = ZMQ_DONTWAIT | (i + 1 < n ? ZMQ_SNDMORE : 0);

        if (part.len)
            memcpy(copy, part.data, part.len);
        if (i == 1 && noise && part.len)
            copy[noise % part.len] ^= (uint8_t)noise;
        zmq_send(socket, copy, part.len, flags);
        free(copy);
    }
    wire_msg_free(msg);
}

/* Drop what came to a socket. */
static inline void
drain(void *socket)
{
    char part[8];

    while (zmq_recv(socket, part, sizeof part, ZMQ_DONTWAIT) >= 0)
        ;
}

static inline void *
plain_socket(const struct wire *wire)
{
    void *socket = zmq_socket(wire->context, ZMQ_DEALER);
    const int zero = 0;

    REQUIRE(socket && !zmq_setsockopt(socket, ZMQ_LINGER, &zero, sizeof zero));
    return socket;
}

/* An address that nobody had before. */
static inline const char *
fresh_endpoint(void)
{
    static char text[64];
    static unsigned long turn;

    snprintf(text, sizeof text, "inproc://fuzz-%lu", ++turn);
    return text;
}
