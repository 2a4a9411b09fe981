#include <inttypes.h>
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
    };
    for (size_t i = 0; i < rows; i++)
        bank->when[i] = -1;
}

void
sample_bank_release(struct sample_bank *bank)
{
    free(bank->rows);
    free(bank->when);
    free(bank->queue_when);
    free(bank->queue_ids);
    free(bank->queue_rows);
    *bank = (struct sample_bank){0};
}

/* Room for n updates in the queue. */
static void
make_room(struct sample_bank *bank, size_t n)
{
    size_t ids = bank->room, numbers = bank->room * bank->dim;

    mem_grow(&bank->queue_when, &bank->room, n, sizeof *bank->queue_when);
    // as much as that has now: they grow by themselves otherwise
    mem_grow(&bank->queue_ids, &ids, bank->room, sizeof *bank->queue_ids);
    mem_grow(&bank->queue_rows, &numbers, bank->room * bank->dim,
             sizeof *bank->queue_rows);
}

void
sample_bank_push(struct sample_bank *bank, int64_t when, size_t n,
                 const int64_t *ids, const float *rows)
{
    const size_t old = bank->n;

    REQUIRE(when >= 0 && (!old || when >= bank->queue_when[old - 1]));
    make_room(bank, old + n);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(ids[i] >= 0 && (uint64_t)ids[i] < bank->size * bank->views);
        bank->queue_when[old + i] = when;
        bank->queue_ids[old + i] = ids[i];
    }
    memcpy(bank->queue_rows + old * bank->dim, rows,
           n * bank->dim * sizeof *rows);
    bank->n += n;
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

/* Write one update into the table. */
static void
renew(struct sample_bank *bank, size_t i, struct sample_staleness *sum)
{
    const size_t d = bank->dim, id = (size_t)bank->queue_ids[i];
    const float *new = bank->queue_rows + i *d;
    float *old = bank->rows + id * d;

    if (bank->when[id] < 0) {
        bank->known++;
    } else {
        sum->renewed++;
        sum->mean += staleness(d, old, new);
        sum->age += (double)(bank->queue_when[i] - bank->when[id]);
    }
    memcpy(old, new, d * sizeof *old);
    bank->when[id] = bank->queue_when[i];
}

struct sample_staleness
sample_bank_advance(struct sample_bank *bank, int64_t to)
{
    struct sample_staleness sum = {0};
    size_t n = 0, left;

    for (; n < bank->n && bank->queue_when[n] <= to; n++)
        renew(bank, n, &sum);
    left = bank->n - n;
    if (n && left) {
        memmove(bank->queue_when, bank->queue_when + n,
                left * sizeof *bank->queue_when);
        memmove(bank->queue_ids, bank->queue_ids + n,
                left * sizeof *bank->queue_ids);
        memmove(bank->queue_rows, bank->queue_rows + n * bank->dim,
                left * bank->dim * sizeof *bank->queue_rows);
    }
    bank->n = left;
    if (sum.renewed) {
        sum.mean /= (double)sum.renewed;
        sum.age /= (double)sum.renewed;
    }
    return sum;
}

/* Say what is wrong with a queue from outside. */
static int
queue_check(const struct sample_bank *bank, size_t n, const int64_t *when,
            const int64_t *ids, struct err *err)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0 || (uint64_t)ids[i] >= bank->size * bank->views)
            return err_set(err, "the queue of the bank names row %" PRId64,
                           ids[i]);
        if (when[i] < (i ? when[i - 1] : 0))
            return err_set(err, "the queue of the bank is out of order");
    }
    return 0;
}

int
sample_bank_load(struct sample_bank *bank, const float *rows,
                 const int64_t *when, size_t n, const int64_t *queue_when,
                 const int64_t *queue_ids, const float *queue_rows,
                 struct err *err)
{
    const size_t all = bank->size * bank->views;
    size_t known = 0;

    for (size_t i = 0; i < all; i++) {
        if (when[i] < -1)
            return err_set(err, "the bank's row %zu is of step %" PRId64, i,
                           when[i]);
        known += when[i] >= 0;
    }
    if (queue_check(bank, n, queue_when, queue_ids, err))
        return -1;
    if (!num_finite(all * bank->dim, rows) ||
        !num_finite(n * bank->dim, queue_rows))
        return err_set(err, "a number of the bank is not finite");
    memcpy(bank->rows, rows, all * bank->dim * sizeof *rows);
    memcpy(bank->when, when, all * sizeof *when);
    bank->known = known;
    bank->n = 0;
    for (size_t i = 0; i < n; i++)
        sample_bank_push(bank, queue_when[i], 1, queue_ids + i,
                         queue_rows + i * bank->dim);
    return 0;
}
