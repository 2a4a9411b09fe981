#ifndef WIRE_METRICS_H
#define WIRE_METRICS_H

#include "util/value.h"
#include "wire/codec.h"

/* metrics: named numbers, all finite; any stage to subscribers. */
enum { WIRE_METRICS_MAX = 256 };

struct wire_metrics {
    int64_t sequence; /* counts the publisher's messages from 0 */
    char stage[32];
    int64_t step;
    size_t n; /* up to WIRE_METRICS_MAX */
    struct value values[WIRE_METRICS_MAX];
};

WIRE_PLAIN(metrics, WIRE_METRICS)

#endif
