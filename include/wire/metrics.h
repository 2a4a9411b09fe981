#ifndef WIRE_METRICS_H
#define WIRE_METRICS_H

#include "wire/codec.h"

/* metrics: numbers with names; any stage to subscribers. */
enum { WIRE_METRICS_MAX = 256 };

struct wire_metric {
    char name[64]; /* 1 .. 63 bytes */
    double value;  /* finite */
};

struct wire_metrics {
    int64_t sequence; /* counts the publisher's messages from 0 */
    char stage[32];
    int64_t step;
    size_t n; /* up to WIRE_METRICS_MAX */
    struct wire_metric values[WIRE_METRICS_MAX];
};

WIRE_PLAIN(metrics, WIRE_METRICS)

/*
 * wire_metrics_find() finds the first of n numbers that has this name: its
 * value, or NaN where none has it.  O(n).
 */
double wire_metrics_find(const struct wire_metric *values, size_t n,
                         const char *name);

#endif
