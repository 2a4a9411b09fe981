#include <stdlib.h>
#include <string.h>

#include "text/lexicon.h"
#include "text/text.h"
#include "util/file.h"
#include "util/json.h"
#include "util/mem.h"

#include "captions.h"

enum { MAX_TABLE = 1 << 30, UNCLEAR = -2 };

static void
add_row(struct data_bytes *table, const json_t *name, const json_t *caption)
{
    const char *at = json_string_value(caption);
    const size_t n = json_string_length(caption);

    text_append(table, json_string_value(name), json_string_length(name));
    text_append(table, "\t", 1);
    // adds a caption as a cell, with escapes
    for (size_t i = 0; i < n; i++)
        if (at[i] == '\\')
            text_append(table, "\\\\", 2);
        else if (at[i] == '\n' || at[i] == '\t' || at[i] == '\r')
            text_append(table, " ", 1);
        else if (at[i])
            text_append(table, at + i, 1);
    text_append(table, "\n", 1);
}

/* Adds the sentences of an image in Karpathy's format. */
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

/* An image of COCO with its id. */
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

/*
 * Converts captions in JSON, as in published data sets, to a table: lines of a
 * name, a tab and a caption, after a heading.  Two formats are known:
 *
 *     {"images": [{"filename": "1.jpg", "sentences": [{"raw": "A dog."}, ..],
 *                  "split": "train"}, ..]}
 *         Karpathy: dataset_flickr30k.json, dataset_coco.json
 *     {"images": [{"id": 1, "file_name": "1.jpg"}, ..],
 *      "annotations": [{"image_id": 1, "caption": "A dog."}, ..]}
 *         COCO: captions_train2017.json
 *
 * -1 with a message that names the field: invalid JSON, neither format, an
 * image without a name, an annotation of an image that is not listed.
 */
static int
read_json(const char *path, const char *text, size_t len,
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
        text_append(table, "name\tcaption\n", 13);
    if (!rc && json_is_array(json_object_get(root, "annotations"))) {
        rc = read_annotations(path, root, table, err);
    } else {
        json_array_foreach(images, i, image)
        {
            if (!rc)
                rc = read_sentences(path, i, image, table, err);
        }
    }
    text_append(table, "", 1); // a final zero byte
    table->len--;
    json_decref(root);
    if (rc)
        data_bytes_release(table);
    return rc;
}

/* The ways to name a sample, in the order of the search: its name in the set,
 * that up to the first dot, and both without folders. */
enum way { NAME, STEM, FILE_NAME, FILE_STEM, WAYS };

/* Samples by their names of one way. */
struct table_names {
    struct lexicon lexicon;
    int64_t *sample; /* [lexicon.n]; UNCLEAR: several have this name */
    size_t room;
};

/* A row that names a sample; its caption points into the text of the table. */
struct row {
    size_t sample, line;
    char *caption;
    size_t len;
};

struct table {
    struct layout_parts *parts;
    char *text;
    size_t len;
    struct table_names names[WAYS];
    struct row *row; /* [n] */
    size_t n, room;
};

static void
fill_names(struct table_names *names, const struct layout_parts *parts,
           enum way way)
{
    for (size_t i = 0; i < parts->samples; i++) {
        const size_t before = names->lexicon.n;
        const char *name = parts->text + parts->sample[i].name;
        const char *file = name + data_kind_folders(name);
        const char *start = way < FILE_NAME ? name : file;
        const char *end =
            file + (way == NAME || way == FILE_NAME ? strlen(file)
                                                    : strcspn(file, "."));
        const size_t number =
            text_lexicon_add(&names->lexicon, start, (size_t)(end - start));

        mem_grow(&names->sample, &names->room, names->lexicon.n,
                 sizeof *names->sample);
        names->sample[number] = number == before ? (int64_t)i : UNCLEAR;
    }
}

/* Returns the sample of a name in a table, LEXICON_NONE or UNCLEAR. */
static int64_t
find_sample(struct table *table, const char *cell, size_t len)
{
    struct table_names *names = table->names;

    while (len > 2 && !memcmp(cell, "./", 2)) {
        cell += 2;
        len -= 2;
    }
    for (enum way way = NAME; way < WAYS; way++) {
        int64_t number;

        if (!names[way].lexicon.n)
            fill_names(&names[way], table->parts, way);
        number = text_lexicon_find(&names[way].lexicon, cell, len);
        if (number >= 0)
            return names[way].sample[number];
    }
    return LEXICON_NONE;
}

/* Returns 1 if a cell of the record names a sample, or an image file. */
static int
names_sample(void *of, const struct data_cells *cells)
{
    for (size_t i = 0; i < cells->n; i++)
        if (data_kind_of(cells->cell[i].text) == DATA_KIND_IMAGE ||
            find_sample(of, cells->cell[i].text, cells->cell[i].len) !=
                LEXICON_NONE)
            return 1;
    return 0;
}

/* Replaces the escapes \n, \t and \\ in place; returns the new length. */
static size_t
unescape_text(char *text, size_t len)
{
    size_t to = 0;

    for (size_t i = 0; i < len; i++) {
        const char next = i + 1 < len ? text[i + 1] : 0;

        if (text[i] != '\\' || (next != 'n' && next != 't' && next != '\\')) {
            text[to++] = text[i];
            continue;
        }
        text[to++] = next == 'n' ? '\n' : next == 't' ? '\t' : '\\';
        i++;
    }
    return to;
}

static void
count_line(size_t *n, size_t *first, size_t line)
{
    if (!(*n)++)
        *first = line;
}

static void
read_row(struct table *table, const struct data_rows *row,
         struct data_index_rows *rows)
{
    const struct data_cells *cells = &row->cells;
    const struct data_cell name =
        data_cells_get(cells, row->at[DATA_COLUMN_NAME]);
    const struct data_cell caption =
        data_cells_get(cells, row->at[DATA_COLUMN_CAPTION]);
    int64_t sample;

    if (!name.text || !caption.len) {
        count_line(&rows->empty, &rows->empty_line, cells->line);
        return;
    }
    sample = find_sample(table, name.text, name.len);
    if (sample == LEXICON_NONE) {
        count_line(&rows->unknown, &rows->unknown_line, cells->line);
    } else if (sample == UNCLEAR) {
        count_line(&rows->unclear, &rows->unclear_line, cells->line);
    } else {
        mem_grow(&table->row, &table->room, table->n + 1, sizeof *table->row);
        table->row[table->n++] = (struct row){(size_t)sample, cells->line,
                                              caption.text, caption.len};
    }
}

static int
by_sample(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->sample != y->sample)
        return x->sample < y->sample ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Assigns to each sample the captions of its rows. */
static void
assign_captions(struct table *table, struct data_index_captions *notes)
{
    struct layout_parts *parts = table->parts;
    struct data_bytes lines = {0};

    if (table->n)
        qsort(table->row, table->n, sizeof *table->row, by_sample);
    for (size_t i = 0; i < table->n; i++) {
        struct row *row = &table->row[i];

        row->len = unescape_text(row->caption, row->len);
        data_captions_text(row->caption, row->len, &lines, notes);
        if (i + 1 < table->n && row[1].sample == row->sample)
            continue;
        parts->sample[row->sample].caption =
            data_layout_text(parts, (char *)lines.data, lines.len);
        lines.len = 0;
    }
    data_bytes_release(&lines);
}

/* Reads the file; JSON is converted to a table. */
static int
read_text(struct table *table, const char *path, struct err *err)
{
    struct data_bytes rows;
    int rc;

    table->text = file_read(path, MAX_TABLE, &table->len, err);
    if (!table->text || table->text[strspn(table->text, " \t\r\n")] != '{')
        return table->text ? 0 : -1;
    rc = read_json(path, table->text, table->len, &rows, err);
    free(table->text);
    table->text = rc ? NULL : (char *)rows.data;
    table->len = rc ? 0 : rows.len;
    return rc;
}

int
data_table_read(struct layout_parts *parts, const char *path,
                const struct data_columns *columns,
                struct data_index_captions *captions, struct data_notes *notes,
                struct data_index_rows *rows, struct err *err)
{
    struct table table = {.parts = parts};
    struct data_rows row = {.columns = columns,
                            .notes = notes,
                            .key = DATA_COLUMN_CAPTION,
                            .what = "sample",
                            .names = names_sample,
                            .of = &table,
                            .at = {0, SIZE_MAX, 1}};
    int rc;

    *rows = (struct data_index_rows){0};
    if (columns->called[DATA_COLUMN_LABEL])
        return err_set(err, "a table of captions has no column of labels");
    if (read_text(&table, path, err))
        return -1;
    data_cells_init(&row.cells, path, table.text, table.len);
    while ((rc = data_rows_next(&row, err)) > 0)
        read_row(&table, &row, rows);
    rows->used = table.n;
    if (!rc && !table.n)
        rc = err_set(err,
                     "no line of '%s' names a sample and has a caption: want "
                     "name<tab>caption, a name such as '%s'",
                     path,
                     parts->samples ? parts->text + parts->sample->name
                                    : "a/1.jpg");
    if (!rc)
        assign_captions(&table, captions);
    for (enum way way = NAME; way < WAYS; way++) {
        text_lexicon_release(&table.names[way].lexicon);
        free(table.names[way].sample);
    }
    data_cells_release(&row.cells);
    mem_free(table.row, table.text);
    return rc;
}
