#include "t.h"
#include "wire/state.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_state state;
    int rc = wire_state_get(&state, msg, err);

    wire_state_release(&state);
    return rc;
}

int
main(void)
{
    static const struct change changes[] = {
        {"id", NULL, -1},      {"session", NULL, -1}, {"epoch", NULL, -1},
        {"step", "-1", -1},    {"fresh", NULL, 0},    {"fresh", "1", -1},
        {"tensors", NULL, -1}, {"tensors", "[]", -1}, {NULL, NULL, 0},
    };
    static const enum wire_kind kinds[] = {WIRE_STATE, WIRE_STATE_PUT,
                                           WIRE_STATE_OK};
    const int64_t chain[] = {4, 1, -1, -1};
    const double mean = 0.25;
    struct wire_tensor tensors[] = {
        {"chain", WIRE_I8, 2, {2, 2}, 4, chain},
        {"mean", WIRE_F8, 0, {0}, 1, &mean},
    };
    struct wire_state state = {.id = 3,
                               .session = 9,
                               .epoch = 1,
                               .step = 2,
                               .fresh = 1,
                               .n = 2,
                               .tensors = tensors},
                      got;

    for (size_t i = 0; i < 3; i++) {
        struct wire_msg *msg = again(wire_state_put(kinds[i], &state));
        const struct wire_tensor *t;
        struct err err = {""};

        T(wire_msg_kind(msg) == kinds[i], "%s", wire_kind_name(kinds[i]));
        T(!wire_state_get(&got, msg, &err) && got.n == 2 && got.id == 3 &&
              got.session == 9 && got.fresh,
          "round trip: %s", err.msg);
        t = wire_state_find(&got, "chain");
        T(t && t->rank == 2 && t->shape[1] == 2 &&
              !memcmp(t->data, chain, sizeof chain),
          "a tensor by name");
        t = wire_state_find(&got, "mean");
        T(t && t->count == 1 && *(const double *)t->data == 0.25,
          "a single number");
        T(!wire_state_find(&got, "none"), "no such tensor");
        wire_state_release(&got);
        judge_all(get, msg, changes);
        wire_msg_free(msg);
    }
    state.n = 0;
    wire_state_release(&(struct wire_state){0});
    return t_done();
}
