#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/features.h"
#include "util/err.h"

#include "cells.h"
#include "layout.h"
#include "tar.h"
#include "tree.h"

/*
 * An input: a tar, a folder, a list, or an array x.npy of f4 or f2, whose rows
 * are samples, with the labels of x.labels.npy and x.classes.  The path "-" is
 * a list on standard input, with names relative to the current folder.  The
 * columns of a list are path, label and caption, or those of its heading or of
 * the user's description (cells.h).
 */
struct input_item {
    const char *name; /* lives until the next call */
    uint64_t offset, bytes;
    const char *label, *caption; /* of a list; else NULL */
    const char *bad; /* why it cannot be read, if that is known already */
};

struct input {
    char *root;           /* the path that names or offsets refer to */
    struct data_tar *tar; /* of a tar, else NULL */
    struct tree tree;     /* of a folder */
    size_t at;            /* index of the next entry of the tree, or row */
    struct array {
        int fd;                     /* of an array, else 0 */
        size_t d;                   /* numbers of a row */
        size_t item;                /* bytes of a number */
        uint64_t from, bytes;       /* offset of row 0; of the file */
        struct data_features about; /* n, labels and classes */
        char name[32], label[32];   /* of the present row */
    } array;

    char *list; /* of a list: its text */
    size_t list_bytes;
    struct data_rows rows;          /* of that text */
    size_t nameless, nameless_line; /* records, and line of the first */
    char *list_path;                /* file of the list; NULL: standard input */
    struct tree_state list_state;
};

/* data_input_open() opens an input; messages about the columns of a list go to
 * notes. */
struct input *data_input_open(const char *path,
                              const struct data_columns *columns,
                              struct data_notes *notes, struct err *err);
void data_input_close(struct input *input);

/* data_input_next() finds the next file: 1, 0 at the end, -1 if an archive is
 * damaged, or DATA_UNREAD if it cannot be read, or a list is invalid. */
int data_input_next(struct input *input, struct input_item *item,
                    struct err *err);

/* data_input_read() reads the content of an item from data_input_next(): 0, -1
 * or DATA_UNREAD. */
int data_input_read(struct input *input, const struct input_item *item,
                    struct data_bytes *bytes, struct err *err);

/* data_input_size() returns the length of its content; 0 if that is not
 * known. */
uint64_t data_input_size(const struct input *input,
                         const struct input_item *item);

/* data_input_share() returns the fraction of the input that is done, 0 .. 1. */
double data_input_share(const struct input *input);
