#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/import.h"
#include "data/npy.h"
#include "image/codec.h"
#include "util/file.h"
#include "util/gz.h"
#include "util/mem.h"

enum { MAX_LABELS = 1 << 28, MAX_SIDE = 65500, MAX_NAME = 64 };

enum order { PIXELS, ROWS, COLUMNS }; // whole pixels, or a plane per colour

static const char *const cifar10[] = {"airplane", "automobile", "bird", "cat",
                                      "deer",     "dog",        "frog", "horse",
                                      "ship",     "truck"};
static const char *const stl10[] = {"airplane", "bird", "car",   "cat",
                                    "deer",     "dog",  "horse", "monkey",
                                    "ship",     "truck"};

/* Layout of a record; an idx file has the sizes in its header. */
static const struct form {
    const char *name;
    size_t front, label; // bytes before the pixels; index of the label in them
    size_t height, width, channels;
    enum order order;
    unsigned base; // of the labels
    size_t classes;
    const char *const *class; // their names; NULL: numbers
} forms[] = {
    [DATA_IDX] = {.name = "idx", .order = PIXELS, .classes = 256},
    [DATA_CIFAR10] = {"cifar10", 1, 0, 32, 32, 3, ROWS, 0, 10, cifar10},
    [DATA_CIFAR100] = {"cifar100", 2, 1, 32, 32, 3, ROWS, 0, 100, NULL},
    [DATA_STL10] = {"stl10", 0, 0, 96, 96, 3, COLUMNS, 1, 10, stl10},
    [DATA_NPY] = {.name = "npy", .order = PIXELS, .classes = 256},
};

struct data_import {
    struct data_import_settings settings;
    struct form form;
    struct gzFile_s *file;
    size_t at;                // index of the current file
    size_t done, n;           // images; n is 0 if the form does not have it
    struct data_bytes labels; // one each, if they have a file
    uint8_t *raw, *pixel;     // a record as read, and in the order of pixels
    char **class;
    size_t classes;
};

int
data_form_find(const char *name, enum data_form *form, struct err *err)
{
    char names[64] = "";
    size_t len = 0;

    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s",
                                i ? ", " : "", forms[i].name);
        if (!strcmp(name, forms[i].name)) {
            *form = (enum data_form)i;
            return 0;
        }
    }
    return err_set(err, "FORM '%s': want one of %s", name, names);
}

static int
open_next(struct data_import *import, struct err *err)
{
    if (import->file)
        data_gz_close(import->file);
    import->file = data_gz_open(import->settings.file[import->at], err);
    return import->file ? 0 : -1;
}

/* Reads the head of an idx file: 0, 0, 8 (bytes), the rank 1 .. 4, and the
 * big-endian size of each dimension. */
static int
read_idx_head(struct gzFile_s *file, const char *path, size_t size[4],
              size_t *rank, struct err *err)
{
    uint8_t word[4];
    size_t got;

    if (data_gz_take(file, path, word, 4, &got, err))
        return -1;
    if (got < 4 || word[0] || word[1] || word[2] != 8 || word[3] < 1 ||
        word[3] > 4)
        return err_set(err, "'%s' is no idx file of bytes", path);
    *rank = word[3];
    for (size_t i = 0; i < *rank; i++) {
        if (data_gz_take(file, path, word, 4, &got, err))
            return -1;
        if (got < 4)
            return err_set(err, "'%s' is cut off", path);
        size[i] = (size_t)word[0] << 24 | (size_t)word[1] << 16 |
                  (size_t)word[2] << 8 | word[3];
    }
    return 0;
}

static int
read_npy_head(struct gzFile_s *file, const char *path, size_t size[4],
              size_t *rank, struct err *err)
{
    uint8_t start[DATA_NPY_HEAD];
    struct data_npy head;
    struct err why;
    size_t len, place;

    if (data_gz_take(file, path, start, sizeof start, &len, err))
        return -1;
    if (data_npy_head(start, len, &head, &place, &why))
        return err_set(err, "cannot take '%s' as an array: %s", path, why.msg);
    if (head.type != DTYPE_U1)
        return err_set(err, "'%s' holds no bytes: save .astype('u1') of it",
                       path);
    *rank = head.rank;
    memcpy(size, head.shape, sizeof head.shape);
    return data_gz_seek(file, path, place, err);
}

/* Reads all labels of a file, without allocating by the count in its header. */
static int
read_gz_labels(struct data_import *import, const char *path, struct err *err)
{
    struct data_bytes *labels = &import->labels;
    struct gzFile_s *file = data_gz_open(path, err);
    size_t size[4] = {0}, rank = 1, got = 1;
    int rc = file ? 0 : -1;

    if (file && import->settings.form == DATA_IDX) {
        rc = read_idx_head(file, path, size, &rank, err);
        if (!rc && rank != 1)
            rc = err_set(err, "'%s' holds no labels", path);
        if (!rc && size[0] != import->n)
            rc = err_set(err, "'%s' has %zu labels for %zu images", path,
                         size[0], import->n);
    }
    while (!rc && got && labels->len < MAX_LABELS) {
        mem_grow(&labels->data, &labels->room, labels->len + 65536, 1);
        rc = data_gz_take(file, path, labels->data + labels->len, 65536, &got,
                          err);
        labels->len += got;
    }
    if (!rc && import->n && labels->len != import->n)
        rc = err_set(err, "'%s' holds %zu labels, not the %zu it claims", path,
                     labels->len, import->n);
    if (file)
        data_gz_close(file);
    return rc;
}

/* Converts whole numbers of any type to bytes. */
static int
convert_labels(struct data_import *import, const struct data_npy *npy,
               struct err *err)
{
    struct data_bytes *labels = &import->labels;
    int64_t *label = data_npy_wholes(npy, err);

    if (!label)
        return -1;
    labels->data = mem_array(import->n, 1);
    for (; labels->len < import->n; labels->len++) {
        const int64_t x = label[labels->len];

        if (x < 0 || x > 255)
            break;
        labels->data[labels->len] = (uint8_t)x;
    }
    free(label);
    if (labels->len == import->n)
        return 0;
    return err_set(err, "item %zu is not 0 .. 255", labels->len);
}

static int
read_npy_labels(struct data_import *import, const char *path, struct err *err)
{
    struct data_npy npy;
    struct err why;
    int rc;

    if (data_npy_read(path, &npy, err))
        return -1;
    if (npy.rank != 1 || npy.shape[0] != import->n)
        rc = err_set(&why, "want one for each of %zu images", import->n);
    else
        rc = convert_labels(import, &npy, &why);
    data_npy_release(&npy);
    return rc ? err_set(err, "'%s' holds no labels: %s", path, why.msg) : 0;
}

/* Takes the shape from the header of a file of images, if its form has one. */
static int
read_shape(struct data_import *import, struct err *err)
{
    const char *path = import->settings.file[0];
    const enum data_form which = import->settings.form;
    struct form *form = &import->form;
    size_t size[4] = {0}, rank;

    if (which != DATA_IDX && which != DATA_NPY)
        return 0;
    if (which == DATA_IDX ? read_idx_head(import->file, path, size, &rank, err)
                          : read_npy_head(import->file, path, size, &rank, err))
        return -1;
    if (rank < 3 || (rank == 4 && size[3] != 3))
        return err_set(err,
                       "'%s' holds no images: want n x rows x columns, "
                       "or these x 3",
                       path);
    if (size[0] < 1 || size[1] < 1 || size[2] < 1 || size[1] > MAX_SIDE ||
        size[2] > MAX_SIDE || size[1] * size[2] > IMAGE_MAX_PIXELS)
        return err_set(err, "'%s' claims %zu images of %zux%zu", path, size[0],
                       size[2], size[1]);
    import->n = size[0];
    form->height = size[1];
    form->width = size[2];
    form->channels = rank == 4 ? 3 : 1;
    return 0;
}

static int
open_labels(struct data_import *import, struct err *err)
{
    const char *path = import->settings.file[1];
    const enum data_form form = import->settings.form;
    size_t highest = 0;

    if (form == DATA_NPY ? read_npy_labels(import, path, err)
                         : read_gz_labels(import, path, err))
        return -1;
    for (size_t i = 0; i < import->labels.len; i++)
        if (import->labels.data[i] > highest)
            highest = import->labels.data[i];
    if (form != DATA_STL10)
        import->form.classes = highest + 1;
    return 0;
}

static int
read_classes(struct data_import *import, const char *path, struct err *err)
{
    size_t len;
    char *text = file_read(path, 1 << 20, &len, err), *rest = text;
    int rc = 0;

    if (!text)
        return -1;
    for (char *line; import->classes < import->form.classes &&
                     (line = strtok_r(rest, "\n", &rest));) {
        line[strcspn(line, "\r")] = 0;
        if (!rc && (!*line || *line == '.' || strlen(line) > MAX_NAME ||
                    strpbrk(line, "/\t\r\n"))) // the name of a folder
            rc = err_set(err, "'%s' in '%s' cannot be the name of a folder",
                         line, path);
        import->class[import->classes++] = mem_text(line);
    }
    free(text);
    if (!rc && import->classes < import->form.classes)
        rc = err_set(err, "'%s' names %zu classes of %zu", path,
                     import->classes, import->form.classes);
    return rc;
}

/* Names the classes.  Numbers get as many digits as the largest, so that they
 * sort. */
static int
name_classes(struct data_import *import, struct err *err)
{
    const struct form *form = &import->form;
    int digits = snprintf(NULL, 0, "%zu", form->classes - 1);

    import->class = mem_array(form->classes, sizeof *import->class);
    if (import->settings.classes)
        return read_classes(import, import->settings.classes, err);
    for (size_t i = 0; i < form->classes; i++)
        import->class[import->classes++] =
            form->class ? mem_text(form->class[i])
                        : mem_format("%0*zu", digits, i);
    return 0;
}

static int
start_import(struct data_import *import, struct err *err)
{
    const enum data_form form = import->settings.form;
    const int apart =
        form == DATA_IDX || form == DATA_STL10 || form == DATA_NPY;
    size_t pixels;

    if (apart && import->settings.files > 2)
        return err_set(err, "%s needs a file of images and one of labels",
                       import->form.name);
    if (open_next(import, err) || read_shape(import, err) ||
        (apart && import->settings.files == 2 && open_labels(import, err)) ||
        name_classes(import, err))
        return -1;
    pixels = import->form.height * import->form.width * import->form.channels;
    import->raw = mem_array(import->form.front + pixels, 1);
    import->pixel = mem_array(pixels, 1);
    return 0;
}

struct data_import *
data_import_open(const struct data_import_settings *how, struct err *err)
{
    struct data_import *import = mem_array(1, sizeof *import);

    REQUIRE(how->files >= 1);
    import->settings = *how;
    import->form = forms[how->form];
    if (how->form == DATA_CIFAR100 && how->coarse) {
        import->form.label = 0;
        import->form.classes = 20;
    }
    if (!start_import(import, err))
        return import;
    data_import_close(import);
    return NULL;
}

void
data_import_close(struct data_import *import)
{
    if (!import)
        return;
    if (import->file)
        data_gz_close(import->file);
    for (size_t i = 0; i < import->classes; i++)
        free(import->class[i]);
    free(import->class);
    data_bytes_release(&import->labels);
    mem_free(import->raw, import->pixel, import);
}

size_t
data_import_size(const struct data_import *import)
{
    return import->n;
}

/* Converts planes of colour to the order of pixels. */
static const uint8_t *
interleave_planes(struct data_import *import)
{
    const struct form *form = &import->form;
    const size_t h = form->height, w = form->width, c = form->channels;
    const uint8_t *raw = import->raw + form->front;
    uint8_t *out = import->pixel;

    if (form->order == PIXELS)
        return raw;
    for (size_t y = 0; y < h; y++)
        for (size_t x = 0; x < w; x++)
            for (size_t i = 0; i < c; i++)
                *out++ = raw[i * h * w +
                             (form->order == ROWS ? y * w + x : x * h + y)];
    return import->pixel;
}

/* Finds the class of the current record, NULL for none; -1 on error. */
static int
find_class(const struct data_import *import, const char **class,
           struct err *err)
{
    const struct form *form = &import->form;
    const char *path = import->settings.file[import->at];
    unsigned label;

    *class = NULL;
    if (form->front) {
        label = import->raw[form->label];
    } else if (import->labels.data) {
        if (import->done >= import->labels.len)
            return err_set(err, "'%s' has more images than '%s' has labels",
                           path, import->settings.file[1]);
        label = import->labels.data[import->done];
    } else {
        return 0;
    }
    if (label < form->base || label - form->base >= form->classes)
        return err_set(err, "label %u of image %zu in '%s' is not %s's", label,
                       import->done, path, form->name);
    *class = import->class[label - form->base];
    return 0;
}

/* Returns 1 with a record in raw, 0 at the end of all files, -1 on error. */
static int
next_record(struct data_import *import, struct err *err)
{
    const struct form *form = &import->form;
    const size_t want =
        form->front + form->height * form->width * form->channels;

    if (import->n && import->done == import->n)
        return 0;
    for (;;) {
        const char *path = import->settings.file[import->at];
        size_t got;

        if (data_gz_take(import->file, path, import->raw, want, &got, err))
            return -1;
        if (got == want)
            return 1;
        if (got || import->n)
            return err_set(err, "'%s' is cut off in image %zu", path,
                           import->done);
        if (form->front == 0 || import->at + 1 == import->settings.files)
            return 0;
        import->at++;
        if (open_next(import, err))
            return -1;
    }
}

int
data_import_next(struct data_import *import, struct data_picture *picture,
                 struct err *err)
{
    const struct form *form = &import->form;
    int got = next_record(import, err);

    if (got < 0)
        return -1;
    if (got == 0 && import->labels.data && import->labels.len > import->done)
        return err_set(err, "'%s' has more labels than '%s' has images",
                       import->settings.file[1], import->settings.file[0]);
    if (got == 0)
        return 0;
    *picture = (struct data_picture){
        .pixel = interleave_planes(import),
        .height = form->height,
        .width = form->width,
        .channels = form->channels,
    };
    if (find_class(import, &picture->class, err))
        return -1;
    import->done++;
    return 1;
}
