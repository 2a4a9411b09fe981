#include "wire/plan.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_plan right = {
        .id = 3,
        .epoch = 1,
        .strategy = "swap",
        .n = 2,
        .values = {{"mean", 4.5}, {"known", 1}}};
    static struct wire_msg *seed;
    static struct wire_plan a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_plan_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_plan_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_plan_put(&a));
        REQUIRE(!wire_plan_get(&b, copy, &err));
        fuzz_same(copy, wire_plan_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
