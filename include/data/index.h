#ifndef DATA_INDEX_H
#define DATA_INDEX_H

#include <stddef.h>

#include "data/set.h"
#include "util/err.h"

/*
 * Making the index that data_open() reads.  Samples are taken in one by one
 * from one or more inputs, in the order given:
 *
 *   a folder      all files below it, in the order of their names
 *   a tar         its members in their order; WebDataset shards are tars
 *   a file list   text, a line each: path[<tab>label[<tab>caption]]; paths
 *                 are relative to the folder of the list
 *
 * Every .jpg and .jpeg is a sample.  A .txt or .cls beside it in a folder or
 * tar, of the same name up to the first dot, is its caption or its label.
 * Where nothing else gives labels, folders do: the class is the first folder
 * of the name that is not common to all samples of the input.
 *
 * Labels are the ranks of the classes' names in byte order; only where all
 * labels that were given are whole numbers do they count as they are.  The
 * names are kept, for labels of two sets can be compared by them alone.
 *
 * What cannot be read is bad: a file that is no sound JPEG, a link to nothing
 * or in a circle, a folder that may not be opened.
 */
struct data_index;

struct data_index_how {
    int skip_bad;      /* leave out what is not a sound JPEG, and go on */
    int decode;        /* look at every pixel, not only at the header */
    size_t max_pixels; /* of an image */
};

struct data_index *data_index_new(const struct data_index_how *how);
void data_index_free(struct data_index *index);

/* data_index_add() begins with an input; the one before must be at its end. */
int data_index_add(struct data_index *index, const char *path, struct err *err);

/* data_index_next() takes in one file: 1, 0 at the end, -1. */
int data_index_next(struct data_index *index, struct err *err);

/* Share of the input that is done, 0 .. 1. */
double data_index_share(const struct data_index *index);

/* Samples so far; what was left out as bad, and why (the first 100 of them). */
size_t data_index_size(const struct data_index *index);
size_t data_index_bad(const struct data_index *index);
const char *data_index_complaint(const struct data_index *index, size_t i);

/*
 * data_index_write() gives out the labels and writes the index, all or
 * nothing.  No sample at all is an error.
 */
int data_index_write(struct data_index *index, const char *path,
                     struct err *err);

/*
 * data_index_skipped() counts what was skipped so far, because its name does
 * not end in .jpg or .jpeg: images of other forms (.png and the like), or other
 * files, without captions, labels and what begins with a dot.  The first of
 * them goes to *first, or NULL.
 */
size_t data_index_skipped(const struct data_index *index, int pictures,
                          const char **first);

/*
 * data_index_lost() names, after data_index_write(), the i-th class whose
 * folder holds images all of which were skipped or bad; NULL past the last.
 */
const char *data_index_lost(const struct data_index *index, size_t i);

#endif
