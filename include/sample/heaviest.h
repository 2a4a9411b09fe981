#ifndef SAMPLE_HEAVIEST_H
#define SAMPLE_HEAVIEST_H

#include "sample/source.h"

/* sample_heaviest() fills in the arrays; the caller sets k.  O(v b columns) for
 * a small k. */
void sample_heaviest(const struct batch *step, const struct weights *weights,
                     struct heaviest *heaviest);

#endif
