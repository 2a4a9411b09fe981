#pragma once

/*
 * Fuzzing decoders of messages.  The input is either raw parts, or changes to
 * a message that is right: noise alone hardly ever gets past the guard.  A
 * decoder refuses with a sentence, or what it took survives a round trip.
 */
#include <stdlib.h>
#include <string.h>

#include "util/err.h"
#include "util/mem.h"
#include "wire/msg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Parts of a two-byte length and so many bytes each. */
static size_t
raw_parts(struct wire_part *part, const uint8_t *data, size_t len)
{
    size_t n = 1;

    while (len >= 2 && n < WIRE_PARTS_MAX) {
        size_t want = (size_t)data[0] << 8 | data[1];

        data += 2;
        len -= 2;
        want = want < len ? want : len;
        part[n++] = (struct wire_part){data, want};
        data += want;
        len -= want;
    }
    return n;
}

/* (part, offset, value): change a byte; (0, part, count): cut the part. */
static void
change_parts(struct wire_part *part, size_t n, uint8_t **copy,
             const uint8_t *data, size_t len)
{
    for (; len >= 4; data += 4, len -= 4) {
        const size_t at = (size_t)data[1] << 8 | data[2];
        const size_t i = 1 + (data[0] & 127) % (n - 1);

        if (!part[i].len)
            continue;
        if (data[0] & 128)
            part[i].len = at % part[i].len;
        else
            copy[i][at % part[i].len] = data[3];
    }
}

/* The message that the input stands for, or NULL when it is none. */
static struct wire_msg *
fuzz_msg(const struct wire_msg *seed, const uint8_t *data, size_t len)
{
    struct wire_part part[WIRE_PARTS_MAX] = {wire_msg_part(seed, 0)};
    uint8_t *copy[WIRE_PARTS_MAX] = {NULL};
    struct err err = {""};
    struct wire_msg *msg;
    size_t n = 0;

    if (len && data[0] & 1) {
        n = raw_parts(part, data + 1, len - 1);
    } else if (len) {
        n = wire_msg_parts(seed);
        for (size_t i = 1; i < n; i++) {
            part[i] = wire_msg_part(seed, i);
            copy[i] = mem_array(part[i].len, 1);
            memcpy(copy[i], part[i].data, part[i].len);
            part[i].data = copy[i];
        }
        change_parts(part, n, copy, data + 1, len - 1);
    }
    msg = wire_msg_from(n, part, &err);
    REQUIRE(msg || *err.msg);
    for (size_t i = 0; i < WIRE_PARTS_MAX; i++)
        free(copy[i]);
    return msg;
}

/* The same bytes, come anew; msg is freed. */
static inline struct wire_msg *
fuzz_again(struct wire_msg *msg)
{
    struct wire_part part[WIRE_PARTS_MAX];
    struct err err = {""};
    struct wire_msg *copy;

    for (size_t i = 0; i < wire_msg_parts(msg); i++)
        part[i] = wire_msg_part(msg, i);
    copy = wire_msg_from(wire_msg_parts(msg), part, &err);
    REQUIRE(copy);
    wire_msg_free(msg);
    return copy;
}

/* Both are freed. */
static inline void
fuzz_same(struct wire_msg *a, struct wire_msg *b)
{
    REQUIRE(wire_msg_parts(a) == wire_msg_parts(b));
    for (size_t i = 0; i < wire_msg_parts(a); i++) {
        const struct wire_part p = wire_msg_part(a, i);
        const struct wire_part q = wire_msg_part(b, i);

        REQUIRE(p.len == q.len && (!p.len || !memcmp(p.data, q.data, p.len)));
    }
    wire_msg_free(a);
    wire_msg_free(b);
}
