#include "wire/state.h"

#include "frames.h"

static const float mean[2] = {1, 2};
static const int64_t chain[4] = {1, 2, -1, -1};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct wire_tensor tensors[] = {
        {"mean", WIRE_F4, 1, {2}, 2, mean},
        {"chain", WIRE_I8, 2, {2, 2}, 4, chain},
    };
    static const struct wire_state right = {.id = 1,
                                            .session = 2,
                                            .epoch = 3,
                                            .step = 4,
                                            .n = 2,
                                            .tensors = tensors};
    static struct wire_msg *seed;
    struct wire_state a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_state_put(WIRE_STATE, &right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_state_get(&a, msg, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_state_put(WIRE_STATE_PUT, &a));
        REQUIRE(!wire_state_get(&b, copy, &err));
        fuzz_same(copy, wire_state_put(WIRE_STATE_PUT, &b));
        wire_state_release(&a);
        wire_state_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
