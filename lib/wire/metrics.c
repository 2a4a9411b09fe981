#include <string.h>

#include "wire/metrics.h"
#include "wire/pack.h"

struct wire_msg *
wire_metrics_put(const struct wire_metrics *metrics)
{
    struct wire_writer w;

    REQUIRE(metrics->n <= WIRE_METRICS_MAX);
    wire_write_start(&w, WIRE_METRICS);
    wire_write_whole(&w, "sequence", metrics->sequence);
    wire_write_text(&w, "stage", metrics->stage);
    wire_write_whole(&w, "step", metrics->step);
    wire_write_map(&w, "values", metrics->n);
    for (size_t i = 0; i < metrics->n; i++)
        wire_write_real(&w, metrics->values[i].name, metrics->values[i].value);
    return wire_write_end(&w);
}

/* One name and its number. */
static void
get_value(struct wire_reader *r, const msgpack_object_kv *kv,
          struct wire_metric *value)
{
    const size_t n = kv->key.via.str.size;

    if (n < 1 || n >= sizeof value->name || memchr(kv->key.via.str.ptr, 0, n)) {
        wire_read_fail(r, "a name of 'values' has %zu bytes", n);
        return;
    }
    memcpy(value->name, kv->key.via.str.ptr, n);
    if (wire_object_real(&kv->val, &value->value))
        wire_read_fail(r, "'%s' is no finite number", value->name);
}

int
wire_metrics_get(struct wire_metrics *metrics, const struct wire_msg *msg,
                 struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err), values;

    *metrics = (struct wire_metrics){0};
    metrics->sequence = wire_read_whole(&r, "sequence", 0, INT64_MAX);
    wire_read_text(&r, "stage", metrics->stage, sizeof metrics->stage);
    metrics->step = wire_read_whole(&r, "step", 0, INT64_MAX);
    values = wire_read_map(&r, "values");
    if (values.map->via.map.size > WIRE_METRICS_MAX)
        wire_read_fail(&values, "more than %d values", WIRE_METRICS_MAX);
    if (r.rc || values.rc)
        return -1;
    metrics->n = values.map->via.map.size;
    for (size_t i = 0; i < metrics->n; i++)
        get_value(&values, &values.map->via.map.ptr[i], &metrics->values[i]);
    return values.rc;
}
