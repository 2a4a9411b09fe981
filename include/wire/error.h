#ifndef WIRE_ERROR_H
#define WIRE_ERROR_H

#include "wire/codec.h"
#include "wire/next.h"

/* The message that an error is about, as far as it could be read. */
struct wire_subject {
    char kind[32];        /* "item"; "?": not known; "": it is about none */
    struct wire_place at; /* session -1: it has no place */
    int64_t version;      /* that it speaks, when it is not ours; else 0 */
};

/* wire_subject_of() says what an error about a message names. */
void wire_subject_of(struct wire_subject *subject, const struct wire_msg *msg);

/*
 * error: no, and why.  It is never answered with an error.  One with neither
 * again, id nor kind ends the tool that connected.
 */
struct wire_error {
    char reason[512]; /* one sentence */
    int again;        /* say hello again, then all will be well */
    int state;        /* the service has no state for this run: send state.put
                       * and ask again */
    int64_t id;       /* of the request that this answers, >= 0; -1: of none */
    struct wire_subject of; /* that was refused, and changed nothing; all else
                             * goes on */
    int64_t count; /* messages of its sender that were refused so far */
};

WIRE_PLAIN(error, WIRE_ERROR)

#endif
