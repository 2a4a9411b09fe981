#ifndef DATA_FEATURES_H
#define DATA_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "data/classes.h"
#include "data/set.h"
#include "util/err.h"
#include "util/json.h"

/*
 * Features of a data set on disk: files side by side, of which only the first
 * has to be there.
 *
 *     x.npy         [n,d] f4  a row for each sample
 *     x.ids.npy     [n]   i8  which sample it is in the data set
 *     x.labels.npy  [n]   i8  its class, -1 where it has none
 *     x.same.npy    [n]   i8  of captions: equal numbers where they are equal
 *     x.classes               the names of the classes (data/classes.h)
 *     x.json                  how they were made, an object
 */
struct data_features {
    size_t n, d;
    float *x;                    /* [n,d] */
    int64_t *ids;                /* [n], or NULL */
    int64_t *labels;             /* [n], or NULL */
    int64_t *same;               /* [n], or NULL */
    json_t *about;               /* or NULL */
    struct data_classes classes; /* n = 0: labels are but numbers */
};

/*
 * data_features_room() makes room for a row of d columns, an id and, where the
 * set has classes, a label for each sample of it, and takes over the names of
 * its classes; n stays 0.  To be given to data_features_release().
 */
void data_features_room(struct data_features *features,
                        const struct data_set *set, size_t d);

/*
 * data_features_read() reads the files that there are; numbers of another type
 * become f4.  Refused: anything but a matrix with at least one row and column,
 * values beyond +-1e15 or not numbers, lists of another length, labels of which
 * x.classes has no name, an empty x.json: `foil eval knn x.npy > x.json` makes
 * it empty before it begins.
 */
int data_features_read(struct data_features *features, const char *path,
                       struct err *err);

/*
 * data_labels_read() reads a list of n whole numbers, of any integer type or
 * bool, to be given to free(); NULL on error.
 */
int64_t *data_labels_read(const char *path, size_t n, struct err *err);

/*
 * data_features_write() writes the members that are not NULL, each file all or
 * nothing and x.npy takes its place last; x.ids.npy and the others that were
 * there before and are not written now are removed, for they belong to other
 * features. Where path ends in .csv that is the only file: a line of names, id,
 * label and class where there are such, x0, x1 ...; then a line a row, numbers
 * with 9 digits, which are those of f4.  Where it ends in .npz that is the only
 * file: arrays x, ids, labels and same, and as bytes classes.txt and
 * about.json.  Where it ends in .parquet that is the only file: id, label, same
 * and class, and x as a list.
 */
int data_features_write(const char *path, const struct data_features *features,
                        struct err *err);

/*
 * data_features_match() gives the rows of `test` the labels that their classes
 * have in `train`, by the names of the classes.  Without names on both sides
 * labels stay as they are; so they do where one side has none and the names of
 * the other are just the labels, 0, 1, ...  Both have labels; the paths are for
 * the sentence.
 * Returns 1 when labels were matched by names, 0 when by numbers, and -1, with
 * `test` as it was, where some row has a class that `train` does not name, or
 * where only one of the two has names.
 */
int data_features_match(const char *train_path,
                        const struct data_features *train,
                        const char *test_path, struct data_features *test,
                        struct err *err);

void data_features_release(struct data_features *features);

#endif
