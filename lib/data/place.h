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
struct place *place_open(const char *path, struct err *err);
void place_close(struct place *place);

/* place_next() finds the next file: 1, 0 at the end, -1. */
int place_next(struct place *place, struct place_item *item, struct err *err);

/* place_read() reads the content of the item that place_next() gave. */
int place_read(struct place *place, const struct place_item *item,
               struct data_bytes *bytes, struct err *err);

/* place_share() tells how much of the place is done, 0 .. 1. */
double place_share(const struct place *place);

/* place_list() is the path of a file whose lines say what the samples are, and
 * what is to be known of it; NULL where the place is none. */
const char *place_list(const struct place *place, struct tree_state *state);

/* place_tree() is a folder's tree; NULL where the place is none. */
const struct tree *place_tree(const struct place *place);

/* place_root() is the path that names or offsets refer to. */
const char *place_root(const struct place *place);
enum layout_kind place_kind(const struct place *place);
uint64_t place_bytes(const struct place *place);

#endif
