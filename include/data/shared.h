#ifndef DATA_SHARED_H
#define DATA_SHARED_H

#include "data/set.h"

/*
 * data_shared() counts the samples of a set whose files another set has, too,
 * byte for byte, under whatever names: the samples that are in both TRAIN and
 * TEST.  It compares digests, O(n log m) of n and m samples, and takes 16 bytes
 * for each sample of both.
 */
size_t data_shared(const struct data_set *set, const struct data_set *other);

#endif
