#include "wire/plan.h"

#include "values.h"

struct wire_msg *
wire_plan_put(const struct wire_plan *plan)
{
    struct wire_writer w;

    REQUIRE(plan->n <= WIRE_PLAN_MAX);
    wire_write_start(&w, WIRE_PLAN);
    wire_write_whole(&w, "id", plan->id);
    wire_write_whole(&w, "epoch", plan->epoch);
    wire_write_text(&w, "strategy", plan->strategy);
    wire_values_write(&w, "values", plan->values, plan->n);
    return wire_write_end(&w);
}

int
wire_plan_get(struct wire_plan *plan, const struct wire_msg *msg,
              struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);

    *plan = (struct wire_plan){0};
    plan->id = wire_read_whole(&r, "id", 1, INT64_MAX);
    plan->epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    wire_read_text(&r, "strategy", plan->strategy, sizeof plan->strategy);
    plan->n = wire_values_read(&r, "values", plan->values, WIRE_PLAN_MAX);
    return r.rc;
}
