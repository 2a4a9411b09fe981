#include "wire/reject.h"

#include "frames.h"

static const int64_t ids[] = {5, 6};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_reject right = {
        .at = {7, 1, 2}, .reason = "no JPEG", .n = 2, .ids = ids};
    static struct wire_msg *seed;
    static struct wire_reject a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_reject_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_reject_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_reject_put(&a));
        REQUIRE(!wire_reject_get(&b, copy, &err));
        fuzz_same(copy, wire_reject_put(&b));
        wire_reject_release(&a);
        wire_reject_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
