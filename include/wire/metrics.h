#ifndef WIRE_METRICS_H
#define WIRE_METRICS_H

#include "wire/msg.h"

/*
 * metrics: numbers with names; any stage to subscribers.
 *
 *     sequence  whole  counts the publisher's messages from 0
 *     stage     text   up to 31 bytes
 *     step      whole
 *     values    map    name (up to 63 bytes) -> finite real, up to 256
 */
enum { WIRE_METRICS_MAX = 256 };

struct wire_metric {
    char name[64];
    double value;
};

struct wire_metrics {
    int64_t sequence;
    char stage[32];
    int64_t step;
    size_t n;
    struct wire_metric values[WIRE_METRICS_MAX];
};

struct wire_msg *wire_metrics_put(const struct wire_metrics *metrics);
int wire_metrics_get(struct wire_metrics *metrics, const struct wire_msg *msg,
                     struct err *err);

#endif
