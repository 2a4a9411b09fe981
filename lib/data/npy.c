#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/npy.h"
#include "util/dtype.h"
#include "util/file.h"
#include "util/mem.h"

enum {
    MAX_HEAD = DATA_NPY_HEAD - 12, // NumPy writes 118 bytes
    ALIGN = 64                     // NumPy pads its header to it
};

/* Skips blanks, then the word if it follows: 1 if it did. */
static int
skip_word(const char **at, const char *word)
{
    size_t n = strlen(word);

    *at += strspn(*at, " \n");
    if (strncmp(*at, word, n))
        return 0;
    *at += n;
    return 1;
}

static int
take_descr(const char **at, struct data_npy *npy)
{
    for (enum dtype i = 0; i < DTYPES; i++) {
        const char *descr = dtype_about(i)->npy;
        char quoted[8];

        snprintf(quoted, sizeof quoted, "'%s'", descr ? descr : "");
        if (descr && skip_word(at, quoted)) {
            npy->type = i;
            return 1;
        }
    }
    return 0;
}

/* Reports the type of the items, if it is a word, and the accepted types. */
static int
refuse_descr(const char *at, struct err *err)
{
    size_t n = strspn(at += *at == '\'', "<>=|abcdefghijklmnopqrstuvwxyzOSUVM"
                                         "0123456789");

    return err_set(err,
                   "its items are %.*s, no little-endian numbers: save "
                   ".astype('f4') of features, .astype('i8') of labels",
                   n < 16 ? (int)n : 16, at);
}

static int
take_number(const char **at, size_t *number)
{
    size_t digits, n = 0;

    skip_word(at, "");
    digits = strspn(*at, "0123456789");
    if (digits < 1 || digits > 15)
        return 0;
    for (size_t i = 0; i < digits; i++)
        n = n * 10 + (size_t)((*at)[i] - '0');
    *at += digits;
    *number = n;
    return 1;
}

/* Reads (7,) or (7, 3) and so on. */
static int
take_shape(const char **at, struct data_npy *npy)
{
    if (!skip_word(at, "("))
        return 0;
    while (npy->rank < 4 && take_number(at, &npy->shape[npy->rank])) {
        npy->rank++;
        if (!skip_word(at, ",") && npy->rank == 1)
            return 0;
        if (skip_word(at, ")"))
            return 1;
    }
    return 0;
}

/* Reads the dictionary {'descr': '<f4', 'fortran_order': False, 'shape': (7,
 * 3), }. */
static int
parse_dictionary(const char *at, struct data_npy *npy, struct err *err)
{
    int seen[3] = {0};

    if (!skip_word(&at, "{"))
        return err_set(err, "its header is no dictionary");
    while (!skip_word(&at, "}")) {
        if (skip_word(&at, "'descr':") && !seen[0]++) {
            if (!take_descr(&at, npy))
                return refuse_descr(at, err);
        } else if (skip_word(&at, "'fortran_order':") && !seen[1]++) {
            if (!skip_word(&at, "False"))
                return err_set(err, "its order is not C: save "
                                    "numpy.ascontiguousarray() of it");
        } else if (skip_word(&at, "'shape':") && !seen[2]++) {
            if (!take_shape(&at, npy))
                return err_set(err, "it has not one to four dimensions");
        } else {
            return err_set(err, "its header is damaged");
        }
        skip_word(&at, ",");
    }
    skip_word(&at, "");
    if (*at || !seen[0] || !seen[1] || !seen[2])
        return err_set(err, "its header is damaged");
    return 0;
}

int
data_npy_head(const uint8_t *start, size_t len, struct data_npy *npy,
              size_t *place, struct err *err)
{
    char text[MAX_HEAD + 1] = "";
    size_t n, at;

    *npy = (struct data_npy){0};
    if (len < 12 || memcmp(start, "\x93NUMPY", 6))
        return err_set(err,
                       "it is no .npy file: 'foil embed -o FILE.npy DATA' and "
                       "numpy.save() make one");
    if (start[6] < 1 || start[6] > 3)
        return err_set(err, "it is of version %d, not 1 to 3", start[6]);
    at = start[6] == 1 ? 10 : 12;
    n = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1)
        n |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (n > MAX_HEAD || n > len - at)
        return err_set(err, "its header is cut off or too long");
    memcpy(text, start + at, n);
    if (strlen(text) != n)
        return err_set(err, "its header is damaged");
    *place = at + n;
    return parse_dictionary(text, npy, err);
}

int
data_npy_parse(const uint8_t *start, size_t len, uint64_t bytes,
               struct data_npy *npy, size_t *place, struct err *err)
{
    size_t item;

    if (data_npy_head(start, len, npy, place, err))
        return -1;
    if (npy->rank > 2)
        return err_set(err, "it has not one or two dimensions");
    if (npy->rank == 1)
        npy->shape[1] = 1;
    item = dtype_about(npy->type)->bytes;
    if (npy->shape[1] && npy->shape[0] > SIZE_MAX / item / npy->shape[1])
        return err_set(err, "its shape is too large");
    if (bytes - *place != npy->shape[0] * npy->shape[1] * item)
        return err_set(err, "its size does not fit its shape: is it cut off?");
    return 0;
}

static int
read_head(int fd, struct data_npy *npy, size_t *place, struct err *err)
{
    uint8_t start[DATA_NPY_HEAD];
    ssize_t len = pread(fd, start, sizeof start, 0);
    struct stat st;

    if (len < 0 || fstat(fd, &st))
        return err_sys(err, "it cannot be read");
    return data_npy_parse(start, (size_t)len, (uint64_t)st.st_size, npy, place,
                          err);
}

static int
read_items(int fd, size_t place, struct data_npy *npy, struct err *err)
{
    const size_t size =
        npy->shape[0] * npy->shape[1] * dtype_about(npy->type)->bytes;
    size_t have = 0;

    npy->data = mem_aligned(size, 1);
    while (have < size) {
        ssize_t n = pread(fd, (char *)npy->data + have, size - have,
                          (off_t)(place + have));

        if (n < 0)
            return err_sys(err, "it cannot be read");
        if (n == 0)
            return err_set(err, "it is cut off");
        have += (size_t)n;
    }
    return 0;
}

int
data_npy_open(const char *path, struct data_npy *npy, size_t *place,
              struct err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC), is_folder;
    struct stat st;
    struct err why;

    *npy = (struct data_npy){0};
    if (fd < 0)
        return err_sys(err, "cannot open '%s'", path);
    if (!read_head(fd, npy, place, &why))
        return fd;
    is_folder = !fstat(fd, &st) && S_ISDIR(st.st_mode);
    close(fd);
    if (is_folder)
        return err_set(err,
                       "'%s' is a folder, not an array: 'foil embed -o x.npy' "
                       "makes one of the features of images",
                       path);
    return err_set(err, "cannot take '%s' as an array: %s", path, why.msg);
}

int
data_npy_read(const char *path, struct data_npy *npy, struct err *err)
{
    size_t place;
    const int fd = data_npy_open(path, npy, &place, err);
    struct err why;
    int rc;

    if (fd < 0)
        return -1;
    rc = read_items(fd, place, npy, &why);
    close(fd);
    if (!rc)
        return 0;
    data_npy_release(npy);
    return err_set(err, "cannot take '%s' as an array: %s", path, why.msg);
}

void
data_npy_release(struct data_npy *npy)
{
    free(npy->data);
    *npy = (struct data_npy){0};
}

/* Reads item i into *x if it is an integer or bool: 1, else 0. */
static int
read_whole(const struct data_npy *npy, size_t i, int64_t *x)
{
    const void *all = npy->data;

    switch (npy->type) {
    case DTYPE_U1:
    case DTYPE_BOOL:
        *x = ((const uint8_t *)all)[i];
        return 1;
    case DTYPE_I1:
        *x = ((const int8_t *)all)[i];
        return 1;
    case DTYPE_I2:
        *x = ((const int16_t *)all)[i];
        return 1;
    case DTYPE_U2:
        *x = ((const uint16_t *)all)[i];
        return 1;
    case DTYPE_I4:
        *x = ((const int32_t *)all)[i];
        return 1;
    case DTYPE_U4:
        *x = ((const uint32_t *)all)[i];
        return 1;
    case DTYPE_I8:
    case DTYPE_U8: // negative if larger than INT64_MAX
        *x = ((const int64_t *)all)[i];
        return 1;
    default:
        return 0;
    }
}

int64_t *
data_npy_wholes(const struct data_npy *npy, struct err *err)
{
    const size_t n = npy->shape[0] * npy->shape[1];
    int64_t *x = mem_array(n, sizeof *x);

    for (size_t i = 0; i < n; i++) {
        const int is = read_whole(npy, i, &x[i]);

        if (is && (x[i] >= 0 || npy->type != DTYPE_U8))
            continue;
        if (is)
            err_set(err, "item %zu is too large", i);
        else
            err_set(err, "its items are no whole numbers: save .astype('i8') "
                         "of it");
        free(x);
        return NULL;
    }
    return x;
}

float *
data_npy_reals(struct data_npy *npy, struct err *err)
{
    const size_t n = npy->shape[0] * npy->shape[1];
    float *x = npy->data;

    if (npy->type == DTYPE_F4) {
        npy->data = NULL;
        return x;
    }
    x = mem_aligned(n, sizeof *x);
    if (npy->type == DTYPE_F8) {
        for (size_t i = 0; i < n; i++)
            x[i] = (float)((const double *)npy->data)[i];
        return x;
    }
    if (npy->type == DTYPE_F2) {
        half_widen(n, npy->data, x);
        return x;
    }
    free(x);
    err_set(err, "its items are whole numbers: save .astype('f4') of it");
    return NULL;
}

int
data_npy_put(FILE *file, const char *path, const struct data_npy *npy,
             struct err *err)
{
    uint8_t head[2 * ALIGN + 1];
    size_t items = npy->shape[0] * npy->shape[1];
    size_t item = dtype_about(npy->type)->bytes, n;
    char shape[64];

    REQUIRE(npy->rank == 2 || (npy->rank == 1 && npy->shape[1] == 1));
    if (npy->rank == 1)
        snprintf(shape, sizeof shape, "(%zu,)", npy->shape[0]);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", npy->shape[0],
                 npy->shape[1]);
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0", 8);
    n = 10 + (size_t)snprintf((char *)head + 10, sizeof head - 10,
                              "{'descr': '%s', 'fortran_order': False, "
                              "'shape': %s, }",
                              dtype_about(npy->type)->npy, shape);
    head[n] = ' ';
    n = (n / ALIGN + 1) * ALIGN; // at least one byte for the line end
    head[n - 1] = '\n';
    head[8] = (uint8_t)(n - 10);
    head[9] = 0;
    if (fwrite(head, 1, n, file) != n ||
        fwrite(npy->data, item, items, file) != items || fflush(file))
        return err_sys(err, "cannot write '%s'", path);
    return 0;
}

int
data_npy_write(const char *path, const struct data_npy *npy, struct err *err)
{
    struct file_draft draft = {0};

    if (file_draft_open(&draft, path, err))
        return -1;
    if (!data_npy_put(draft.file, path, npy, err))
        return file_draft_keep(&draft, err);
    file_draft_drop(&draft);
    return -1;
}
