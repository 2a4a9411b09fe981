#ifndef DATA_SPLIT_H
#define DATA_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

/*
 * data_split() divides the samples of a set at random into a part and the
 * rest, class by class: the part gets round(share n) samples, each class (and
 * what has none) its share of them to within one.  A function of set, share
 * and seed.
 *   0 < share < 1
 *   in_part [n]  1 for the samples of the part
 */
void data_split(const struct data_set *set, double share, uint64_t seed,
                uint8_t *in_part);

/*
 * data_subset() writes an index of the samples with keep[i] == which, in their
 * order, to the same data and with the same classes.  None is an error.
 */
int data_subset(const struct data_set *set, const uint8_t *keep, uint8_t which,
                const char *path, struct err *err);

#endif
