#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "sample/bank.h"
#include "util/mem.h"

void
sample_bank_init(struct sample_bank *bank, size_t size, size_t views,
                 size_t dim)
{
    const size_t rows = size * views;

    *bank = (struct sample_bank){
        .size = size,
        .views = views,
        .dim = dim,
        .rows = mem_aligned(rows * dim, sizeof *bank->rows),
        .when = mem_array(rows, sizeof *bank->when),
        .slot = mem_array(rows, sizeof *bank->slot),
        .shown = mem_array(rows, sizeof *bank->shown),
    };
    for (size_t i = 0; i < rows; i++)
        bank->when[i] = -1;
}

void
sample_bank_release(struct sample_bank *bank)
{
    free(bank->rows);
    free(bank->when);
    free(bank->slot);
    free(bank->shown);
    free(bank->queue_when);
    free(bank->queue_rows);
    free(bank->queue_slots);
    free(bank->queue_shown);
    free(bank->queue_z);
    free(bank->taken);
    *bank = (struct sample_bank){0};
}

/* Room for n updates in the queue. */
static void
make_room(struct sample_bank *bank, size_t n)
{
    size_t rows = bank->room, slots = rows, shown = rows,
           numbers = rows * bank->dim;

    mem_grow(&bank->queue_when, &bank->room, n, sizeof *bank->queue_when);
    // as much as that has now: they grow by themselves otherwise
    mem_grow(&bank->queue_rows, &rows, bank->room, sizeof *bank->queue_rows);
    mem_grow(&bank->queue_slots, &slots, bank->room, sizeof *bank->queue_slots);
    mem_grow(&bank->queue_shown, &shown, bank->room, sizeof *bank->queue_shown);
    mem_grow(&bank->queue_z, &numbers, bank->room * bank->dim,
             sizeof *bank->queue_z);
}

void
sample_bank_reserve(struct sample_bank *bank, size_t n)
{
    if (n <= bank->slots)
        return;
    mem_grow(&bank->taken, &bank->slots_room, n, sizeof *bank->taken);
    memset(bank->taken + bank->slots, 0, n - bank->slots);
    bank->slots = n;
}

void
sample_bank_restore(struct sample_bank *bank, int64_t when, int64_t row,
                    int64_t slot, struct sample_shown shown, const float *z)
{
    const size_t n = bank->n;

    REQUIRE(when >= 0 && (!n || when >= bank->queue_when[n - 1]));
    REQUIRE(row >= 0 && (uint64_t)row < bank->size * bank->views);
    sample_bank_reserve(bank, (size_t)slot + 1);
    REQUIRE(slot >= 0 && !bank->taken[slot]);
    bank->taken[slot] = 1;
    make_room(bank, n + 1);
    bank->queue_when[n] = when;
    bank->queue_rows[n] = row;
    bank->queue_slots[n] = slot;
    bank->queue_shown[n] = shown;
    memcpy(bank->queue_z + n * bank->dim, z, bank->dim * sizeof *z);
    bank->n++;
}

void
sample_bank_push(struct sample_bank *bank, int64_t when, int64_t row,
                 struct sample_shown shown, const float *z)
{
    while (bank->lowest < bank->slots && bank->taken[bank->lowest])
        bank->lowest++;
    sample_bank_restore(bank, when, row, (int64_t)bank->lowest, shown, z);
}

/* |old - new|^2 / |new|^2 */
static double
staleness(size_t d, const float *old, const float *new)
{
    double off = 0;

    for (size_t k = 0; k < d; k++)
        off += ((double)old[k] - new[k]) * ((double)old[k] - new[k]);
    return off / fmax(num_dot(d, new, new), 1e-24);
}

static void
free_slot(struct sample_bank *bank, size_t slot)
{
    bank->taken[slot] = 0;
    bank->lowest = slot < bank->lowest ? slot : bank->lowest;
}

/* Write one update into the table. */
static void
renew(struct sample_bank *bank, size_t i, struct sample_staleness *sum)
{
    const size_t d = bank->dim, row = (size_t)bank->queue_rows[i];
    const float *new = bank->queue_z + i *d;
    float *old = bank->rows + row * d;

    if (bank->when[row] < 0) {
        bank->known++;
    } else {
        free_slot(bank, (size_t)bank->slot[row]);
        sum->renewed++;
        sum->mean += staleness(d, old, new);
        sum->age += (double)(bank->queue_when[i] - bank->when[row]);
    }
    memcpy(old, new, d * sizeof *old);
    bank->when[row] = bank->queue_when[i];
    bank->slot[row] = bank->queue_slots[i];
    bank->shown[row] = bank->queue_shown[i];
}

/* Takes the first n updates off the queue. */
static void
drop(struct sample_bank *bank, size_t n)
{
    const size_t left = bank->n - n, bytes = left * sizeof(int64_t);

    bank->n = left;
    if (!n || !left)
        return;
    memmove(bank->queue_when, bank->queue_when + n, bytes);
    memmove(bank->queue_rows, bank->queue_rows + n, bytes);
    memmove(bank->queue_slots, bank->queue_slots + n, bytes);
    memmove(bank->queue_shown, bank->queue_shown + n,
            left * sizeof *bank->queue_shown);
    memmove(bank->queue_z, bank->queue_z + n * bank->dim,
            left * bank->dim * sizeof *bank->queue_z);
}

struct sample_staleness
sample_bank_advance(struct sample_bank *bank, int64_t to)
{
    struct sample_staleness sum = {0};
    size_t n = 0;

    for (; n < bank->n && bank->queue_when[n] <= to; n++)
        renew(bank, n, &sum);
    drop(bank, n);
    if (sum.renewed) {
        sum.mean /= (double)sum.renewed;
        sum.age /= (double)sum.renewed;
    }
    return sum;
}

void
sample_bank_copy(struct sample_bank *bank, const struct sample_bank *from)
{
    const size_t rows = from->size * from->views, n = from->n;

    sample_bank_init(bank, from->size, from->views, from->dim);
    memcpy(bank->rows, from->rows, rows * from->dim * sizeof *bank->rows);
    memcpy(bank->when, from->when, rows * sizeof *bank->when);
    memcpy(bank->slot, from->slot, rows * sizeof *bank->slot);
    memcpy(bank->shown, from->shown, rows * sizeof *bank->shown);
    bank->known = from->known;
    sample_bank_reserve(bank, from->slots);
    if (from->slots)
        memcpy(bank->taken, from->taken, from->slots);
    for (size_t i = 0; i < n; i++) {
        bank->taken[from->queue_slots[i]] = 0;
        sample_bank_restore(bank, from->queue_when[i], from->queue_rows[i],
                            from->queue_slots[i], from->queue_shown[i],
                            from->queue_z + i * from->dim);
    }
}
