#ifndef DATA_PLACE_H
#define DATA_PLACE_H

#include <stddef.h>
#include <stdint.h>

#include "data/set.h"
#include "util/err.h"

#include "layout.h"
#include "tree.h"

/*
 * A place that files come from, whatever its form: a tar, a folder, a list.
 */
struct place_item {
    const char *name; /* lives until the next call */
    uint64_t offset, bytes;
    const char *label, *caption; /* that a list gives; else NULL */
    const char *bad; /* why it cannot be read, where that shows already */
};

struct place;
struct place *data_place_open(const char *path, struct err *err);
void data_place_close(struct place *place);

/* data_place_next() finds the next file: 1, 0 at the end, -1. */
int data_place_next(struct place *place, struct place_item *item,
                    struct err *err);

/* data_place_read() reads the content of the item that data_place_next() gave.
 */
int data_place_read(struct place *place, const struct place_item *item,
                    struct data_bytes *bytes, struct err *err);

/* data_place_share() tells how much of the place is done, 0 .. 1. */
double data_place_share(const struct place *place);

/* data_place_list() is the path of a file whose lines say what the samples are,
 * and what is to be known of it; NULL where the place is none. */
const char *data_place_list(const struct place *place,
                            struct tree_state *state);

/* data_place_tree() is a folder's tree; NULL where the place is none. */
const struct tree *data_place_tree(const struct place *place);

/* data_place_root() is the path that names or offsets refer to. */
const char *data_place_root(const struct place *place);
enum layout_kind data_place_kind(const struct place *place);
uint64_t data_place_bytes(const struct place *place);

#endif
