#ifndef DATA_TREE_H
#define DATA_TREE_H

#include <stddef.h>

#include "util/err.h"

/*
 * All files below a folder, by the names relative to it: folder by folder, the
 * entries of each in byte order.  Links are followed; names that begin with a
 * dot are passed over.
 */
struct tree {
    char *text;
    size_t text_len, text_room;
    size_t *at; /* [n] places in text */
    size_t n, room;
};

/* tree_walk() fills in an empty tree; more than 32 folders deep is refused. */
int tree_walk(struct tree *tree, const char *root, struct err *err);
void tree_release(struct tree *tree);

const char *tree_name(const struct tree *tree, size_t i);

#endif
