#include "t.h"
#include "wire/pairs.h"

#include "parts.h"

enum { V = 2, B = 3, D = 4, R = 2 };

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_pairs pairs;
    int rc = wire_pairs_get(&pairs, msg, 0, err);

    wire_pairs_release(&pairs);
    return rc;
}

int
main(void)
{
    static const struct change changes[] = {
        {"id", NULL, -1},    {"id", "-1", -1},     {"session", NULL, -1},
        {"epoch", NULL, -1}, {"step", NULL, -1},   {"beta", NULL, -1},
        {"beta", "0", -1},   {"beta", "-2.5", -1}, {"beta", "14", 0},
        {"beta", "inf", -1}, {"beta", "nan", -1},  {"tensors", NULL, -1},
        {NULL, NULL, 0},
    };
    const int64_t ids[B] = {1, 2, 3}, extra_ids[R] = {8, 9};
    const int64_t view[R] = {0, -1}, wrong[R] = {-2, 0}, variant[V * B] = {1};
    const int32_t row[R] = {5, -1}, wild[R] = {-2, 0};
    const float log_q[R] = {9, 8};
    const float z[V * B * D] = {1, 2}, extra_z[R * D] = {3};
    struct wire_pairs p = {.id = 12,
                           .session = 3,
                           .epoch = 1,
                           .step = 2,
                           .beta = 2.5,
                           .n = B,
                           .n_views = V,
                           .dim = D,
                           .n_extra = R,
                           .ids = ids,
                           .z = z,
                           .extra_ids = extra_ids,
                           .extra_z = extra_z,
                           .of_extra = {9, view, row, row, log_q},
                           .variants = {2, V, variant}},
                      got;
    struct wire_msg *msg = again(wire_pairs_put(&p));
    struct err err = {""};

    T(!wire_pairs_get(&got, msg, 10, &err) && got.id == 12 && got.beta == 2.5 &&
          got.n == B && got.n_views == V && got.dim == D && got.n_extra == R &&
          got.z[1] == 2 && got.extra_z[0] == 3 && got.extra_ids[1] == 9 &&
          got.session == 3,
      "round trip: %s", err.msg);
    T(got.of_extra.view[1] == -1 && got.of_extra.hint_log_q[1] == 8 &&
          got.of_extra.hint_row[1] == -1 && got.variants.augmentations == 2 &&
          got.variants.variant[0] == 1,
      "which views they are");
    wire_pairs_release(&got);
    T(wire_pairs_get(&got, msg, 9, &err), "an id outside: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg);

    p.of_extra.view = wrong;
    msg = again(wire_pairs_put(&p));
    T(get(msg, &err), "a view below -1: %s", err.msg);
    wire_msg_free(msg);
    p.of_extra.view = view;
    p.of_extra.hint_row = wild;
    msg = again(wire_pairs_put(&p));
    T(get(msg, &err), "a row below -1: %s", err.msg);
    wire_msg_free(msg);
    p.of_extra.hint_row = row;
    p.of_extra.hint_view = wild;
    msg = again(wire_pairs_put(&p));
    T(get(msg, &err), "a hint of a view below -1: %s", err.msg);
    wire_msg_free(msg);
    p.n_extra = 0;
    msg = again(wire_pairs_put(&p));
    T(!wire_pairs_get(&got, msg, 0, &err) && !got.extra_ids && !got.extra_z,
      "without extra: %s", err.msg);
    wire_pairs_release(&got);
    wire_msg_free(msg);
    return t_done();
}
