#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/store.h"
#include "util/mem.h"

void
sample_store_init(struct sample_store *store)
{
    *store = (struct sample_store){.n = 0};
}

void
sample_store_release(struct sample_store *store)
{
    for (size_t i = 0; i < store->n; i++)
        free(store->table[i].bytes);
    *store = (struct sample_store){.most = store->most};
}

const struct sample_table *
sample_store_find(const struct sample_store *store, const char *name)
{
    for (size_t i = 0; i < store->n; i++)
        if (!strcmp(store->table[i].name, name))
            return &store->table[i];
    return NULL;
}

static int
check_table_name(size_t i, const struct table_rows *rows, struct err *err)
{
    const size_t length = strlen(rows[i].name);

    if (!length || length >= TABLE_NAME_MAX)
        return err_set(err, "a table's name has %zu bytes, want 1 .. %d",
                       length, TABLE_NAME_MAX - 1);
    for (size_t k = 0; k < i; k++)
        if (!strcmp(rows[i].name, rows[k].name))
            return err_set(err, "table '%s' is there twice", rows[i].name);
    return 0;
}

/* Refuses a table that does not fit the stored one. */
static int
check_table(const struct sample_table *old, const struct table_rows *to,
            struct err *err)
{
    if (strcmp(old->name, to->name))
        return err_set(err, "table '%s' where '%s' was before", to->name,
                       old->name);
    if (old->width != to->width || old->rows > to->rows)
        return err_set(err,
                       "table '%s' is %zu x %zu bytes, and was %zu x %zu "
                       "before: it may only get more rows",
                       old->name, to->rows, to->width, old->rows, old->width);
    return 0;
}

int
sample_store_check(const struct sample_store *store, size_t n,
                   const struct table_rows *rows, struct err *err)
{
    const size_t most = store->most ? store->most : SAMPLE_STORE_MOST;
    size_t left = most;

    if (n && store->n && n != store->n)
        return err_set(err, "%zu tables, and %zu before", n, store->n);
    if (n > TABLES_MAX)
        return err_set(err, "%zu tables, at most %d", n, TABLES_MAX);
    for (size_t i = 0; i < n; i++) {
        const struct table_rows *to = &rows[i];

        if (check_table_name(i, rows, err) ||
            (store->n && check_table(&store->table[i], to, err)))
            return -1;
        if (!to->rows || !to->width || to->width > TABLE_WIDTH_MAX ||
            to->rows > left / to->width)
            return err_set(err,
                           "table '%s' of %zu x %zu bytes: at most %zu GiB in "
                           "all tables are allowed (--max-state), and rows of "
                           "1 .. %d bytes",
                           to->name, to->rows, to->width, most >> 30,
                           TABLE_WIDTH_MAX);
        left -= to->rows * to->width;
    }
    return 0;
}

/* Grows a table to `rows` rows; new rows are zeros. */
static void
extend_table(struct sample_table *table, size_t rows)
{
    const size_t was = table->rows * table->width, is = rows * table->width;

    if (!table->bytes) {
        table->bytes = mem_array(is, 1);
        table->room = is;
    } else if (is > was) {
        mem_grow(&table->bytes, &table->room, is, 1);
        memset(table->bytes + was, 0, is - was);
    }
    table->rows = rows;
}

void
sample_store_write(struct sample_store *store, const char *sampler, size_t n,
                   const struct table_rows *rows)
{
    if (!store->n && n) {
        snprintf(store->sampler, sizeof store->sampler, "%s", sampler);
        for (size_t i = 0; i < n; i++) {
            struct sample_table *table = &store->table[store->n++];

            *table = (struct sample_table){.width = rows[i].width};
            snprintf(table->name, sizeof table->name, "%s", rows[i].name);
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct sample_table *table = &store->table[i];
        const size_t width = table->width;

        extend_table(table, rows[i].rows);
        for (size_t k = 0; k < rows[i].n; k++) {
            const size_t at =
                rows[i].at ? (size_t)rows[i].at[k] : rows[i].from + k;

            REQUIRE(at < table->rows);
            memcpy(table->bytes + at * width, rows[i].row + k * width, width);
        }
    }
}

void
sample_store_piece(const struct sample_store *store,
                   const struct sample_piece *piece,
                   struct table_rows rows[TABLES_MAX])
{
    for (size_t i = 0; i < store->n; i++) {
        const struct sample_table *table = &store->table[i];

        rows[i] = (struct table_rows){
            .name = table->name, .rows = table->rows, .width = table->width};
        if (i != piece->table)
            continue;
        rows[i].n = piece->n;
        rows[i].from = piece->from;
        rows[i].row = table->bytes + piece->from * table->width;
    }
}

int
sample_store_next(const struct sample_store *store, struct sample_piece *piece)
{
    const struct sample_table *table;
    size_t most;

    if (!store->n) {
        piece->begun = 1;
        return 0;
    }
    piece->from += piece->n;
    if (piece->begun && piece->from == store->table[piece->table].rows) {
        piece->table++;
        piece->from = 0;
    }
    REQUIRE(piece->table < store->n);
    piece->begun = 1;
    table = &store->table[piece->table];
    most = TABLE_PIECE_MAX / table->width;
    piece->n = table->rows - piece->from;
    piece->n = piece->n < most ? piece->n : most;
    return piece->table + 1 < store->n || piece->from + piece->n < table->rows;
}
