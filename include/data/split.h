#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

/*
 * data_split() divides the samples of a set at random into a part and the rest,
 * class by class: the part gets round(share n) samples, and each class (and the
 * samples without one) its share to within one.  The result is a function of
 * set, share and seed.
 *   0 < share < 1
 *   in_part [n]  1 for the samples of the part
 */
void data_split(const struct data_set *set, double share, uint64_t seed,
                uint8_t *in_part);

/*
 * data_longtail() thins out the classes of a set at random until their sizes
 * fall exponentially in the order of labels,
 *
 *     n_c = floor(n / C factor^(c / (C - 1)) / max(1, factor)), c = 0 .. C - 1
 *
 * (Cui et al. 2019, arXiv:1901.05555), for n samples with a label in C classes:
 * for CIFAR-10 and 0.01 these are 5000, 2997, 1796, ..., 50, in all 12,406.  A
 * class with fewer samples keeps all; samples without a label are dropped.
 *   set      at least one class
 *   factor   > 0: the last size divided by the first; above 1 they rise
 *   in_part  [size]  1 for the samples that remain
 * Returns how many remain.
 */
size_t data_longtail(const struct data_set *set, double factor, uint64_t seed,
                     uint8_t *in_part);

/* data_subset() writes an index of the samples with keep[i] == which, in their
 * order, of the same data and with the same classes.  It is an error if there
 * are none. */
int data_subset(const struct data_set *set, const uint8_t *keep, uint8_t which,
                const char *path, struct err *err);
