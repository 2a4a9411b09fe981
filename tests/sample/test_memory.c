#include <stdlib.h>
#include <string.h>

#include "sample/memory.h"
#include "t.h"

enum { N = 6, A = 3, V = 2, B = 2, D = 2, R = 1 };

static const int64_t ids[B] = {4, 1}, extra_ids[R] = {5};
static const int64_t variants[V * B] = {2, 0, 1, 1};
static const struct sample_state state[V * B] = {
    {1, 0}, {0, 2}, {3, 1}, {5, 0}};
static const float score[V * B] = {1, 2, 3, 4};

/* Two steps; the first is in the table, the second in the queue. */
static void
live(struct sample_memory *memory)
{
    const float rows[B * D] = {1, 0, 0, 1}, extra[R * D] = {0.6f, 0.8f};

    sample_memory_init(memory, N);
    for (int step = 0; step < 2; step++) {
        sample_memory_keep(memory, A, V, B, ids, variants, state, score);
        sample_memory_push(memory, D, 2 + step, B, ids, rows, R, extra_ids,
                           extra);
        memory->total++;
    }
    sample_memory_advance(memory, 0);
}

static int
same(const struct wire_tensor *a, const struct wire_tensor *b, size_t n)
{
    int same = 1;

    for (size_t i = 0; i < n; i++)
        same &= !strcmp(a[i].name, b[i].name) && a[i].count == b[i].count &&
                !memcmp(a[i].data, b[i].data,
                        a[i].count * wire_dtype_bytes(a[i].dtype));
    return same;
}

static void
round_trip(void)
{
    struct wire_tensor list[SAMPLE_MEMORY_TENSORS], back[SAMPLE_MEMORY_TENSORS];
    struct sample_memory a, b;
    struct err err = {""};
    size_t n;

    live(&a);
    n = sample_memory_list(&a, list);
    T(n == SAMPLE_MEMORY_TENSORS, "%zu tensors", n);
    T(a.chains.state[4 * A + 2].id == 1 && a.chains.state[4 * A].id == -1,
      "the chain of sample 4, variant 2");
    T(a.n_beta == 2 && sample_memory_beta(&a, 0) == 2 &&
          sample_memory_beta(&a, 1) == 3 && sample_memory_beta(&a, 9) == 3,
      "inverse temperatures");
    T(a.bank.when[5] == 0 && a.bank.n == B + R, "a table and a queue");
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

/* Whether all but the tensor `name` as it is here is taken. */
static void
refused(const char *why, const char *name, struct wire_tensor instead)
{
    struct wire_tensor list[SAMPLE_MEMORY_TENSORS];
    struct sample_memory a, b;
    struct err err = {""};
    size_t n, at = 0;

    live(&a);
    n = sample_memory_list(&a, list);
    while (strcmp(list[at].name, name))
        at++;
    memcpy(instead.name, list[at].name, sizeof instead.name);
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
                                      later[] = {0, 2, 2}, nobody[] = {0, 1, N};
    static const float row[N * D];

    refused("steps below 0", SAMPLE_TOTAL,
            (struct wire_tensor){"", WIRE_I8, 1, {1}, 1, total});
    refused("chains of other samples", SAMPLE_CHAINS,
            (struct wire_tensor){
                "", WIRE_I8, 3, {N - 1, A, 2}, (N - 1) * A * 2, many});
    refused("a chain that stands at no view", SAMPLE_CHAINS,
            (struct wire_tensor){"", WIRE_I8, 3, {N, A, 2}, N * A * 2, many});
    refused("scores of other views", SAMPLE_SCORES,
            (struct wire_tensor){"", WIRE_F4, 2, {N, 2}, N * 2, row});
    refused("a bank of whole numbers", SAMPLE_BANK,
            (struct wire_tensor){"", WIRE_I8, 2, {N, D}, N * D, many});
    refused("a queue without steps", SAMPLE_BANK_QUEUE_WHEN,
            (struct wire_tensor){"", WIRE_I8, 1, {0}, 0, later});
    refused("a step that was not yet", SAMPLE_BANK_QUEUE_WHEN,
            (struct wire_tensor){"", WIRE_I8, 1, {3}, 3, later});
    refused("a sample that is not there", SAMPLE_BANK_QUEUE_IDS,
            (struct wire_tensor){"", WIRE_I8, 1, {3}, 3, nobody});
    refused("a shorter queue", SAMPLE_BANK_QUEUE,
            (struct wire_tensor){"", WIRE_F4, 2, {2, D}, 2 * D, row});
}

int
main(void)
{
    round_trip();
    strangers_are_judged();
    return t_done();
}
