#include "sample/memory.h"
#include "wire/state.h"

#include "frames.h"

enum { N = 3, VIEWS = 2, D = 2 };

/* What a memory says of itself, as a state.put. */
static struct wire_msg *
told(const struct sample_memory *memory)
{
    struct sample_array array[SAMPLE_MEMORY_ARRAYS];
    struct wire_tensor tensor[SAMPLE_MEMORY_ARRAYS];
    const struct wire_state put = {
        .id = 1, .n = sample_memory_list(memory, array), .tensors = tensor};

    for (size_t i = 0; i < put.n; i++)
        wire_tensor_init(&tensor[i], array[i].name, array[i].dtype,
                         array[i].rank, array[i].shape, array[i].data);
    return wire_state_put(WIRE_STATE_PUT, &put);
}

static struct wire_msg *
sound(void)
{
    static const int64_t ids[] = {2, 0};
    static const struct sample_state state[] = {{1, 0}, {1, 1}, {0, 1}, {2, 0}};
    static const float score[4] = {1, -2}, rows[4 * D] = {1, 0, 0.6f, 0.8f};
    static const struct sample_step step = {
        .beta = 2.5,
        .v = 2,
        .b = 2,
        .extra = 1,
        .dim = D,
        .ids = ids,
        .z = rows,
        .extra_ids = ids,
        .extra_z = rows,
    };
    static const struct sample_update update = {state, score, 2};
    struct sample_memory memory;
    struct wire_msg *msg;

    sample_memory_init(&memory, N);
    sample_memory_step(&memory, &step, &update);
    sample_memory_step(&memory, &step, &update);
    msg = told(&memory);
    sample_memory_release(&memory);
    return msg;
}

/* 0 when the message was taken, and the memory is what it says. */
static int
load(struct sample_memory *memory, struct wire_msg *msg, struct err *err)
{
    struct sample_array array[WIRE_TENSORS_MAX];
    struct wire_state state;
    int rc = wire_state_get(&state, msg, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < state.n; i++) {
        const struct wire_tensor *t = &state.tensors[i];

        array[i] = sample_array_of(t->name, (enum dtype)t->dtype, t->rank,
                                   t->shape, t->data);
    }
    rc = sample_memory_load(memory, state.n, array, err);
    wire_state_release(&state);
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
        sample_bank_advance(&a.bank, a.total);
    }
    sample_memory_release(&a);
    sample_memory_release(&b);
    wire_msg_free(msg);
    return 0;
}
