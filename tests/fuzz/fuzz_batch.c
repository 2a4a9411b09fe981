#include "wire/batch.h"

#include "frames.h"

static const int64_t ids[] = {5, 6};
static const int64_t view[] = {3}, variant[] = {0, 1, 2, 0};
static const int32_t row[] = {2, -1};
static const float log_q[] = {0.5f, -7};
static const uint8_t views[2 * 2 * 2 * 3 * 3];
static const int32_t tokens[4];
static int64_t pair[][2] = {{4, 5}, {7, 6}};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const struct wire_batch right = {
        .at = {7, 1, 2},
        .steps = 9,
        .epochs = 3,
        .n = 2,
        .n_views = 2,
        .height = 2,
        .width = 3,
        .channels = 3,
        .n_extra = 1,
        .n_tokens = 2,
        .rejected = 1,
        .n_substituted = 2,
        .substituted = pair,
        .ids = ids,
        .views = views,
        .extra_ids = ids,
        .extra = views,
        .tokens = tokens,
        .look = 1,
        .of_extra = {9, view, row, row, log_q, 1, {{"walk", 0.5}}},
        .variants = {3, 2, variant}};
    static struct wire_msg *seed;
    static struct wire_batch a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = wire_batch_put(&right);
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    if (wire_batch_get(&a, msg, 100, &err)) {
        REQUIRE(*err.msg);
    } else {
        copy = fuzz_again(wire_batch_put(&a));
        REQUIRE(!wire_batch_get(&b, copy, 100, &err));
        fuzz_same(copy, wire_batch_put(&b));
        wire_batch_release(&a);
        wire_batch_release(&b);
    }
    wire_msg_free(msg);
    return 0;
}
