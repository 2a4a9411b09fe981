#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/* The kind of a file of a data set, by its name: a sample, a file that belongs
 * to one, or one that an index skips. */
enum data_kind {
    DATA_KIND_IMAGE,   /* .jpg .jpeg .jfif .jpe .png .webp */
    DATA_KIND_CAPTION, /* .txt */
    DATA_KIND_CLASS,   /* .cls */
    DATA_KIND_JSON,    /* .json, which may hold captions */
    DATA_KIND_PICTURE, /* an image of another form, such as .gif */
    DATA_KIND_HIDDEN,  /* begins with a dot */
    DATA_KIND_OTHER
};

/* data_kind_of() returns the kind of a path by its last part, in upper or lower
 * case. */
enum data_kind data_kind_of(const char *path);

/* data_kind_ends() returns 1 if a path ends in the suffix, in upper or lower
 * case. */
int data_kind_ends(const char *path, const char *suffix);

/* data_kind_folders() returns the length of the folders in a path, with the
 * slash after them; 0 if there are none. */
size_t data_kind_folders(const char *path);

/* The entries of a folder that do not begin with a dot, in byte order. */
struct tree_names {
    struct tree_name {
        char *name;
        unsigned char type; /* as struct dirent has it */
    } * entry;              /* [n] */
    size_t n, room;
    size_t hidden; /* further entries, which begin with a dot */
};

/*
 * The state of a folder, to detect changes.  The time only shows that it may
 * have changed.  `count` is the number of its folders and of the files that an
 * index uses (by their kind), and `sum` that of the digests of their names.  Of
 * a text file they are its size in bytes and its digest.
 */
struct tree_state {
    int64_t time; /* last change of an entry [ns]; 0: too recent to use */
    uint64_t count, sum;
};

/* data_tree_is_run() returns 1, with a message, if a folder is a run or a
 * checkpoint; else 0. */
int data_tree_is_run(const char *path, struct err *err);

/* data_tree_list() reads a folder: its entries, which the caller releases, and
 * its state. 0, -1 or DATA_UNREAD (data/set.h).  Only entries that are neither
 * files nor folders nor of a known suffix cost a stat(). */
int data_tree_list(const char *path, struct tree_names *names,
                   struct tree_state *state, struct err *err);
void data_tree_names_release(struct tree_names *names);

/* data_tree_text_state() sets the state of a text file of n bytes, except its
 * time. */
void data_tree_text_state(const char *text, size_t n, struct tree_state *state);

/* data_tree_names_find() returns 1 if there is an entry of that name.  O(log
 * n). */
int data_tree_names_find(const struct tree_names *names, const char *name);

/* data_tree_time() returns the time in the state of a folder or file, or -1 if
 * it does not exist; one stat(). */
int64_t data_tree_time(const char *path);

/*
 * All files below a folder, by the names relative to it: folder by folder, the
 * entries of each in byte order.  Links are followed; names that begin with a
 * dot are skipped.  An entry that cannot be followed has the reason: a dangling
 * link or one to a parent folder, a folder that cannot be read or is more than
 * 32 levels deep.
 */
struct tree {
    char *text;
    size_t text_len, text_room;
    struct tree_entry {
        size_t name; /* offset in text */
        size_t why;  /* offset in text of the reason why it is bad, or 0 */
    } * entry;       /* [n] */
    size_t n, room;
    struct tree_folder {
        size_t name; /* offset in text: "" or with a final slash */
        struct tree_state state;
    } * folder; /* [folders] all that were read, the root first */
    size_t folders, folder_room;
    size_t hidden; /* skipped files and folders */
};

/* data_tree_walk() fills in an empty tree; -1 if the root cannot be read,
 * DATA_UNREAD on a failure of the machine, also below the root. */
int data_tree_walk(struct tree *tree, const char *root, struct err *err);
void data_tree_release(struct tree *tree);
