#include "wire/event.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_event right = {.sequence = 3,
                                            .what = "stop",
                                            .epoch = 1,
                                            .step = 2,
                                            .path = "a",
                                            .reason = "b"};
    static struct wire_msg *seed;
    static struct wire_event a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_event_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_event_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_event_put(&a));
        REQUIRE(!wire_event_get(&b, copy, &err));
        fuzz_same(copy, wire_event_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
