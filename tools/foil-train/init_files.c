#include <stdlib.h>
#include <string.h>

#include "data/features.h"
#include "data/npy.h"
#include "data/set.h"
#include "num/vec.h"
#include "train.h"
#include "train/native.h"
#include "util/file.h"

int
train_basis_read(struct train_basis *basis, const char *path, struct err *err)
{
    struct data_npy npy;

    *basis = (struct train_basis){.path = path};
    if (!*path)
        return 0;
    if (data_npy_read(path, &npy, err))
        return -1;
    if (npy.type != DTYPE_F4 || npy.rank != 2 || npy.shape[0] < 2) {
        data_npy_release(&npy);
        return err_set(err,
                       "'%s': want f4 [k + 1,pixels], as foil-eval pca "
                       "writes it",
                       path);
    }
    basis->rows = npy.data;
    basis->n = npy.shape[0] - 1;
    basis->width = npy.shape[1];
    return 0;
}

void
train_basis_release(struct train_basis *basis)
{
    free(basis->rows);
    basis->rows = NULL;
}

int
train_basis_set(struct train_basis *basis, struct train_encoder *encoder,
                struct err *err)
{
    const struct nn_tensor *first;
    struct nn_weights blocks;

    if (!basis->rows)
        return 0;
    if (train_encoder_get(encoder, &blocks, err))
        return -1;
    first = blocks.tensor;
    if (first->rank == 4 && (2 * basis->n != first->shape[0] ||
                             basis->width * first->shape[0] != first->count))
        return err_set(
            err,
            "'%s' has %zu directions of %zu numbers: the first layer "
            "wants %zu of %zu",
            basis->path, basis->n, basis->width, first->shape[0] / 2,
            first->count / first->shape[0]);
    if (first->rank != 4 && basis->width != encoder->image)
        return err_set(err, "'%s' is for images of %zu numbers, these have %zu",
                       basis->path, basis->width, encoder->image);
    nn_net_set_basis(train_native(encoder)->net, basis->rows);
    train_basis_release(basis);
    return 0;
}

int
train_rows_width(const char *arch, const char *path, size_t *width,
                 struct err *err)
{
    struct data_npy npy;

    if (!nn_encoder_looks_up(arch))
        return 0;
    if (data_npy_read(path, &npy, err))
        return -1;
    *width = npy.rank == 2 ? npy.shape[1] : 0;
    data_npy_release(&npy);
    return *width ? 0 : err_set(err, "'%s': want f4 [views,numbers]", path);
}

int
train_rows_read(struct train_encoder *encoder, const char *path,
                struct err *err)
{
    const struct nn_tensor *table;
    struct nn_weights blocks;
    struct data_npy npy;
    size_t n, d;
    int rc = 0;

    if (!*path)
        return 0;
    if (train_encoder_get(encoder, &blocks, err) ||
        data_npy_read(path, &npy, err))
        return -1;
    table = blocks.tensor; // the first
    n = table->shape[0] * table->shape[1];
    d = table->shape[2];
    if (npy.type != DTYPE_F4 || npy.rank != 2 || npy.shape[1] != d ||
        npy.shape[0] != n || !num_finite(n * d, npy.data))
        rc = err_set(err, "'%s': want finite f4 [%zu,%zu], a row for each view",
                     path, n, d);
    else
        memcpy((table->statistic ? blocks.statistics : blocks.params) +
                   table->offset,
               npy.data, n * d * sizeof(float));
    data_npy_release(&npy);
    return rc ? rc : train_encoder_put(encoder, err);
}

int64_t *
train_labels_read(const char *path, const struct train_shape *shape,
                  struct err *err)
{
    const size_t n = strlen(path);
    int64_t *label = NULL;
    struct data_set *set;
    char hex[DIGEST_HEX];

    if (n > 4 && !strcmp(path + n - 4, ".npy"))
        return data_labels_read(path, (size_t)shape->size, err);
    set = data_open(path, err);
    if (!set)
        return NULL;
    digest_hex(data_digest(set), hex);
    if ((int64_t)data_size(set) != shape->size ||
        (*shape->digest && strcmp(hex, shape->digest)))
        err_set(err,
                "--labels: '%s' is not the data set of this run, which has "
                "%jd images, digest %.8s",
                path, (intmax_t)shape->size, shape->digest);
    else if (!data_classes(set))
        err_set(err, "--labels: the samples of '%s' have no classes", path);
    else
        label = data_labels_of(set);
    data_close(set);
    return label;
}

/* Parses an item "image=FILE", FILE or "text=FILE": returns the file. */
static const char *
path_of(const char *item, int *text)
{
    static const char image_is[] = "image=", text_is[] = "text=";

    *text = !strncmp(item, text_is, strlen(text_is));
    if (*text)
        return item + strlen(text_is);
    return strncmp(item, image_is, strlen(image_is)) ? item
                                                     : item + strlen(image_is);
}

int
train_init_check(const struct opt_list *files, int texts, struct err *err)
{
    const char *one[2] = {NULL};

    for (size_t i = 0; i < files->n; i++) {
        const char *item = files->item[i];
        int text;

        path_of(item, &text);
        if (text && !texts)
            return err_set(err, "--init '%s': this run has no encoder of texts",
                           item);
        if (one[text])
            return err_set(err,
                           "--init: '%s' and '%s' are for the same encoder",
                           one[text], item);
        one[text] = item;
    }
    return 0;
}

int
train_init_find(const struct opt_list *files, struct err *err)
{
    for (size_t i = 0; i < files->n; i++) {
        int text;
        const char *path = path_of(files->item[i], &text);

        if (!file_exists(path))
            return err_set(err, "--init: there is no '%s'", path);
    }
    return 0;
}

int
train_init_read(struct train_encoder *encoder, int texts,
                const struct opt_list *files, struct err *err)
{
    for (size_t i = 0; i < files->n; i++) {
        char *left;
        int text;
        const char *path = path_of(files->item[i], &text);

        if (text != texts)
            continue;
        if (train_encoder_start(encoder, path, &left, err))
            return -1;
        log_message("the encoder of %s starts with '%s'%s%s",
                    text ? "texts" : "images", path,
                    *left ? ", without these tensors: " : "", left);
        free(left);
    }
    return 0;
}
