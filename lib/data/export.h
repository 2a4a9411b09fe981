#pragma once

#include "data/features.h"

/* data_npz_write() writes features as one .npz, NumPy's zip of arrays, not
 * compressed: x, and ids, labels and same if present, and as bytes classes.txt
 * and about.json.  All or nothing; uses memory for one more copy of x. */
int data_npz_write(const char *path, const struct data_features *features,
                   struct err *err);

/*
 * data_parquet_write() writes features as one file of Apache Parquet (format 2,
 * values plain, pages not compressed), which pandas, DuckDB and Arrow read: a
 * row each with id, label, same and class if present, and x, a list of d
 * floats; the metadata has, under the key "foil", how they were made.  A row
 * without a label has -1 and the class "".  All or nothing; uses memory for the
 * levels and values of 2^24 floats, or of one row if that is more.  Source:
 * apache/parquet-format, README.md, Encodings.md, parquet.thrift.
 */
int data_parquet_write(const char *path, const struct data_features *features,
                       struct err *err);
