#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "train/history.h"
#include "util/file.h"
#include "util/mem.h"

/* In a checkpoint an epoch is three tensors: NAME, NAME.known, NAME.about; NAME
 * is "running" for the current epoch, "past.0" ... for past ones. */
enum { VIEWS = 2, PARTS = 3 };

static const char file_name[] = "features.safetensors";

static void
epoch_init(struct train_epoch *entry, const struct train_history *of)
{
    *entry = (struct train_epoch){.about = {-1}};
    entry->row = mem_array(VIEWS * of->size * of->dim, sizeof *entry->row);
    entry->known = mem_array(of->size, 1);
}

static void
epoch_release(struct train_epoch *entry)
{
    mem_free(entry->row, entry->known);
}

void
train_history_init(struct train_history *history, size_t size, size_t dim,
                   size_t keep)
{
    *history = (struct train_history){.size = size, .dim = dim, .keep = keep};
    epoch_init(&history->now, history);
    history->past = mem_array(keep, sizeof *history->past);
    for (size_t i = 0; i < keep; i++)
        epoch_init(&history->past[i], history);
}

void
train_history_release(struct train_history *history)
{
    epoch_release(&history->now);
    for (size_t i = 0; i < history->keep; i++)
        epoch_release(&history->past[i]);
    free(history->past);
    *history = (struct train_history){0};
}

void
train_history_put(struct train_history *history, size_t b, const int64_t *ids,
                  const float *v, int eval)
{
    const size_t d = history->dim;

    for (size_t i = 0; i < b; i++) {
        const size_t id = (size_t)ids[i];

        for (size_t k = 0; k < VIEWS; k++)
            memcpy(history->now.row + (k * history->size + id) * d,
                   v + (k * b + i) * d, d * sizeof *v);
        history->now.known[id] = 1;
    }
    history->now.about[TRAIN_EPOCH_EVAL] = eval;
}

void
train_history_end_epoch(struct train_history *history, int64_t epoch,
                        int64_t steps)
{
    struct train_epoch *to = &history->past[(size_t)epoch % history->keep];

    memcpy(to->row, history->now.row,
           VIEWS * history->size * history->dim * sizeof *to->row);
    memcpy(to->known, history->now.known, history->size);
    to->about[TRAIN_EPOCH_EPOCH] = epoch;
    to->about[TRAIN_EPOCH_STEPS] = steps;
    to->about[TRAIN_EPOCH_EVAL] = history->now.about[TRAIN_EPOCH_EVAL];
}

const struct train_epoch *
train_history_find(const struct train_history *history, int64_t epoch)
{
    const struct train_epoch *entry =
        &history->past[(size_t)epoch % history->keep];

    return entry->about[TRAIN_EPOCH_EPOCH] == epoch ? entry : NULL;
}

size_t
train_history_copy(const struct train_history *history,
                   const struct train_epoch *entry, size_t from, size_t most,
                   int64_t *ids, float *z, size_t *n)
{
    const size_t d = history->dim;
    size_t id = from;

    for (*n = 0; id < history->size && *n < most; id++)
        if (entry->known[id])
            ids[(*n)++] = (int64_t)id;
    while (id < history->size && !entry->known[id])
        id++; // so that the next piece is not empty
    for (size_t i = 0; i < VIEWS * *n; i++)
        memcpy(z + i * d,
               entry->row + (i / *n * history->size + (size_t)ids[i % *n]) * d,
               d * sizeof *z);
    return id;
}

/* ------------------------------------------------------------ checkpoints */

/* The tensors of an epoch.  They point to its memory; the caller frees only the
 * names. */
static void
wrap_epoch(struct nn_array *a, const char *name, const struct train_history *of,
           struct train_epoch *entry)
{
    const size_t n = VIEWS * of->size * of->dim;

    a[0] = (struct nn_array){.name = mem_text(name),
                             .dtype = "F32",
                             .rank = 3,
                             .shape = {VIEWS, of->size, of->dim},
                             .count = n,
                             .bytes = n * sizeof *entry->row,
                             .data = entry->row};
    a[1] = (struct nn_array){.name = mem_format("%s.known", name),
                             .dtype = "U8",
                             .rank = 1,
                             .shape = {of->size},
                             .count = of->size,
                             .bytes = of->size,
                             .data = entry->known};
    a[2] = (struct nn_array){.name = mem_format("%s.about", name),
                             .dtype = "I64",
                             .rank = 1,
                             .shape = {TRAIN_EPOCH_FIELDS},
                             .count = TRAIN_EPOCH_FIELDS,
                             .bytes = sizeof entry->about,
                             .data = entry->about};
}

static int
history_save(void *self, const char *folder, struct err *err)
{
    struct train_history *history = self;
    const size_t n = PARTS * (history->keep + 1);
    struct nn_array *array;
    int rc;

    if (!history->keep)
        return 0;
    array = mem_array(n, sizeof *array);
    for (size_t i = 0; i < history->keep; i++)
        wrap_epoch(array + PARTS * i, mem_temp("past.%zu", i), history,
                   &history->past[i]);
    wrap_epoch(array + n - PARTS, "running", history, &history->now);
    rc = nn_arrays_write(mem_temp("%s/%s", folder, file_name), array, n, NULL,
                         err);
    for (size_t i = 0; i < n; i++)
        free(array[i].name);
    free(array);
    return rc;
}

/* Returns 1 with the tensors of that name in a[] if they exist and fit. */
static int
find_tensors(const struct nn_array *array, size_t n, const char *name,
             const struct train_history *of, const struct nn_array *a[PARTS])
{
    struct train_epoch none = {0};
    struct nn_array want[PARTS];
    int fits = 1;

    wrap_epoch(want, name, of, &none);
    for (int k = 0; k < PARTS; k++) {
        a[k] = nn_arrays_find(array, n, want[k].name);
        fits &= a[k] && a[k]->bytes == want[k].bytes &&
                a[k]->rank == want[k].rank &&
                !strcmp(a[k]->dtype, want[k].dtype) &&
                !memcmp(a[k]->shape, want[k].shape, sizeof want[k].shape);
        free(want[k].name);
    }
    return fits;
}

static void
copy_epoch(struct train_epoch *entry, const struct nn_array *a[PARTS])
{
    memcpy(entry->row, a[0]->data, a[0]->bytes);
    memcpy(entry->known, a[1]->data, a[1]->bytes);
    memcpy(entry->about, a[2]->data, a[2]->bytes);
}

/* Copies the epochs of the file, which may have more or fewer of them. */
static int
take_epochs(struct train_history *history, const struct nn_array *array,
            size_t n)
{
    const struct nn_array *a[PARTS];

    if (!find_tensors(array, n, "running", history, a))
        return -1;
    copy_epoch(&history->now, a);
    for (size_t i = 0; PARTS * (i + 1) < n; i++) {
        struct train_epoch *to;
        int64_t epoch;

        if (!find_tensors(array, n, mem_temp("past.%zu", i), history, a))
            return -1;
        epoch = ((const int64_t *)a[2]->data)[TRAIN_EPOCH_EPOCH];
        if (epoch < 0)
            continue;
        to = &history->past[(size_t)epoch % history->keep];
        if (to->about[TRAIN_EPOCH_EPOCH] < epoch)
            copy_epoch(to, a);
    }
    return 0;
}

static int
history_load(void *self, const char *folder, struct err *err)
{
    struct train_history *history = self;
    const char *path = mem_temp("%s/%s", folder, file_name);
    const int found = history->keep && file_exists(path);
    struct nn_array *array;
    size_t n;
    int rc = found ? nn_arrays_read(path, &array, &n, NULL, err) : 0;

    if (found && !rc) {
        if (take_epochs(history, array, n))
            rc = err_set(err, "'%s/%s' is from another data set or encoder",
                         folder, file_name);
        nn_arrays_free(array, n);
    }
    return rc;
}

struct train_part
train_history_part(struct train_history *history)
{
    return (struct train_part){
        .self = history, .save = history_save, .load = history_load};
}
