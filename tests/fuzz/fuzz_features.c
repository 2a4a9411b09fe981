#include "wire/features.h"

#include "frames.h"

static const int64_t ids[] = {5, 6};
static const float z[2 * 2 * 3] = {1, 0.5f, -0.25f};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_features right = {.sequence = 3,
                                               .epoch = 1,
                                               .step = 2,
                                               .id = 4,
                                               .next = 8,
                                               .mode = "eval",
                                               .n = 2,
                                               .n_views = 2,
                                               .dim = 3,
                                               .ids = ids,
                                               .z = z};
    static struct wire_msg *seed;
    static struct wire_features a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_features_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_features_get(&a, msg, 100, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_features_put(&a));
        REQUIRE(!wire_features_get(&b, copy, 100, &err));
        fuzz_same(copy, wire_features_put(&b));
        wire_features_release(&a);
        wire_features_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
