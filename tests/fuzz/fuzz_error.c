#include "wire/error.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_error right = {
        .reason = "no", .again = 1, .state = 1, .id = 7};
    static struct wire_msg *seed;
    static struct wire_error a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_error_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_error_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_error_put(&a));
        REQUIRE(!wire_error_get(&b, copy, &err));
        fuzz_same(copy, wire_error_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
