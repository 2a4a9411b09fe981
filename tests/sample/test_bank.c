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
           bank->when[i] == when;
}

static void
push(struct sample_bank *bank, int64_t when, int64_t id, const float *row)
{
    sample_bank_push(bank, when, 1, &id, row);
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

/* A bank that takes another's table and queue goes on as that one does. */
static void
takes_a_state(void)
{
    struct sample_bank a, b;
    struct err err;

    sample_bank_init(&a, SIZE, 1, DIM);
    sample_bank_init(&b, SIZE, 1, DIM);
    push(&b, 7, 2, up);
    push(&a, 0, 3, right);
    push(&a, 1, 2, up);
    push(&a, 4, 1, left);
    sample_bank_advance(&a, 0);
    T(!sample_bank_load(&b, a.rows, a.when, a.n, a.queue_when, a.queue_ids,
                        a.queue_rows, &err),
      "a state is taken");
    T(b.known == 1 && b.n == 2, "what was there before is gone");
    push(&a, 5, 0, up);
    push(&b, 5, 0, up);
    for (int64_t to = 1; to < 6; to++) {
        sample_bank_advance(&a, to);
        sample_bank_advance(&b, to);
    }
    T(!memcmp(a.rows, b.rows, SIZE * DIM * sizeof *a.rows) &&
          !memcmp(a.when, b.when, SIZE * sizeof *a.when) && !b.n &&
          a.known == b.known,
      "both go on alike");
    sample_bank_release(&a);
    sample_bank_release(&b);
}

static void
refuses_what_is_wrong(void)
{
    const int64_t ids[2] = {4, SIZE}, minus[1] = {-1}, steps[2] = {3, 2};
    const int64_t when[SIZE] = {-1, 0, 1, -1, 2};
    const int64_t before[SIZE] = {-1, 0, -2, 0, 0};
    float rows[SIZE * DIM] = {0}, bad[SIZE * DIM] = {0};
    struct sample_bank bank;
    struct err err;

    bad[3] = NAN;
    sample_bank_init(&bank, SIZE, 1, DIM);
    push(&bank, 1, 2, up);
    T(sample_bank_load(&bank, rows, when, 2, (int64_t[]){1, 2}, ids, rows,
                       &err) &&
          strstr(err.msg, "row 5"),
      "a sample that does not exist");
    T(sample_bank_load(&bank, rows, when, 1, when + 1, minus, rows, &err) &&
          strstr(err.msg, "row -1"),
      "nor that one");
    T(sample_bank_load(&bank, rows, when, 2, steps, (int64_t[]){0, 0}, rows,
                       &err) &&
          strstr(err.msg, "order"),
      "a queue out of order");
    T(sample_bank_load(&bank, rows, when, 1, minus, ids, rows, &err),
      "a queue from before the first step");
    T(sample_bank_load(&bank, rows, before, 0, NULL, NULL, NULL, &err) &&
          strstr(err.msg, "row 2 is of step -2"),
      "a row from before the first step");
    T(sample_bank_load(&bank, bad, when, 0, NULL, NULL, NULL, &err) &&
          sample_bank_load(&bank, rows, when, 2, when + 1, (int64_t[]){4, 0},
                           bad, &err),
      "numbers that are none");
    T(bank.n == 1 && !bank.known && bank.when[1] == -1,
      "and nothing has changed");
    sample_bank_release(&bank);
}

int
main(void)
{
    updates_wait();
    takes_a_state();
    refuses_what_is_wrong();
    return t_done();
}
