#ifndef DATA_INPUT_H
#define DATA_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

#include "cells.h"
#include "layout.h"
#include "tar.h"
#include "tree.h"

/*
 * An input that files come from, whatever its form: a tar, a folder, a list.
 * The path "-" is a list on standard input, its names as seen from the current
 * folder.  A list has a path, a label and a caption in its columns, or what
 * these are called or the user says that they hold (cells.h).
 */
struct input_item {
    const char *name; /* lives until the next call */
    uint64_t offset, bytes;
    const char *label, *caption; /* that a list gives; else NULL */
    const char *bad; /* why it cannot be read, where that shows already */
};

struct input {
    char *root;           /* the path that names or offsets refer to */
    struct data_tar *tar; /* of a tar, else NULL */
    struct tree tree;     /* of a folder */
    size_t at;            /* how far the tree is given out */

    char *list; /* of a list: its text, which says what the samples are, */
    size_t list_bytes;
    struct data_cells cells;      /* which is cut into these, */
    size_t at_cell[DATA_COLUMNS]; /* and which of them is what */
    const struct data_columns *columns;
    struct data_notes *notes;
    size_t nameless, nameless_line; /* records, and the first of them */
    int begun;
    char *list_path; /* the file that has them, unless it is standard input */
    struct tree_state list_state;
};

/* data_input_open() begins with an input; what is to be said of the columns of
 * a list goes to notes. */
struct input *data_input_open(const char *path,
                              const struct data_columns *columns,
                              struct data_notes *notes, struct err *err);
void data_input_close(struct input *input);

/* data_input_next() finds the next file: 1, 0 at the end, -1 where an archive
 * is damaged, or DATA_UNREAD where it cannot be read, or a list makes no sense.
 */
int data_input_next(struct input *input, struct input_item *item,
                    struct err *err);

/* data_input_read() reads the content of the item that data_input_next() gave:
 * 0, -1 or DATA_UNREAD. */
int data_input_read(struct input *input, const struct input_item *item,
                    struct data_bytes *bytes, struct err *err);

/* data_input_size() is the length of its content; 0 where that cannot be told.
 */
uint64_t data_input_size(const struct input *input,
                         const struct input_item *item);

/* data_input_share() tells how much of the input is done, 0 .. 1. */
double data_input_share(const struct input *input);

#endif
