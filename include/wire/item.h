#ifndef WIRE_ITEM_H
#define WIRE_ITEM_H

#include "wire/next.h"
#include "wire/views.h"

/*
 * item: one step of the plan, from selector to augmenter.
 *
 *     session, epoch, step   which step this is
 *     run     text   name of the run, up to 127 bytes: "" or that of hello
 *     size    whole  images in the data set; every id is below it
 *     steps   whole  steps in this epoch, > step
 *     epochs  whole  epochs planned in all, > epoch
 *     ids     tensor i8 [b], 1 <= b <= WIRE_BATCH_MAX, each once: who is
 *                    trained
 *     extra   tensor i8 [r], optional: who is encoded besides (chain states)
 *     look    flag, optional: features are wanted, nothing is trained
 *
 * and which views of them are wanted, as in wire/views.h.
 */
struct wire_item {
    struct wire_place at;
    char run[128];
    int64_t size, steps, epochs;
    int look;
    size_t n, n_extra;
    const int64_t *ids, *extra; /* [n], [n_extra] */
    struct wire_extra of_extra;
    struct wire_variants variants;
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

/*
 * _put() makes the message; arrays are copied into it.
 * _get() decodes a stranger's: on 0 *item points into msg and holds it until
 * wire_item_release(); on -1 *item is empty.
 *   size   images in our data set, for the ids; 0 when not known
 */
struct wire_msg *wire_item_put(const struct wire_item *item);
int wire_item_get(struct wire_item *item, struct wire_msg *msg, int64_t size,
                  struct err *err);
void wire_item_release(struct wire_item *item);

#endif
