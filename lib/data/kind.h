#ifndef DATA_KIND_H
#define DATA_KIND_H

#include <stddef.h>

/*
 * What a file of a data set is, by its name: a sample, what belongs to one, or
 * what an index passes over.
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

/* data_kind_of() judges a path by its last part, in either case. */
enum data_kind data_kind_of(const char *path);

/* data_kind_ends() is 1 where a path ends in the suffix, in either case. */
int data_kind_ends(const char *path, const char *suffix);

/* data_kind_folders() is the length of the folders in a path, with the slash
 * behind them; 0 where there are none. */
size_t data_kind_folders(const char *path);

#endif
