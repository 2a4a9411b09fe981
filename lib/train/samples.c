#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "train/samples.h"
#include "util/mem.h"

static const char file_name[] = "samples.safetensors";
static const char quarantine_name[] = "quarantine";
static const char table_prefix[] = "sampler.";

static size_t
sides_of(const struct loss_objective *objective)
{
    return loss_objective_states(objective, 1);
}

/* Rows of columns of a sample on a side. */
static size_t
each_of(const struct train_samples *samples, size_t side)
{
    return side && samples->captions ? samples->captions : 1;
}

/* The first row of a side. */
static size_t
first_row(const struct train_samples *samples, size_t side)
{
    size_t rows = 0;

    for (size_t k = 0; k < side; k++)
        rows += samples->size * each_of(samples, k);
    return rows;
}

void
train_samples_init(struct train_samples *samples,
                   const struct loss_objective *objective, size_t size,
                   size_t captions, const struct train_state *state)
{
    const size_t columns = objective->columns;
    size_t rows;

    *samples = (struct train_samples){.objective = objective,
                                      .state = state,
                                      .size = size,
                                      .captions = captions};
    rows = first_row(samples, sides_of(objective));
    samples->column = mem_array(rows * columns, sizeof *samples->column);
    for (size_t i = 0; i < rows * columns; i++)
        samples->column[i] = objective->initial[i % columns];
    sample_store_init(&samples->store);
}

void
train_samples_release(struct train_samples *samples)
{
    mem_free(samples->column, samples->quarantine);
    sample_store_release(&samples->store);
    *samples = (struct train_samples){0};
}

/* The columns of row r of a batch's state. */
static float *
columns_of(const struct train_samples *samples, const struct batch *batch,
           size_t r)
{
    const size_t side = r / batch->b, i = r % batch->b;
    const size_t id = (size_t)batch->ids[i], each = each_of(samples, side);
    size_t row = id * each;

    REQUIRE(id < samples->size);
    if (each > 1) {
        REQUIRE(batch->captions && (size_t)batch->captions[i] < each);
        row += (size_t)batch->captions[i];
    }
    return samples->column +
           (first_row(samples, side) + row) * samples->objective->columns;
}

void
train_samples_get(const struct train_samples *samples,
                  const struct batch *batch, float *state)
{
    const size_t columns = samples->objective->columns;
    const size_t states = loss_objective_states(samples->objective, batch->b);

    for (size_t r = 0; columns && r < states; r++)
        memcpy(state + r * columns, columns_of(samples, batch, r),
               columns * sizeof *state);
}

void
train_samples_put(struct train_samples *samples, const struct batch *batch,
                  const float *state)
{
    const size_t columns = samples->objective->columns;
    const size_t states = loss_objective_states(samples->objective, batch->b);

    for (size_t r = 0; columns && r < states; r++)
        memcpy(columns_of(samples, batch, r), state + r * columns,
               columns * sizeof *state);
}

void
train_samples_quarantine(struct train_samples *samples,
                         const struct batch *batch)
{
    for (size_t i = 0; i < batch->n_substituted; i++) {
        const int64_t entry[4] = {batch->substituted[i][0],
                                  batch->substituted[i][1], batch->epoch,
                                  batch->step};

        mem_grow(&samples->quarantine, &samples->room, samples->bad + 1,
                 sizeof *samples->quarantine);
        memcpy(samples->quarantine[samples->bad++], entry, sizeof entry);
    }
}

/* A column as a tensor: columns are counted side after side. */
struct column {
    float *first;         /* number */
    size_t count, stride; /* of numbers; distance between them */
    size_t rank, shape[2];
};

static struct column
column_at(const struct train_samples *samples, size_t k)
{
    const size_t columns = samples->objective->columns, side = k / columns;
    const size_t each = each_of(samples, side);

    return (struct column){
        .first =
            samples->column + first_row(samples, side) * columns + k % columns,
        .count = samples->size * each,
        .stride = columns,
        .rank = side && samples->captions ? 2 : 1,
        .shape = {samples->size, each},
    };
}

static const char *
column_name(const struct loss_objective *o, size_t k)
{
    return o->sides ? mem_temp("view%zu.%s", k / o->columns,
                               o->column[k % o->columns])
                    : o->column[k];
}

int
train_samples_save(void *self, const char *folder, struct err *err)
{
    const struct train_samples *samples = self;
    const struct sample_store *store = &samples->store;
    const struct loss_objective *o = samples->objective;
    const size_t columns = sides_of(o) * o->columns;
    struct nn_array *array = mem_array(columns + store->n + 1, sizeof *array);
    char total[32];
    json_t *about = NULL;
    size_t n = 0;
    int rc;

    if (o->needs_weights) {
        snprintf(total, sizeof total, "%" PRId64, samples->state->total);
        about =
            json_pack("{s:s, s:s}", "sampler", store->sampler, "total", total);
    }
    for (size_t k = 0; k < columns; k++) {
        const struct column c = column_at(samples, k);
        float *x = mem_array(c.count, sizeof *x);

        for (size_t i = 0; i < c.count; i++)
            x[i] = c.first[i * c.stride];
        nn_array_init(array + n++, column_name(samples->objective, k), "F32",
                      c.rank, c.shape, x);
        free(x);
    }
    for (size_t i = 0; i < store->n; i++) {
        const struct sample_table *table = &store->table[i];

        nn_array_init(array + n++, mem_temp("%s%s", table_prefix, table->name),
                      "U8", 2, (size_t[]){table->rows, table->width},
                      table->bytes);
    }
    nn_array_init(array + n++, quarantine_name, "I64", 2,
                  (size_t[]){samples->bad, 4}, samples->quarantine);
    rc = nn_arrays_write(mem_temp("%s/%s", folder, file_name), array, n, about,
                         err);
    nn_arrays_free(array, n);
    json_decref(about);
    return rc;
}

/* Returns the array of that name, type and shape, or NULL; shape[0] = 0 allows
 * any first size. */
static const struct nn_array *
find_array(const struct nn_array *array, size_t n, const char *path,
           const char *name, const char *dtype, size_t rank,
           const size_t *shape, struct err *err)
{
    const struct nn_array *a = nn_arrays_find(array, n, name);
    int fits = a && a->rank == rank && !strcmp(a->dtype, dtype);

    for (size_t i = 0; fits && i < rank; i++)
        fits = a->shape[i] == shape[i] || (i == 0 && !shape[0]);
    if (!fits)
        err_set(err, "'%s': no tensor '%s' of the right type and shape", path,
                name);
    return fits ? a : NULL;
}

/* Reads the tables of a sampler: all arrays with the prefix. */
static int
take_sampler(struct train_samples *samples, const char *path,
             const struct nn_array *array, size_t n, const json_t *about,
             struct err *err)
{
    const char *sampler = json_string_value(json_object_get(about, "sampler"));
    const size_t prefix = strlen(table_prefix);
    struct table_rows rows[TABLES_MAX];
    struct err why;
    size_t tables = 0;

    if (!sampler || strlen(sampler) >= SAMPLER_NAME_MAX)
        return err_set(err,
                       "'%s' names no sampler: it was written before version 2 "
                       "of the protocol, when samplers had other tables; use "
                       "that version of foil, or start a new run",
                       path);
    for (size_t i = 0; i < n; i++) {
        const struct nn_array *a = &array[i];

        if (strncmp(a->name, table_prefix, prefix))
            continue;
        if (strcmp(a->dtype, "U8") || a->rank != 2 || tables == TABLES_MAX)
            return err_set(err, "'%s': tensor '%.80s' is no table of a sampler",
                           path, a->name);
        rows[tables++] = (struct table_rows){.name = a->name + prefix,
                                             .rows = a->shape[0],
                                             .width = a->shape[1],
                                             .n = a->shape[0],
                                             .row = a->data};
    }
    sample_store_release(&samples->store);
    if (sample_store_check(&samples->store, tables, rows, &why))
        return err_set(err, "'%s': %s", path, why.msg);
    sample_store_write(&samples->store, sampler, tables, rows);
    return 0;
}

/* Reads a column of the file; one of captions must have the same number of
 * captions. */
static int
take_column(struct train_samples *samples, const char *path,
            const struct nn_array *array, size_t n, size_t k, struct err *err)
{
    const struct column c = column_at(samples, k);
    const char *name = column_name(samples->objective, k);
    const struct nn_array *a = nn_arrays_find(array, n, name);
    const float *x;

    if (a && c.rank == 2 && a->rank == 2 && a->shape[1] != c.shape[1]) {
        err_set(err,
                "'%s': tensor '%s' is of %zu captions a sample, this run has "
                "up to %zu: use the captions that the run started with",
                path, name, a->shape[1], c.shape[1]);
        a = NULL;
    } else {
        a = find_array(array, n, path, name, "F32", c.rank, c.shape, err);
    }
    if (!a)
        return -1;
    x = a->data;
    for (size_t i = 0; i < c.count; i++)
        c.first[i * c.stride] = x[i];
    return 0;
}

static int
take_samples(struct train_samples *samples, const char *path,
             const struct nn_array *array, size_t n, const json_t *about,
             struct err *err)
{
    const struct loss_objective *o = samples->objective;
    const struct nn_array *a;

    for (size_t k = 0; k < sides_of(o) * o->columns; k++)
        if (take_column(samples, path, array, n, k, err))
            return -1;
    if (o->needs_weights && take_sampler(samples, path, array, n, about, err))
        return -1;
    a = find_array(array, n, path, quarantine_name, "I64", 2, (size_t[]){0, 4},
                   err);
    if (!a)
        return -1;
    mem_grow(&samples->quarantine, &samples->room, a->shape[0],
             sizeof *samples->quarantine);
    samples->bad = a->shape[0];
    if (a->bytes)
        memcpy(samples->quarantine, a->data, a->bytes);
    return 0;
}

int
train_samples_load(void *self, const char *folder, struct err *err)
{
    struct train_samples *samples = self;
    char *path = mem_format("%s/%s", folder, file_name);
    struct nn_array *array;
    json_t *about = NULL;
    size_t n;
    int rc = nn_arrays_read(path, &array, &n, &about, err);

    if (!rc) {
        rc = take_samples(samples, path, array, n, about, err);
        nn_arrays_free(array, n);
        json_decref(about);
    }
    free(path);
    return rc;
}

static int
samples_revert(void *self, const char *folder, struct err *err)
{
    struct train_samples *samples = self, loaded;

    train_samples_init(&loaded, samples->objective, samples->size,
                       samples->captions, samples->state);
    if (train_samples_load(&loaded, folder, err)) {
        train_samples_release(&loaded);
        return -1;
    }
    free(loaded.quarantine);
    loaded.quarantine = samples->quarantine;
    loaded.bad = samples->bad;
    loaded.room = samples->room;
    samples->quarantine = NULL;
    train_samples_release(samples);
    *samples = loaded;
    return 0;
}

struct train_part
train_samples_part(struct train_samples *samples)
{
    return (struct train_part){.self = samples,
                               .save = train_samples_save,
                               .load = train_samples_load,
                               .revert = samples_revert};
}
