#include "export.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/mem.h"

enum {
    FLOATS_MOST = 1 << 24, // of a group of rows, if it has more than one
    ROWS_MOST = 1 << 16,
    COLUMNS_MOST = 5
};

/* Thrift's compact protocol, as far as it is used. */
enum thrift {
    THRIFT_INT32 = 5,
    THRIFT_INT64,
    THRIFT_TEXT = 8,
    THRIFT_LIST,
    THRIFT_STRUCT = 12
};

static void
put_compact(FILE *to, uint64_t number)
{
    for (; number > 127; number >>= 7)
        putc((int)(number & 127) | 128, to);
    putc((int)number, to);
}

/* Begins a field of a struct; its number is that of the previous one plus
 * `step`. */
static void
put_field(FILE *to, int step, enum thrift type)
{
    putc(step << 4 | (int)type, to);
}

static void
put_whole(FILE *to, int step, enum thrift type, uint64_t number)
{
    put_field(to, step, type);
    put_compact(to, number << 1); // zigzag
}

static void
put_letters(FILE *to, const char *text)
{
    put_compact(to, strlen(text));
    fputs(text, to);
}

static void
put_string(FILE *to, int step, const char *text)
{
    put_field(to, step, THRIFT_TEXT);
    put_letters(to, text);
}

static void
put_array(FILE *to, int step, enum thrift type, size_t n)
{
    put_field(to, step, THRIFT_LIST);
    putc((n < 15 ? (int)n : 15) << 4 | (int)type, to);
    if (n >= 15)
        put_compact(to, n);
}

static void
end_struct(FILE *to)
{
    putc(0, to);
}

enum type { TYPE_INT64 = 2, TYPE_FLOAT = 4, TYPE_TEXT = 6 };
enum { REQUIRED = 0, REPEATED = 2, UTF8 = 0, LIST = 3, PLAIN = 0, RLE = 3 };

struct column {
    const char *name;
    enum type type;
    const int64_t *whole; /* [n] of INT64; NULL: 0, 1, ... */
};

static void
put_names(FILE *to, const struct data_features *f, size_t from, size_t n)
{
    for (size_t i = from; i < from + n; i++) {
        const char *name =
            f->labels && f->labels[i] >= 0 ? f->classes.name[f->labels[i]] : "";
        const uint32_t len = (uint32_t)strlen(name);

        fwrite(&len, sizeof len, 1, to);
        fwrite(name, 1, len, to);
    }
}

/* Writes `count` equal levels. */
static void
put_run(FILE *to, size_t count, int level)
{
    if (!count)
        return;
    put_compact(to, count << 1);
    putc(level, to);
}

static void
put_levels(FILE *to, const char *runs, size_t len)
{
    fwrite(&(uint32_t){(uint32_t)len}, 4, 1, to);
    fwrite(runs, 1, len, to);
}

/* Writes lists: a value begins a list (0) or continues it (1), and is present
 * (1). */
static void
put_lists(FILE *to, const struct data_features *f, size_t from, size_t n)
{
    char *bytes = NULL;
    size_t len = 0, begun;
    FILE *runs = open_memstream(&bytes, &len);

    REQUIRE(runs);
    for (size_t i = 0; i < n; i++) {
        put_run(runs, 1, 0);
        put_run(runs, f->d - 1, 1);
    }
    REQUIRE(!fflush(runs));
    begun = len;
    put_run(runs, n * f->d, 1);
    REQUIRE(!fclose(runs));
    put_levels(to, bytes, begun);
    put_levels(to, bytes + begun, len - begun);
    fwrite(f->x + from * f->d, sizeof *f->x, n * f->d, to);
    free(bytes);
}

/* Position of the values of a column of a group of rows. */
struct chunk {
    uint64_t at, bytes, values;
};

struct parquet {
    FILE *file;
    uint64_t at; // bytes written
    const struct data_features *f;
    struct column column[COLUMNS_MOST];
    size_t columns, groups, rows; // rows of each group except the last
    struct chunk *chunk;          // [groups,columns]
};

static size_t
count_rows(const struct parquet *p, size_t group)
{
    const size_t left = p->f->n - group * p->rows;

    return left < p->rows ? left : p->rows;
}

static void
write_bytes(struct parquet *p, FILE *stream, char **bytes, const size_t *len)
{
    REQUIRE(!fclose(stream));
    fwrite(*bytes, 1, *len, p->file);
    p->at += *len;
    free(*bytes);
    *bytes = NULL;
}

/* Writes the values of a column of a group, as one page. */
static void
write_chunk(struct parquet *p, size_t group, const struct column *column)
{
    struct chunk *chunk = p->chunk + group * p->columns + (column - p->column);
    const size_t n = count_rows(p, group);
    char *head = NULL, *body = NULL;
    size_t head_len = 0, body_len = 0;
    FILE *values = open_memstream(&body, &body_len);
    FILE *page = open_memstream(&head, &head_len);
    const size_t from = group * p->rows;

    REQUIRE(values && page);
    chunk->at = p->at;
    chunk->values = column->type == TYPE_FLOAT ? n * p->f->d : n;
    // writes the values of n rows of a column
    if (column->type == TYPE_FLOAT)
        put_lists(values, p->f, from, n);
    else if (column->type == TYPE_TEXT)
        put_names(values, p->f, from, n);
    else if (column->whole)
        fwrite(column->whole + from, 8, n, values);
    else
        for (size_t i = from; i < from + n; i++)
            fwrite(&(int64_t){(int64_t)i}, 8, 1, values);
    REQUIRE(!fflush(values));
    put_whole(page, 1, THRIFT_INT32, 0); // a page of data
    put_whole(page, 1, THRIFT_INT32, body_len);
    put_whole(page, 1, THRIFT_INT32, body_len);
    put_field(page, 2, THRIFT_STRUCT);
    put_whole(page, 1, THRIFT_INT32, chunk->values);
    put_whole(page, 1, THRIFT_INT32, PLAIN);
    put_whole(page, 1, THRIFT_INT32, RLE);
    put_whole(page, 1, THRIFT_INT32, RLE);
    end_struct(page);
    end_struct(page);
    write_bytes(p, page, &head, &head_len);
    write_bytes(p, values, &body, &body_len);
    chunk->bytes = p->at - chunk->at;
}

/* Writes an element of the schema; it has no field that is -1 or, for children,
 * 0. */
static void
put_element(FILE *to, const char *name, int type, int repetition, int children,
            int converted)
{
    int step = 1; // from the previous field, of fields 1, 3, 4, 5 and 6

    if (type >= 0)
        put_whole(to, step, THRIFT_INT32, (uint64_t)type);
    step = type >= 0 ? 2 : 3;
    if (repetition >= 0)
        put_whole(to, step, THRIFT_INT32, (uint64_t)repetition);
    put_string(to, repetition >= 0 ? 1 : step + 1, name);
    if (children)
        put_whole(to, 1, THRIFT_INT32, (uint64_t)children);
    if (converted >= 0)
        put_whole(to, children ? 1 : 2, THRIFT_INT32, (uint64_t)converted);
    end_struct(to);
}

static void
put_chunk(FILE *to, const struct column *column, const struct chunk *chunk)
{
    const int list = column->type == TYPE_FLOAT;

    put_whole(to, 2, THRIFT_INT64, chunk->at);
    put_field(to, 1, THRIFT_STRUCT);
    put_whole(to, 1, THRIFT_INT32, column->type);
    put_array(to, 1, THRIFT_INT32, list ? 2 : 1);
    put_compact(to, PLAIN << 1);
    if (list)
        put_compact(to, RLE << 1);
    put_array(to, 1, THRIFT_TEXT, list ? 3 : 1);
    put_letters(to, column->name);
    if (list) {
        put_letters(to, "list");
        put_letters(to, "element");
    }
    put_whole(to, 1, THRIFT_INT32, 0); // not compressed
    put_whole(to, 1, THRIFT_INT64, chunk->values);
    put_whole(to, 1, THRIFT_INT64, chunk->bytes);
    put_whole(to, 1, THRIFT_INT64, chunk->bytes);
    put_whole(to, 2, THRIFT_INT64, chunk->at);
    end_struct(to);
    end_struct(to);
}

static void
put_group(FILE *to, const struct parquet *p, size_t group)
{
    const struct chunk *chunk = p->chunk + group * p->columns;
    uint64_t bytes = 0;

    put_array(to, 1, THRIFT_STRUCT, p->columns);
    for (size_t i = 0; i < p->columns; i++) {
        put_chunk(to, p->column + i, chunk + i);
        bytes += chunk[i].bytes;
    }
    put_whole(to, 1, THRIFT_INT64, bytes);
    put_whole(to, 1, THRIFT_INT64, count_rows(p, group));
    end_struct(to);
}

static void
write_foot(struct parquet *p)
{
    const json_t *about = p->f->about;
    char *bytes = NULL, *text = about ? json_text(about, JSON_COMPACT) : NULL;
    size_t len = 0;
    FILE *to = open_memstream(&bytes, &len);

    REQUIRE(to);
    put_whole(to, 1, THRIFT_INT32, 2);
    put_array(to, 1, THRIFT_STRUCT, p->columns + 3);
    put_element(to, "features", -1, -1, (int)p->columns, -1);
    for (size_t i = 0; i + 1 < p->columns; i++)
        put_element(to, p->column[i].name, p->column[i].type, REQUIRED, 0,
                    p->column[i].type == TYPE_TEXT ? UTF8 : -1);
    put_element(to, "x", -1, REQUIRED, 1, LIST);
    put_element(to, "list", -1, REPEATED, 1, -1);
    put_element(to, "element", TYPE_FLOAT, REQUIRED, 0, -1);
    put_whole(to, 1, THRIFT_INT64, p->f->n);
    put_array(to, 1, THRIFT_STRUCT, p->groups);
    for (size_t i = 0; i < p->groups; i++)
        put_group(to, p, i);
    put_array(to, 1, THRIFT_STRUCT, text ? 1 : 0);
    if (text) {
        put_string(to, 1, "foil");
        put_string(to, 1, text);
        end_struct(to);
    }
    free(text);
    put_string(to, 1, "foil");
    end_struct(to);
    REQUIRE(!fflush(to));
    fwrite(&(uint32_t){(uint32_t)len}, 4, 1, to);
    fputs("PAR1", to);
    write_bytes(p, to, &bytes, &len);
}

int
data_parquet_write(const char *path, const struct data_features *f,
                   struct err *err)
{
    struct file_draft draft = {0};
    struct parquet p = {.f = f};

    if (file_draft_open(&draft, path, err))
        return -1;
    p.file = draft.file;
    p.column[p.columns++] = (struct column){"id", TYPE_INT64, f->ids};
    if (f->labels)
        p.column[p.columns++] = (struct column){"label", TYPE_INT64, f->labels};
    if (f->same)
        p.column[p.columns++] = (struct column){"same", TYPE_INT64, f->same};
    if (f->classes.n)
        p.column[p.columns++] = (struct column){"class", TYPE_TEXT, NULL};
    p.column[p.columns++] = (struct column){"x", TYPE_FLOAT, NULL};
    p.rows = FLOATS_MOST / f->d;
    p.rows = p.rows < 1 ? 1 : p.rows > ROWS_MOST ? ROWS_MOST : p.rows;
    p.groups = (f->n + p.rows - 1) / p.rows;
    p.chunk = mem_array(p.groups * p.columns, sizeof *p.chunk);
    fputs("PAR1", p.file);
    p.at = 4;
    for (size_t i = 0; i < p.groups && !ferror(p.file); i++)
        for (size_t k = 0; k < p.columns; k++)
            write_chunk(&p, i, p.column + k);
    write_foot(&p);
    free(p.chunk);
    return file_draft_keep(&draft, err);
}
