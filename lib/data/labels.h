#ifndef DATA_LABELS_H
#define DATA_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

#include "cells.h"
#include "kind.h"
#include "layout.h"

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

/* Names without doubles, in byte order.  Start as zeros. */
struct names {
    char **name; /* [n] */
    size_t n, room;
    size_t last; /* where the last search ended: neighbours are often alike */
};

/* data_names_find() is 1 where a name of n bytes is there; *where is its place,
 * or that where it belongs.  data_names_add() adds a copy of it. */
int data_names_find(struct names *names, const char *name, size_t n,
                    size_t *where);
void data_names_add(struct names *names, const char *name, size_t n);
void data_names_release(struct names *names);

/* Files by what their names end in, a kind each. */
struct skipped_kind {
    char end[16]; /* ".gif"; "" of names without a dot, or with a long end */
    int picture;
    size_t n;
};

/* What an index is made without, to be told when it is done. */
struct skipped {
    size_t pictures, others;   /* files that are no samples by name */
    char *picture, *other;     /* the first of each, or NULL */
    struct skipped_kind *kind; /* [kinds] */
    size_t kinds, kind_room;
    struct names folders; /* of one input: images are missing */
    struct names classes; /* of all inputs: so are some of these */
};

/* data_skipped_count() counts a file that is skipped. */
void data_skipped_count(struct skipped *skipped, enum data_kind kind,
                        const char *name);

/* data_skipped_kinds() is data_index_kinds(). */
char *data_skipped_kinds(const struct skipped *skipped, int pictures);

/* data_skipped_image() notes that an image of this name has no sample. */
void data_skipped_image(struct skipped *skipped, const char *name);

/*
 * data_skipped_input() turns the folders of an input into the classes that they
 * would say, by the samples first .. first + n - 1 that it has (see labels.h).
 */
void data_skipped_input(struct skipped *skipped,
                        const struct layout_parts *parts, size_t first,
                        size_t n);

/*
 * data_skipped_lost() leaves the classes that no sample has; none where labels
 * are given, for then folders say nothing.
 */
void data_skipped_lost(struct skipped *skipped,
                       const struct layout_parts *parts, int given);

void data_skipped_release(struct skipped *skipped);

#endif
