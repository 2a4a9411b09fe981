#ifndef WIRE_ERROR_H
#define WIRE_ERROR_H

#include "wire/msg.h"

/*
 * error: no, and why.
 *
 *     reason  text   one sentence, up to 511 bytes
 *     again   bool   optional: say hello again, then all will be well
 *     id      whole  optional: the request that this answers
 *     state   bool   optional: the service has no state for this run: send
 *                    state.put and ask again
 *     message bool   optional: one message was refused and changed nothing;
 *                    all else goes on
 *
 * An error is never answered with an error.
 */
struct wire_error {
    char reason[512];
    int again, state, message;
    int64_t id; /* -1: answers no request */
};

struct wire_msg *wire_error_put(const struct wire_error *error);
int wire_error_get(struct wire_error *error, const struct wire_msg *msg,
                   struct err *err);

#endif
