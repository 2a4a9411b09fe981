#ifndef UTIL_TALLY_H
#define UTIL_TALLY_H

#include <stdint.h>

#include "util/err.h"

/* Counts a repeated message, so that only some occurrences are logged. */
struct tally {
    uint64_t n;
};

/*
 * tally_add() counts an occurrence.  Returns 1 if it should be logged, for the
 * 1st, 2nd, 4th, 8th ..., with the count added to the sentence; else 0.
 */
int tally_add(struct tally *tally, struct err *why);

#endif
