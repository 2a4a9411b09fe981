#ifndef DATA_OPEN_H
#define DATA_OPEN_H

#include "data/set.h"

/*
 * data_open_or_die() is data_open() and data_stale() for main() alone, as
 * util/opt.h: it ends the process where the data set cannot be opened, and says
 * it where its index is out of date.
 *   lenient  1: go on where the file of a sample has gone, which is said; it is
 *            a bad sample when it is read
 */
struct data_set *data_open_or_die(const char *path, int lenient);

/* data_open_parts_or_die() is the same by data_open_parts(), and lenient. */
struct data_set *data_open_parts_or_die(const char *path);

/* data_spare_or_die() ends the process where `output` would be written over a
 * file that the set is read from: a wrong command line. */
void data_spare_or_die(const struct data_set *set, const char *output);

#endif
