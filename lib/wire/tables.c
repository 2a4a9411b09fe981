#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "codec_impl.h"

static const char *
tensor_name(char to[WIRE_NAME_MAX], const struct table_rows *table,
            const char *what)
{
    snprintf(to, WIRE_NAME_MAX, "%.59s.%s", table->name, what);
    return to;
}

void
wire_tables_put(struct wire_writer *w, const char *key, size_t n,
                const struct table_rows *table)
{
    char name[WIRE_NAME_MAX];

    wire_write_key(w, key);
    msgpack_pack_array(&w->packer, n);
    for (size_t i = 0; i < n; i++) {
        msgpack_pack_array(&w->packer, 3);
        wire_write_text(w, table[i].name);
        msgpack_pack_uint64(&w->packer, table[i].rows);
        msgpack_pack_uint64(&w->packer, table[i].width);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t shape[] = {table[i].n, table[i].width};

        if (!table[i].n)
            continue;
        if (table[i].at)
            wire_write_tensor(w, tensor_name(name, &table[i], "at"), DTYPE_I8,
                              table[i].at, 1, shape);
        wire_write_tensor(w, tensor_name(name, &table[i], "row"), DTYPE_U1,
                          table[i].row, 2, shape);
    }
}

/* [name, rows, width]; the name goes into `room`. */
static void
get_entry(struct wire_reader *r, const char *key, size_t i,
          const msgpack_object *o, struct table_rows *table,
          char room[TABLE_NAME_MAX])
{
    const msgpack_object_array *entry = &o->via.array;
    const msgpack_object_str *name;
    int64_t rows, width;

    if (o->type != MSGPACK_OBJECT_ARRAY || entry->size != 3 ||
        entry->ptr[0].type != MSGPACK_OBJECT_STR ||
        wire_object_whole(&entry->ptr[1], 1, WIRE_SIZE_MAX, &rows) ||
        wire_object_whole(&entry->ptr[2], 1, TABLE_WIDTH_MAX, &width)) {
        wire_read_fail(r, "entry %zu of '%s' is not a table", i, key);
        return;
    }
    name = &entry->ptr[0].via.str;
    if (!name->size || name->size >= TABLE_NAME_MAX ||
        memchr(name->ptr, 0, name->size)) {
        wire_read_fail(r, "entry %zu of '%s': a name has 1 .. %d bytes", i, key,
                       TABLE_NAME_MAX - 1);
        return;
    }
    table->name = memcpy(room, name->ptr, name->size);
    table->rows = (size_t)rows;
    table->width = (size_t)width;
}

/* The rows of a table that are in the message. */
static void
get_rows(struct wire_reader *r, struct table_rows *table)
{
    char name[WIRE_NAME_MAX];
    const struct wire_tensor *row =
        wire_msg_find(r->msg, tensor_name(name, table, "row"));

    if (!row)
        return;
    if (row->dtype != DTYPE_U1 || row->rank != 2 || !row->count ||
        row->shape[1] != table->width)
        wire_read_fail(r, "tensor '%s' is not u1 [k,%zu]", name, table->width);
    table->n = row->shape[0];
    table->row = row->data;
}

/* The indices of these rows in the table. */
static void
get_places(struct wire_reader *r, struct table_rows *table)
{
    char name[WIRE_NAME_MAX];
    const struct wire_tensor *at =
        wire_msg_find(r->msg, tensor_name(name, table, "at"));

    if (!at && !table->n)
        return;
    if (!at || at->dtype != DTYPE_I8 || at->rank != 1 ||
        at->count != table->n) {
        wire_read_fail(r, "tensor '%s' is not i8 [%zu], an index for each row",
                       name, table->n);
        return;
    }
    table->at = at->data;
    for (size_t i = 0; i < table->n; i++)
        if (table->at[i] < 0 || (uint64_t)table->at[i] >= table->rows)
            wire_read_fail(r, "'%s' has %jd, want 0 .. %zu", name,
                           (intmax_t)table->at[i], table->rows - 1);
}

struct table_rows *
wire_tables_get(struct wire_reader *r, const char *key, int placed, size_t *n)
{
    const msgpack_object *o = wire_read_need(r, key);
    struct table_rows *table;
    char(*names)[TABLE_NAME_MAX]; // behind the tables

    *n = 0;
    if (o &&
        (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size > TABLES_MAX))
        wire_read_fail(r, "'%s' is not a list of at most %d tables", key,
                       TABLES_MAX);
    if (r->rc || !o->via.array.size)
        return NULL;
    table = mem_array(o->via.array.size, sizeof *table + sizeof *names);
    names = (void *)(table + o->via.array.size);
    for (; *n < o->via.array.size && !r->rc; ++*n) {
        get_entry(r, key, *n, &o->via.array.ptr[*n], &table[*n], names[*n]);
        for (size_t k = 0; k < *n && !r->rc; k++)
            if (!strcmp(table[k].name, table[*n].name))
                wire_read_fail(r, "table '%s' is there twice", table[k].name);
        if (!r->rc)
            get_rows(r, &table[*n]);
        if (!r->rc && placed)
            get_places(r, &table[*n]);
    }
    if (!r->rc)
        return table;
    free(table);
    *n = 0;
    return NULL;
}
