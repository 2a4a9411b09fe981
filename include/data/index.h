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
 *   a file list   text, a line each: path[<tab>label[<tab>caption]], or a .csv
 *                 with commas; or a first line that names the columns, in words
 *                 that lib/data/cells.c knows or data_index_columns() says.
 *                 Paths are relative to the folder of the list
 *
 * Every .jpg, .jpeg, .png and .webp is a sample.  Beside it in a folder or tar,
 * of the same name up to the first dot, a .txt has its captions, one a line,
 * and a .cls its label.  A .json may have the captions, too: an object with the
 * string "caption" or a list of strings "captions"; a .txt goes before it.
 * Where nothing else gives labels, folders do: the class is the first folder
 * of the name that is not common to all samples of the input.
 *
 * Labels are the ranks of the classes' names in byte order; only where all
 * labels that were given are whole numbers do they count as they are, "01",
 * "+1" and "1.0" as 1, and -1 as none.  The names are kept, for labels of two
 * sets can be compared by them alone.
 *
 * What cannot be used is bad: a file that is no sound image, a link to nothing
 * or in a circle, a file or folder that may not be opened.
 */
struct data_index;

struct data_index_how {
    int skip_bad;      /* leave out what is bad, and go on */
    int decode;        /* look at every pixel, not only at the header */
    size_t max_pixels; /* an image of more is bad */
};

struct data_index *data_index_new(const struct data_index_how *how);
void data_index_free(struct data_index *index);

/*
 * data_index_columns() says what the columns of file lists, or of the table of
 * captions, hold: "name=id,label=type,caption=title", each column by its name
 * in the first line, or all by their numbers from 1 where no line names them.
 * To be called before the input or table that it is for; -1 where spec makes no
 * sense.
 */
int data_index_columns(struct data_index *index, const char *spec,
                       struct err *err);

/* data_index_add() begins with an input, "-" for a list on standard input; the
 * one before must be at its end. */
int data_index_add(struct data_index *index, const char *path, struct err *err);

/* data_index_next() takes in one file: 1; 0 at the end of the input; -1 where
 * it is bad, unless bad files are skipped; or DATA_UNREAD (data/set.h), skipped
 * or not. */
int data_index_next(struct data_index *index, struct err *err);

/* data_index_share() returns the share of the input that is done, 0 .. 1. */
double data_index_share(const struct data_index *index);

/* data_index_size() returns the number of samples so far;
 * data_index_complaint() why the i-th bad file, from 0, was left out, or NULL
 * past the last of them and past the 100th. */
size_t data_index_size(const struct data_index *index);
const char *data_index_complaint(const struct data_index *index, size_t i);

/*
 * data_index_table() gives samples the captions of a table, in place of those
 * beside them; to be called after the last input.  The table is text, a row a
 * line, cells separated by tabs, or by commas in a .csv: name, caption.
 * Several rows may name one sample.  JSON with captions, as of COCO or of
 * Karpathy's splits (lib/data/table.c), is such a table, too.  Where the
 * first line names a column of captions (lib/data/cells.c), it is a line of
 * column names, and the names of samples are in the column it names for them,
 * or else in the first.  In a caption, \n separates two, and \t and \\ stand
 * for a tab and a backslash, as foil-data list writes them.
 *
 * A name is the sample's in the set, or that up to its first dot, or either
 * without folders, whichever fits first; a name that fits several samples is
 * not used.  Refused: a table that cannot be read, whose first line names
 * neither a sample nor columns that are known, or of which no row is used.
 */
struct data_index_rows {
    size_t used;
    size_t empty, unknown, unclear; /* no caption; of no sample; of several */
    size_t empty_line, unknown_line, unclear_line; /* of the first of each */
};

int data_index_table(struct data_index *index, const char *path,
                     struct data_index_rows *rows, struct err *err);

/* What was done to captions, so far. */
struct data_index_captions {
    size_t captioned; /* samples that have some */
    size_t cut;       /* captions that were longer than 65,536 bytes */
    size_t many;      /* left out: the 65th of a sample, and further ones */
    size_t mended;    /* captions not in UTF-8: U+FFFD in place of such bytes */
    size_t broken;    /* .json beside images, not used: no JSON object */
};

void data_index_captions(const struct data_index *index,
                         struct data_index_captions *captions);

/*
 * data_index_write() assigns the labels and writes the index, all or nothing.
 * No sample at all is an error.  A caller that wants to tell an error of the
 * labels from one of writing calls data_index_settle() first, once, which
 * assigns the labels.
 */
int data_index_settle(struct data_index *index, struct err *err);
int data_index_write(struct data_index *index, const char *path,
                     struct err *err);

/*
 * data_index_skipped() returns how many files were skipped so far because their
 * names do not end as a sample's, or that have captions or a label of no image;
 * captions and labels of images, and names that begin with a dot, do not count.
 *   pictures  1: images of other forms (.gif and the like); 0: other files
 *   first     the name of the first of them, owned by the index, or NULL
 */
size_t data_index_skipped(const struct data_index *index, int pictures,
                          const char **first);

/*
 * data_index_kinds() names the kinds of files that data_index_skipped() counts,
 * by the endings of their names, the most frequent first: ".gif 12, .bmp 3"; up
 * to 8 of them, the others as "and 4 more".  To be given to free().
 */
char *data_index_kinds(const struct data_index *index, int pictures);

/* What was found, after data_index_write(). */
struct data_index_sum {
    size_t images, classes;
    size_t unlabelled; /* images without a label */
    size_t files;      /* seen in folders and tars, hidden ones not counted:
                          images, and the next three */
    size_t beside;     /* files of captions and labels beside images */
    size_t skipped;    /* no samples by their names: data_index_skipped() */
    size_t bad;        /* left out as bad; those that lists name, too */
    size_t hidden;     /* files and folders that begin with a dot */
};

/* data_index_class() returns the name of class i, below their number. */
struct data_index_sum data_index_sum(const struct data_index *index);
const char *data_index_class(const struct data_index *index, size_t i);

/* data_index_note() is the i-th sentence about something that the user should
 * look at, such as columns that are not used; NULL past the last. */
const char *data_index_note(const struct data_index *index, size_t i);

/*
 * data_index_lost() names, after data_index_write(), the i-th class whose
 * folder holds images all of which were skipped or bad; NULL past the last.
 */
const char *data_index_lost(const struct data_index *index, size_t i);

#endif
