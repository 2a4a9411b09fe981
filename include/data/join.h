#pragma once

#include <stddef.h>

#include "data/set.h"
#include "util/err.h"

/*
 * Makes a list of indexes, which data_open() reads as one set of all their
 * samples, in the order of the calls.  Its digests, labels and classes are
 * those of an index of all the data: the classes of the indexes are joined by
 * their names.  If the names of all are whole numbers 0, 1, ..., these are the
 * labels; else labels are the ranks of the names in byte order.
 *
 * The data need not be there.
 */
struct data_join;

struct data_join *data_join_new(void);
void data_join_free(struct data_join *join);

/*
 * data_join_add() adds an index, or all indexes of a list.  It reads and checks
 * all samples.
 *   place  path or URL of the data, for a command that fetches it; NULL: as the
 *          index has it
 */
int data_join_add(struct data_join *join, const char *index, const char *place,
                  struct err *err);

/* data_join_size() returns the number of indexes so far. */
size_t data_join_size(const struct data_join *join);

/*
 * data_join_write() writes the list, all or nothing.  It reads all samples once
 * more, and twice if some have captions.  Errors: no index, more than 2^20
 * classes, an index that has changed since it was added, or that the list would
 * replace.
 *   note  a warning about the classes, which the caller frees, or NULL
 */
int data_join_write(struct data_join *join, const char *path, char **note,
                    struct err *err);
