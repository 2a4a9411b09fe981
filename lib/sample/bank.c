#include <math.h>
#include <string.h>

#include "num/vec.h"
#include "sample/bank.h"
#include "util/clones.h"
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
        .view = mem_array(rows, sizeof *bank->view),
    };
    for (size_t i = 0; i < rows; i++)
        bank->when[i] = -1;
}

void
sample_bank_release(struct sample_bank *bank)
{
    mem_free(bank->rows, bank->when, bank->slot, bank->view, bank->queue,
             bank->queue_z, bank->taken);
    *bank = (struct sample_bank){0};
}

void
sample_bank_reserve(struct sample_bank *bank, size_t slots, size_t updates)
{
    size_t numbers = bank->room * bank->dim;

    mem_grow(&bank->queue, &bank->room, updates, sizeof *bank->queue);
    // the same capacity, in numbers
    mem_grow(&bank->queue_z, &numbers, bank->room * bank->dim,
             sizeof *bank->queue_z);
    mem_grow(&bank->taken, &bank->slots_room, slots, sizeof *bank->taken);
    if (slots > bank->slots) {
        memset(bank->taken + bank->slots, 0, slots - bank->slots);
        bank->slots = slots;
    }
}

void
sample_bank_restore(struct sample_bank *bank, struct sample_update update,
                    const float *z)
{
    const size_t n = bank->n;

    REQUIRE(update.when >= 0 && (!n || update.when >= bank->queue[n - 1].when));
    REQUIRE(update.row >= 0 && (uint64_t)update.row < bank->size * bank->views);
    REQUIRE(update.slot >= 0);
    sample_bank_reserve(bank, (size_t)update.slot + 1, n + 1);
    REQUIRE(!bank->taken[update.slot]);
    bank->taken[update.slot] = 1;
    bank->queue[n] = update;
    memcpy(bank->queue_z + n * bank->dim, z, bank->dim * sizeof *z);
    bank->n++;
}

void
sample_bank_push(struct sample_bank *bank, int64_t when, int64_t row,
                 struct sample_row_view view, const float *z)
{
    while (bank->lowest < bank->slots && bank->taken[bank->lowest])
        bank->lowest++;
    sample_bank_restore(
        bank, (struct sample_update){when, row, (int64_t)bank->lowest, view},
        z);
}

/* |old - new|^2 / |new|^2, by partial sums as in num_dot(). */
static UTIL_CLONES(double, relative_staleness,
                   (size_t d, const float *old, const float *new),
                   (d, old, new))
{
    double part[8] = {0}, off = 0;
    size_t k = 0;

    for (; k + 8 <= d; k += 8)
        for (size_t j = 0; j < 8; j++) {
            const double apart = (double)old[k + j] - new[k + j];

            part[j] += apart * apart;
        }
    for (; k < d; k++)
        off += ((double)old[k] - new[k]) * ((double)old[k] - new[k]);
    for (size_t j = 0; j < 8; j++)
        off += part[j];
    return off / fmax(num_dot(d, new, new), 1e-24);
}

/* Writes one update into the table. */
static void
renew_row(struct sample_bank *bank, size_t i, struct sample_staleness *sum)
{
    const struct sample_update update = bank->queue[i];
    const size_t d = bank->dim, row = (size_t)update.row;
    const float *new = bank->queue_z + i *d;
    float *old = bank->rows + row * d;

    if (bank->when[row] < 0) {
        bank->known++;
    } else {
        const size_t slot = (size_t)bank->slot[row];

        bank->taken[slot] = 0;
        bank->lowest = slot < bank->lowest ? slot : bank->lowest;
        sum->renewed++;
        sum->mean += relative_staleness(d, old, new);
        sum->age += (double)(update.when - bank->when[row]);
    }
    memcpy(old, new, d * sizeof *old);
    bank->when[row] = update.when;
    bank->slot[row] = update.slot;
    bank->view[row] = update.view;
}

/* Takes the first n updates off the queue. */
static void
drop_updates(struct sample_bank *bank, size_t n)
{
    const size_t left = bank->n - n;

    bank->n = left;
    if (!n || !left)
        return;
    memmove(bank->queue, bank->queue + n, left * sizeof *bank->queue);
    memmove(bank->queue_z, bank->queue_z + n * bank->dim,
            left * bank->dim * sizeof *bank->queue_z);
}

struct sample_staleness
sample_bank_advance(struct sample_bank *bank, int64_t to)
{
    struct sample_staleness sum = {0};
    size_t n = 0;

    for (; n < bank->n && bank->queue[n].when <= to; n++)
        renew_row(bank, n, &sum);
    drop_updates(bank, n);
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
    memcpy(bank->view, from->view, rows * sizeof *bank->view);
    bank->known = from->known;
    sample_bank_reserve(bank, from->slots, n);
    if (from->slots)
        memcpy(bank->taken, from->taken, from->slots);
    bank->n = n;
    if (n) {
        memcpy(bank->queue, from->queue, n * sizeof *bank->queue);
        memcpy(bank->queue_z, from->queue_z,
               n * from->dim * sizeof *bank->queue_z);
    }
}
