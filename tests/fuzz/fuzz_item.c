#include "wire/item.h"

#include "frames.h"

static const int64_t ids[] = {5, 6, 99, 0};
static const int64_t view[] = {-1, 3}, variant[] = {0, 1, 2, 0, 1, 1, 1, 0};
static const int32_t row[] = {2, -1};
static const float log_q[] = {0.5f, -7};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_item right = {
        .at = {7, 1, 2},
        .run = "r",
        .size = 100,
        .steps = 9,
        .epochs = 3,
        .n = 4,
        .ids = ids,
        .n_extra = 2,
        .extra = ids,
        .look = 1,
        .of_extra = {9, view, row, row, log_q, 1, {{"walk", 0.5}}},
        .variants = {3, 2, variant}};
    static struct wire_msg *seed;
    static struct wire_item a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_item_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_item_get(&a, msg, 0, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_item_put(&a));
        REQUIRE(!wire_item_get(&b, copy, 0, &err));
        fuzz_same(copy, wire_item_put(&b));
        wire_item_release(&a);
        wire_item_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
