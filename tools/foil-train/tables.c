#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "train.h"
#include "util/file.h"
#include "util/mem.h"

/*
 * In a checkpoint a table is three tensors: NAME, NAME.known, NAME.about; the
 * running one is called "running", those of past epochs "past.0" ...
 */
enum { VIEWS = 2, PARTS = 3 };

static const char file_name[] = "features.safetensors";

static void
table_init(struct train_table *table, const struct train_tables *of)
{
    *table = (struct train_table){.about = {-1}};
    table->row = mem_array(VIEWS * of->size * of->dim, sizeof *table->row);
    table->known = mem_array(of->size, 1);
}

static void
table_release(struct train_table *table)
{
    free(table->row);
    free(table->known);
}

void
train_tables_init(struct train_tables *tables, size_t size, size_t dim,
                  size_t keep)
{
    *tables = (struct train_tables){.size = size, .dim = dim, .keep = keep};
    table_init(&tables->now, tables);
    tables->past = mem_array(keep, sizeof *tables->past);
    for (size_t i = 0; i < keep; i++)
        table_init(&tables->past[i], tables);
}

void
train_tables_release(struct train_tables *tables)
{
    table_release(&tables->now);
    for (size_t i = 0; i < tables->keep; i++)
        table_release(&tables->past[i]);
    free(tables->past);
    *tables = (struct train_tables){0};
}

void
train_tables_put(struct train_tables *tables, const struct wire_batch *b,
                 const float *v)
{
    const size_t d = tables->dim;

    for (size_t i = 0; i < b->n; i++) {
        const size_t id = (size_t)b->ids[i];

        for (size_t k = 0; k < VIEWS; k++)
            memcpy(tables->now.row + (k * tables->size + id) * d,
                   v + (k * b->n + i) * d, d * sizeof *v);
        tables->now.known[id] = 1;
    }
    tables->now.about[TRAIN_TABLE_EVAL] = b->look;
}

void
train_tables_turn(struct train_tables *tables, const struct wire_batch *b)
{
    struct train_table *to = &tables->past[(size_t)b->at.epoch % tables->keep];

    memcpy(to->row, tables->now.row,
           VIEWS * tables->size * tables->dim * sizeof *to->row);
    memcpy(to->known, tables->now.known, tables->size);
    to->about[TRAIN_TABLE_EPOCH] = b->at.epoch;
    to->about[TRAIN_TABLE_STEPS] = b->steps;
    to->about[TRAIN_TABLE_EVAL] = tables->now.about[TRAIN_TABLE_EVAL];
}

const struct train_table *
train_tables_find(const struct train_tables *tables, int64_t epoch)
{
    const struct train_table *table =
        &tables->past[(size_t)epoch % tables->keep];

    return table->about[TRAIN_TABLE_EPOCH] == epoch ? table : NULL;
}

size_t
train_tables_cut(const struct train_tables *tables,
                 const struct train_table *table, size_t from, size_t most,
                 int64_t *ids, float *z, size_t *n)
{
    const size_t d = tables->dim;
    size_t id = from;

    for (*n = 0; id < tables->size && *n < most; id++)
        if (table->known[id])
            ids[(*n)++] = (int64_t)id;
    while (id < tables->size && !table->known[id])
        id++; // the next piece is not to be empty
    for (size_t i = 0; i < VIEWS * *n; i++)
        memcpy(z + i * d,
               table->row + (i / *n * tables->size + (size_t)ids[i % *n]) * d,
               d * sizeof *z);
    return id;
}

/* ------------------------------------------------------------ checkpoints */

/* The tensors of a table, whose memory is lent: only names are to be freed. */
static void
lend(struct nn_array *a, const char *name, const struct train_tables *of,
     struct train_table *table)
{
    const size_t n = VIEWS * of->size * of->dim;

    a[0] = (struct nn_array){.name = mem_text(name),
                             .dtype = "F32",
                             .rank = 3,
                             .shape = {VIEWS, of->size, of->dim},
                             .count = n,
                             .bytes = n * sizeof *table->row,
                             .data = table->row};
    a[1] = (struct nn_array){.name = mem_format("%s.known", name),
                             .dtype = "U8",
                             .rank = 1,
                             .shape = {of->size},
                             .count = of->size,
                             .bytes = of->size,
                             .data = table->known};
    a[2] = (struct nn_array){.name = mem_format("%s.about", name),
                             .dtype = "I64",
                             .rank = 1,
                             .shape = {TRAIN_TABLE_ABOUT},
                             .count = TRAIN_TABLE_ABOUT,
                             .bytes = sizeof table->about,
                             .data = table->about};
}

/* The table of that number, "running" being the last, and what it is called;
 * the name is to be freed. */
static struct train_table *
numbered(struct train_tables *tables, size_t i, char **name)
{
    *name = i < tables->keep ? mem_format("past.%zu", i) : mem_text("running");
    return i < tables->keep ? &tables->past[i] : &tables->now;
}

int
train_tables_save(struct train_tables *tables, const char *folder,
                  struct err *err)
{
    const size_t n = PARTS * (tables->keep + 1);
    struct nn_array *array = mem_array(n, sizeof *array);
    char *path = mem_format("%s/%s", folder, file_name);
    int rc;

    for (size_t i = 0; i <= tables->keep; i++) {
        char *name;
        struct train_table *table = numbered(tables, i, &name);

        lend(array + PARTS * i, name, tables, table);
        free(name);
    }
    rc = nn_arrays_write(path, array, n, NULL, err);
    for (size_t i = 0; i < n; i++)
        free(array[i].name);
    free(array);
    free(path);
    return rc;
}

/* 1 when the three tensors of that name are there and fit; then in a[]. */
static int
find(const struct nn_array *array, size_t n, const char *name,
     const struct train_tables *of, const struct nn_array *a[PARTS])
{
    static const char *const suffix[PARTS] = {"", ".known", ".about"};
    struct train_table none = {0};
    struct nn_array want[PARTS];
    int fits = 1;

    lend(want, name, of, &none);
    for (int k = 0; k < PARTS; k++) {
        char *full = mem_format("%s%s", name, suffix[k]);

        a[k] = nn_arrays_find(array, n, full);
        fits &= a[k] && a[k]->bytes == want[k].bytes &&
                a[k]->rank == want[k].rank &&
                !strcmp(a[k]->dtype, want[k].dtype) &&
                !memcmp(a[k]->shape, want[k].shape, sizeof want[k].shape);
        free(full);
        free(want[k].name);
    }
    return fits;
}

static void
copy(struct train_table *table, const struct nn_array *a[PARTS])
{
    memcpy(table->row, a[0]->data, a[0]->bytes);
    memcpy(table->known, a[1]->data, a[1]->bytes);
    memcpy(table->about, a[2]->data, a[2]->bytes);
}

/* Each table of the file to its place: there may be more or less of them. */
static int
take(struct train_tables *tables, const struct nn_array *array, size_t n)
{
    const struct nn_array *a[PARTS];

    if (!find(array, n, "running", tables, a))
        return -1;
    copy(&tables->now, a);
    for (size_t i = 0; PARTS * (i + 1) < n; i++) {
        char *name = mem_format("past.%zu", i);
        const int fits = find(array, n, name, tables, a);
        struct train_table *to;
        int64_t epoch;

        free(name);
        if (!fits)
            return -1;
        epoch = ((const int64_t *)a[2]->data)[TRAIN_TABLE_EPOCH];
        if (epoch < 0)
            continue;
        to = &tables->past[(size_t)epoch % tables->keep];
        if (to->about[TRAIN_TABLE_EPOCH] < epoch)
            copy(to, a);
    }
    return 0;
}

int
train_tables_load(struct train_tables *tables, const char *folder,
                  struct err *err)
{
    char *path = mem_format("%s/%s", folder, file_name);
    struct nn_array *array;
    size_t n;
    int rc = 0;

    if (file_exists(path)) {
        rc = nn_arrays_read(path, &array, &n, NULL, err);
        if (!rc) {
            rc = take(tables, array, n)
                     ? err_set(err, "'%s' is of another data set or encoder",
                               path)
                     : 0;
            nn_arrays_free(array, n);
        }
    }
    free(path);
    return rc;
}
