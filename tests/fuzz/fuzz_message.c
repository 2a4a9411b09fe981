#include "wire/codec.h"
#include "wire/example.h"

#include "frames.h"

static _Alignas(16) char decoded[1 << 15], anew[1 << 15];

static struct wire_msg *
example(enum wire_kind kind)
{
    REQUIRE(wire_messages[kind].bytes <= sizeof decoded);
    example_start();
    return wire_encode(kind, example_make(kind, 1));
}

/* What was decoded is sent, decoded again, and sent again as the same bytes. */
static void
round_trip(enum wire_kind kind, int64_t size)
{
    struct wire_msg *copy = fuzz_again(wire_encode(kind, decoded));
    struct err err = {""};

    REQUIRE(!wire_decode(kind, anew, copy, size, &err));
    fuzz_same(copy, wire_encode(kind, anew));
    if (!wire_messages[kind].held)
        return;
    wire_release(kind, decoded);
    wire_release(kind, anew);
}

/*
 * Every kind: the first byte says which, and whether the data set is known.
 * The rest is a message (frames.h).  A kind that is added leaves the corpus
 * what it is.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct wire_msg *seed[WIRE_KINDS];
    const enum wire_kind kind =
        len ? (enum wire_kind)(*data % 32 % WIRE_KINDS) : 0;
    const int64_t size = len && *data >= 128 ? 100 : 0;
    struct wire_msg *msg;
    struct err err = {""};

    if (!seed[kind])
        seed[kind] = example(kind);
    msg = fuzz_msg(seed[kind], data + !!len, len - !!len);
    if (!msg)
        return 0;
    if (!wire_decode(kind, decoded, msg, size, &err))
        round_trip(kind, size);
    else
        REQUIRE(*err.msg);
    wire_msg_free(msg);
    return 0;
}
