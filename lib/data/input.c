#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/npy.h"
#include "data/row.h"
#include "util/file.h"
#include "util/mem.h"

#include "cells.h"
#include "input.h"
#include "tar.h"
#include "tree.h"

enum { MAX_LIST = 1 << 30 };

/* Returns 1 for text, which has few control bytes; a tar has zeros in its first
 * block. */
static int
is_text(const char *path, struct err *err)
{
    unsigned char start[512];
    int fd = open(path, O_RDONLY | O_CLOEXEC), text = 1;
    ssize_t n;

    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    n = read(fd, start, sizeof start);
    close(fd);
    if (n < 0)
        return err_sys(err, "cannot read '%s'", path);
    if (n == 0)
        return err_set(err, "'%s' is empty", path);
    if ((size_t)n >= strlen(LAYOUT_MAGIC) &&
        !memcmp(start, LAYOUT_MAGIC, strlen(LAYOUT_MAGIC)))
        return err_set(
            err,
            "'%s' is an index: name its data instead, or join indexes with "
            "foil data join",
            path);
    for (ssize_t i = 0; i < n; i++)
        text &= start[i] >= ' ' || (start[i] >= '\t' && start[i] <= '\r');
    return text;
}

/* Reads the lines of a file, or of standard input. */
static int
read_input_list(struct input *input, const char *path, struct err *err)
{
    const char *from = !strcmp(path, "-") ? "/dev/stdin" : path;

    input->list = file_read(from, MAX_LIST, &input->list_bytes, err);
    if (!input->list)
        return -1;
    data_cells_init(&input->rows.cells, path, input->list, input->list_bytes);
    input->rows.cells.comments = 1;
    return 0;
}

static int
open_array(struct input *input, const char *path, struct err *err)
{
    struct array *array = &input->array;
    struct data_npy npy;
    size_t from;

    array->fd = data_npy_open(path, &npy, &from, err);
    if (array->fd < 0)
        return -1;
    array->item = dtype_about(npy.type)->bytes;
    array->d = npy.shape[1];
    array->from = from;
    array->bytes = from + npy.shape[0] * npy.shape[1] * array->item;
    array->about.n = npy.shape[0];
    if ((npy.type != DTYPE_F4 && npy.type != DTYPE_F2) || npy.rank != 2 ||
        !array->d || array->d > DATA_ROW_MAX)
        return err_set(err,
                       "'%s': want rows of features, f4 or f2 [n,d], d up to "
                       "%d: numpy.save() of .astype('f4') makes them",
                       path, DATA_ROW_MAX);
    return data_features_sidecars(&array->about, path, err);
}

static int
open_any(struct input *input, const char *path, struct err *err)
{
    struct stat st;
    char *copy;
    int text;

    if (!strcmp(path, "-")) {
        input->root = mem_text(".");
        return read_input_list(input, path, err);
    }
    if (stat(path, &st))
        return err_sys(err, "cannot open '%s'", path);
    if (S_ISDIR(st.st_mode)) {
        input->root = mem_text(path);
        return data_tree_is_run(path, err)
                   ? -1
                   : data_tree_walk(&input->tree, path, err);
    }
    text = is_text(path, err);
    if (text < 0)
        return -1;
    if (!text) {
        input->root = mem_text(path);
        if (data_kind_ends(path, ".npy"))
            return open_array(input, path, err);
        input->tar = data_tar_open(path, err);
        return input->tar ? 0 : -1;
    }
    copy = mem_text(path);
    input->root = mem_text(dirname(copy));
    free(copy);
    input->list_path = mem_text(path);
    input->list_state.time = data_tree_time(path);
    if (read_input_list(input, path, err))
        return -1;
    data_tree_text_state(input->list, input->list_bytes, &input->list_state);
    return 0;
}

/* Returns 1 if a cell of the first record is an existing file or has the name
 * of an image, or if its only cell looks like several. */
static int
names_file(void *of, const struct data_cells *cells)
{
    const struct input *input = of;
    int named = cells->n == 1 && strpbrk(cells->cell->text, " ,");

    for (size_t i = 0; i < cells->n && !named; i++) {
        char *path = data_layout_path(input->root, cells->cell[i].text);

        named = data_kind_of(path) == DATA_KIND_IMAGE || file_exists(path);
        free(path);
    }
    return named;
}

struct input *
data_input_open(const char *path, const struct data_columns *columns,
                struct data_notes *notes, struct err *err)
{
    struct input *input = mem_array(1, sizeof *input);

    input->rows = (struct data_rows){.columns = columns,
                                     .notes = notes,
                                     .key = DATA_COLUMN_NAME,
                                     .what = "file",
                                     .names = names_file,
                                     .of = input,
                                     .at = {0, 1, 2}};
    if (!open_any(input, path, err))
        return input;
    data_input_close(input);
    return NULL;
}

void
data_input_close(struct input *input)
{
    if (!input)
        return;
    data_tar_close(input->tar);
    if (input->array.fd > 0)
        close(input->array.fd);
    data_features_release(&input->array.about);
    data_tree_release(&input->tree);
    data_cells_release(&input->rows.cells);
    mem_free(input->list, input->list_path, input->root, input);
}

/* Reads the sample of a record; 0 if it names none. */
static int
read_record(struct input *input, struct input_item *item)
{
    const struct data_cells *cells = &input->rows.cells;
    const size_t *at = input->rows.at;
    const char *name = data_cells_get(cells, at[DATA_COLUMN_NAME]).text;

    while (name && !strncmp(name, "./", 2))
        name += 2;
    if (!name || !*name) {
        if (!input->nameless++)
            input->nameless_line = cells->line;
        return 0;
    }
    *item = (struct input_item){
        .name = name,
        .label = data_cells_get(cells, at[DATA_COLUMN_LABEL]).text,
        .caption = data_cells_get(cells, at[DATA_COLUMN_CAPTION]).text,
    };
    return 1;
}

static int
next_row(struct input *input, struct input_item *item)
{
    struct array *array = &input->array;
    const struct data_features *about = &array->about;
    const size_t i = input->at;
    const int64_t label = about->labels && i < about->n ? about->labels[i] : -1;

    if (i == about->n)
        return 0;
    snprintf(array->name, sizeof array->name, "row %zu", i);
    snprintf(array->label, sizeof array->label, "%jd", (intmax_t)label);
    *item = (struct input_item){
        .name = array->name,
        .offset = array->from + i * array->d * array->item,
        .bytes = array->d * array->item,
        .label = label < 0          ? NULL
                 : about->classes.n ? about->classes.name[label]
                                    : array->label,
    };
    input->at++;
    return 1;
}

int
data_input_next(struct input *input, struct input_item *item, struct err *err)
{
    struct data_member member;
    int got;

    if (input->array.fd)
        return next_row(input, item);

    if (input->list) {
        do
            got = data_rows_next(&input->rows, err);
        while (got > 0 && !read_record(input, item));
        return got < 0 ? DATA_UNREAD : got;
    }
    *item = (struct input_item){0};
    if (!input->tar) {
        const struct tree_entry *entry;

        if (input->at == input->tree.n)
            return 0;
        entry = &input->tree.entry[input->at++];
        item->name = input->tree.text + entry->name;
        item->bad = entry->why ? input->tree.text + entry->why : NULL;
        return 1;
    }
    got = data_tar_next(input->tar, &member, err);
    if (got > 0) {
        item->name = member.name;
        item->bad = member.bad;
        item->offset = member.offset;
        item->bytes = member.bytes;
    }
    return got;
}

int
data_input_read(struct input *input, const struct input_item *item,
                struct data_bytes *bytes, struct err *err)
{
    const int fd = input->tar ? input->tar->fd : input->array.fd;
    int rc, tried = 0;

    if (!fd) {
        char *path = data_layout_path(input->root, item->name);

        rc = data_layout_read_file(path, bytes, err);
        free(path);
        return rc;
    }
    if (item->bytes > LAYOUT_MAX_IMAGE_BYTES)
        return err_set(err, "larger than %d bytes", LAYOUT_MAX_IMAGE_BYTES);
    do
        rc = data_layout_read(fd, item->offset, item->bytes, bytes, item->name,
                              err);
    while (rc == DATA_UNREAD && data_layout_retry(tried++));
    return rc;
}

uint64_t
data_input_size(const struct input *input, const struct input_item *item)
{
    struct stat st;
    char *path;
    int known;

    if (input->tar)
        return item->bytes;
    path = data_layout_path(input->root, item->name);
    known = !stat(path, &st);
    free(path);
    return known ? (uint64_t)st.st_size : 0;
}

double
data_input_share(const struct input *input)
{
    if (input->tar)
        return (double)input->tar->end / (double)input->tar->bytes;
    if (input->array.fd)
        return (double)input->at / (double)input->array.about.n;
    if (input->list)
        return (double)input->rows.cells.at / (double)(input->list_bytes + 1);
    return (double)input->at / (double)(input->tree.n + 1);
}
