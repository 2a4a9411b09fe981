#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sample/memory.h"

/* Steps that a run can have at most, so that sums of them cannot overflow. */
static const int64_t total_max = (int64_t)1 << 48;

void
sample_memory_init(struct sample_memory *memory, size_t size)
{
    *memory = (struct sample_memory){.size = size};
}

void
sample_memory_release(struct sample_memory *memory)
{
    sample_chains_release(&memory->chains);
    sample_bank_release(&memory->bank);
    *memory = (struct sample_memory){0};
}

size_t
sample_step_views(const struct sample_step *step)
{
    return step->fixed ? step->fixed : step->v;
}

/* Keeps the newest n. */
static void
forget_betas(struct sample_memory *memory, size_t n)
{
    if (n >= memory->n_beta)
        return;
    memmove(memory->beta, memory->beta + memory->n_beta - n,
            n * sizeof *memory->beta);
    memory->n_beta = n;
}

size_t
sample_memory_views(const struct sample_step *step, int chains)
{
    return chains && step->fixed ? step->fixed : 1;
}

void
sample_memory_fit(struct sample_memory *memory, size_t views)
{
    if (memory->bank.rows && memory->bank.views != views)
        sample_bank_release(&memory->bank);
}

/* Push a row, unless there is no place for that view. */
static void
feed(struct sample_bank *bank, int64_t when, int64_t id, int64_t view,
     const float *row)
{
    const int64_t at = id * (int64_t)bank->views + view;

    if (view >= 0 && (uint64_t)view < bank->views)
        sample_bank_push(bank, when, 1, &at, row);
}

void
sample_memory_feed(struct sample_bank *bank, int64_t when,
                   const struct sample_step *p)
{
    const size_t b = p->b, d = p->dim;
    const int64_t *variant = bank->views > 1 ? p->variants : NULL;
    const int64_t *view = bank->views > 1 ? p->extra_view : NULL;

    for (size_t r = 0; r < (variant ? p->v * b : b); r++)
        feed(bank, when, p->ids[r % b], variant ? variant[r] : 0, p->z + r * d);
    for (size_t e = 0; e < p->extra; e++)
        feed(bank, when, p->extra_ids[e], view ? view[e] : 0,
             p->extra_z + e * d);
}

/* When betas are pushed the step is `total`, which is counted up then. */
static int64_t
first_beta(const struct sample_memory *memory)
{
    return memory->total - (int64_t)memory->n_beta;
}

/* Writes down where the chains of a step stand. */
static void
keep(struct sample_memory *memory, const struct sample_step *step,
     const struct sample_update *update)
{
    if (!memory->chains.state)
        sample_chains_init(&memory->chains, memory->size,
                           sample_step_views(step));
    sample_chains_put(&memory->chains, step->v, step->b, step->ids,
                      step->variants, update->state, update->score);
    memory->scored |= update->score != NULL;
}

/* Puts the rows and the beta of a step at the end of the queue. */
static void
push(struct sample_memory *memory, const struct sample_step *step, int chains)
{
    const size_t views = sample_memory_views(step, chains);
    struct sample_bank *bank = &memory->bank;

    sample_memory_fit(memory, views);
    if (!bank->rows)
        sample_bank_init(bank, memory->size, views, step->dim);
    REQUIRE(bank->dim == step->dim);
    sample_memory_feed(bank, memory->total, step);
    if (memory->n_beta == SAMPLE_HORIZON_MAX)
        forget_betas(memory, SAMPLE_HORIZON_MAX - 1);
    memory->beta[memory->n_beta++] = step->beta;
}

/* Brings the bank up to a step, and forgets what is older than that. */
static struct sample_staleness
advance(struct sample_memory *memory, int64_t to)
{
    if (memory->n_beta && to > first_beta(memory))
        forget_betas(memory,
                     memory->total > to ? (size_t)(memory->total - to) : 1);
    return sample_bank_advance(&memory->bank, to);
}

struct sample_staleness
sample_memory_step(struct sample_memory *memory, const struct sample_step *step,
                   const struct sample_update *update)
{
    if (update->state)
        keep(memory, step, update);
    if (update->bank)
        push(memory, step, update->state != NULL);
    memory->total++;
    return update->bank ? advance(memory, memory->total - update->bank)
                        : (struct sample_staleness){0};
}

double
sample_memory_beta(const struct sample_memory *memory, int64_t step)
{
    int64_t at = step - first_beta(memory);

    if (!memory->n_beta)
        return 0;
    at = at < 0 ? 0 : at;
    if ((size_t)at >= memory->n_beta)
        at = (int64_t)memory->n_beta - 1;
    return memory->beta[at];
}

struct sample_array
sample_array_of(const char *name, enum dtype dtype, size_t rank,
                const size_t *shape, const void *data)
{
    struct sample_array a = {
        .name = name, .dtype = dtype, .rank = rank, .count = 1, .data = data};

    for (size_t i = 0; i < rank; i++) {
        if (i < sizeof a.shape / sizeof *a.shape)
            a.shape[i] = shape[i];
        a.count *= shape[i];
    }
    return a;
}

const struct sample_array *
sample_array_find(const char *name, size_t n, const struct sample_array *array)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(array[i].name, name))
            return &array[i];
    return NULL;
}

size_t
sample_memory_list(const struct sample_memory *memory,
                   struct sample_array array[SAMPLE_MEMORY_ARRAYS])
{
    const struct sample_chains *chains = &memory->chains;
    const struct sample_bank *bank = &memory->bank;
    const size_t one = 1, chain[] = {memory->size, chains->views, 2};
    const size_t rows[] = {memory->size * bank->views, bank->dim};
    const size_t queue[] = {bank->n, bank->dim};
    const struct {
        int kept;
        const char *name;
        enum dtype dtype;
        size_t rank;
        const size_t *shape;
        const void *data;
    } all[SAMPLE_MEMORY_ARRAYS] = {
        {1, SAMPLE_TOTAL, DTYPE_I8, 1, &one, &memory->total},
        {chain[1] > 0, SAMPLE_CHAINS, DTYPE_I8, 3, chain, chains->state},
        {memory->scored, SAMPLE_SCORES, DTYPE_F4, 2, chain, chains->score},
        {rows[1] > 0, SAMPLE_BANK, DTYPE_F4, 2, rows, bank->rows},
        {rows[1] > 0, SAMPLE_BANK_WHEN, DTYPE_I8, 1, rows, bank->when},
        {rows[1] > 0, SAMPLE_BETA, DTYPE_F8, 1, &memory->n_beta, memory->beta},
        {bank->n > 0, SAMPLE_BANK_QUEUE_WHEN, DTYPE_I8, 1, queue,
         bank->queue_when},
        {bank->n > 0, SAMPLE_BANK_QUEUE_IDS, DTYPE_I8, 1, queue,
         bank->queue_ids},
        {bank->n > 0, SAMPLE_BANK_QUEUE, DTYPE_F4, 2, queue, bank->queue_rows},
    };
    size_t n = 0;

    for (size_t i = 0; i < SAMPLE_MEMORY_ARRAYS; i++)
        if (all[i].kept)
            array[n++] = sample_array_of(all[i].name, all[i].dtype, all[i].rank,
                                         all[i].shape, all[i].data);
    return n;
}

/* A list that is read; the first fault is kept. */
struct list {
    size_t n;
    const struct sample_array *array;
    struct err *err;
    int rc;
};

/*
 * The tensor of that name, or NULL: then the fault is noted, unless it may be
 * missing.  Sizes of 0 are free, but a tensor is never empty.
 */
static const struct sample_array *
find(struct list *list, const char *name, enum dtype dtype, int optional,
     size_t rank, size_t first, size_t second)
{
    const size_t want[] = {first, second, 2};
    const struct sample_array *t =
        sample_array_find(name, list->n, list->array);
    int fits;

    if (list->rc || (!t && optional))
        return NULL;
    fits = t && t->dtype == dtype && t->rank == rank && t->count;
    for (size_t i = 0; fits && i < rank; i++)
        fits = !want[i] || t->shape[i] == want[i];
    if (fits)
        return t;
    list->rc =
        err_set(list->err, "no tensor '%s' of the right type and shape", name);
    return NULL;
}

static int
load_chains(struct sample_memory *memory, struct list *list)
{
    const size_t size = memory->size;
    const struct sample_array *chain, *score;

    chain = find(list, SAMPLE_CHAINS, DTYPE_I8, 1, 3, size, 0);
    if (!chain)
        return list->rc;
    score = find(list, SAMPLE_SCORES, DTYPE_F4, 1, 2, size, chain->shape[1]);
    if (list->rc)
        return -1;
    sample_chains_init(&memory->chains, size, chain->shape[1]);
    memory->scored = score != NULL;
    return sample_chains_load(&memory->chains, chain->data,
                              score ? score->data : NULL, list->err);
}

/* No step can have written what the steps so far have not. */
static int
judge_steps(const struct sample_memory *memory, const struct sample_array *when,
            struct err *err)
{
    const int64_t *step = when ? when->data : NULL;

    for (size_t i = 0; when && i < when->count; i++)
        if (step[i] >= memory->total)
            return err_set(err, "'%s' names step %" PRId64 " of %" PRId64,
                           when->name, step[i], memory->total);
    return 0;
}

static int
judge_betas(const struct sample_array *t, struct err *err)
{
    const double *beta = t->data;

    for (size_t i = 0; i < t->count; i++)
        if (!(beta[i] >= 0) || beta[i] > 1e9)
            return err_set(err, "'%s' has a beta of %g", t->name, beta[i]);
    return 0;
}

static int
load_bank(struct sample_memory *memory, struct list *list)
{
    const size_t size = memory->size;
    const struct sample_array *rows, *when, *then, *ids = NULL, *queue = NULL;
    const struct sample_array *beta;
    size_t n = 0;

    rows = find(list, SAMPLE_BANK, DTYPE_F4, 1, 2, 0, 0);
    if (!rows)
        return list->rc;
    if (rows->shape[0] % size)
        list->rc = err_set(list->err, "'%s' has %zu rows for %zu samples",
                           SAMPLE_BANK, rows->shape[0], size);
    when = find(list, SAMPLE_BANK_WHEN, DTYPE_I8, 0, 1, rows->shape[0], 0);
    then = find(list, SAMPLE_BANK_QUEUE_WHEN, DTYPE_I8, 1, 1, 0, 0);
    if (then) {
        n = then->count;
        ids = find(list, SAMPLE_BANK_QUEUE_IDS, DTYPE_I8, 0, 1, n, 0);
        queue =
            find(list, SAMPLE_BANK_QUEUE, DTYPE_F4, 0, 2, n, rows->shape[1]);
    }
    beta = find(list, SAMPLE_BETA, DTYPE_F8, 0, 1, 0, 0);
    if (beta && beta->count > SAMPLE_HORIZON_MAX)
        list->rc = err_set(list->err, "'%s' has %zu numbers, at most %d",
                           SAMPLE_BETA, beta->count, SAMPLE_HORIZON_MAX);
    if (list->rc || judge_betas(beta, list->err) ||
        judge_steps(memory, when, list->err) ||
        judge_steps(memory, then, list->err))
        return -1;
    memory->n_beta = beta->count;
    memcpy(memory->beta, beta->data, beta->count * sizeof *memory->beta);
    sample_bank_init(&memory->bank, size, rows->shape[0] / size,
                     rows->shape[1]);
    return sample_bank_load(&memory->bank, rows->data, when->data, n,
                            n ? then->data : NULL, n ? ids->data : NULL,
                            n ? queue->data : NULL, list->err);
}

int
sample_memory_load(struct sample_memory *memory, size_t n,
                   const struct sample_array *array, struct err *err)
{
    struct list list = {n, array, err, 0};
    struct sample_memory loaded;
    const struct sample_array *total;

    sample_memory_init(&loaded, memory->size);
    total = find(&list, SAMPLE_TOTAL, DTYPE_I8, 1, 1, 1, 0);
    if (total)
        loaded.total = *(const int64_t *)total->data;
    if (!list.rc && (loaded.total < 0 || loaded.total > total_max))
        list.rc = err_set(err, "'%s' is %" PRId64, total->name, loaded.total);
    if (list.rc || load_chains(&loaded, &list) || load_bank(&loaded, &list)) {
        sample_memory_release(&loaded);
        return -1;
    }
    sample_memory_release(memory);
    *memory = loaded;
    return 0;
}
