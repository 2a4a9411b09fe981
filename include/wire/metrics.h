#ifndef WIRE_METRICS_H
#define WIRE_METRICS_H

#include "util/value.h"
#include "wire/codec.h"

/* metrics: numbers with names; any stage to subscribers.  Numbers of a
 * message are finite. */
enum { WIRE_METRICS_MAX = 256 };

struct wire_metrics {
    int64_t sequence; /* counts the publisher's messages from 0 */
    char stage[32];
    int64_t step;
    size_t n; /* up to WIRE_METRICS_MAX */
    struct value values[WIRE_METRICS_MAX];
};

WIRE_PLAIN(metrics, WIRE_METRICS)

/*
 * wire_metrics_read() takes the numbers of a line of JSON, as a trainer writes
 * them into metrics.jsonl, in its order; those of an object in it, as
 * {"plan":{"mean":1}}, as it sends them: plan.mean.  What is no number, or does
 * not fit, is left out.  Returns how many there are, 0 if the line is no JSON
 * object.  O(line).
 *
 *     values   [WIRE_METRICS_MAX]
 */
size_t wire_metrics_read(struct value *values, const char *line);

#endif
