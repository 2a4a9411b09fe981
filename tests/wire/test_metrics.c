#include "t.h"
#include "wire/metrics.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_metrics metrics;

    return wire_metrics_get(&metrics, msg, err);
}

int
main(void)
{
    static const struct change changes[] = {
        {"sequence", NULL, -1}, {"stage", NULL, -1}, {"step", NULL, -1},
        {"values", NULL, -1},   {"values", "{}", 0}, {"values", "[]", -1},
        {NULL, NULL, 0},
    };
    static struct wire_metrics metrics = {.sequence = 1,
                                          .stage = "train",
                                          .step = 12,
                                          .n = 2,
                                          .values = {{"loss", 4.5},
                                                     {"rate", 0.125}}},
                               got;
    struct wire_msg *msg = again(wire_metrics_put(&metrics));
    struct err err = {""};

    T(!wire_metrics_get(&got, msg, &err) && got.n == 2 && got.step == 12 &&
          !strcmp(got.values[1].name, "rate") && got.values[1].value == 0.125,
      "round trip: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg);

    metrics.n = WIRE_METRICS_MAX;
    for (int i = 0; i < WIRE_METRICS_MAX; i++)
        snprintf(metrics.values[i].name, sizeof metrics.values[i].name, "%056d",
                 i);
    msg = again(wire_metrics_put(&metrics));
    T(!get(msg, &err), "as many as there may be: %s", err.msg);
    wire_msg_free(msg);
    return t_done();
}
