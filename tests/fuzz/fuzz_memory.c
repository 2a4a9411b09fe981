#include "sample/memory.h"
#include "sample/remember.h"
#include "wire/negatives.h"

#include "frames.h"

enum { N = 3, D = 2 };

static const struct sample_memory_form form = {.size = N,
                                               .chains = 1,
                                               .scores = 1,
                                               .horizon = 2,
                                               .most = SAMPLE_STORE_MOST};

static const struct batch *
step(void)
{
    static const int64_t ids[] = {2, 0};
    static const float rows[4 * D] = {1, 0, 0.6f, 0.8f};
    static const struct batch step = {
        .beta = 2.5,
        .v = 2,
        .b = 2,
        .extra.n = 1,
        .dim = D,
        .ids = ids,
        .z = rows,
        .extra.ids = ids,
        .extra.z = rows,
    };

    return &step;
}

/* A memory goes on by a step, which is written into a store. */
static void
go_on(struct sample_memory *memory, struct sample_store *store)
{
    static const struct sample_state state[] = {
        {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {2, 0, 0}};
    static const float score[4] = {1, -2};
    static struct arena written;

    arena_begin(&written);
    sample_memory_step(memory, step(), state, score, &written);
    remember(store, "x", memory);
}

/* All rows of a store, in a message of weights: as if a step had written all,
 * since that says more of them at once than a state.put. */
static struct wire_msg *
sound(void)
{
    static const float w[4 * 5] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0,
                                   1, 0, 0, 0, 0, 1, 0, 0, 0, 0};
    static int64_t at[N * 2 + 8];
    struct table_rows table[SAMPLE_MEMORY_TABLES] = {{.n = 0}};
    struct wire_weights answer = {
        .weights = {.rows = 4, .columns = 5, .w = w, .tables = table}};
    struct sample_memory memory;
    struct sample_store store;
    struct wire_msg *msg;

    sample_memory_init(&memory, &form, 0);
    sample_store_init(&store);
    go_on(&memory, &store);
    go_on(&memory, &store);
    answer.weights.n_tables = store.n;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        at[i] = (int64_t)i;
    for (size_t i = 0; i < store.n; i++) {
        const struct sample_table *t = &store.table[i];

        table[i].name = t->name;
        table[i].rows = table[i].n = t->rows;
        table[i].width = t->width;
        table[i].at = at;
        table[i].row = t->bytes;
    }
    msg = wire_weights_put(&answer);
    sample_memory_release(&memory);
    sample_store_release(&store);
    return msg;
}

/* What a trainer would keep of the message: 0, or -1 where it would not. */
static int
keep(struct sample_store *store, struct wire_msg *msg, struct err *err)
{
    struct wire_weights answer;
    const struct weights *weights = &answer.weights;
    size_t bytes = 0;
    int rc = wire_weights_get(&answer, msg, N, err);

    if (rc)
        return rc;
    for (size_t i = 0; i < weights->n_tables; i++) {
        const struct table_rows *t = &weights->tables[i];

        bytes += t->rows > 1 << 20 ? 1 << 20 : t->rows * t->width;
    }
    rc = sample_store_check(store, weights->n_tables, weights->tables, err);
    if (!rc && bytes >= 1 << 20) // may be kept, but not in each of our runs
        rc = err_set(err, "more than we want to keep");
    if (!rc)
        sample_store_write(store, "x", weights->n_tables, weights->tables);
    wire_weights_release(&answer);
    return rc;
}

/*
 * Tables that a service wants kept, and gets back: whoever keeps them judges
 * the message, who reads them judges the rows.  A memory that was loaded goes
 * on, and what it has written loads as what it is.
 */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static struct wire_msg *seed;
    struct sample_memory a, b;
    struct sample_store store;
    struct wire_msg *msg;
    struct err err = {""};

    if (!seed)
        seed = sound();
    msg = fuzz_msg(seed, data, len);
    if (!msg)
        return 0;
    sample_store_init(&store);
    sample_memory_init(&a, &form, 0);
    sample_memory_init(&b, &form, 0);
    if (keep(&store, msg, &err) || sample_memory_load(&a, &store, 2, &err)) {
        REQUIRE(*err.msg && !a.bank.rows && !a.chains.state);
    } else {
        REQUIRE(!sample_memory_load(&b, &store, 2, &err) &&
                same_memories(&a, &b));
        if (a.bank.views == 1 && a.bank.dim == D && a.chains.views == 2) {
            go_on(&a, &store);
            REQUIRE(!sample_memory_load(&b, &store, a.total, &err) &&
                    same_memories(&a, &b));
        }
    }
    sample_memory_release(&a);
    sample_memory_release(&b);
    sample_store_release(&store);
    wire_msg_free(msg);
    return 0;
}
