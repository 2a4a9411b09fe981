#ifndef WIRE_PLAN_H
#define WIRE_PLAN_H

#include "wire/metrics.h"

/*
 * plan: figures about the plan of an epoch, such as how hard its batches are;
 * selector to trainer, before it hands out the epoch's first item.  The trainer
 * answers with state.ok (wire/state.h) and writes it into the metrics of the
 * epoch's first step.
 */
enum { WIRE_PLAN_MAX = 32 };

struct wire_plan {
    int64_t id; /* of the request, from 1 */
    int64_t epoch;
    char strategy[32];
    size_t n; /* up to WIRE_PLAN_MAX */
    struct value values[WIRE_PLAN_MAX];
};

WIRE_PLAIN(plan, WIRE_PLAN)

#endif
