#ifndef DATA_CHECK_H
#define DATA_CHECK_H

#include "layout.h"

/*
 * What is believed of an index.  Its body is read in parts, each checked by its
 * digest when it is first touched, so that to open an index of 10^7 samples
 * reads a few of its 750 parts, and so does each process that needs a few
 * samples.  Entries are checked besides, for files made to mislead.
 */

/* data_check_head() judges the mapped head and the digests of the parts, and
 * finds where everything is. */
int data_check_head(struct data_set *set, struct err *err);

/* data_check_tables() judges what any user of a set may ask for: files, classes
 * and marks with their texts. */
int data_check_tables(struct data_set *set, struct err *err);

/* data_check_touched() is 1 where n bytes of the body have been checked. */
int data_check_touched(const struct data_set *set, const void *at, size_t n);

#endif
