#ifndef LIB_DATA_FETCH_H
#define LIB_DATA_FETCH_H

#include "data/fetch.h"

/* data_fetch_open() sets set->fetch of a list if data_fetch_use() was called;
 * data_fetch_close() ends its threads and commands. */
struct data_fetch;
int data_fetch_open(struct data_set *set, struct err *err);
void data_fetch_close(struct data_fetch *fetch);

/* data_fetch_file() returns a descriptor of the tar of shard i, which it
 * fetches if necessary; or DATA_UNREAD. data_fetch_drop() removes the tar. */
int data_fetch_file(struct data_fetch *fetch, size_t i, struct err *err);
void data_fetch_drop(struct data_fetch *fetch, size_t i);

#endif
