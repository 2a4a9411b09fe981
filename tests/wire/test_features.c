#include "t.h"
#include "wire/features.h"

#include "parts.h"

enum { V = 2, B = 3, D = 5 };

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_features features;
    int rc = wire_features_get(&features, msg, 0, err);

    wire_features_release(&features);
    return rc;
}

int
main(void)
{
    static const struct change changes[] = {
        {"sequence", NULL, -1}, {"sequence", "-1", -1}, {"epoch", NULL, -1},
        {"step", NULL, -1},     {"mode", NULL, -1},     {"mode", "'eval'", 0},
        {"mode", "'test'", -1}, {"dim", NULL, -1},      {"dim", "4", -1},
        {"dim", "65537", -1},   {"tensors", NULL, -1},  {"id", "0", -1},
        {"id", "5", -1},        {"next", "9", 0},       {NULL, NULL, 0},
    };
    const int64_t ids[B] = {1, 2, 3};
    float z[V * B * D];
    uint16_t half[V * B * D] = {0x3c00, 0x8000, 1};
    struct wire_features f = {.sequence = 4,
                              .epoch = 1,
                              .step = 2,
                              .mode = "train",
                              .n = B,
                              .n_views = V,
                              .dim = D,
                              .ids = ids,
                              .z = z},
                         got;
    struct wire_msg *msg;
    struct err err = {""};

    for (int i = 0; i < V * B * D; i++)
        z[i] = (float)i / 10;
    msg = again(wire_features_put(&f));
    T(!wire_features_get(&got, msg, 4, &err) && got.n == B &&
          got.n_views == V && got.dim == D && got.sequence == 4 &&
          !memcmp(got.z, z, sizeof z) && !strcmp(got.mode, "train"),
      "round trip: %s", err.msg);
    T((uintptr_t)got.z % sizeof(float) == 0, "aligned");
    wire_features_release(&got);
    T(wire_features_get(&got, msg, 3, &err), "an id outside: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg);

    f.id = 12;
    f.next = 4;
    msg = again(wire_features_put(&f));
    T(!wire_features_get(&got, msg, 4, &err) && got.id == 12 && got.next == 4,
      "an answer: %s", err.msg);
    wire_features_release(&got);
    T(judged(get, msg, "next", NULL, &err), "without its next: %s", err.msg);
    wire_msg_free(msg);

    f.z = NULL;
    f.half = half;
    msg = again(wire_features_put(&f));
    T(!wire_features_get(&got, msg, 4, &err) && !got.z &&
          !memcmp(got.half, half, sizeof half),
      "in half precision: %s", err.msg);
    wire_features_release(&got);
    wire_msg_free(msg);
    return t_done();
}
