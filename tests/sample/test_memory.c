#include <stdlib.h>
#include <string.h>

#include "sample/memory.h"
#include "t.h"

enum { N = 6, A = 3, V = 2, B = 2, D = 2, R = 1, Q = V * B + R };

static const int64_t ids[B] = {4, 1}, extra_ids[R] = {5}, extra_view[R] = {1};
static const int64_t variants[V * B] = {2, 0, 1, 1};
static const struct sample_state state[V * B] = {
    {1, 0}, {0, 2}, {3, 1}, {5, 0}};
static const float score[V * B] = {1, 2, 3, 4};

/* What was asked for a step. */
static struct sample_step
step_of(int step)
{
    static const float z[V * B * D] = {1, 0, 0, 1, -1, 0, 0, -1};
    static const float extra[R * D] = {0.6f, 0.8f};

    return (struct sample_step){
        .beta = 2 + step,
        .v = V,
        .b = B,
        .extra = R,
        .dim = D,
        .fixed = A,
        .ids = ids,
        .variants = variants,
        .extra_ids = extra_ids,
        .extra_view = extra_view,
        .z = z,
        .extra_z = extra,
    };
}

/* One step with a bank that is two behind; of chains, or not. */
static void
follow(struct sample_memory *memory, const struct sample_step *step, int chains)
{
    const struct sample_update update = {chains ? state : NULL, score, 2};

    sample_memory_step(memory, step, &update);
}

/* Two steps; the first is in the table, the second in the queue. */
static void
live(struct sample_memory *memory, int chains)
{
    sample_memory_init(memory, N);
    for (int i = 0; i < 2; i++) {
        const struct sample_step step = step_of(i);

        follow(memory, &step, chains);
    }
}

static int
same(const struct sample_array *a, const struct sample_array *b, size_t n)
{
    int same = 1;

    for (size_t i = 0; i < n; i++)
        same &= !strcmp(a[i].name, b[i].name) && a[i].count == b[i].count &&
                !memcmp(a[i].data, b[i].data,
                        a[i].count * dtype_about(a[i].dtype)->bytes);
    return same;
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
    struct sample_array list[SAMPLE_MEMORY_ARRAYS];
    struct sample_step step = step_of(2);
    struct sample_memory a, b;
    struct err err = {""};
    size_t n;

    live(&a, 1);
    T(a.bank.views == A && a.bank.known == V * B + R && a.bank.n == V * B + R,
      "views of the anchors and what came besides");
    T(row_is(&a, 4 * A + 2, 1, 0) && row_is(&a, A, 0, 1) &&
          row_is(&a, 4 * A + 1, -1, 0) && row_is(&a, A + 1, 0, -1) &&
          row_is(&a, 5 * A + 1, 0.6f, 0.8f) && a.bank.when[4 * A] == -1,
      "each is in the row of its view");
    n = sample_memory_list(&a, list);
    sample_memory_init(&b, N);
    T(!sample_memory_load(&b, n, list, &err) && b.bank.views == A &&
          b.bank.known == a.bank.known && b.bank.n == a.bank.n,
      "a list of it is taken as it was: %s", err.msg);
    step.extra_view = (int64_t[]){A};
    follow(&b, &step, 1);
    T(b.bank.n == V * B, "a view that does not exist has no row");
    sample_memory_release(&b);

    live(&b, 0);
    T(b.bank.views == 1 && b.bank.known == B + R && row_is(&b, 4, 1, 0),
      "any other bank has the first view of the anchors");
    step = step_of(2);
    follow(&b, &step, 1);
    T(b.bank.views == A && !b.bank.known && b.bank.n == V * B + R,
      "a bank of another form is forgotten");
    sample_memory_release(&a);
    sample_memory_release(&b);
}

static void
round_trip(void)
{
    struct sample_array list[SAMPLE_MEMORY_ARRAYS], back[SAMPLE_MEMORY_ARRAYS];
    struct sample_memory a, b;
    struct err err = {""};
    size_t n;

    live(&a, 1);
    n = sample_memory_list(&a, list);
    T(n == SAMPLE_MEMORY_ARRAYS, "%zu arrays", n);
    T(a.chains.state[4 * A + 2].id == 1 && a.chains.state[4 * A].id == -1,
      "the chain of sample 4, variant 2");
    T(a.n_beta == 2 && sample_memory_beta(&a, 0) == 2 &&
          sample_memory_beta(&a, 1) == 3 && sample_memory_beta(&a, 9) == 3,
      "inverse temperatures");
    T(a.bank.when[5 * A + 1] == 0 && a.bank.n == Q, "a table and a queue");
    sample_memory_init(&b, N);
    T(!sample_memory_load(&b, n, list, &err), "loads: %s", err.msg);
    T(sample_memory_list(&b, back) == n && same(list, back, n) &&
          b.total == 2 && b.scored && b.n_beta == 2 && b.beta[1] == 3,
      "as it was");
    T(!sample_memory_load(&b, 0, NULL, &err) && !b.chains.state &&
          !b.bank.rows && !b.total && sample_memory_list(&b, back) == 1,
      "from nothing: nothing has begun");
    sample_memory_release(&a);
    sample_memory_release(&b);
}

/* Whether all but the array `name` as it is here is taken. */
static void
refused(const char *why, const char *name, struct sample_array instead)
{
    struct sample_array list[SAMPLE_MEMORY_ARRAYS];
    struct sample_memory a, b;
    struct err err = {""};
    size_t n, at = 0;

    live(&a, 1);
    n = sample_memory_list(&a, list);
    while (strcmp(list[at].name, name))
        at++;
    instead.name = list[at].name;
    list[at] = instead;
    sample_memory_init(&b, N);
    b.total = 7;
    T(sample_memory_load(&b, n, list, &err) && b.total == 7 && !b.bank.rows,
      "%s: %s", why, err.msg);
    sample_memory_release(&a);
    sample_memory_release(&b);
}

static void
strangers_are_judged(void)
{
    static const int64_t many[N * A * 2] = {0, N}, total[] = {-1},
                                      later[Q] = {0, 2, 2, 2, 2},
                                      nobody[Q] = {0, 1, N * A};
    static const float row[N * D];

    refused("steps below 0", SAMPLE_TOTAL,
            (struct sample_array){"", DTYPE_I8, 1, {1}, 1, total});
    refused("chains of other samples", SAMPLE_CHAINS,
            (struct sample_array){
                "", DTYPE_I8, 3, {N - 1, A, 2}, (N - 1) * A * 2, many});
    refused("a chain that stands at no view", SAMPLE_CHAINS,
            (struct sample_array){"", DTYPE_I8, 3, {N, A, 2}, N * A * 2, many});
    refused("scores of other views", SAMPLE_SCORES,
            (struct sample_array){"", DTYPE_F4, 2, {N, 2}, N * 2, row});
    refused("a bank of whole numbers", SAMPLE_BANK,
            (struct sample_array){"", DTYPE_I8, 2, {N, D}, N * D, many});
    refused("a bank of half a row a sample", SAMPLE_BANK,
            (struct sample_array){"", DTYPE_F4, 2, {N / 2, D}, N / 2 * D, row});
    refused("a queue without steps", SAMPLE_BANK_QUEUE_WHEN,
            (struct sample_array){"", DTYPE_I8, 1, {0}, 0, later});
    refused("a step that was not yet", SAMPLE_BANK_QUEUE_WHEN,
            (struct sample_array){"", DTYPE_I8, 1, {Q}, Q, later});
    refused("a sample that is not there", SAMPLE_BANK_QUEUE_IDS,
            (struct sample_array){"", DTYPE_I8, 1, {Q}, Q, nobody});
    refused("a shorter queue", SAMPLE_BANK_QUEUE,
            (struct sample_array){"", DTYPE_F4, 2, {2, D}, 2 * D, row});
}

int
main(void)
{
    round_trip();
    a_row_of_each_view();
    strangers_are_judged();
    return t_done();
}
