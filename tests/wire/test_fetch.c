#include "t.h"
#include "wire/fetch.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_fetch fetch;

    return wire_fetch_get(&fetch, msg, err);
}

int
main(void)
{
    static const struct change changes[] = {
        {"id", NULL, -1},    {"id", "0", -1},     {"epoch", NULL, -1},
        {"epoch", "-1", -1}, {"from", NULL, -1},  {"from", "-1", -1},
        {"from", "1.5", -1}, {"other", "'x'", 0}, {NULL, NULL, 0},
    };
    const struct wire_fetch fetch = {
        .id = 7, .epoch = 3, .from = 1024, .plan = -1};
    struct wire_fetch got = {0};
    struct wire_msg *msg = again(wire_fetch_put(&fetch));
    struct err err = {""};

    T(!wire_fetch_get(&got, msg, &err) && got.id == 7 && got.epoch == 3 &&
          got.from == 1024 && got.plan == -1,
      "round trip: %s", err.msg);
    judge_all(get, msg, changes);
    T(!judged(get, msg, "half", "true", &err), "in half precision");
    T(judged(get, msg, "half", "1", &err), "or not: %s", err.msg);
    T(!judged(get, msg, "plan", "4", &err), "for an epoch");
    T(judged(get, msg, "plan", "-1", &err), "that there is: %s", err.msg);
    wire_msg_free(msg);
    return t_done();
}
