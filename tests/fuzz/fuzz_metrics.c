#include "wire/metrics.h"

#include "frames.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_metrics right = {
        .sequence = 3,
        .stage = "train",
        .step = 2,
        .n = 2,
        .values = {{"loss", 4.5}, {"rate", 1}}};
    static struct wire_msg *seed;
    static struct wire_metrics a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_metrics_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_metrics_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_metrics_put(&a));
        REQUIRE(!wire_metrics_get(&b, copy, &err));
        fuzz_same(copy, wire_metrics_put(&b));
    }
    wire_msg_free(msg);
    return 0;
}
