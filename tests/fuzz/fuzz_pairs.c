#include "wire/pairs.h"

#include "frames.h"

static const int64_t ids[] = {5, 6};
static const int64_t view[] = {3}, variant[] = {0, 1, 2, 0};
static const int32_t row[] = {2, -1};
static const float log_q[] = {0.5f, -7};
static const float z[2 * 2 * 3] = {1, 0.5f, -0.25f};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_pairs right = {
        .id = 3,
        .session = 7,
        .epoch = 1,
        .step = 2,
        .beta = 2.5,
        .n = 2,
        .n_views = 2,
        .dim = 3,
        .n_extra = 1,
        .ids = ids,
        .z = z,
        .extra_ids = ids,
        .extra_z = z,
        .of_extra = {9, view, row, row, log_q, 1, {{"walk", 0.5}}},
        .variants = {3, 2, variant}};
    static struct wire_msg *seed;
    static struct wire_pairs a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_pairs_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_pairs_get(&a, msg, 100, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_pairs_put(&a));
        REQUIRE(!wire_pairs_get(&b, copy, 100, &err));
        fuzz_same(copy, wire_pairs_put(&b));
        wire_pairs_release(&a);
        wire_pairs_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
