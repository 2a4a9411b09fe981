#include "t.h"
#include "wire/weights.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_weights weights;
    int rc = wire_weights_get(&weights, msg, 0, err);

    wire_weights_release(&weights);
    return rc;
}

static int
taken_with(struct wire_weights x, struct err *err)
{
    struct wire_msg *msg = again(wire_weights_put(&x));
    int rc = get(msg, err);

    wire_msg_free(msg);
    return rc == 0;
}

static int
taken(const float *w, const int64_t *keep, struct err *err)
{
    struct wire_weights x = {.id = 1,
                             .accepted = 0.5,
                             .rows = 2,
                             .columns = 3,
                             .w = w,
                             .keep = keep};

    return taken_with(x, err);
}

int
main(void)
{
    static const struct change changes[] = {
        {"id", NULL, -1},        {"accepted", NULL, -1}, {"accepted", "0", 0},
        {"accepted", "1.1", -1}, {"moved", NULL, -1},    {"moved", "-1", -1},
        {"tensors", NULL, -1},   {"bank", "0", -1},      {"bank", NULL, 0},
        {"values", NULL, 0},     {"values", "[]", -1},   {"values", "{}", 0},
        {NULL, NULL, 0},
    };
    const float w[] = {0.5f, 0.25f, 0.25f, 0, 1, 0};
    const float low[] = {0.5f, 0.25f, 0.20f, 0, 1, 0};
    const float negative[] = {1.5f, -0.25f, -0.25f, 0, 1, 0};
    const int64_t keep[] = {7, 1, -1, -1}, half[] = {7, 1, -1, 0};
    const float score[] = {-3, 0}, scale[] = {1, 0.5f, 1, 2};
    const float below[] = {1, -0.5f, 1, 1};
    struct wire_weights x = {.id = 5,
                             .accepted = 0.25,
                             .moved = 2,
                             .rows = 2,
                             .columns = 3,
                             .w = w,
                             .keep = keep,
                             .keep_score = score,
                             .scale = scale,
                             .bank = 8,
                             .n_values = 2,
                             .values = {{"ess", 3}, {"outside", 0.5}}},
                        got;
    struct wire_msg *msg = again(wire_weights_put(&x));
    struct err err = {""};

    T(!wire_weights_get(&got, msg, 0, &err) && got.rows == 2 &&
          got.columns == 3 && !memcmp(got.w, w, sizeof w) &&
          !memcmp(got.keep, keep, sizeof keep) && got.accepted == 0.25 &&
          got.moved == 2 && got.id == 5,
      "round trip: %s", err.msg);
    T(!memcmp(got.keep_score, score, sizeof score) &&
          !memcmp(got.scale, scale, sizeof scale) && got.bank == 8 &&
          got.n_values == 2 && !strcmp(got.values[1].name, "outside") &&
          got.values[1].value == 0.5,
      "what there is besides");
    wire_weights_release(&got);
    judge_all(get, msg, changes);
    wire_msg_free(msg);
    T(taken(w, NULL, &err), "keep may be missing");
    T(!taken(low, keep, &err), "a row that does not sum to 1: %s", err.msg);
    T(!taken(negative, keep, &err), "a weight below 0: %s", err.msg);
    T(!taken(w, half, &err), "half a chain state: %s", err.msg);
    x.w = low;
    T(taken_with(x, &err), "stale chains may drop a share: %s", err.msg);
    x.scale = below;
    T(!taken_with(x, &err), "a factor below 0: %s", err.msg);
    x.scale = NULL;
    x.keep = NULL;
    T(!taken_with(x, &err), "a score without a chain: %s", err.msg);
    return t_done();
}
