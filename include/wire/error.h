#ifndef WIRE_ERROR_H
#define WIRE_ERROR_H

#include "wire/codec.h"

/* error: no, and why.  It is never answered with an error. */
struct wire_error {
    char reason[512]; /* one sentence */
    int again;        /* say hello again, then all will be well */
    int state;   /* the service has no state for this run: send state.put and
                  * ask again */
    int message; /* one message was refused and changed nothing; all else goes
                  * on */
    int64_t id;  /* of the request that this answers, >= 0; -1: of none */
};

WIRE_PLAIN(error, WIRE_ERROR)

#endif
