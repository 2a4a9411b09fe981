#ifndef UTIL_TALLY_H
#define UTIL_TALLY_H

#include <stdint.h>

#include "util/err.h"

/* What may go wrong without end, and is not to be said each time. */
struct tally {
    uint64_t n;
};

/*
 * tally_add() counts one more.  Returns 1 when it should be said: the 1st, 2nd,
 * 4th, 8th ..., with the count added to the sentence.
 */
int tally_add(struct tally *tally, struct err *why);

#endif
