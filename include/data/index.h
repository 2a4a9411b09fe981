#pragma once

#include <stddef.h>

#include "data/set.h"
#include "util/err.h"

/*
 * Makes the index that data_open() reads.  Samples are added one by one from
 * one or more inputs, in the order of the calls:
 *
 *   a folder      all files below it, in the order of their names
 *   a tar         its members in their order; WebDataset shards are tars
 *   a file list   text, a line each: path[<tab>label[<tab>caption]], or a .csv
 *                 with commas; or a first line that names the columns, in words
 *                 of lib/data/cells.c or of data_index_columns().  Paths are
 *                 relative to the folder of the list
 *
 * Every .jpg, .jpeg, .png and .webp is a sample.  In the same folder or tar,
 * with the same name up to the first dot, a .txt has its captions, one a line,
 * and a .cls its label.  A .json may have the captions, too: an object with the
 * string "caption" or a list of strings "captions"; a .txt takes precedence.
 * Without other labels, the class is the first folder of the name that is not
 * common to all samples of the input.
 *
 * Labels are the ranks of the classes' names in byte order.  If all labels in
 * files are whole numbers, they are the labels, "01", "+1" and "1.0" as 1, and
 * -1 as none.  The index has the names, by which labels of two sets are
 * compared.
 *
 * Unusable files are bad: not a sound image, a dangling or circular link, a
 * file or folder without permission.
 */
struct data_index;

struct data_index_settings {
    int skip_bad;      /* skip bad files and continue */
    int decode;        /* decode all pixels, not only the header */
    size_t max_pixels; /* a larger image is bad */
};

struct data_index *data_index_new(const struct data_index_settings *how);
void data_index_free(struct data_index *index);

/*
 * data_index_columns() declares the columns of file lists, or of the table of
 * captions: "name=id,label=type,caption=title", each column by its name in the
 * first line, or all by their numbers from 1 if no line names them.  Call it
 * before the input or table; -1 if spec is invalid.
 */
int data_index_columns(struct data_index *index, const char *spec,
                       struct err *err);

/* data_index_add() opens the next input, "-" for a list on standard input; the
 * previous one must be at its end. */
int data_index_add(struct data_index *index, const char *path, struct err *err);

/* data_index_next() adds one file: 1; 0 at the end of the input; -1 if it is
 * bad, unless bad files are skipped; or DATA_UNREAD (data/set.h) in either
 * case. */
int data_index_next(struct data_index *index, struct err *err);

/* data_index_share() returns the fraction of the input that is done, 0 .. 1. */
double data_index_share(const struct data_index *index);

/* data_index_size() returns the number of samples so far. */
size_t data_index_size(const struct data_index *index);

/*
 * data_index_table() replaces captions of samples by those of a table; call it
 * after the last input.  The table is text, a row a line, cells separated by
 * tabs, or by commas in a .csv: name, caption.  Several rows may name one
 * sample.  JSON with captions, as of COCO or of Karpathy's splits
 * (lib/data/table.c), is accepted, too.  If the first line names a column of
 * captions (lib/data/cells.c), it is a line of column names, and the names of
 * samples are in the column that it names for them, or else in the first.  In a
 * caption, \n separates two captions, and \t and \\ are a tab and a backslash,
 * as foil-data list writes them.
 *
 * A name is the sample's in the set, or that up to its first dot, or either
 * without folders, whichever matches first; a name that matches several samples
 * is not used.  Errors: an unreadable table, a first line with neither a sample
 * nor known columns, no usable row.
 */
struct data_index_rows {
    size_t used;
    size_t empty, unknown, unclear; /* no caption; no sample; several samples */
    size_t empty_line, unknown_line, unclear_line; /* of the first of each */
};

int data_index_table(struct data_index *index, const char *path,
                     struct data_index_rows *rows, struct err *err);

/* Counts of captions. */
struct data_index_captions {
    size_t captioned; /* samples with captions */
    size_t cut;       /* captions cut to 65,536 bytes */
    size_t many;      /* skipped: the 65th of a sample, and further ones */
    size_t repaired;  /* captions with invalid UTF-8, replaced by U+FFFD */
    size_t broken;    /* .json of images that are not JSON objects, not used */
};

/*
 * data_index_write() assigns the labels and writes the index, all or nothing.
 * An index without samples is an error. data_index_assign_labels() only assigns
 * the labels: a caller that handles their errors separately calls it first,
 * once.
 */
int data_index_assign_labels(struct data_index *index, struct err *err);
int data_index_write(struct data_index *index, const char *path,
                     struct err *err);

/* Files that were skipped because of the suffixes of their names, or because
 * their captions or label belong to no image; captions and labels of images,
 * and names that begin with a dot, do not count. */
struct data_index_skipped {
    size_t n;
    char *first; /* name of the first, or NULL */
};

/* data_index_report() returns what an index has so far, and what it leaves out;
 * classes, lost classes and notes are complete after data_index_write().  The
 * index owns the texts; lists are valid until the next call that changes it. */
struct data_index_report {
    size_t images, classes;
    size_t unlabelled; /* images without a label */
    size_t files;      /* in folders and tars, without hidden ones: images, and
                          the next three */
    size_t sidecars;   /* files with captions and labels of images */
    struct data_index_skipped skipped[2]; /* [1]: images of other forms (.gif
                                             and the like); [0]: other files */
    size_t bad;    /* skipped as bad, those in lists included */
    size_t hidden; /* files and folders that begin with a dot */
    struct data_index_captions captions;

    size_t n_complaints, n_notes, n_lost;
    char *const *complaint; /* why the first 100 bad files were skipped */
    char *const *note;      /* messages to the user, about unused columns, for
                               example */
    char *const *lost;      /* classes that lost all images of their folder as
                               skipped or bad */
};

struct data_index_report data_index_report(const struct data_index *index);

/* data_index_class() returns the name of class i, below their number. */
const char *data_index_class(const struct data_index *index, size_t i);

/* data_index_kinds() lists skipped files, images of other forms or others, by
 * suffix, the most frequent first: ".gif 12, .bmp 3"; up to 8 of them, the
 * others as "and 4 more".  The caller frees it. */
char *data_index_kinds(const struct data_index *index, int pictures);
