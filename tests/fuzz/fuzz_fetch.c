#include "wire/fetch.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_fetch right = {
        .id = 3, .epoch = 1, .from = 2, .half = 1, .plan = 2};
    static struct wire_msg *seed;
    static struct wire_fetch a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_fetch_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_fetch_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_fetch_put(&a));
        REQUIRE(!wire_fetch_get(&b, copy, &err));
        fuzz_same(copy, wire_fetch_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
