#ifndef FOIL_TRAIN_INIT_FILES_H
#define FOIL_TRAIN_INIT_FILES_H

#include "train/config.h"
#include "train/encoder.h"
#include "util/opt.h"

/* Files that an encoder starts with. */

/* basis=FILE: the fixed basis that "linear" projects pixels to. */
struct train_basis {
    const char *path;
    float *rows;     /* [n + 1,width], or NULL: there is none */
    size_t n, width; /* rows of the basis; numbers of an image */
};

/* train_basis_read() reads a file; there is no basis if the path is "". */
int train_basis_read(struct train_basis *basis, const char *path,
                     struct err *err);
void train_basis_release(struct train_basis *basis);

/* train_basis_set() passes the basis to the encoder, if there is one. */
int train_basis_set(struct train_basis *basis, struct train_encoder *encoder,
                    struct err *err);

/*
 * train_rows_width() sets *width to the numbers of a row that an encoder looks
 * up (rows=FILE), before it is built; for other encoders it changes nothing.
 * train_rows_read() reads these rows, or the initial rows of a "table", unless
 * the path is "".
 */
int train_rows_width(const char *arch, const char *path, size_t *width,
                     struct err *err);
int train_rows_read(struct train_encoder *encoder, const char *path,
                    struct err *err);

/*
 * --labels: the classes of all samples, from an index or a file of whole
 * numbers.  train_labels_read() returns them, and the caller frees them; it
 * returns NULL with an error message, also if the index is of another data set.
 */
int64_t *train_labels_read(const char *path, const struct train_shape *shape,
                           struct err *err);

/*
 * --init: files of initial weights, "image=FILE" or FILE, and "text=FILE".
 * train_init_check() refuses a file for texts without a text encoder, and two
 * files for an encoder; train_init_find() refuses a missing file.
 * train_init_read() loads the file of an encoder, if any, and prints a message.
 */
int train_init_check(const struct opt_list *files, int texts, struct err *err);
int train_init_find(const struct opt_list *files, struct err *err);
int train_init_read(struct train_encoder *encoder, const struct opt_list *files,
                    struct err *err);

#endif
