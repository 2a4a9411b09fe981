#include "wire/next.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_next right = {.at = {7, 1, 2}, .credit = 4};
    static struct wire_msg *seed;
    static struct wire_next a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_next_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_next_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_next_put(&a));
        REQUIRE(!wire_next_get(&b, copy, &err));
        fuzz_same(copy, wire_next_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
