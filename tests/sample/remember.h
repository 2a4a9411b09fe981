#pragma once

/* What a trainer does with the tables of a memory, and whether two memories say
 * the same. */
#include <string.h>

#include "sample/memory.h"

/* Writes what the last step has written into a store. */
static inline void
remember(struct sample_store *store, const char *sampler,
         const struct sample_memory *memory)
{
    struct table_rows rows[SAMPLE_MEMORY_TABLES];
    const size_t n = sample_memory_rows(memory, rows);
    struct err err;

    REQUIRE(!sample_store_check(store, n, rows, &err));
    sample_store_write(store, sampler, n, rows);
}

static inline int
same_bytes(const void *a, const void *b, size_t n)
{
    return !n || !memcmp(a, b, n);
}

static inline int
same_chains(const struct sample_chains *a, const struct sample_chains *b)
{
    const size_t n = a->size * a->views;

    return a->size == b->size && a->views == b->views &&
           same_bytes(a->state, b->state, n * sizeof *a->state) &&
           same_bytes(a->score, b->score, n * sizeof *a->score);
}

static inline int
same_banks(const struct sample_bank *a, const struct sample_bank *b)
{
    const size_t rows = a->size * a->views, d = a->dim, n = a->n;
    int same = a->size == b->size && a->views == b->views && d == b->dim &&
               n == b->n && a->known == b->known && a->slots == b->slots &&
               same_bytes(a->rows, b->rows, rows * d * sizeof *a->rows) &&
               same_bytes(a->when, b->when, rows * 8) &&
               same_bytes(a->view, b->view, rows * sizeof *a->view) &&
               same_bytes(a->taken, b->taken, a->slots) &&
               same_bytes(a->queue, b->queue, n * sizeof *a->queue) &&
               same_bytes(a->queue_z, b->queue_z, n * d * sizeof *a->queue_z);

    for (size_t i = 0; same && i < rows; i++)
        same = a->when[i] < 0 || a->slot[i] == b->slot[i];
    return same;
}

static inline int
same_memories(const struct sample_memory *a, const struct sample_memory *b)
{
    const size_t h = a->form.horizon;

    return a->total == b->total && h == b->form.horizon &&
           same_chains(&a->chains, &b->chains) &&
           same_banks(&a->bank, &b->bank) &&
           same_bytes(a->beta, b->beta, h * sizeof *a->beta);
}
