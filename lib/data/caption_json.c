#include <stdlib.h>
#include <string.h>

#include "util/json.h"
#include "util/mem.h"

#include "caption_json.h"

/* Adds bytes to the table. */
static void
add_bytes(struct data_bytes *table, const char *text, size_t n)
{
    mem_grow(&table->data, &table->room, table->len + n + 1, 1);
    memcpy(table->data + table->len, text, n);
    table->len += n;
    table->data[table->len] = '\0';
}

/* Adds a caption as a cell: what would end the cell is escaped. */
static void
add_cell(struct data_bytes *table, const json_t *text)
{
    const char *at = json_string_value(text);
    const size_t n = json_string_length(text);

    for (size_t i = 0; i < n; i++)
        if (at[i] == '\\')
            add_bytes(table, "\\\\", 2);
        else if (at[i] == '\n' || at[i] == '\t' || at[i] == '\r')
            add_bytes(table, " ", 1);
        else if (at[i])
            add_bytes(table, at + i, 1);
}

static void
add_row(struct data_bytes *table, const json_t *name, const json_t *caption)
{
    add_bytes(table, json_string_value(name), json_string_length(name));
    add_bytes(table, "\t", 1);
    add_cell(table, caption);
    add_bytes(table, "\n", 1);
}

/* An image's sentences, as Karpathy lists them. */
static int
read_sentences(const char *path, size_t i, const json_t *image,
               struct data_bytes *table, struct err *err)
{
    const json_t *name = json_object_get(image, "filename"), *sentence;
    size_t k;

    if (!json_is_string(name))
        return err_set(err, "'%s': images[%zu] has no \"filename\"", path, i);
    json_array_foreach(json_object_get(image, "sentences"), k, sentence)
    {
        const json_t *raw = json_object_get(sentence, "raw");

        if (!json_is_string(raw))
            return err_set(err,
                           "'%s': images[%zu].sentences[%zu] has no \"raw\"",
                           path, i, k);
        add_row(table, name, raw);
    }
    return 0;
}

/* An image of COCO by its number. */
struct numbered {
    json_int_t id;
    const json_t *name;
};

static int
by_image_id(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static struct numbered *
list_numbered(const char *path, const json_t *images, struct err *err)
{
    struct numbered *list = mem_array(json_array_size(images), sizeof *list);
    const json_t *image;
    size_t i;

    json_array_foreach(images, i, image)
    {
        const json_t *id = json_object_get(image, "id");

        list[i].name = json_object_get(image, "file_name");
        list[i].id = json_integer_value(id);
        if (!json_is_integer(id) || !json_is_string(list[i].name)) {
            err_set(err, "'%s': images[%zu] has no \"id\" and \"file_name\"",
                    path, i);
            free(list);
            return NULL;
        }
    }
    qsort(list, json_array_size(images), sizeof *list, by_image_id);
    return list;
}

static int
read_annotations(const char *path, const json_t *root, struct data_bytes *table,
                 struct err *err)
{
    const json_t *images = json_object_get(root, "images"), *one;
    struct numbered *list = list_numbered(path, images, err);
    size_t i;
    int rc = list ? 0 : -1;

    json_array_foreach(json_object_get(root, "annotations"), i, one)
    {
        const json_t *caption = json_object_get(one, "caption");
        const json_t *id = json_object_get(one, "image_id");
        const struct numbered key = {.id = json_integer_value(id)};
        const struct numbered *image;

        if (rc)
            break;
        image = bsearch(&key, list, json_array_size(images), sizeof *list,
                        by_image_id);
        if (!json_is_string(caption) || !json_is_integer(id))
            rc = err_set(err,
                         "'%s': annotations[%zu] has no \"image_id\" and "
                         "\"caption\"",
                         path, i);
        else if (!image)
            rc = err_set(err,
                         "'%s': annotations[%zu] is of image %jd, which is not "
                         "among \"images\"",
                         path, i, (intmax_t)key.id);
        else
            add_row(table, image->name, caption);
    }
    free(list);
    return rc;
}

int
data_caption_json(const char *path, const char *text, size_t len,
                  struct data_bytes *table, struct err *err)
{
    json_t *root = json_parse(text, len, path, err);
    const json_t *images = json_object_get(root, "images"), *image;
    size_t i;
    int rc = root ? 0 : -1;

    *table = (struct data_bytes){0};
    if (root && !json_array_size(images))
        rc = err_set(err,
                     "'%s' has no list \"images\": want captions as of COCO or "
                     "of Karpathy's splits",
                     path);
    if (!rc)
        add_bytes(table, "name\tcaption\n", 13);
    if (!rc && json_is_array(json_object_get(root, "annotations"))) {
        rc = read_annotations(path, root, table, err);
    } else {
        json_array_foreach(images, i, image)
        {
            if (!rc)
                rc = read_sentences(path, i, image, table, err);
        }
    }
    json_decref(root);
    if (rc)
        data_bytes_release(table);
    return rc;
}
