#ifndef WIRE_REJECT_H
#define WIRE_REJECT_H

#include "wire/next.h"

/*
 * reject: samples that could not be used, from augmenter to selector.
 *
 *     session, epoch, step   the item they were asked for in
 *     reason                 text, up to 255 bytes
 *     ids                    tensor i8 [n], n >= 1
 */
struct wire_reject {
    struct wire_place at;
    char reason[256];
    size_t n;
    const int64_t *ids;   /* [n] */
    struct wire_msg *msg; /* held: what ids points into */
};

struct wire_msg *wire_reject_put(const struct wire_reject *reject);
int wire_reject_get(struct wire_reject *reject, struct wire_msg *msg,
                    struct err *err);
void wire_reject_release(struct wire_reject *reject);

#endif
