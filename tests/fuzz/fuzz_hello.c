#include "wire/hello.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_hello right = {
        .stage = "augment",
        .run = "r",
        .digest = "0123456789abcdef0123456789abcdef",
        .size = 50000,
        .peer = "augment-7"};
    static struct wire_msg *seed;
    static struct wire_hello a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_hello_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_hello_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_hello_put(&a));
        REQUIRE(!wire_hello_get(&b, copy, &err));
        fuzz_same(copy, wire_hello_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
