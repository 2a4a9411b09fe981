#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"

#include "layout.h"

/* Most steps of a run: sums of steps cannot overflow. */
static const int64_t total_max = (int64_t)1 << 48;

enum { VIEWS_MAX = 65535, DIM_MAX = 65536 };

static int
load_chains(struct sample_memory *memory, const struct sample_table *table,
            struct err *err)
{
    const size_t size = memory->form.size, views = table->rows / size;
    const int scores = memory->form.scores;
    struct sample_chain_row row;

    if (table->rows % size || views > VIEWS_MAX)
        return err_set(err,
                       "table '%s' has %zu rows, want one for each view of "
                       "%zu samples",
                       table->name, table->rows, size);
    sample_chains_init(&memory->chains, size, views);
    for (size_t i = 0; i < table->rows; i++) {
        memcpy(&row, table->bytes + i * sizeof row, sizeof row);
        // any number below -1 is refused
        if (sample_chains_set(
                &memory->chains, i,
                (struct sample_state){row.id_1 < 0 ? -2 : row.id_1 - 1,
                                      row.view_1 < 0 ? -2 : row.view_1 - 1,
                                      scores ? 0 : row.epoch},
                row.id_1 && scores ? row.score : -FLT_MAX, err))
            return -1;
    }
    return 0;
}

static int
by_step(const void *a, const void *b)
{
    const struct sample_update *x = a, *y = b;

    if (x->when != y->when)
        return x->when < y->when ? -1 : 1;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->slot > y->slot) - (x->slot < y->slot);
}

static const float *
numbers_of(const struct sample_table *table, size_t slot)
{
    const void *row = table->bytes + slot * table->width;

    return (const float *)((const struct sample_update_row *)row + 1);
}

/* Reads the update in a slot: returns 1, 0 if none was written, or -1. */
static int
find_update(const struct sample_memory *memory,
            const struct sample_table *table, size_t slot, int32_t *views,
            struct sample_update *found, struct err *err)
{
    const size_t dim =
        (table->width - sizeof(struct sample_update_row)) / sizeof(float);
    struct sample_update_row row;

    memcpy(&row, table->bytes + slot * table->width, sizeof row);
    if (!row.step_1)
        return 0;
    *views = *views ? *views : row.views;
    if (row.step_1 < 0 || row.step_1 > memory->total)
        return err_set(err, "row %zu of '%s' is of none of %" PRId64 " steps",
                       slot, table->name, memory->total);
    if (row.id < 0 || (uint64_t)row.id >= memory->form.size || row.view < 0 ||
        (row.views != 1 && row.view >= row.views) || row.views != *views ||
        row.views > VIEWS_MAX)
        return err_set(err,
                       "row %zu of '%s' is of sample %" PRId64 ", view %" PRId32
                       " of %" PRId32,
                       slot, table->name, row.id, row.view, row.views);
    if (!num_finite(dim, numbers_of(table, slot)))
        return err_set(err, "a number in row %zu of '%s' is not finite", slot,
                       table->name);
    *found = (struct sample_update){
        row.step_1 - 1,
        row.views == 1 ? row.id : row.id * row.views + row.view,
        (int64_t)slot,
        {0, 0}};
    if (row.views == 1)
        found->view = (struct sample_row_view){row.view % SAMPLE_ROW_VIEWS,
                                               row.view / SAMPLE_ROW_VIEWS};
    return 1;
}

/* Reads all updates of a table, sorted by step; *n is their number. */
static int
find_all(const struct sample_memory *memory, const struct sample_table *table,
         struct sample_update *found, size_t *n, int32_t *views,
         struct err *err)
{
    *n = 0;
    *views = 0;
    for (size_t slot = 0; slot < table->rows; slot++) {
        const int rc = find_update(memory, table, slot, views, &found[*n], err);

        if (rc < 0)
            return -1;
        *n += (size_t)rc;
    }
    if (!*n)
        return err_set(err, "table '%s' has no row that was written",
                       table->name);
    qsort(found, *n, sizeof *found, by_step);
    return 0;
}

static int
load_bank(struct sample_memory *memory, const struct sample_table *table,
          struct err *err)
{
    const size_t head = sizeof(struct sample_update_row),
                 size = memory->form.size;
    const size_t dim = (table->width - head) / sizeof(float);
    const int64_t due = memory->total - (int64_t)memory->form.horizon;
    struct sample_bank *bank = &memory->bank;
    struct sample_update *found;
    int32_t views;
    size_t n;
    int rc;

    if (table->width <= head || (table->width - head) % sizeof(float) ||
        dim > DIM_MAX)
        return err_set(err, "table '%s' has rows of %zu bytes", table->name,
                       table->width);
    found = mem_array(table->rows, sizeof *found);
    rc = find_all(memory, table, found, &n, &views, err);
    if (!rc && size * (size_t)views > memory->form.most / table->width)
        rc = err_set(err,
                     "a bank of %zu samples in %" PRId32 " views is more "
                     "than %zu GiB: --max-state",
                     size, views, memory->form.most >> 30);
    if (!rc)
        sample_bank_init(bank, size, (size_t)views, dim);
    for (size_t i = 0; i < n && !rc; i++) {
        sample_bank_restore(bank, found[i],
                            numbers_of(table, (size_t)found[i].slot));
        if (found[i].when <= due)
            sample_bank_advance(bank, due);
    }
    if (!rc)
        sample_bank_reserve(bank, table->rows, 0);
    free(found);
    return rc;
}

static int
load_betas(struct sample_memory *memory, const struct sample_table *table,
           struct err *err)
{
    if (table->rows != memory->form.horizon)
        return err_set(err,
                       "table '%s' has %zu rows where the bank is %zu steps "
                       "behind: start the sampler with the horizon that it "
                       "had",
                       table->name, table->rows, memory->form.horizon);
    memcpy(memory->beta, table->bytes, table->rows * sizeof *memory->beta);
    for (size_t i = 0; i < table->rows; i++) {
        const struct sample_beta_row row = memory->beta[i];

        if (row.step_1 < 0 || row.step_1 > memory->total ||
            !(row.beta >= 0 && row.beta <= 1e9))
            return err_set(
                err, "row %zu of '%s' is no beta of one of %" PRId64 " steps",
                i, table->name, memory->total);
    }
    return 0;
}

/* Finds each table of this form; refuses a store that has others. */
static int
find_tables(const struct sample_memory_form *form,
            const struct sample_store *store, int64_t total,
            const struct sample_table *table[SAMPLE_MEMORY_TABLES],
            struct err *err)
{
    const size_t widths[] = {sizeof(struct sample_chain_row), 0,
                             sizeof(struct sample_beta_row)};
    size_t n = 0;

    for (size_t i = 0; i < SAMPLE_MEMORY_TABLES; i++) {
        const char *name = sample_table_names[i];

        table[i] = NULL;
        if (!sample_has_table(form, i))
            continue;
        n++;
        table[i] = sample_store_find(store, name);
        if (!table[i])
            return err_set(err,
                           "the state of %" PRId64 " steps has no table '%s': "
                           "hand back all tables, or say 'fresh' if no step "
                           "was made",
                           total, name);
        if (widths[i] && table[i]->width != widths[i])
            return err_set(err, "table '%s' has rows of %zu bytes, want %zu",
                           name, table[i]->width, widths[i]);
    }
    return n == store->n ? 0
                         : err_set(err, "the state has %zu tables, want %zu",
                                   store->n, n);
}

int
sample_memory_load(struct sample_memory *memory,
                   const struct sample_store *store, int64_t total,
                   struct err *err)
{
    const struct sample_table *table[SAMPLE_MEMORY_TABLES];
    struct sample_memory loaded;
    int rc = 0;

    if (total < 0 || total > total_max)
        return err_set(err, "a state of %" PRId64 " steps", total);
    if (find_tables(&memory->form, store, total, table, err))
        return -1;
    sample_memory_init(&loaded, &memory->form, total);
    if (table[SAMPLE_CHAIN])
        rc = load_chains(&loaded, table[SAMPLE_CHAIN], err);
    if (!rc && table[SAMPLE_BANK])
        rc = load_bank(&loaded, table[SAMPLE_BANK], err);
    if (!rc && table[SAMPLE_BETA])
        rc = load_betas(&loaded, table[SAMPLE_BETA], err);
    if (rc) {
        sample_memory_release(&loaded);
        return -1;
    }
    sample_memory_release(memory);
    *memory = loaded;
    return 0;
}
