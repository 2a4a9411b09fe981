#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "given.h"
#include "nn/pretrained.h"
#include "num/vec.h"
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
    if (npy.type != DATA_F4 || npy.rank != 2 || npy.shape[0] < 2) {
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
train_basis_give(struct train_basis *basis, struct train_encoder *encoder,
                 struct err *err)
{
    if (!basis->rows)
        return 0;
    if (basis->width != encoder->image)
        return err_set(err, "'%s' is for images of %zu numbers, these have %zu",
                       basis->path, basis->width, encoder->image);
    nn_net_set_basis(encoder->net, basis->rows);
    train_basis_release(basis);
    return 0;
}

int
train_rows_read(struct train_encoder *encoder, const char *path,
                struct err *err)
{
    const size_t d = encoder->dim;
    struct data_npy npy;
    size_t count;
    float *table = nn_net_params(encoder->net, &count);
    int rc = 0;

    if (!*path)
        return 0;
    if (data_npy_read(path, &npy, err))
        return -1;
    if (npy.type != DATA_F4 || npy.rank != 2 || npy.shape[1] != d ||
        npy.shape[0] != count / d || !num_finite(count, npy.data))
        rc = err_set(err, "'%s': want finite f4 [%zu,%zu], a row for each view",
                     path, count / d, d);
    else
        memcpy(table, npy.data, count * sizeof *table);
    data_npy_release(&npy);
    return rc;
}

/* "image=FILE" or FILE. */
static const char *
path_of(const char *item)
{
    static const char image[] = "image=";
    const size_t len = strlen(image);

    return strncmp(item, image, len) ? item : item + len;
}

int
train_init_judge(const struct opt_list *files, struct err *err)
{
    for (size_t i = 0; i < files->n; i++)
        if (!strncmp(files->item[i], "text=", 5))
            return err_set(err, "--init '%s': this run has no encoder of texts",
                           files->item[i]);
    if (files->n > 1)
        return err_set(err, "--init: '%s' and '%s' are for the same encoder",
                       files->item[0], files->item[1]);
    return 0;
}

int
train_init_find(const struct opt_list *files, struct err *err)
{
    for (size_t i = 0; i < files->n; i++)
        if (!file_exists(path_of(files->item[i])))
            return err_set(err, "--init: there is no '%s'",
                           path_of(files->item[i]));
    return 0;
}

int
train_init_read(struct train_encoder *encoder, const struct opt_list *files,
                struct err *err)
{
    char *left;

    if (!files->n)
        return 0;
    if (nn_pretrained_load(path_of(files->item[0]), encoder->net, &left, err))
        return -1;
    say("the encoder begins with '%s'%s%s", path_of(files->item[0]),
        *left ? ", of which these are left out: " : "", left);
    free(left);
    return 0;
}
