#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

#include "layout.h"
#include "notes.h"

/*
 * data_labels_common() is how much of the names of the samples first .. first +
 * n - 1 is folders common to all.  The last folder of a name is never part of
 * it, so that a set of one class keeps its class.
 */
size_t data_labels_common(const struct layout_parts *parts, size_t first,
                          size_t n);

/*
 * data_labels_from_folders() gives the samples first .. first + n - 1, which
 * come from one place, the class that the folders in their names say: the first
 * folder behind those common to all.  Writes text places to class[]; 0 where
 * a name has no folder.
 */
void data_labels_from_folders(struct layout_parts *parts, size_t first,
                              size_t n, uint64_t *class);

/*
 * data_labels_settle() turns the class texts of all samples into labels and the
 * table of classes.
 *   given   the texts were given rather than read from folders: where all are
 *           whole numbers they count as they are, and -1 is none; refused are
 *           others below 0, and numbers of which only some are too large
 *   notes   what seems odd: labels only some of which are numbers, folders that
 *           are called as splits are
 */
int data_labels_settle(struct layout_parts *parts, const uint64_t *class,
                       int given, struct data_notes *notes, struct err *err);

#endif
