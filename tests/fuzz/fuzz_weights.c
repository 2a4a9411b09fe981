#include "wire/weights.h"

#include "frames.h"

static const float w[] = {0.5f, 0.5f, 0.25f, 0.75f};
static const int64_t keep[] = {5, 1, -1, -1};
static const float score[] = {3, -40}, scale[] = {1, 1, 0.5f, 2};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_weights right = {.id = 3,
                                              .accepted = 0.5,
                                              .moved = 1,
                                              .rows = 2,
                                              .columns = 2,
                                              .w = w,
                                              .keep = keep,
                                              .keep_score = score,
                                              .scale = scale,
                                              .bank = 8,
                                              .n_values = 1,
                                              .values = {{"ess", 2.5}}};
    static struct wire_msg *seed;
    static struct wire_weights a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_weights_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_weights_get(&a, msg, 0, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_weights_put(&a));
        REQUIRE(!wire_weights_get(&b, copy, 0, &err));
        fuzz_same(copy, wire_weights_put(&b));
        wire_weights_release(&a);
        wire_weights_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
