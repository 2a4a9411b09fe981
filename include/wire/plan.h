#ifndef WIRE_PLAN_H
#define WIRE_PLAN_H

#include "wire/metrics.h"

/*
 * plan: what there is to say of the plan of an epoch; selector to trainer,
 * before it hands out the epoch's first item.  The trainer answers with
 * state.ok (wire/state.h) and writes it into the metrics of the epoch's first
 * step.
 *
 *     id        whole  number of the request, from 1
 *     epoch     whole
 *     strategy  text   up to 31 bytes
 *     values    map    name (up to 63 bytes) -> finite real, up to 32
 */
enum { WIRE_PLAN_MAX = 32 };

struct wire_plan {
    int64_t id, epoch;
    char strategy[32];
    size_t n;
    struct wire_metric values[WIRE_PLAN_MAX];
};

struct wire_msg *wire_plan_put(const struct wire_plan *plan);
int wire_plan_get(struct wire_plan *plan, const struct wire_msg *msg,
                  struct err *err);

#endif
