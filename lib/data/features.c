#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/features.h"
#include "data/npy.h"
#include "util/file.h"
#include "util/mem.h"

#include "export.h"
#include "tree.h"

enum {
    MAX_ABOUT = 1 << 20,  // bytes of x.json
    MAX_CLASSES = 1 << 29 // bytes of x.classes
};

/* Returns the path of a file that belongs to "x.npy": "x" and a suffix. */
static char *
sidecar_path(const char *path, const char *ending)
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
    struct err why;

    if (data_npy_read(path, &npy, err))
        return NULL;
    if (npy.rank != 1) {
        err_set(err, "'%s' is no list, but a matrix", path);
        goto out;
    }
    if (npy.shape[0] != n) {
        err_set(err, "'%s' has %zu items for %zu rows of features", path,
                npy.shape[0], n);
        goto out;
    }
    labels = data_npy_wholes(&npy, &why);
    if (!labels)
        err_set(err, "cannot take '%s' as labels: %s", path, why.msg);

out:
    data_npy_release(&npy);
    return labels;
}

/* Reads a list if its file exists. */
static int
read_sidecar_list(const char *path, const char *ending, size_t n,
                  int64_t **list, struct err *err)
{
    char *list_path = sidecar_path(path, ending);
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
    char *about_path = sidecar_path(path, ".json"), *text = NULL;
    size_t len;
    int rc = 0;

    if (file_exists(about_path)) {
        text = file_read(about_path, MAX_ABOUT, &len, err);
        if (text && !len) // a redirection of a shell may have emptied it
            err_set(
                err,
                "'%s' is empty, and should record how '%s' was made: remove "
                "it, and write output to a file of another name",
                about_path, path);
        else if (text)
            *about = json_parse(text, len, about_path, err);
        rc = *about ? 0 : -1;
    }
    mem_free(text, about_path);
    return rc;
}

static int
read_classes(const char *path, struct data_classes *classes, struct err *err)
{
    char *classes_path = sidecar_path(path, ".classes"), *text = NULL;
    struct err why;
    size_t len;
    int rc = 0;

    if (file_exists(classes_path)) {
        text = file_read(classes_path, MAX_CLASSES, &len, err);
        rc = text ? data_classes_parse(classes, text, len, &why) : -1;
        if (text && rc)
            err_set(err, "'%s': %s", classes_path, why.msg);
    }
    mem_free(text, classes_path);
    return rc;
}

/* Checks that each label has a name, if there are names. */
static int
check_labels(const char *path, const struct data_features *f, struct err *err)
{
    for (size_t i = 0; f->labels && f->classes.n && i < f->n; i++)
        if (f->labels[i] >= (int64_t)f->classes.n)
            return err_set(err,
                           "row %zu of '%s' has the label %jd, but its file "
                           ".classes has names for 0 .. %zu",
                           i, path, (intmax_t)f->labels[i], f->classes.n - 1);
    return 0;
}

/* Takes over the matrix, or reports its fault. */
static int
take_matrix(struct data_features *features, const char *path,
            struct data_npy *npy, struct err *err)
{
    const size_t n = npy->shape[0], d = npy->shape[1];
    struct err why;
    float *x;

    if (npy->rank != 2)
        return err_set(err, "'%s' is no matrix, a row for each sample", path);
    if (!n || !d)
        return err_set(err, "'%s' is empty", path);
    x = data_npy_reals(npy, &why);
    if (!x)
        return err_set(err, "cannot take '%s' as features: %s", path, why.msg);
    for (size_t i = 0; i < n * d; i++)
        if (!(fabsf(x[i]) <= 1e15f)) {
            err_set(err, "'%s' holds %g in row %zu", path, x[i], i / d);
            free(x);
            return -1;
        }
    *features = (struct data_features){.n = n, .d = d, .x = x};
    return 0;
}

void
data_features_room(struct data_features *features, const struct data_set *set,
                   size_t d)
{
    const size_t n = data_size(set);

    *features = (struct data_features){
        .d = d,
        .x = mem_aligned(n * d, sizeof *features->x),
        .ids = mem_array(n, sizeof *features->ids),
        .classes = data_classes_of(set),
    };
    if (features->classes.n)
        features->labels = mem_array(n, sizeof *features->labels);
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
    rc = take_matrix(features, path, &npy, err);
    data_npy_release(&npy);
    return rc ? rc : data_features_sidecars(features, path, err);
}

int
data_features_sidecars(struct data_features *features, const char *path,
                       struct err *err)
{
    if (read_sidecar_list(path, ".ids.npy", features->n, &features->ids, err) ||
        read_sidecar_list(path, ".labels.npy", features->n, &features->labels,
                          err) ||
        read_sidecar_list(path, ".same.npy", features->n, &features->same,
                          err) ||
        read_classes(path, &features->classes, err) ||
        check_labels(path, features, err) ||
        read_about(path, &features->about, err)) {
        data_features_release(features);
        return -1;
    }
    return 0;
}

/* Removes a file of older features. */
static int
remove_sidecar(const char *path, struct err *err)
{
    if (unlink(path) && errno != ENOENT && errno != ENOTDIR)
        return err_sys(err, "cannot remove '%s'", path);
    return 0;
}

/* Each of these writes a file, or removes an old one if there is nothing to
 * write. */
static int
write_list(const char *path, const char *ending, size_t n, int64_t *list,
           struct err *err)
{
    struct data_npy npy = {DTYPE_I8, 1, {n, 1}, list};
    char *list_path = sidecar_path(path, ending);
    int rc = list ? data_npy_write(list_path, &npy, err)
                  : remove_sidecar(list_path, err);

    free(list_path);
    return rc;
}

static int
write_text(const char *path, const char *ending, const char *text, size_t len,
           struct err *err)
{
    char *text_path = sidecar_path(path, ending);
    int rc = text ? file_write(text_path, text, len, err)
                  : remove_sidecar(text_path, err);

    free(text_path);
    return rc;
}

/* Writes a cell of text, in quotes if necessary. */
static void
put_cell(FILE *file, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, file);
        return;
    }
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    putc('"', file);
}

static void
put_row(FILE *file, const struct data_features *f, size_t i)
{
    const int64_t label = f->labels ? f->labels[i] : -1;

    fprintf(file, "%jd", f->ids ? (intmax_t)f->ids[i] : (intmax_t)i);
    if (f->labels)
        fprintf(file, ",%jd", (intmax_t)label);
    if (f->classes.n) {
        putc(',', file);
        if (label >= 0)
            put_cell(file, f->classes.name[label]);
    }
    for (size_t k = 0; k < f->d; k++)
        fprintf(file, ",%.9g", f->x[i * f->d + k]);
    putc('\n', file);
}

static int
write_csv(const char *path, const struct data_features *f, struct err *err)
{
    struct file_draft draft = {0};

    if (file_draft_open(&draft, path, err))
        return -1;
    fprintf(draft.file, "id%s%s", f->labels ? ",label" : "",
            f->classes.n ? ",class" : "");
    for (size_t k = 0; k < f->d; k++)
        fprintf(draft.file, ",x%zu", k);
    putc('\n', draft.file);
    for (size_t i = 0; i < f->n && !ferror(draft.file); i++)
        put_row(draft.file, f, i);
    return file_draft_keep(&draft, err);
}

int
data_features_write(const char *path, const struct data_features *f,
                    struct err *err)
{
    struct data_npy npy = {DTYPE_F4, 2, {f->n, f->d}, f->x};
    struct file_draft rows = {0};
    char *classes, *about;
    size_t len = 0;
    int rc;

    if (data_kind_ends(path, ".csv"))
        return write_csv(path, f, err);
    if (data_kind_ends(path, ".npz"))
        return data_npz_write(path, f, err);
    if (data_kind_ends(path, ".parquet"))
        return data_parquet_write(path, f, err);
    // the largest first: a full disk then leaves the other files unchanged
    if (file_draft_open(&rows, path, err))
        return -1;
    classes = f->classes.n ? data_classes_text(&f->classes, &len) : NULL;
    about = f->about ? json_line(f->about) : NULL;
    rc = data_npy_put(rows.file, path, &npy, err) ||
         write_list(path, ".ids.npy", f->n, f->ids, err) ||
         write_list(path, ".labels.npy", f->n, f->labels, err) ||
         write_list(path, ".same.npy", f->n, f->same, err) ||
         write_text(path, ".classes", classes, len, err) ||
         write_text(path, ".json", about, about ? strlen(about) : 0, err);
    if (!rc)
        rc = file_draft_keep(&rows, err);
    file_draft_drop(&rows);
    mem_free(classes, about);
    return rc ? -1 : 0;
}

/* Replaces the labels of the rows by label [classes], -1 for an unknown
 * class. */
static int
renumber_labels(const char *train_path, const char *test_path,
                struct data_features *test, const int64_t *label,
                struct err *err)
{
    size_t unknown = 0, first = 0;

    for (size_t i = 0; i < test->n; i++)
        if (test->labels[i] >= 0 && label[test->labels[i]] < 0)
            first = unknown++ ? first : i;
    if (unknown)
        return err_set(err,
                       "%zu rows of '%s' are of classes that '%s' does not "
                       "have, such as '%s'",
                       unknown, test_path, train_path,
                       test->classes.name[test->labels[first]]);
    for (size_t i = 0; i < test->n; i++)
        if (test->labels[i] >= 0)
            test->labels[i] = label[test->labels[i]];
    return 1;
}

int
data_features_match(const char *train_path, const struct data_features *train,
                    const char *test_path, struct data_features *test,
                    struct err *err)
{
    const struct data_classes *one = &train->classes, *other = &test->classes;
    int64_t *label;
    int rc;

    REQUIRE(train->labels && test->labels);
    if (!one->n || !other->n) {
        if (data_classes_numbers(one->n ? one : other))
            return 0;
        return err_set(err,
                       "'%s' has a file of class names and '%s' has only "
                       "numbers: write their names, a line each, to a file "
                       ".classes next to it",
                       one->n ? train_path : test_path,
                       one->n ? test_path : train_path);
    }
    label = mem_array(other->n, sizeof *label);
    data_classes_match(other, one, label);
    rc = renumber_labels(train_path, test_path, test, label, err);
    free(label);
    return rc;
}

void
data_features_release(struct data_features *features)
{
    mem_free(features->x, features->ids, features->labels, features->same);
    json_decref(features->about);
    data_classes_release(&features->classes);
    *features = (struct data_features){0};
}
