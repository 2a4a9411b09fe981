#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "wire/pack.h"
#include "wire/state.h"

struct wire_msg *
wire_state_put(enum wire_kind kind, const struct wire_state *state)
{
    struct wire_writer w;

    REQUIRE(kind == WIRE_STATE || kind == WIRE_STATE_PUT ||
            kind == WIRE_STATE_OK);
    wire_write_start(&w, kind);
    wire_write_whole(&w, "id", state->id);
    wire_write_whole(&w, "session", state->session);
    wire_write_whole(&w, "epoch", state->epoch);
    wire_write_whole(&w, "step", state->step);
    if (state->fresh)
        wire_write_flag(&w, "fresh", 1);
    for (size_t i = 0; i < state->n; i++) {
        const struct wire_tensor *t = &state->tensors[i];

        wire_write_tensor(&w, t->name, t->dtype, t->data, t->rank, t->shape);
    }
    return wire_write_end(&w);
}

int
wire_state_get(struct wire_state *state, struct wire_msg *msg, struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_state got = {0};

    *state = got;
    got.id = wire_read_whole(&r, "id", 0, INT64_MAX);
    got.session = wire_read_whole(&r, "session", 0, INT64_MAX);
    got.epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    got.step = wire_read_whole(&r, "step", 0, WIRE_STEP_MAX - 1);
    got.fresh = wire_read_flag(&r, "fresh");
    if (r.rc)
        return -1;
    got.n = wire_msg_tensors(msg);
    got.tensors = mem_array(got.n, sizeof *got.tensors);
    for (size_t i = 0; i < got.n; i++)
        got.tensors[i] = *wire_msg_tensor(msg, i);
    *state = got;
    state->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_state_release(struct wire_state *state)
{
    if (state->msg)
        free(state->tensors);
    wire_msg_free(state->msg);
    *state = (struct wire_state){0};
}

const struct wire_tensor *
wire_state_find(const struct wire_state *state, const char *name)
{
    for (size_t i = 0; i < state->n; i++)
        if (!strcmp(state->tensors[i].name, name))
            return &state->tensors[i];
    return NULL;
}
