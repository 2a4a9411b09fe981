#ifndef DATA_OPEN_H
#define DATA_OPEN_H

#include "data/set.h"

/*
 * data_open_or_die() is data_open() and data_stale() for main() alone, as
 * util/opt.h: it ends the process where the data set cannot be opened or the
 * file of a sample has gone, and prints a line where the index is otherwise out
 * of date.
 *   lenient  1: where the file of a sample has gone, print that and go on; the
 *            sample is bad when it is read
 */
struct data_set *data_open_or_die(const char *path, int lenient);

/* data_open_parts_or_die() is the same by data_open_parts(), always lenient. */
struct data_set *data_open_parts_or_die(const char *path);

/* data_spare_or_die() ends the process, as for a wrong command line, where
 * writing `output` would replace what the set is read from (data_reads()). */
void data_spare_or_die(const struct data_set *set, const char *output);

#endif
