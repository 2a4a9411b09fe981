#ifndef DATA_CAPTIONS_H
#define DATA_CAPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"

/* The most captions of a sample (K), and the most bytes of one; an index holds
 * no more. */
enum { DATA_CAPTIONS_MAX = 64, DATA_CAPTION_BYTES = 1 << 16 };

/* data_captions_count() is how many captions a sample has, and
 * data_captions_most() how many the sample has that has the most, O(bytes). */
size_t data_captions_count(const struct data_set *set, size_t id);
size_t data_captions_most(const struct data_set *set);

/* data_captions_get() is caption k of a sample, k below their number, of *len
 * bytes; no zero byte ends it. */
const char *data_captions_get(const struct data_set *set, size_t id, size_t k,
                              size_t *len);

#endif
