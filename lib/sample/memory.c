#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sample/memory.h"

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

void
sample_memory_keep(struct sample_memory *memory, size_t views, size_t v,
                   size_t b, const int64_t *ids, const int64_t *variants,
                   const struct sample_state *state, const float *score)
{
    struct sample_chains *chains = &memory->chains;

    if (!chains->state)
        sample_chains_init(chains, memory->size, views);
    sample_chains_put(chains, v, b, ids, variants, state, score);
    memory->scored |= score != NULL;
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
sample_memory_views(const struct wire_variants *variants, int chains)
{
    return chains && variants->augmentations ? (size_t)variants->augmentations
                                             : 1;
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
                   const struct wire_pairs *p)
{
    const size_t b = p->n, d = p->dim;
    const int64_t *variant = bank->views > 1 ? p->variants.variant : NULL;
    const int64_t *view = bank->views > 1 ? p->of_extra.view : NULL;

    for (size_t r = 0; r < (variant ? p->n_views * b : b); r++)
        feed(bank, when, p->ids[r % b], variant ? variant[r] : 0, p->z + r * d);
    for (size_t e = 0; e < p->n_extra; e++)
        feed(bank, when, p->extra_ids[e], view ? view[e] : 0,
             p->extra_z + e * d);
}

void
sample_memory_push(struct sample_memory *memory, const struct wire_pairs *pairs,
                   int chains)
{
    const size_t views = sample_memory_views(&pairs->variants, chains);
    struct sample_bank *bank = &memory->bank;

    sample_memory_fit(memory, views);
    if (!bank->rows)
        sample_bank_init(bank, memory->size, views, pairs->dim);
    REQUIRE(bank->dim == pairs->dim);
    sample_memory_feed(bank, memory->total, pairs);
    if (memory->n_beta == SAMPLE_HORIZON_MAX)
        forget_betas(memory, SAMPLE_HORIZON_MAX - 1);
    memory->beta[memory->n_beta++] = pairs->beta;
}

/* When betas are pushed the step is `total`, which is counted up then. */
static int64_t
first_beta(const struct sample_memory *memory)
{
    return memory->total - (int64_t)memory->n_beta;
}

struct sample_staleness
sample_memory_advance(struct sample_memory *memory, int64_t to)
{
    const int64_t first = first_beta(memory);

    if (memory->n_beta && to > first)
        forget_betas(memory,
                     memory->total > to ? (size_t)(memory->total - to) : 1);
    return sample_bank_advance(&memory->bank, to);
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

/* Adds a tensor of `rank` sizes. */
static void
add(struct wire_tensor *tensor, size_t *n, const char *name,
    enum wire_dtype dtype, const void *data, size_t rank, ...)
{
    struct wire_tensor *t = &tensor[(*n)++];
    va_list sizes;

    *t = (struct wire_tensor){
        .dtype = dtype, .rank = rank, .count = 1, .data = data};
    snprintf(t->name, sizeof t->name, "%s", name);
    va_start(sizes, rank);
    for (size_t i = 0; i < rank; i++)
        t->count *= t->shape[i] = va_arg(sizes, size_t);
    va_end(sizes);
}

size_t
sample_memory_list(const struct sample_memory *memory, struct wire_tensor *t)
{
    const struct sample_chains *chains = &memory->chains;
    const struct sample_bank *bank = &memory->bank;
    const size_t size = memory->size, views = chains->views, dim = bank->dim;
    const size_t rows = size * bank->views;
    size_t n = 0;

    add(t, &n, SAMPLE_TOTAL, WIRE_I8, &memory->total, 1, (size_t)1);
    if (chains->state)
        add(t, &n, SAMPLE_CHAINS, WIRE_I8, chains->state, 3, size, views,
            (size_t)2);
    if (memory->scored)
        add(t, &n, SAMPLE_SCORES, WIRE_F4, chains->score, 2, size, views);
    if (!bank->rows)
        return n;
    add(t, &n, SAMPLE_BANK, WIRE_F4, bank->rows, 2, rows, dim);
    add(t, &n, SAMPLE_BANK_WHEN, WIRE_I8, bank->when, 1, rows);
    add(t, &n, SAMPLE_BETA, WIRE_F8, memory->beta, 1, memory->n_beta);
    if (!bank->n)
        return n;
    add(t, &n, SAMPLE_BANK_QUEUE_WHEN, WIRE_I8, bank->queue_when, 1, bank->n);
    add(t, &n, SAMPLE_BANK_QUEUE_IDS, WIRE_I8, bank->queue_ids, 1, bank->n);
    add(t, &n, SAMPLE_BANK_QUEUE, WIRE_F4, bank->queue_rows, 2, bank->n, dim);
    return n;
}

/* A list that is read; the first fault is kept. */
struct list {
    size_t n;
    const struct wire_tensor *tensor;
    struct err *err;
    int rc;
};

/*
 * The tensor of that name, or NULL: then the fault is noted, unless it may be
 * missing.  Sizes of 0 are free, but a tensor is never empty.
 */
static const struct wire_tensor *
find(struct list *list, const char *name, enum wire_dtype dtype, int optional,
     size_t rank, size_t first, size_t second)
{
    const size_t want[] = {first, second, 2};
    const struct wire_tensor *t = NULL;
    int fits;

    for (size_t i = 0; i < list->n && !t; i++)
        if (!strcmp(list->tensor[i].name, name))
            t = &list->tensor[i];
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
    const struct wire_tensor *chain, *score;

    chain = find(list, SAMPLE_CHAINS, WIRE_I8, 1, 3, size, 0);
    if (!chain)
        return list->rc;
    score = find(list, SAMPLE_SCORES, WIRE_F4, 1, 2, size, chain->shape[1]);
    if (list->rc)
        return -1;
    sample_chains_init(&memory->chains, size, chain->shape[1]);
    memory->scored = score != NULL;
    return sample_chains_load(&memory->chains, chain->data,
                              score ? score->data : NULL, list->err);
}

/* No step can have written what the steps so far have not. */
static int
judge_steps(const struct sample_memory *memory, const struct wire_tensor *when,
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
judge_betas(const struct wire_tensor *t, struct err *err)
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
    const struct wire_tensor *rows, *when, *then, *ids = NULL, *queue = NULL;
    const struct wire_tensor *beta;
    size_t n = 0;

    rows = find(list, SAMPLE_BANK, WIRE_F4, 1, 2, 0, 0);
    if (!rows)
        return list->rc;
    if (rows->shape[0] % size)
        list->rc = err_set(list->err, "'%s' has %zu rows for %zu samples",
                           SAMPLE_BANK, rows->shape[0], size);
    when = find(list, SAMPLE_BANK_WHEN, WIRE_I8, 0, 1, rows->shape[0], 0);
    then = find(list, SAMPLE_BANK_QUEUE_WHEN, WIRE_I8, 1, 1, 0, 0);
    if (then) {
        n = then->count;
        ids = find(list, SAMPLE_BANK_QUEUE_IDS, WIRE_I8, 0, 1, n, 0);
        queue = find(list, SAMPLE_BANK_QUEUE, WIRE_F4, 0, 2, n, rows->shape[1]);
    }
    beta = find(list, SAMPLE_BETA, WIRE_F8, 0, 1, 0, 0);
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
                   const struct wire_tensor *tensor, struct err *err)
{
    struct list list = {n, tensor, err, 0};
    struct sample_memory loaded;
    const struct wire_tensor *total;

    sample_memory_init(&loaded, memory->size);
    total = find(&list, SAMPLE_TOTAL, WIRE_I8, 1, 1, 1, 0);
    if (total)
        loaded.total = *(const int64_t *)total->data;
    if (!list.rc && (loaded.total < 0 || loaded.total > WIRE_STEP_MAX))
        list.rc = err_set(err, "'%s' is %" PRId64, total->name, loaded.total);
    if (list.rc || load_chains(&loaded, &list) || load_bank(&loaded, &list)) {
        sample_memory_release(&loaded);
        return -1;
    }
    sample_memory_release(memory);
    *memory = loaded;
    return 0;
}
