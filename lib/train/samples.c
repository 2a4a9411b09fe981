#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "train/samples.h"
#include "util/mem.h"

static const char file_name[] = "samples.safetensors";
static const char quarantine_name[] = "quarantine";

void
train_samples_init(struct train_samples *samples,
                   const struct loss_objective *objective, size_t size)
{
    const size_t columns = objective->columns;
    const size_t states = loss_objective_states(objective, size);

    *samples = (struct train_samples){.objective = objective, .size = size};
    samples->column = mem_array(states * columns, sizeof *samples->column);
    for (size_t i = 0; i < states * columns; i++)
        samples->column[i] = objective->initial[i % columns];
    sample_memory_init(&samples->memory, size);
}

void
train_samples_release(struct train_samples *samples)
{
    free(samples->column);
    free(samples->quarantine);
    sample_memory_release(&samples->memory);
    *samples = (struct train_samples){0};
}

/* The columns of row r of a batch's state. */
static float *
columns_of(const struct train_samples *samples, size_t b, const int64_t *ids,
           size_t r)
{
    const size_t side = r / b;

    return samples->column + (side * samples->size + (size_t)ids[r % b]) *
                                 samples->objective->columns;
}

void
train_samples_get(const struct train_samples *samples, size_t b,
                  const int64_t *ids, float *state)
{
    const size_t columns = samples->objective->columns;
    const size_t states = loss_objective_states(samples->objective, b);

    for (size_t r = 0; columns && r < states; r++)
        memcpy(state + r * columns, columns_of(samples, b, ids, r),
               columns * sizeof *state);
}

void
train_samples_put(struct train_samples *samples, size_t b, const int64_t *ids,
                  const float *state)
{
    const size_t columns = samples->objective->columns;
    const size_t states = loss_objective_states(samples->objective, b);

    for (size_t r = 0; columns && r < states; r++)
        memcpy(columns_of(samples, b, ids, r), state + r * columns,
               columns * sizeof *state);
}

/* Writes down whose place was taken by somebody else. */
void
train_samples_refuse(struct train_samples *samples,
                     const struct train_batch *batch)
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

/* Number k of a sample, side after side: where it is, and what it is called. */
static float *
column_at(const struct train_samples *samples, size_t k, size_t i)
{
    const size_t columns = samples->objective->columns;

    return samples->column + (k / columns * samples->size + i) * columns +
           k % columns;
}

static char *
column_name(const struct loss_objective *o, size_t k)
{
    return o->sides ? mem_format("view%zu.%s", k / o->columns,
                                 o->column[k % o->columns])
                    : mem_format("%s", o->column[k]);
}

/* The same of all samples. */
static float *
column(const struct train_samples *samples, size_t k)
{
    float *x = mem_array(samples->size, sizeof *x);

    for (size_t i = 0; i < samples->size; i++)
        x[i] = *column_at(samples, k, i);
    return x;
}

int
train_samples_save(const struct train_samples *samples, const char *folder,
                   struct err *err)
{
    const struct loss_objective *o = samples->objective;
    struct sample_array kept[SAMPLE_MEMORY_ARRAYS];
    const size_t arrays = sample_memory_list(&samples->memory, kept);
    const size_t columns = loss_objective_states(o, 1) * o->columns;
    struct nn_array *array = mem_array(columns + arrays + 1, sizeof *array);
    char *path = mem_format("%s/%s", folder, file_name);
    size_t n = 0;
    int rc;

    for (size_t k = 0; k < columns; k++) {
        char *name = column_name(o, k);
        float *x = column(samples, k);

        nn_array_init(array + n++, name, "F32", 1, &samples->size, x);
        free(x);
        free(name);
    }
    for (size_t i = 0; o->wants_weights && i < arrays; i++)
        nn_array_init(array + n++, kept[i].name,
                      dtype_about(kept[i].dtype)->safetensors, kept[i].rank,
                      kept[i].shape, kept[i].data);
    nn_array_init(array + n++, quarantine_name, "I64", 2,
                  (size_t[]){samples->bad, 4}, samples->quarantine);
    rc = nn_arrays_write(path, array, n, NULL, err);
    nn_arrays_free(array, n);
    free(path);
    return rc;
}

/* The array of that name, which must have this type and shape; shape[0] = 0
 * leaves the first size open. */
static const struct nn_array *
want(const struct nn_array *array, size_t n, const char *path, const char *name,
     const char *dtype, size_t rank, const size_t *shape, struct err *err)
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

/* The mirror of the service's memory: all tensors that could be its. */
static int
take_memory(struct train_samples *samples, const char *path,
            const struct nn_array *array, size_t n, struct err *err)
{
    struct sample_array *kept = mem_array(n, sizeof *kept);
    struct err why;
    int rc;

    for (size_t i = 0; i < n; i++) {
        const char *type = array[i].dtype;
        const enum dtype d = dtype_by_safetensors(type, strlen(type));

        if (d == DTYPES || !dtype_about(d)->wire) {
            free(kept);
            return err_set(err,
                           "'%s': tensor '%.80s' is of type %s: not one "
                           "that we write",
                           path, array[i].name, type);
        }
        kept[i] = sample_array_of(array[i].name, d, array[i].rank,
                                  array[i].shape, array[i].data);
    }
    rc = sample_memory_load(&samples->memory, n, kept, &why);
    if (rc)
        err_set(err, "'%s': %s", path, why.msg);
    free(kept);
    return rc;
}

static int
take(struct train_samples *samples, const char *path,
     const struct nn_array *array, size_t n, struct err *err)
{
    const struct loss_objective *o = samples->objective;
    const struct nn_array *a;

    for (size_t k = 0; k < loss_objective_states(o, 1) * o->columns; k++) {
        char *name = column_name(o, k);

        a = want(array, n, path, name, "F32", 1, &samples->size, err);
        free(name);
        if (!a)
            return -1;
        for (size_t i = 0; i < samples->size; i++)
            *column_at(samples, k, i) = ((const float *)a->data)[i];
    }
    if (o->wants_weights && take_memory(samples, path, array, n, err))
        return -1;
    a = want(array, n, path, quarantine_name, "I64", 2, (size_t[]){0, 4}, err);
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
train_samples_load(struct train_samples *samples, const char *folder,
                   struct err *err)
{
    char *path = mem_format("%s/%s", folder, file_name);
    struct nn_array *array;
    size_t n;
    int rc = nn_arrays_read(path, &array, &n, NULL, err);

    if (!rc) {
        rc = take(samples, path, array, n, err);
        nn_arrays_free(array, n);
    }
    free(path);
    return rc;
}

int
train_samples_revert(struct train_samples *samples, const char *folder,
                     struct err *err)
{
    struct train_samples then;

    train_samples_init(&then, samples->objective, samples->size);
    if (train_samples_load(&then, folder, err)) {
        train_samples_release(&then);
        return -1;
    }
    free(then.quarantine);
    then.quarantine = samples->quarantine;
    then.bad = samples->bad;
    then.room = samples->room;
    samples->quarantine = NULL;
    train_samples_release(samples);
    *samples = then;
    return 0;
}

static int
part_save(void *self, const char *folder, struct err *err)
{
    return train_samples_save(self, folder, err);
}

static int
part_load(void *self, const char *folder, struct err *err)
{
    return train_samples_load(self, folder, err);
}

static int
part_revert(void *self, const char *folder, struct err *err)
{
    return train_samples_revert(self, folder, err);
}

struct train_part
train_samples_part(struct train_samples *samples)
{
    return (struct train_part){.name = "samples",
                               .self = samples,
                               .save = part_save,
                               .load = part_load,
                               .revert = part_revert};
}
