#ifndef SAMPLE_HEAVIEST_H
#define SAMPLE_HEAVIEST_H

#include "sample/source.h"

/* sample_heaviest() fills in the arrays for a k that is set.  O(v b columns)
 * where k is small. */
void sample_heaviest(const struct batch *step, const struct weights *weights,
                     struct heaviest *heaviest);

#endif
