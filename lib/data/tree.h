#ifndef DATA_TREE_H
#define DATA_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* The entries of a folder that do not begin with a dot, in byte order. */
struct tree_names {
    struct tree_name {
        char *name;
        unsigned char type; /* as struct dirent has it */
    } * entry;              /* [n] */
    size_t n, room;
    size_t hidden; /* how many more begin with a dot */
};

/*
 * What tells whether a folder still holds what it held.  The time alone shows
 * that it may have changed; count and sum are of the names of its folders and
 * of the files that an index looks at (see kind.h), in any order.  Of a text
 * file they are its bytes and a digest.
 */
struct tree_state {
    int64_t time; /* last change of an entry [ns]; 0: too fresh to go by */
    uint64_t count, sum;
};

/*
 * data_tree_list() reads a folder: its entries, to be released, and its state.
 * 0, -1 or DATA_UNREAD (data/set.h).
 * Only entries that are neither file nor folder nor known by their names cost
 * a stat().
 */
int data_tree_list(const char *path, struct tree_names *names,
                   struct tree_state *state, struct err *err);
void data_tree_names_release(struct tree_names *names);

/* data_tree_text_state() is the state of a text file of n bytes, but for its
 * time.
 */
void data_tree_text_state(const char *text, size_t n, struct tree_state *state);

/* data_tree_names_find() is 1 where there is an entry of that name.  O(log n).
 */
int data_tree_names_find(const struct tree_names *names, const char *name);

/*
 * data_tree_time() returns the time that data_tree_list() would give for the
 * state of a folder or file, or -1 where there is none; one stat().
 */
int64_t data_tree_time(const char *path);

/*
 * All files below a folder, by the names relative to it: folder by folder, the
 * entries of each in byte order.  Links are followed; names that begin with a
 * dot are skipped.  What cannot be followed is an entry, too, and says why:
 * a link to nothing or to a folder that it lies in, a folder that cannot be
 * read or lies deeper than 32 others.
 */
struct tree {
    char *text;
    size_t text_len, text_room;
    struct tree_entry {
        size_t name; /* place in text */
        size_t why;  /* place in text of a sentence where it is bad, or 0 */
    } * entry;       /* [n] */
    size_t n, room;
    struct tree_folder {
        size_t name; /* place in text: "" or with a slash behind */
        struct tree_state state;
    } * folder; /* [folders] all that were read, the root first */
    size_t folders, folder_room;
    size_t hidden; /* files and folders that are skipped */
};

/* data_tree_walk() fills in an empty tree; -1 where the root cannot be read,
 * DATA_UNREAD where the machine fails below it, too. */
int data_tree_walk(struct tree *tree, const char *root, struct err *err);
void data_tree_release(struct tree *tree);

#endif
