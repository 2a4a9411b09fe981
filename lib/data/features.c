#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/features.h"
#include "data/npy.h"
#include "util/file.h"
#include "util/mem.h"

enum { MAX_ABOUT = 1 << 20 }; // bytes of x.json

/* The path of what stands beside "x.npy": "x" and an ending. */
static char *
beside(const char *path, const char *ending)
{
    size_t n = strlen(path);

    if (n > 4 && !strcmp(path + n - 4, ".npy"))
        n -= 4;
    return mem_format("%.*s%s", (int)n, path, ending);
}

int64_t *
data_labels_read(const char *path, size_t n, struct err *err)
{
    struct data_npy npy;
    int64_t *labels = NULL;

    if (data_npy_read(path, &npy, err))
        return NULL;
    if (npy.rank != 1 || (npy.type != DATA_I8 && npy.type != DATA_I4)) {
        err_set(err, "'%s' is no list of whole numbers", path);
        goto out;
    }
    if (npy.shape[0] != n) {
        err_set(err, "'%s' has %zu items for %zu rows of features", path,
                npy.shape[0], n);
        goto out;
    }
    labels = mem_array(n, sizeof *labels);
    for (size_t i = 0; i < n; i++)
        labels[i] = npy.type == DATA_I8 ? ((int64_t *)npy.data)[i]
                                        : ((int32_t *)npy.data)[i];

out:
    data_npy_release(&npy);
    return labels;
}

/* Reads a list where there is one. */
static int
read_list(const char *path, const char *ending, size_t n, int64_t **list,
          struct err *err)
{
    char *list_path = beside(path, ending);
    int rc = 0;

    if (file_exists(list_path)) {
        *list = data_labels_read(list_path, n, err);
        rc = *list ? 0 : -1;
    }
    free(list_path);
    return rc;
}

static int
read_about(const char *path, json_t **about, struct err *err)
{
    char *about_path = beside(path, ".json"), *text = NULL;
    size_t len;
    int rc = 0;

    if (file_exists(about_path)) {
        text = file_read(about_path, MAX_ABOUT, &len, err);
        if (text)
            *about = json_parse(text, len, about_path, err);
        rc = *about ? 0 : -1;
    }
    free(text);
    free(about_path);
    return rc;
}

/* Takes over the matrix, unless there is something wrong with it. */
static int
take(struct data_features *features, const char *path, struct data_npy *npy,
     struct err *err)
{
    size_t n = npy->shape[0], d = npy->shape[1];
    const float *x = npy->data;

    if (npy->rank != 2 || npy->type != DATA_F4)
        return err_set(err, "'%s' is no matrix of f4, a row for each sample",
                       path);
    if (!n || !d)
        return err_set(err, "'%s' is empty", path);
    for (size_t i = 0; i < n * d; i++)
        if (!(fabsf(x[i]) <= 1e15f))
            return err_set(err, "'%s' holds %g in row %zu", path, x[i], i / d);
    *features = (struct data_features){.n = n, .d = d, .x = npy->data};
    npy->data = NULL;
    return 0;
}

int
data_features_read(struct data_features *features, const char *path,
                   struct err *err)
{
    struct data_npy npy;
    int rc;

    *features = (struct data_features){0};
    if (data_npy_read(path, &npy, err))
        return -1;
    rc = take(features, path, &npy, err);
    data_npy_release(&npy);
    if (rc)
        return -1;
    if (read_list(path, ".ids.npy", features->n, &features->ids, err) ||
        read_list(path, ".labels.npy", features->n, &features->labels, err) ||
        read_about(path, &features->about, err)) {
        data_features_release(features);
        return -1;
    }
    return 0;
}

/* Writes a file, or removes an old one where there is nothing to write. */
static int
write_list(const char *path, const char *ending, size_t n, int64_t *list,
           struct err *err)
{
    struct data_npy npy = {DATA_I8, 1, {n, 1}, list};
    char *list_path = beside(path, ending);
    int rc = 0;

    if (list)
        rc = data_npy_write(list_path, &npy, err);
    else if (unlink(list_path) && errno != ENOENT && errno != ENOTDIR)
        rc = err_sys(err, "cannot remove '%s'", list_path);
    free(list_path);
    return rc;
}

static int
write_about(const char *path, const json_t *about, struct err *err)
{
    char *about_path = beside(path, ".json"), *text = NULL;
    int rc = 0;

    if (about) {
        text = json_line(about);
        rc = file_write(about_path, text, strlen(text), err);
    } else if (unlink(about_path) && errno != ENOENT && errno != ENOTDIR) {
        rc = err_sys(err, "cannot remove '%s'", about_path);
    }
    free(text);
    free(about_path);
    return rc;
}

int
data_features_write(const char *path, const struct data_features *f,
                    struct err *err)
{
    struct data_npy npy = {DATA_F4, 2, {f->n, f->d}, f->x};

    if (write_list(path, ".ids.npy", f->n, f->ids, err) ||
        write_list(path, ".labels.npy", f->n, f->labels, err) ||
        write_about(path, f->about, err))
        return -1;
    return data_npy_write(path, &npy, err);
}

void
data_features_release(struct data_features *features)
{
    free(features->x);
    free(features->ids);
    free(features->labels);
    json_decref(features->about);
    *features = (struct data_features){0};
}
