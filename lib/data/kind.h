#ifndef DATA_KIND_H
#define DATA_KIND_H

#include <stddef.h>

/*
 * The kind of a file of a data set, by its name: a sample, a file that belongs
 * to one, or one that an index skips.
 */
enum data_kind {
    DATA_KIND_IMAGE,   /* .jpg .jpeg .jfif .jpe .png .webp */
    DATA_KIND_CAPTION, /* .txt */
    DATA_KIND_CLASS,   /* .cls */
    DATA_KIND_JSON,    /* .json: captions, perhaps */
    DATA_KIND_PICTURE, /* an image of another form, such as .gif */
    DATA_KIND_HIDDEN,  /* begins with a dot */
    DATA_KIND_OTHER
};

/* data_kind_of() returns the kind of a path by its last part, in either
 * case. */
enum data_kind data_kind_of(const char *path);

/* data_kind_ends() returns 1 if a path ends in the suffix, in either case. */
int data_kind_ends(const char *path, const char *suffix);

/* data_kind_folders() returns the length of the folders in a path, with the
 * slash after them; 0 if there are none. */
size_t data_kind_folders(const char *path);

#endif
