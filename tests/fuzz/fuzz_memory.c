#include "sample/memory.h"
#include "wire/state.h"

#include "frames.h"

enum { N = 3, VIEWS = 2, D = 2 };

/* What a memory says of itself, as a state.put. */
static struct wire_msg *
told(const struct sample_memory *memory)
{
    struct wire_tensor list[SAMPLE_MEMORY_TENSORS];
    const struct wire_state put = {
        .id = 1, .n = sample_memory_list(memory, list), .tensors = list};

    return wire_state_put(WIRE_STATE_PUT, &put);
}

static struct wire_msg *
sound(void)
{
    static const int64_t ids[] = {2, 0};
    static const struct sample_state state[] = {{1, 0}, {1, 1}, {0, 1}, {2, 0}};
    static const float score[4] = {1, -2}, rows[4 * D] = {1, 0, 0.6f, 0.8f};
    static const struct wire_pairs pairs = {
        .beta = 2.5,
        .n = 2,
        .n_views = 2,
        .dim = D,
        .n_extra = 1,
        .ids = ids,
        .z = rows,
        .extra_ids = ids,
        .extra_z = rows,
    };
    struct sample_memory memory;
    struct wire_msg *msg;

    sample_memory_init(&memory, N);
    for (; memory.total < 2; memory.total++) {
        sample_memory_keep(&memory, VIEWS, 2, 2, ids, NULL, state, score);
        sample_memory_push(&memory, &pairs, 1);
    }
    sample_memory_advance(&memory, 0);
    msg = told(&memory);
    sample_memory_release(&memory);
    return msg;
}

/* 0 when the message was taken, and the memory is what it says. */
static int
load(struct sample_memory *memory, struct wire_msg *msg, struct err *err)
{
    struct wire_state state;
    int rc = wire_state_get(&state, msg, err);

    if (!rc) {
        rc = sample_memory_load(memory, state.n, state.tensors, err);
        wire_state_release(&state);
    }
    return rc;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct wire_msg *seed;
    struct sample_memory a, b;
    struct wire_msg *msg, *copy;
    struct err err = {""};

    if (!seed)
        seed = sound();
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    sample_memory_init(&a, N);
    sample_memory_init(&b, N);
    if (load(&a, msg, &err)) {
        REQUIRE(*err.msg && !a.bank.rows && !a.chains.state);
    } else {
        copy = fuzz_again(told(&a));
        REQUIRE(!load(&b, copy, &err));
        fuzz_same(copy, told(&b));
        sample_memory_advance(&a, a.total);
    }
    sample_memory_release(&a);
    sample_memory_release(&b);
    wire_msg_free(msg);
    return 0;
}
