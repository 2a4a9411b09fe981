#pragma once

#include "wire/codec.h"
#include "wire/progress.h"

/* The message that an error is about, as far as it could be read. */
struct wire_subject {
    char kind[32];        /* "item"; "?": not known; "": no message */
    struct wire_place at; /* session -1: it has no place */
    int64_t version;      /* of its protocol, if it differs from ours; else 0 */
};

/* wire_subject_of() fills in the subject of an error about a message. */
void wire_subject_of(struct wire_subject *subject, const struct wire_msg *msg);

/* error: the answer to a refused message, with the reason.  It is never
 * answered with an error.  An error without rehello, id (-1) and kind ("") ends
 * the tool that connected. */
struct wire_error {
    char reason[512]; /* one sentence */
    int rehello;      /* 1: send hello again, and continue */
    int need_state;   /* 1: the service has no state for this run: send
                       * state.put and the request again */
    int64_t id;       /* of the request that this answers, >= 0; -1: none */
    struct wire_subject of; /* the message that was refused: it changed nothing,
                             * and the connection goes on */
    int64_t count; /* messages of its sender that were refused so far */
};

WIRE_PLAIN(error, WIRE_ERROR)
