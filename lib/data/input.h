#ifndef DATA_INPUT_H
#define DATA_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

#include "columns.h"
#include "layout.h"
#include "notes.h"
#include "tree.h"

/*
 * An input that files come from, whatever its form: a tar, a folder, a list.
 * The path "-" is a list on standard input, its names as seen from the current
 * folder.  A list has a path, a label and a caption in its columns, or what
 * these are called or the user says that they hold (columns.h).
 */
struct input_item {
    const char *name; /* lives until the next call */
    uint64_t offset, bytes;
    const char *label, *caption; /* that a list gives; else NULL */
    const char *bad; /* why it cannot be read, where that shows already */
};

struct input;
struct input *data_input_open(const char *path,
                              const struct data_columns *columns,
                              struct err *err);
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

/* data_input_is_list() returns whether lines of text say what the samples are;
 * data_input_list() is the path of the file that has them, and what is to be
 * known of it; NULL where there is none. */
int data_input_is_list(const struct input *input);
const char *data_input_list(const struct input *input,
                            struct tree_state *state);

/* data_input_notes() adds what is to be said of a list at its end. */
void data_input_notes(const struct input *input, struct data_notes *notes);

/* data_input_hidden() counts the files and folders whose names begin with a
 * dot, as far as it was read; of a tar only the files in such folders. */
size_t data_input_hidden(const struct input *input);

/* data_input_tree() is a folder's tree; NULL where the input is none. */
const struct tree *data_input_tree(const struct input *input);

/* data_input_root() is the path that names or offsets refer to. */
const char *data_input_root(const struct input *input);
enum layout_kind data_input_kind(const struct input *input);
uint64_t data_input_bytes(const struct input *input);

#endif
