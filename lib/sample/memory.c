#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "sample/memory.h"
#include "util/mem.h"

/* The rows of the tables that store a memory (sample/memory.h).  The embedding
 * of an update follows its row. */
struct chain_row {
    int64_t id_1; /* id + 1; 0: none */
    int32_t view_1;
    union {
        uint32_t epoch;
        float score; /* with form.scores */
    };
};

struct update_row {
    int64_t step_1, id;
    int32_t view, views;
};

/* The tables, in their order. */
enum { SAMPLE_CHAIN, SAMPLE_BANK, SAMPLE_BETA };
static const char *const table_names[SAMPLE_MEMORY_TABLES] = {"chain", "bank",
                                                              "beta"};

/* Whether a memory of this form has that table. */
static int
has_table(const struct sample_memory_form *form, size_t table)
{
    return table == SAMPLE_CHAIN ? form->chains : form->horizon > 0;
}

/* ---- chains -------------------------------------------------------------- */

void
sample_chains_init(struct sample_chains *chains, size_t size, size_t views)
{
    chains->size = size;
    chains->views = views;
    chains->state = mem_array(size * views, sizeof *chains->state);
    chains->score = mem_array(size * views, sizeof *chains->score);
    for (size_t i = 0; i < size * views; i++) {
        chains->state[i] = (struct sample_state){-1, -1, 0};
        chains->score[i] = -FLT_MAX;
    }
}

void
sample_chains_release(struct sample_chains *chains)
{
    mem_free(chains->state, chains->score);
    *chains = (struct sample_chains){0};
}

size_t
sample_chains_index(const struct sample_chains *chains, size_t b,
                    const int64_t *ids, const int64_t *variants, size_t row)
{
    const int64_t id = ids[row % b];
    const int64_t view = variants ? variants[row] : (int64_t)(row / b);

    REQUIRE(id >= 0 && (uint64_t)id < chains->size);
    REQUIRE(view >= 0 && (uint64_t)view < chains->views);
    return (size_t)id * chains->views + (size_t)view;
}

void
sample_chains_get(const struct sample_chains *chains, size_t v, size_t b,
                  const int64_t *ids, const int64_t *variants,
                  struct sample_state *state, float *score)
{
    for (size_t row = 0; row < v * b; row++) {
        const size_t at = sample_chains_index(chains, b, ids, variants, row);

        state[row] = chains->state[at];
        if (score)
            score[row] = chains->score[at];
    }
}

/* 1 if a state exists, or is {-1, -1, 0}. */
static int
is_valid(const struct sample_chains *chains, struct sample_state state)
{
    if (state.id == -1 && state.view == -1)
        return !state.epoch;
    return state.id >= 0 && (uint64_t)state.id < chains->size &&
           state.view >= 0 && (uint64_t)state.view < chains->views &&
           state.epoch >= 0 && state.epoch <= UINT32_MAX;
}

int
sample_chains_set(struct sample_chains *chains, size_t index,
                  struct sample_state state, float score, struct err *err)
{
    const size_t id = index / chains->views, view = index % chains->views;

    if (!is_valid(chains, state))
        return err_set(err,
                       "sample %zu, view %zu has an invalid state: sample "
                       "%" PRId64 ", view %" PRId64 ", epoch %" PRId64,
                       id, view, state.id, state.view, state.epoch);
    if (!isfinite(score))
        return err_set(err, "the chain of sample %zu, view %zu has no score",
                       id, view);
    chains->state[index] = state;
    chains->score[index] = score;
    return 0;
}

/* ---- a memory ------------------------------------------------------------ */

void
sample_memory_init(struct sample_memory *memory,
                   const struct sample_memory_form *form, int64_t total)
{
    *memory = (struct sample_memory){
        .form = *form,
        .total = total,
        .beta = mem_array(form->horizon, sizeof *memory->beta),
    };
}

void
sample_memory_release(struct sample_memory *memory)
{
    sample_chains_release(&memory->chains);
    sample_bank_release(&memory->bank);
    free(memory->beta);
    *memory = (struct sample_memory){0};
}

size_t
sample_memory_views(const struct sample_memory *memory,
                    const struct batch *step)
{
    if ((memory->form.chains || memory->form.views) && step->fixed)
        return (size_t)step->fixed;
    return memory->form.slots ? step->v : 1;
}

/* ---- the rows that a step writes ----------------------------------------- */

/* A growing list of rows of a table. */
struct row_list {
    size_t n, width;
    int64_t *at;
    uint8_t *row;
};

static struct row_list
begin_rows(size_t most, size_t width, struct arena *to)
{
    int64_t *at = arena_take(to, most, sizeof *at + width);

    return (struct row_list){
        .width = width, .at = at, .row = (uint8_t *)(at + most)};
}

/* Appends row `at` with its first n bytes; returns where the others go. */
static uint8_t *
add_row(struct row_list *to, size_t at, size_t n, const void *head)
{
    uint8_t *row = to->row + to->n * to->width;

    to->at[to->n++] = (int64_t)at;
    memcpy(row, head, n);
    return row + n;
}

static struct table_rows
end_rows(const struct row_list *list, size_t rows)
{
    return (struct table_rows){.rows = rows,
                               .width = list->width,
                               .n = list->n,
                               .at = list->at,
                               .row = list->row};
}

/* Stores the states of a step's chains, and lists those that changed. */
static void
write_chains(struct sample_memory *memory, const struct batch *step,
             const struct sample_state *state, const float *score,
             struct arena *to)
{
    struct sample_chains *chains = &memory->chains;
    const size_t n = step->v * step->b;
    struct chain_row row;
    struct row_list list = begin_rows(n, sizeof row, to);

    if (!chains->state)
        sample_chains_init(chains, memory->form.size, sample_step_views(step));
    for (size_t r = 0; r < n; r++) {
        const size_t at =
            sample_chains_index(chains, step->b, step->ids, step->view_of, r);

        if (!sample_state_order(&chains->state[at], &state[r]) &&
            (!score || chains->score[at] == score[r]))
            continue;
        row = (struct chain_row){state[r].id + 1, (int32_t)state[r].view + 1,
                                 .epoch = (uint32_t)state[r].epoch};
        if (score)
            row.score = chains->score[at] = score[r];
        chains->state[at] = state[r];
        add_row(&list, at, sizeof row, &row);
    }
    memory->rows[SAMPLE_CHAIN] = end_rows(&list, chains->size * chains->views);
}

/* An embedding and its row in a bank. */
struct embedding {
    int64_t row;
    size_t order;
    struct sample_row_view view;
    const float *z;
};

static int
by_row(const void *a, const void *b)
{
    const struct embedding *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Lists an embedding, unless the bank has no row for slot `slot`. */
static void
list_embedding(struct embedding *list, size_t *n,
               const struct sample_bank *bank, int64_t id, int64_t slot,
               struct sample_row_view view, const float *z)
{
    if (slot < 0 || (uint64_t)slot >= bank->views)
        return;
    list[*n] =
        (struct embedding){id * (int64_t)bank->views + slot, *n, view, z};
    ++*n;
}

/* The view of an extra sample, {0, 0} if it is unknown. */
static struct sample_row_view
view_of_extra(const struct batch *p, size_t e)
{
    const int64_t view = p->extra.view ? p->extra.view[e] : -1;
    const int64_t epoch = p->extra.epoch ? p->extra.epoch[e] : 0;

    if (view < 0 || view >= SAMPLE_ROW_VIEWS || epoch < 0 ||
        epoch >= SAMPLE_ROW_EPOCHS)
        return (struct sample_row_view){0};
    return (struct sample_row_view){(int32_t)view, (int32_t)epoch};
}

void
sample_memory_push(struct sample_bank *bank, int64_t when,
                   const struct batch *p, int with_views)
{
    const size_t b = p->b, d = p->dim;
    const int each = bank->views > 1;
    const struct sample_row_view first = {
        0, with_views && !each && p->epoch < SAMPLE_ROW_EPOCHS
               ? (int32_t)p->epoch
               : 0};
    const struct sample_row_view none = {0};
    const int64_t *view = each ? p->extra.view : NULL;
    struct embedding *list = mem_array(p->v * b + p->extra.n, sizeof *list);
    size_t n = 0;

    for (size_t r = 0; r < (each ? p->v * b : b); r++)
        list_embedding(list, &n, bank, p->ids[r % b],
                       each && p->view_of ? p->view_of[r] : (int64_t)(r / b),
                       first, p->z + r * d);
    for (size_t e = 0; e < p->extra.n; e++)
        list_embedding(list, &n, bank, p->extra.ids[e], view ? view[e] : 0,
                       with_views && !each ? view_of_extra(p, e) : none,
                       p->extra.z + e * d);
    qsort(list, n, sizeof *list, by_row);
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || list[i + 1].row != list[i].row)
            sample_bank_push(bank, when, list[i].row, list[i].view, list[i].z);
    free(list);
}

/* Lists the bank's updates from `from` on, which are in the queue. */
static void
write_updates(struct sample_memory *memory, size_t from, struct arena *to)
{
    const struct sample_bank *bank = &memory->bank;
    const size_t numbers = bank->dim * sizeof(float);
    const int64_t views = (int64_t)bank->views;
    struct update_row row;
    struct row_list list = begin_rows(bank->n - from, sizeof row + numbers, to);

    for (size_t i = from; i < bank->n; i++) {
        const struct sample_update *update = bank->queue + i;
        const struct sample_row_view view = update->view;

        row = (struct update_row){update->when + 1, update->row / views,
                                  views > 1 ? (int32_t)(update->row % views)
                                            : SAMPLE_ROW_VIEWS * view.epoch +
                                                  view.view,
                                  (int32_t)views};
        memcpy(add_row(&list, (size_t)update->slot, sizeof row, &row),
               bank->queue_z + i * bank->dim, numbers);
    }
    memory->rows[SAMPLE_BANK] = end_rows(&list, bank->slots);
}

static void
push_step(struct sample_memory *memory, const struct batch *step,
          struct arena *to)
{
    struct sample_bank *bank = &memory->bank;
    const size_t horizon = memory->form.horizon;
    struct sample_beta_row *row;
    size_t old;

    if (!bank->rows)
        sample_bank_init(bank, memory->form.size,
                         sample_memory_views(memory, step), step->dim);
    REQUIRE(bank->dim == step->dim);
    old = bank->n;
    sample_memory_push(bank, memory->total, step, memory->form.chains);
    write_updates(memory, old, to);
    memory->slot = memory->total % (int64_t)horizon;
    row = memory->beta + memory->slot;
    *row = (struct sample_beta_row){memory->total + 1, step->beta};
    memory->rows[SAMPLE_BETA] =
        (struct table_rows){.rows = horizon,
                            .width = sizeof *row,
                            .n = 1,
                            .at = &memory->slot,
                            .row = (const uint8_t *)row};
}

struct sample_staleness
sample_memory_step(struct sample_memory *memory, const struct batch *step,
                   const struct sample_state *state, const float *score,
                   struct arena *to)
{
    const int64_t horizon = (int64_t)memory->form.horizon;

    REQUIRE(!state == !memory->form.chains);
    if (state)
        write_chains(memory, step, state, score, to);
    if (horizon)
        push_step(memory, step, to);
    memory->total++;
    return horizon ? sample_bank_advance(&memory->bank, memory->total - horizon)
                   : (struct sample_staleness){0};
}

double
sample_memory_beta(const struct sample_memory *memory, int64_t step)
{
    int64_t before = -1, after = INT64_MAX;
    double beta = 0, later = 0;

    for (size_t i = 0; i < memory->form.horizon; i++) {
        const int64_t at = memory->beta[i].step_1 - 1;

        if (at > before && at <= step) {
            before = at;
            beta = memory->beta[i].beta;
        } else if (at > step && at >= 0 && at < after) {
            after = at;
            later = memory->beta[i].beta;
        }
    }
    return before < 0 ? later : beta;
}

/* ---- tables -------------------------------------------------------------- */

size_t
sample_memory_rows(const struct sample_memory *memory,
                   struct table_rows rows[SAMPLE_MEMORY_TABLES])
{
    size_t n = 0;

    for (size_t i = 0; i < SAMPLE_MEMORY_TABLES; i++)
        if (has_table(&memory->form, i)) {
            rows[n] = memory->rows[i];
            rows[n++].name = table_names[i];
        }
    return n;
}

/* ---- loading ------------------------------------------------------------- */

/* Maximum steps of a run: sums of steps cannot overflow. */
static const int64_t total_max = (int64_t)1 << 48;

enum { VIEWS_MAX = 65535, DIM_MAX = 65536 };

static int
load_chains(struct sample_memory *memory, const struct sample_table *table,
            struct err *err)
{
    const size_t size = memory->form.size, views = table->rows / size;
    const int scores = memory->form.scores;
    struct chain_row row;

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
embedding_of(const struct sample_table *table, size_t slot)
{
    const void *row = table->bytes + slot * table->width;

    return (const float *)((const struct update_row *)row + 1);
}

/* Reads the update in a slot: returns 1, 0 if none was written, or -1. */
static int
find_update(const struct sample_memory *memory,
            const struct sample_table *table, size_t slot, int32_t *views,
            struct sample_update *found, struct err *err)
{
    const size_t dim =
        (table->width - sizeof(struct update_row)) / sizeof(float);
    struct update_row row;

    memcpy(&row, table->bytes + slot * table->width, sizeof row);
    if (!row.step_1)
        return 0;
    *views = *views ? *views : row.views;
    if (row.step_1 < 0 || row.step_1 > memory->total)
        return err_set(err,
                       "row %zu of '%s' has a step that is not one of %" PRId64,
                       slot, table->name, memory->total);
    if (row.id < 0 || (uint64_t)row.id >= memory->form.size || row.view < 0 ||
        (row.views != 1 && row.view >= row.views) || row.views != *views ||
        row.views > VIEWS_MAX)
        return err_set(
            err,
            "row %zu of '%s' has an invalid sample or view: sample %" PRId64
            ", view %" PRId32 " of %" PRId32,
            slot, table->name, row.id, row.view, row.views);
    if (!num_finite(dim, embedding_of(table, slot)))
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
    const size_t head = sizeof(struct update_row), size = memory->form.size;
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
                     "a bank of %zu samples in %" PRId32 " views needs more "
                     "than %zu GiB: raise --max-state",
                     size, views, memory->form.most >> 30);
    if (!rc)
        sample_bank_init(bank, size, (size_t)views, dim);
    for (size_t i = 0; i < n && !rc; i++) {
        sample_bank_restore(bank, found[i],
                            embedding_of(table, (size_t)found[i].slot));
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
                       "table '%s' has %zu rows, but the horizon is %zu steps: "
                       "start the sampler with the horizon of the run",
                       table->name, table->rows, memory->form.horizon);
    memcpy(memory->beta, table->bytes, table->rows * sizeof *memory->beta);
    for (size_t i = 0; i < table->rows; i++) {
        const struct sample_beta_row row = memory->beta[i];

        if (row.step_1 < 0 || row.step_1 > memory->total ||
            !(row.beta >= 0 && row.beta <= 1e9))
            return err_set(err, "row %zu of '%s' has an invalid beta or step",
                           i, table->name);
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
    const size_t widths[] = {sizeof(struct chain_row), 0,
                             sizeof(struct sample_beta_row)};
    size_t n = 0;

    for (size_t i = 0; i < SAMPLE_MEMORY_TABLES; i++) {
        const char *name = table_names[i];

        table[i] = NULL;
        if (!has_table(form, i))
            continue;
        n++;
        table[i] = sample_store_find(store, name);
        if (!table[i])
            return err_set(err,
                           "the state of %" PRId64 " steps has no table '%s': "
                           "send all tables, or 'fresh' before the first step",
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
        return err_set(err,
                       "the state has %" PRId64 " steps, which is out of range",
                       total);
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
