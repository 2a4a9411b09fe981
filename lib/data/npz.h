#ifndef LIB_DATA_NPZ_H
#define LIB_DATA_NPZ_H

#include "data/features.h"

/*
 * data_npz_write() writes features as one .npz, the zip of arrays that numpy
 * reads and writes, stored and not compressed: x, ids,
 * labels and same as far as there are such, and as bytes classes.txt and
 * about.json.  All or nothing; memory for one more copy of x.
 */
int data_npz_write(const char *path, const struct data_features *features,
                   struct err *err);

#endif
