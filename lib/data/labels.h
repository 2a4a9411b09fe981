#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/index.h"
#include "util/err.h"

#include "cells.h"
#include "layout.h"

/* data_labels_common() returns the length of the folders that are common to the
 * names of the samples first .. first + n - 1.  The last folder of a name is
 * never part of it, so that a set of one class keeps its class. */
size_t data_labels_common(const struct layout_parts *parts, size_t first,
                          size_t n);

/*
 * data_labels_from_folders() finds the classes of the samples first .. first +
 * n - 1, which are of one input, by the folders in their names: the first
 * folder after those common to all.  Writes offsets in the text to class[]; 0
 * if a name has no folder.
 */
void data_labels_from_folders(struct layout_parts *parts, size_t first,
                              size_t n, uint64_t *class);

/*
 * data_labels_assign() converts the class texts of all samples to labels and
 * the table of classes.
 *   explicit  the texts are from files, not from folders: if all are whole
 *             numbers these are the labels, and -1 is none; other negative
 *             numbers and too large ones are errors
 *   notes     warnings: labels that are partly numbers, folders that are called
 *             as splits
 */
int data_labels_assign(struct layout_parts *parts, const uint64_t *class,
                       int explicit, struct data_notes *notes, struct err *err);

/* Different names, in byte order.  Start as zeros. */
struct names {
    char **name; /* [n] */
    size_t n, room;
    size_t last; /* index of the last match: successive names are often equal */
};

/* data_names_find() returns 1 if a name of n bytes is in the list; *where is
 * its index, or the index where it belongs. data_names_add() adds a copy of
 * it. */
int data_names_find(struct names *names, const char *name, size_t n,
                    size_t *where);
void data_names_add(struct names *names, const char *name, size_t n);
void data_names_release(struct names *names);

/* A number of files with the same suffix. */
struct skipped_kind {
    char end[16]; /* ".gif"; "" for names without a dot, or a long suffix */
    int picture;
    size_t n;
};

/* Skipped files, for messages at the end. */
struct skipped {
    struct data_index_skipped of[2]; /* as in struct data_index_report */
    struct skipped_kind *kind;       /* [kinds] */
    size_t kinds, kind_room;
    struct names folders; /* of one input, of images that were skipped */
    struct names classes; /* of all inputs, with skipped images */
};

/* data_skipped_count() counts a skipped file. */
void data_skipped_count(struct skipped *skipped, enum data_kind kind,
                        const char *name);

/* data_skipped_kinds() is data_index_kinds(). */
char *data_skipped_kinds(const struct skipped *skipped, int pictures);

/* data_skipped_add_classes() converts the folders of an input to classes, as
 * data_labels_from_folders() does for its samples first .. first + n - 1. */
void data_skipped_add_classes(struct skipped *skipped,
                              const struct layout_parts *parts, size_t first,
                              size_t n);

/* data_skipped_remove_found() removes the classes that have samples; all if
 * labels are explicit, as folders are then no classes. */
void data_skipped_remove_found(struct skipped *skipped,
                               const struct layout_parts *parts, int explicit);

void data_skipped_release(struct skipped *skipped);
