#ifndef FOIL_TRAIN_INIT_FILES_H
#define FOIL_TRAIN_INIT_FILES_H

#include "train/config.h"
#include "train/encoder.h"
#include "util/opt.h"

/* What files give to an encoder that begins. */

/* basis=FILE: the fixed basis that "linear" sees pixels in. */
struct train_basis {
    const char *path;
    float *rows;     /* [n + 1,width], or NULL: there is none */
    size_t n, width; /* rows of the basis; numbers of an image */
};

/* train_basis_read() reads a file; none where the path is "". */
int train_basis_read(struct train_basis *basis, const char *path,
                     struct err *err);
void train_basis_release(struct train_basis *basis);

/* train_basis_set() makes it the encoder's, if there is one. */
int train_basis_set(struct train_basis *basis, struct train_encoder *encoder,
                    struct err *err);

/*
 * train_rows_width() says of how many numbers the rows are that an encoder
 * looks up (rows=FILE), before it is built; leaves that alone where it looks up
 * none.  train_rows_read() reads them, or those that a "table" begins with,
 * unless the path is "".
 */
int train_rows_width(const char *arch, const char *path, size_t *width,
                     struct err *err);
int train_rows_read(struct train_encoder *encoder, const char *path,
                    struct err *err);

/*
 * --labels: the classes of all samples, those of an index or of a file of whole
 * numbers.  train_labels_read() returns them, to be given to free(); NULL with
 * a sentence, also where the index is of another data set.
 */
int64_t *train_labels_read(const char *path, const struct train_shape *shape,
                           struct err *err);

/*
 * --init: files of weights that encoders begin with, "image=FILE" or FILE, and
 * "text=FILE".  train_init_check() refuses one of texts where there is no such
 * encoder, or two for one; train_init_find() one that is not there.
 * train_init_read() loads that of an encoder, if any, and says so.
 */
int train_init_check(const struct opt_list *files, int texts, struct err *err);
int train_init_find(const struct opt_list *files, struct err *err);
int train_init_read(struct train_encoder *encoder, const struct opt_list *files,
                    struct err *err);

#endif
