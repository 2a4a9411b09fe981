#ifndef WIRE_STATUS_H
#define WIRE_STATUS_H

#include "wire/metrics.h"

/* status: figures about a stage, as the trainer sees it; trainer to
 * subscribers, each second. */
enum { WIRE_STATUS_MAX = 16 };

struct wire_status {
    int64_t sequence; /* counts the publisher's messages from 0 */
    char stage[32];   /* "train", "augment" ... */
    int64_t number;   /* among the stages of that name, > 0 */
    size_t n;         /* up to WIRE_STATUS_MAX */
    struct value values[WIRE_STATUS_MAX];
};

WIRE_PLAIN(status, WIRE_STATUS)

#endif
