#include "t.h"
#include "wire/plan.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_plan plan;

    return wire_plan_get(&plan, msg, err);
}

int
main(void)
{
    static const struct change changes[] = {
        {"id", NULL, -1},
        {"id", "0", -1},
        {"epoch", NULL, -1},
        {"strategy", NULL, -1},
        {"strategy", "1", -1},
        {"strategy", "'0123456789012345678901234567890123'", -1},
        {"values", NULL, -1},
        {"values", "{}", 0},
        {"values", "[]", -1},
        {NULL, NULL, 0},
    };
    static struct wire_plan plan = {.id = 9,
                                    .epoch = 4,
                                    .strategy = "spectral",
                                    .n = 2,
                                    .values = {{"mean", 2.5}, {"known", 1}}},
                            got;
    struct wire_msg *msg = again(wire_plan_put(&plan));
    struct err err = {""};

    T(!wire_plan_get(&got, msg, &err) && got.n == 2 && got.id == 9 &&
          got.epoch == 4 && !strcmp(got.strategy, "spectral") &&
          !strcmp(got.values[0].name, "mean") && got.values[0].value == 2.5,
      "round trip: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg);

    plan.n = WIRE_PLAN_MAX;
    for (int i = 0; i < WIRE_PLAN_MAX; i++)
        snprintf(plan.values[i].name, sizeof plan.values[i].name, "%063d", i);
    msg = again(wire_plan_put(&plan));
    T(!get(msg, &err), "as many as there may be: %s", err.msg);
    wire_msg_free(msg);

    return t_done();
}
