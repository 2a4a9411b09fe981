#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/memory.h"
#include "t.h"
#include "util/mem.h"

#include "remember.h"

enum { N = 6, A = 3, V = 2, B = 2, D = 2, R = 1, Q = V * B + R, H = 2 };

static const int64_t ids[B] = {4, 1}, extra_ids[R] = {5}, extra_view[R] = {1};
static const int64_t variants[V * B] = {2, 0, 1, 1};
static const struct sample_state state[V * B] = {
    {1, 0, 0}, {0, 2, 0}, {3, 1, 0}, {5, 0, 0}};
static const float score[V * B] = {1, 2, 3, 4};

static const struct sample_memory_form with_chains = {.size = N,
                                                      .chains = 1,
                                                      .scores = 1,
                                                      .horizon = H,
                                                      .most =
                                                          SAMPLE_STORE_MOST},
                                       without = {.size = N,
                                                  .horizon = H,
                                                  .most = SAMPLE_STORE_MOST};

static struct arena written; /* of the last step */

/* What was asked for a step. */
static struct batch
step_of(int step)
{
    static const float z[V * B * D] = {1, 0, 0, 1, -1, 0, 0, -1};
    static const float extra[R * D] = {0.6f, 0.8f};

    return (struct batch){
        .beta = 2 + step,
        .v = V,
        .b = B,
        .extra.n = R,
        .dim = D,
        .fixed = A,
        .ids = ids,
        .view_of = variants,
        .extra.ids = extra_ids,
        .extra.view = extra_view,
        .z = z,
        .extra.z = extra,
    };
}

/* One step, kept in a store if there is one. */
static void
follow(struct sample_memory *memory, struct sample_store *store,
       const struct batch *step)
{
    const int chains = memory->form.chains;

    arena_begin(&written);
    sample_memory_step(memory, step, chains ? state : NULL,
                       memory->form.scores ? score : NULL, &written);
    if (store)
        remember(store, "x", memory);
}

/* Two steps; the first is in the table, the second in the queue. */
static void
live(struct sample_memory *memory, struct sample_store *store,
     const struct sample_memory_form *form)
{
    sample_memory_init(memory, form, 0);
    if (store)
        sample_store_init(store);
    for (int i = 0; i < 2; i++) {
        const struct batch step = step_of(i);

        follow(memory, store, &step);
    }
}

/* Row `row` of the bank is this, written in step 0. */
static int
row_is(const struct sample_memory *memory, size_t row, float x, float y)
{
    const float *at = memory->bank.rows + D * row;

    return at[0] == x && at[1] == y && memory->bank.when[row] == 0;
}

/* A bank of chains with fixed views: whatever was encoded has its own row. */
static void
a_row_of_each_view(void)
{
    struct batch step = step_of(2);
    struct sample_memory a;

    live(&a, NULL, &with_chains);
    T(a.bank.views == A && a.bank.known == V * B + R && a.bank.n == V * B + R,
      "views of the anchors and what came besides");
    T(row_is(&a, 4 * A + 2, 1, 0) && row_is(&a, A, 0, 1) &&
          row_is(&a, 4 * A + 1, -1, 0) && row_is(&a, A + 1, 0, -1) &&
          row_is(&a, 5 * A + 1, 0.6f, 0.8f) && a.bank.when[4 * A] == -1,
      "each is in the row of its view");
    step.extra.view = (int64_t[]){A};
    follow(&a, NULL, &step);
    T(a.bank.n == V * B, "a view that does not exist has no row");
    step.extra.ids = &ids[1];
    step.extra.view = &variants[1];
    follow(&a, NULL, &step);
    T(a.bank.n == V * B && a.bank.queue[0].row == A &&
          a.bank.queue_z[0] == 0.6f,
      "of a row that came twice the last counts");
    sample_memory_release(&a);

    live(&a, NULL, &without);
    T(a.bank.views == 1 && a.bank.known == B + R && row_is(&a, 4, 1, 0),
      "any other bank has the first view of the anchors");
    sample_memory_release(&a);
}

/* A sample that comes twice in a batch has one chain, which the later row
 * leaves; a trainer is told so, even where that is where it stood before. */
static void
a_chain_of_two_rows(void)
{
    static const struct sample_memory_form form = {
        .size = N, .chains = 1, .most = SAMPLE_STORE_MOST};
    static const struct sample_state away[V * B] = {
        {1, 0, 0}, {2, 0, 0}, {3, 1, 0}, {5, 0, 0}};
    struct batch step = step_of(0);
    struct sample_store store;
    struct sample_memory a, b;
    struct err err;

    sample_store_init(&store);
    sample_memory_init(&a, &form, 0);
    sample_memory_init(&b, &form, 0);
    step.ids = (int64_t[]){4, 4};
    step.view_of = (int64_t[]){0, 0, 1, 1};
    for (int i = 0; i < 2; i++) {
        sample_memory_step(&a, &step, i ? away : state, NULL, &written);
        remember(&store, "x", &a);
    }
    T(!sample_memory_load(&b, &store, a.total, &err) && same_memories(&a, &b) &&
          !sample_state_order(&b.chains.state[4 * A], &away[1]),
      "a chain of two rows is kept where the later one left it");
    step.ids = (int64_t[]){4, 4};
    sample_memory_step(&a, &step, state, NULL, &written);
    remember(&store, "x", &a);
    T(!sample_memory_load(&b, &store, a.total, &err) && same_memories(&a, &b),
      "a chain of two rows is written although it is where it was");
    sample_store_release(&store);
    sample_memory_release(&a);
    sample_memory_release(&b);
}

/* What a step writes is what has changed. */
static void
few_rows_a_step(void)
{
    struct table_rows rows[SAMPLE_MEMORY_TABLES];
    struct sample_memory a;
    struct batch step = step_of(0);
    struct sample_state other[V * B];
    size_t n;

    sample_memory_init(&a, &with_chains, 0);
    follow(&a, NULL, &step);
    n = sample_memory_rows(&a, rows);
    T(n == SAMPLE_MEMORY_TABLES && rows[0].n == V * B && rows[1].n == Q &&
          rows[2].n == 1,
      "chains, updates of the bank, a beta");
    T(rows[0].rows == N * A && rows[0].width == 16 && rows[1].rows == Q &&
          rows[1].width == 24 + 4 * D && rows[2].rows == H &&
          rows[2].width == 16,
      "of tables of these shapes");
    T(rows[0].at[0] == 4 * A + 2 && rows[0].at[1] == A,
      "a chain is at its sample and view");
    memcpy(other, state, sizeof other);
    other[2].view = 0;
    sample_memory_step(&a, &step, other, score, &written);
    sample_memory_rows(&a, rows);
    T(rows[0].n == 1 && rows[0].at[0] == 4 * A + 1,
      "a chain that stays is not written again");
    sample_memory_release(&a);

    sample_memory_init(&a, &without, 0);
    follow(&a, NULL, &step);
    T(sample_memory_rows(&a, rows) == 2 && !strcmp(rows[0].name, "bank"),
      "without chains there is no table of them");
    sample_memory_release(&a);
}

static void
betas(void)
{
    struct sample_memory a;

    sample_memory_init(&a, &with_chains, 0);
    T(sample_memory_beta(&a, 3) == 0, "none is known");
    for (int i = 0; i < 4; i++) {
        const struct batch step = step_of(i);

        follow(&a, NULL, &step);
    }
    T(sample_memory_beta(&a, 2) == 4 && sample_memory_beta(&a, 3) == 5,
      "those of the last steps");
    T(sample_memory_beta(&a, 9) == 5 && sample_memory_beta(&a, 1) == 4 &&
          sample_memory_beta(&a, -5) == 4,
      "else that of the nearest");
    sample_memory_release(&a);
}

/* A memory that is loaded from a store is the one that wrote it. */
static void
round_trip(const struct sample_memory_form *form, const char *what)
{
    struct sample_memory a, b;
    struct sample_store store;
    struct err err = {""};
    int same = 1;

    live(&a, &store, form);
    sample_memory_init(&b, form, 0);
    for (int i = 2; i < 9 && same; i++) {
        struct batch step = step_of(i);

        step.extra.n = i % 2;
        same = !sample_memory_load(&b, &store, a.total, &err) &&
               same_memories(&a, &b);
        follow(&a, &store, &step);
    }
    T(same, "%s: as it was, after each step %s", what, err.msg);
    T(!sample_memory_load(&b, &store, a.total + 1, &err) && a.bank.n &&
          !b.bank.n,
      "%s: after a step that was not applied the bank is one further", what);
    sample_memory_release(&a);
    sample_memory_release(&b);
    sample_store_release(&store);
}

/* The bytes of a row of a table. */
static void *
row_of(struct sample_store *store, size_t table, size_t row)
{
    return store->table[table].bytes + row * store->table[table].width;
}

enum { CHAIN, BANK, BETA };

/* Puts a number into a row, or a table out of shape, and loads that. */
static struct sample_store *
begin(struct sample_memory *memory, struct sample_store *store)
{
    struct sample_memory a;

    live(&a, store, &with_chains);
    sample_memory_release(&a);
    sample_memory_init(memory, &with_chains, 7);
    return store;
}

static void
refuses(const char *what, const char *part, struct sample_memory *memory,
        struct sample_store *store, int64_t total)
{
    struct err err = {""};

    T(sample_memory_load(memory, store, total, &err) && strstr(err.msg, part) &&
          memory->total == 7 && !memory->bank.rows,
      "%s: %s", what, err.msg);
    sample_memory_release(memory);
    sample_store_release(store);
}

/* A whole number at an offset of a row is wrong. */
static void
wrong_number(const char *what, const char *part, size_t table, size_t row,
             size_t at, int64_t value, size_t bytes)
{
    struct sample_memory memory;
    struct sample_store store;

    begin(&memory, &store);
    memcpy((char *)row_of(&store, table, row) + at, &value, bytes);
    refuses(what, part, &memory, &store, 2);
}

static void
wrong_tables(void)
{
    struct sample_memory memory;
    struct sample_store store;

    begin(&memory, &store);
    store.table[BANK].name[0] = 'c';
    refuses("no bank", "of 2 steps has no table 'bank'", &memory, &store, 2);
    begin(&memory, &store);
    store.table[CHAIN].name[0] = 'x';
    refuses("no chains", "has no table 'chain'", &memory, &store, 2);
    begin(&memory, &store);
    store.table[store.n] = store.table[0];
    snprintf(store.table[store.n].name, 8, "more");
    store.table[store.n++].bytes = mem_array(1, 1);
    refuses("one table more", "4 tables, want 3", &memory, &store, 2);
    begin(&memory, &store);
    store.table[CHAIN].rows--;
    refuses("a chain less", "17 rows, want one for each view", &memory, &store,
            2);
    begin(&memory, &store);
    store.table[CHAIN].width = 12;
    refuses("narrow chains", "rows of 12 bytes, want 16", &memory, &store, 2);
    begin(&memory, &store);
    store.table[BANK].width = 24;
    refuses("a bank without numbers", "rows of 24 bytes", &memory, &store, 2);
    begin(&memory, &store);
    store.table[BANK].width = 30;
    refuses("half a number", "rows of 30 bytes", &memory, &store, 2);
    begin(&memory, &store);
    store.table[BETA].rows = 1;
    refuses("another horizon", "1 rows, but the horizon is 2 steps", &memory,
            &store, 2);
    begin(&memory, &store);
    memset(store.table[BANK].bytes, 0,
           store.table[BANK].rows * store.table[BANK].width);
    refuses("an empty bank", "no row that was written", &memory, &store, 2);
    begin(&memory, &store);
    refuses("fewer steps than rows say", "not one of 1", &memory, &store, 1);
    begin(&memory, &store);
    refuses("steps below 0", "-1 steps", &memory, &store, -1);
}

static void
strangers_are_judged(void)
{
    struct sample_memory memory;
    struct sample_store store;
    const float none = NAN;

    wrong_tables();
    wrong_number("a chain at a sample that is not there", "sample 0, view 1",
                 CHAIN, 1, 0, N + 1, 8);
    wrong_number("a chain at a sample below 0", "sample 0, view 1", CHAIN, 1, 0,
                 INT64_MIN, 8);
    wrong_number("a chain at a view that is not there", "sample 4, view 2",
                 CHAIN, 4 * A + 2, 8, A + 1, 4);
    wrong_number("a view of no sample", "sample 0, view 0", CHAIN, 0, 8, 1, 4);
    wrong_number("an update of no sample", "sample 6, view", BANK, 0, 8, N, 8);
    wrong_number("an update of a sample below 0", "sample -1, view", BANK, 0, 8,
                 -1, 8);
    wrong_number("an update of no view", "view 3 of 3", BANK, 0, 16, A, 4);
    wrong_number("of other views than the first", "of 4", BANK, 1, 20, A + 1,
                 4);
    wrong_number("of a step that was not yet", "not one of 2", BANK, 0, 0, 3,
                 8);
    wrong_number("of one below 0", "not one of 2", BANK, 0, 0, INT64_MIN, 8);
    wrong_number("a beta of no step", "invalid beta", BETA, 1, 0, 3, 8);
    wrong_number("a beta that is none", "invalid beta", BETA, 1, 8, -1, 8);
    begin(&memory, &store);
    memcpy((char *)row_of(&store, CHAIN, 4 * A + 2) + 12, &none, 4);
    refuses("a score that is none", "has no score", &memory, &store, 2);
    begin(&memory, &store);
    memcpy((char *)row_of(&store, BANK, 2) + 28, &none, 4);
    refuses("a feature that is none", "in row 2 of 'bank' is not finite",
            &memory, &store, 2);
}

int
main(void)
{
    const struct sample_memory_form no_scores = {.size = N,
                                                 .chains = 1,
                                                 .horizon = H,
                                                 .most = SAMPLE_STORE_MOST},
                                    no_bank = {.size = N,
                                               .chains = 1,
                                               .scores = 1,
                                               .most = SAMPLE_STORE_MOST};
    struct sample_memory a, b;
    struct sample_store store;
    struct err err;

    a_row_of_each_view();
    a_chain_of_two_rows();
    few_rows_a_step();
    betas();
    round_trip(&with_chains, "chains and bank");
    round_trip(&no_scores, "without scores");
    round_trip(&without, "without chains");
    live(&a, &store, &no_bank);
    sample_memory_init(&b, &no_bank, 0);
    T(!sample_memory_load(&b, &store, 2, &err) && same_memories(&a, &b),
      "without bank, as it was");
    sample_memory_release(&a);
    sample_memory_release(&b);
    sample_store_release(&store);
    strangers_are_judged();
    return t_done();
}
