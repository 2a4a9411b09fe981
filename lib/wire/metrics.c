#include "wire/metrics.h"

#include "values.h"

struct wire_msg *
wire_metrics_put(const struct wire_metrics *metrics)
{
    struct wire_writer w;

    REQUIRE(metrics->n <= WIRE_METRICS_MAX);
    wire_write_start(&w, WIRE_METRICS);
    wire_write_whole(&w, "sequence", metrics->sequence);
    wire_write_text(&w, "stage", metrics->stage);
    wire_write_whole(&w, "step", metrics->step);
    wire_values_write(&w, "values", metrics->values, metrics->n);
    return wire_write_end(&w);
}

int
wire_metrics_get(struct wire_metrics *metrics, const struct wire_msg *msg,
                 struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);

    *metrics = (struct wire_metrics){0};
    metrics->sequence = wire_read_whole(&r, "sequence", 0, INT64_MAX);
    wire_read_text(&r, "stage", metrics->stage, sizeof metrics->stage);
    metrics->step = wire_read_whole(&r, "step", 0, INT64_MAX);
    metrics->n =
        wire_values_read(&r, "values", metrics->values, WIRE_METRICS_MAX);
    return r.rc;
}
