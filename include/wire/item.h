#ifndef WIRE_ITEM_H
#define WIRE_ITEM_H

#include "util/batch.h"
#include "wire/codec.h"
#include "wire/views.h"

/* item: one step of the plan, from selector to augmenter. */
struct wire_item {
    int64_t session;    /* as in wire/next.h */
    char run[128];      /* of the sender's hello; or "" */
    int64_t size;       /* images in the data set, >= 1; the bound of ids */
    char plan[256];     /* the options of the selector, for people; or "" */
    char order[33];     /* a digest of the order of this epoch; or "" */
    struct batch batch; /* place, b, ids, each once; v, fixed, view_of and extra
                         * as wanted */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/* wire_item_get() also refuses an item for a data set of another size. */
WIRE_SIZED(item, WIRE_ITEM)

#endif
