#pragma once

#include <stddef.h>
#include <stdint.h>

#include "data/classes.h"
#include "data/set.h"
#include "util/err.h"
#include "util/json.h"

/*
 * Features of a data set on disk: several files, of which only the first is
 * required.
 *
 *     x.npy         [n,d] f4  a row for each sample
 *     x.ids.npy     [n]   i8  the id of the sample in the data set
 *     x.labels.npy  [n]   i8  its class, -1 if it has none
 *     x.same.npy    [n]   i8  rows of captions: equal numbers mean equal texts
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
    struct data_classes classes; /* n = 0: labels have no names */
};

/*
 * data_features_room() allocates an empty struct for all samples of a set: for
 * each a row of d columns, an id and, if the set has classes, a label.  It
 * copies the names of the classes; n is 0, for the caller to count.  Release it
 * with data_features_release().
 */
void data_features_room(struct data_features *features,
                        const struct data_set *set, size_t d);

/*
 * data_features_read() reads x.npy, which is `path`, and the other files as far
 * as they exist; f8 and f2 become f4.  Errors: not a matrix with at least one
 * row and column, NaNs and values beyond +-1e15, lists of another length,
 * labels without a name in x.classes, an empty x.json (`foil eval knn x.npy >
 * x.json` empties it before it runs).  Release it with data_features_release().
 */
int data_features_read(struct data_features *features, const char *path,
                       struct err *err);

/* data_features_sidecars() reads only these other files, of `n` rows, as far as
 * they exist; the struct has no other members yet. */
int data_features_sidecars(struct data_features *features, const char *path,
                           struct err *err);

/* data_labels_read() reads a .npy of n whole numbers, of any integer type or
 * bool.  The caller frees them; NULL on error. */
int64_t *data_labels_read(const char *path, size_t n, struct err *err);

/*
 * data_features_write() writes the members that are not NULL, each file all or
 * nothing and x.npy last.  Older files next to it that are not written now,
 * such as x.ids.npy, are removed, as they belong to other features.  With one
 * of these suffixes, path is the only file:
 *
 *     .csv      a line of names: id, label and class if present, x0, x1, ...;
 *               then a line for each row, numbers with the 9 digits that an f4
 *               needs
 *     .npz      arrays x, ids, labels and same; as bytes classes.txt and
 *               about.json
 *     .parquet  columns id, label, same and class, and x as a list
 */
int data_features_write(const char *path, const struct data_features *features,
                        struct err *err);

/*
 * data_features_match() changes the labels of `test` to those that their
 * classes have in `train`, by the names of the classes.  Labels do not change
 * if neither side has names, or one side has none and the names of the other
 * are just the labels, 0, 1, ...  Both must have labels; the paths are only
 * for error messages.  Returns 1 if labels were matched by names, 0 if by
 * numbers, and -1, with `test` unchanged, if some row has a class that `train`
 * does not name, or if only one of the two has names.
 */
int data_features_match(const char *train_path,
                        const struct data_features *train,
                        const char *test_path, struct data_features *test,
                        struct err *err);

void data_features_release(struct data_features *features);
