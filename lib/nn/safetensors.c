#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "util/dtype.h"
#include "util/file.h"
#include "util/mem.h"

enum { PREFIX = 8, MAX_HEADER = 100000000 };

static const char metadata_key[] = "__metadata__";

/* The checked header entry of an array: bytes [begin,end) of the data. */
struct entry {
    const char *name, *dtype;
    size_t rank, shape[NN_MAX_RANK], begin, end;
};

/* Size of an element in bytes; 0 for an unknown dtype. */
static size_t
element_size(const char *dtype)
{
    const enum dtype d = dtype_by_safetensors(dtype, strlen(dtype));

    return d == DTYPES ? 0 : dtype_about(d)->bytes;
}

void
nn_array_init(struct nn_array *array, const char *name, const char *dtype,
              size_t rank, const size_t *shape, const void *data)
{
    size_t size = element_size(dtype), count = 1;

    REQUIRE(size && rank <= NN_MAX_RANK);
    *array = (struct nn_array){.name = mem_text(name), .rank = rank};
    memcpy(array->dtype, dtype, strlen(dtype) + 1);
    for (size_t i = 0; i < rank; i++) {
        array->shape[i] = shape[i];
        count *= shape[i];
    }
    array->count = count;
    array->bytes = count * size;
    array->data = mem_array(count, size);
    if (data && count)
        memcpy(array->data, data, array->bytes);
}

void
nn_arrays_free(struct nn_array *arrays, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        mem_free(arrays[i].name, arrays[i].data);
    }
    free(arrays);
}

const struct nn_array *
nn_arrays_find(const struct nn_array *arrays, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(arrays[i].name, name))
            return arrays + i;
    return NULL;
}

const struct nn_array *
nn_arrays_need(const struct nn_array *arrays, size_t n, const char *path,
               const char *name, const char *dtype, size_t rank,
               const size_t *shape, struct err *err)
{
    const struct nn_array *a = nn_arrays_find(arrays, n, name);

    if (!a)
        err_set(err, "'%s': tensor '%s' is missing", path, name);
    else if (strcmp(a->dtype, dtype))
        err_set(err, "'%s': tensor '%s' is %s, want %s", path, name, a->dtype,
                dtype);
    else if (a->rank != rank ||
             (rank && memcmp(a->shape, shape, rank * sizeof *shape)))
        err_set(err, "'%s': the shape of tensor '%s' is not the net's", path,
                name);
    else
        return a;
    return NULL;
}

/* Reads a JSON integer in 0 .. max. */
static int
take_size(const json_t *value, size_t max, size_t *size)
{
    json_int_t x = json_integer_value(value);

    if (!json_is_integer(value) || x < 0 || (uint64_t)x > max)
        return -1;
    *size = (size_t)x;
    return 0;
}

/* Reads a shape and computes its size in bytes, at most max. */
static int
take_shape(const json_t *list, size_t size, size_t max, struct entry *e,
           size_t *bytes)
{
    int empty = 0;

    if (!json_is_array(list) || json_array_size(list) > NN_MAX_RANK)
        return -1;
    e->rank = json_array_size(list);
    *bytes = size;
    for (size_t i = 0; i < e->rank; i++) {
        if (take_size(json_array_get(list, i), SIZE_MAX / 2, &e->shape[i]))
            return -1;
        empty |= !e->shape[i];
    }
    for (size_t i = 0; i < e->rank && !empty; i++) {
        if (e->shape[i] > max / *bytes)
            return -1;
        *bytes *= e->shape[i];
    }
    if (empty)
        *bytes = 0;
    return *bytes <= max ? 0 : -1;
}

static int
take_entry(const char *what, const char *name, const json_t *object,
           size_t data_len, struct entry *e, struct err *err)
{
    const json_t *range = json_object_get(object, "data_offsets");
    size_t size, bytes;

    e->name = name;
    e->dtype = json_string_value(json_object_get(object, "dtype"));
    size = e->dtype ? element_size(e->dtype) : 0;
    if (!size)
        return err_set(err, "'%s': tensor '%.80s' has no known dtype", what,
                       name);
    if (take_shape(json_object_get(object, "shape"), size, data_len, e, &bytes))
        return err_set(err,
                       "'%s': the shape of tensor '%.80s' is invalid or larger "
                       "than the file",
                       what, name);
    if (!json_is_array(range) || json_array_size(range) != 2 ||
        take_size(json_array_get(range, 0), data_len, &e->begin) ||
        take_size(json_array_get(range, 1), data_len, &e->end) ||
        e->end < e->begin || e->end - e->begin != bytes)
        return err_set(err,
                       "'%s': the byte range of tensor '%.80s' does not fit "
                       "its shape or the file",
                       what, name);
    return 0;
}

static int
compare_places(const void *a, const void *b)
{
    const struct entry *const *x = a, *const *y = b;

    if ((*x)->begin != (*y)->begin)
        return (*x)->begin < (*y)->begin ? -1 : 1;
    return ((*x)->end > (*y)->end) - ((*x)->end < (*y)->end);
}

/* Checks that the entries cover each byte of the data once. */
static int
check_tiling(const char *what, const struct entry *entry, size_t n,
             size_t data_len, struct err *err)
{
    const struct entry **order = mem_array(n, sizeof *order);
    size_t at = 0, i;

    for (i = 0; i < n; i++)
        order[i] = entry + i;
    qsort(order, n, sizeof *order, compare_places);
    for (i = 0; i < n && order[i]->begin == at; i++)
        at = order[i]->end;
    free(order);
    if (i < n || at != data_len)
        return err_set(err,
                       "'%s': its tensors leave gaps or overlap (byte %zu of "
                       "%zu)",
                       what, at, data_len);
    return 0;
}

/* Reads and checks the header; entries point into it.  *n is their number. */
static int
take_header(const char *what, json_t *header, size_t data_len,
            struct entry *entry, size_t *n, struct err *err)
{
    const char *key;
    json_t *value;

    *n = 0;
    json_object_foreach(header, key, value)
    {
        if (!strcmp(key, metadata_key)) {
            const char *field;
            json_t *text;

            if (!json_is_object(value))
                return err_set(err, "'%s': its metadata is not an object",
                               what);
            json_object_foreach(value, field, text) if (
                !json_is_string(text)) return err_set(err,
                                                      "'%s': metadata '%.80s' "
                                                      "is not a string",
                                                      what, field);
            continue;
        }
        if (take_entry(what, key, value, data_len, entry + *n, err))
            return -1;
        ++*n;
    }
    return check_tiling(what, entry, *n, data_len, err);
}

static json_t *
parse_header(const uint8_t *bytes, size_t len, const char *what,
             size_t *data_at, struct err *err)
{
    uint64_t size = 0;

    for (int i = 0; i < PREFIX && len >= PREFIX; i++)
        size |= (uint64_t)bytes[i] << (8 * i);
    if (len < PREFIX || size > len - PREFIX || size > MAX_HEADER) {
        err_set(err, "'%s' is not a safetensors file, or is cut short", what);
        return NULL;
    }
    *data_at = PREFIX + (size_t)size;
    return json_parse((const char *)bytes + PREFIX, (size_t)size, what, err);
}

int
nn_arrays_parse(const uint8_t *bytes, size_t len, const char *what,
                struct nn_array **arrays, size_t *n, json_t **metadata,
                struct err *err)
{
    size_t data_at = 0, count;
    json_t *header = parse_header(bytes, len, what, &data_at, err);
    struct entry *entry;
    int rc;

    if (!header)
        return -1;
    entry = mem_array(json_object_size(header), sizeof *entry);
    rc = take_header(what, header, len - data_at, entry, &count, err);
    if (!rc) {
        *n = count;
        *arrays = mem_array(count, sizeof **arrays);
        for (size_t i = 0; i < count; i++)
            nn_array_init(*arrays + i, entry[i].name, entry[i].dtype,
                          entry[i].rank, entry[i].shape,
                          bytes + data_at + entry[i].begin);
        if (metadata)
            *metadata = json_incref(json_object_get(header, metadata_key));
    }
    free(entry);
    json_decref(header);
    return rc;
}

int
nn_arrays_read(const char *path, struct nn_array **arrays, size_t *n,
               json_t **metadata, struct err *err)
{
    size_t len;
    uint8_t *bytes = file_read(path, SIZE_MAX / 4, &len, err);
    int rc;

    if (!bytes)
        return -1;
    rc = nn_arrays_parse(bytes, len, path, arrays, n, metadata, err);
    free(bytes);
    return rc;
}

/* The header as text, padded with blanks so that the data is aligned to 8. */
static char *
header_text(const struct nn_array *arrays, size_t n, const size_t *begin,
            const json_t *metadata)
{
    json_t *header = json_object();
    char *text, *padded;
    size_t len;

    if (metadata)
        json_object_set_new(header, metadata_key, json_deep_copy(metadata));
    for (size_t i = 0; i < n; i++) {
        const struct nn_array *a = arrays + i;
        json_t *shape = json_array();

        for (size_t k = 0; k < a->rank; k++)
            json_array_append_new(shape, json_integer((json_int_t)a->shape[k]));
        REQUIRE(!json_object_get(header, a->name));
        json_object_set_new(header, a->name,
                            json_pack("{s:s, s:o, s:[I,I]}", "dtype", a->dtype,
                                      "shape", shape, "data_offsets",
                                      (json_int_t)begin[i],
                                      (json_int_t)(begin[i] + a->bytes)));
    }
    text = json_dumps(header, JSON_COMPACT | JSON_PRESERVE_ORDER);
    REQUIRE(text);
    len = (strlen(text) + 7) / 8 * 8;
    padded = mem_format("%-*s", (int)len, text);
    free(text);
    json_decref(header);
    return padded;
}

static int
write_all(FILE *file, const char *header, const struct nn_array *const *order,
          size_t n)
{
    uint64_t len = strlen(header);
    uint8_t prefix[PREFIX];

    for (int i = 0; i < PREFIX; i++)
        prefix[i] = (uint8_t)(len >> (8 * i));
    if (fwrite(prefix, sizeof prefix, 1, file) != 1 ||
        fwrite(header, len, 1, file) != 1)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (fwrite(order[i]->data, 1, order[i]->bytes, file) != order[i]->bytes)
            return -1;
    return fflush(file);
}

int
nn_arrays_put(FILE *file, const char *path, const struct nn_array *arrays,
              size_t n, const json_t *metadata, struct err *err)
{
    const struct nn_array **order = mem_array(n, sizeof *order);
    size_t *begin = mem_array(n, sizeof *begin), at = 0, k = 0;
    char *header;
    int rc;

    // data is in descending order of element size, array i at begin[i]
    for (size_t size = 8; size; size /= 2)
        for (size_t i = 0; i < n; i++)
            if (element_size(arrays[i].dtype) == size) {
                order[k++] = arrays + i;
                begin[i] = at;
                at += arrays[i].bytes;
            }
    header = header_text(arrays, n, begin, metadata);
    rc = write_all(file, header, order, n);
    if (rc)
        rc = err_sys(err, "cannot write '%s'", path);
    mem_free(header, order, begin);
    return rc;
}

int
nn_arrays_write(const char *path, const struct nn_array *arrays, size_t n,
                const json_t *metadata, struct err *err)
{
    FILE *file = fopen(path, "wb");
    int rc;

    if (!file)
        return err_sys(err, "cannot create '%s'", path);
    rc = nn_arrays_put(file, path, arrays, n, metadata, err);
    if (fclose(file) && !rc)
        rc = err_sys(err, "cannot write '%s'", path);
    return rc;
}
