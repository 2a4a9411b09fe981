#include <string.h>

#include "sample/bank.h"
#include "t.h"

enum { SIZE = 5, DIM = 2 };

static const float right[DIM] = {1, 0}, up[DIM] = {0, 1}, left[DIM] = {-1, 0};

static int
row_is(const struct sample_bank *bank, size_t i, const float *want,
       int64_t when)
{
    return !memcmp(bank->rows + i * DIM, want, DIM * sizeof *want) &&
           bank->when[i] == when &&
           (when < 0 ||
            (bank->view[i].view == (int32_t)i && bank->view[i].epoch == when));
}

static void
push(struct sample_bank *bank, int64_t when, int64_t id, const float *row)
{
    sample_bank_push(bank, when, id,
                     (struct sample_row_view){(int32_t)id, (int32_t)when}, row);
}

static void
updates_wait(void)
{
    static const float none[DIM] = {0, 0};
    struct sample_staleness s;
    struct sample_bank bank;

    sample_bank_init(&bank, SIZE, 1, DIM);
    push(&bank, 0, 3, right);
    push(&bank, 2, 3, up);
    push(&bank, 2, 1, left);
    push(&bank, 3, 3, left);
    T(bank.n == 4 && !bank.known && row_is(&bank, 3, none, -1),
      "what is pushed waits");
    s = sample_bank_advance(&bank, 1);
    T(bank.n == 3 && bank.known == 1 && row_is(&bank, 3, right, 0) &&
          s.renewed == 0 && s.mean == 0,
      "to step 1: that of step 0");
    s = sample_bank_advance(&bank, 2);
    T(bank.n == 1 && bank.known == 2 && row_is(&bank, 3, up, 2) &&
          row_is(&bank, 1, left, 2),
      "to step 2: those of step 2");
    T(s.renewed == 1 && fabs(s.mean - 2) < 1e-12 && s.age == 2,
      "one renewed after two steps, |old - new|^2 = 2");
    s = sample_bank_advance(&bank, 2);
    T(bank.n == 1 && s.renewed == 0, "again: nothing");
    sample_bank_advance(&bank, 9);
    T(!bank.n && row_is(&bank, 3, left, 3), "to the end: all");
    push(&bank, 9, 0, up);
    push(&bank, 9, 0, right);
    sample_bank_advance(&bank, 9);
    T(row_is(&bank, 0, right, 9), "of one step, the last counts");
    sample_bank_release(&bank);
    sample_bank_release(&bank);
}

/* The slot of the update that was pushed last. */
static int64_t
slot(const struct sample_bank *bank)
{
    return bank->queue[bank->n - 1].slot;
}

/* An update has a slot to itself from its push until a later one of its row
 * stands in the table. */
static void
slots_are_used_again(void)
{
    struct sample_bank bank;

    sample_bank_init(&bank, SIZE, 1, DIM);
    push(&bank, 0, 3, right);
    push(&bank, 0, 4, right);
    push(&bank, 1, 3, up);
    T(slot(&bank) == 2 && bank.slots == 3, "each update has its own");
    sample_bank_advance(&bank, 0);
    push(&bank, 2, 3, left);
    T(slot(&bank) == 3,
      "an update of a sample that will be renewed has its own slot");
    sample_bank_advance(&bank, 1);
    push(&bank, 3, 1, up);
    T(slot(&bank) == 0, "the slot of an earlier update becomes free");
    push(&bank, 3, 0, up);
    T(slot(&bank) == 4 && bank.slots == 5, "another is made where none is");
    sample_bank_advance(&bank, 9);
    push(&bank, 9, 2, up);
    T(slot(&bank) == 2, "the lowest free one comes first");
    for (int64_t step = 10; step < 200; step++) {
        push(&bank, step, step % SIZE, up);
        sample_bank_advance(&bank, step - 2);
    }
    T(bank.slots == SIZE + 3, "%zu slots for %d rows and 3 that wait",
      bank.slots, SIZE);
    sample_bank_release(&bank);
}

/* A copy goes on as the first one does. */
static void
goes_on_as_a_copy(void)
{
    struct sample_bank a, b;

    sample_bank_init(&a, SIZE, 1, DIM);
    push(&a, 0, 3, right);
    push(&a, 1, 2, up);
    push(&a, 4, 1, left);
    sample_bank_advance(&a, 0);
    sample_bank_copy(&b, &a);
    T(b.known == 1 && b.n == 2 && b.slots == 3, "a table and a queue");
    for (int64_t to = 1; to < 6; to++) {
        push(&a, 4 + to, 3, up);
        push(&b, 4 + to, 3, up);
        sample_bank_advance(&a, to);
        sample_bank_advance(&b, to);
    }
    T(!memcmp(a.rows, b.rows, SIZE * DIM * sizeof *a.rows) &&
          !memcmp(a.when, b.when, SIZE * sizeof *a.when) && a.n == b.n &&
          !memcmp(a.queue, b.queue, a.n * sizeof *a.queue) &&
          a.known == b.known,
      "both go on alike");
    sample_bank_release(&a);
    sample_bank_release(&b);
}

int
main(void)
{
    updates_wait();
    slots_are_used_again();
    goes_on_as_a_copy();
    return t_done();
}
