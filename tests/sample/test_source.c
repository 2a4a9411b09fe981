#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "sample/source.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

#include "remember.h"

enum { N = 24, B = 4, V = 2, D = 8, STEPS = 40, EXTRA = 64, H = 3 };

/* What is under way: items that were drawn for, in a ring. */
struct run {
    struct sample_source source;
    int64_t ids[STEPS][B], extra[STEPS][EXTRA], view[STEPS][EXTRA],
        epoch[STEPS][EXTRA];
    struct sample_extras extras[STEPS]; /* pointing into what follows */
    int32_t row[STEPS][EXTRA], state_view[STEPS][EXTRA];
    float log_q[STEPS][EXTRA];
    int64_t variant[STEPS][V * B];
    float z[(V * B + EXTRA) * D];
    struct sample_step last; /* that was weighed */
    size_t A;
};

static void
begin(struct run *run, const struct sample_how *how, size_t A)
{
    *run = (struct run){.A = A};
    sample_source_init(&run->source, how, N);
    for (int t = 0; t < STEPS; t++)
        for (int i = 0; i < B; i++) {
            run->ids[t][i] = (t * B + i * 5 + t / 6) % N;
            run->variant[t][i] = (t + i) % (int)(A ? A : 1);
            run->variant[t][B + i] = (t + i + 1) % (int)(A ? A : 1);
        }
}

/* What is known of a step when it is drawn for. */
static struct sample_step
step_of(const struct run *run, int t)
{
    return (struct sample_step){
        .epoch = (uint64_t)(t / 6),
        .step = (uint64_t)(t % 6),
        .v = V,
        .b = B,
        .fixed = run->A,
        .ids = run->ids[t],
        .variants = run->A ? run->variant[t] : NULL,
    };
}

/* A copy of `bytes`, where there is something. */
static void *
keep(void *to, const void *from, size_t bytes)
{
    return from && bytes ? memcpy(to, from, bytes) : NULL;
}

static void
draw(struct run *run, int t)
{
    const struct sample_step step = step_of(run, t);
    struct sample_extras *x = &run->extras[t];

    *x = sample_source_draw(&run->source, &step, t);
    REQUIRE(x->n <= EXTRA);
    x->ids = keep(run->extra[t], x->ids, x->n * sizeof *x->ids);
    x->view = keep(run->view[t], x->view, x->n * sizeof *x->view);
    x->epoch = keep(run->epoch[t], x->epoch, x->n * sizeof *x->epoch);
    x->hints.row = keep(run->row[t], x->hints.row, x->n * sizeof(int32_t));
    x->hints.view =
        keep(run->state_view[t], x->hints.view, x->n * sizeof(int32_t));
    x->hints.log_q = keep(run->log_q[t], x->hints.log_q, x->n * sizeof(float));
}

/* Which view a column shows, as data/view.h counts them. */
static struct sample_state
view_of(const struct run *run, int t, size_t r)
{
    const struct sample_extras *x = &run->extras[t];
    const size_t n = V * B, e = r - n;
    const int64_t now = run->A ? 0 : t / 6;

    if (r < n)
        return (struct sample_state){
            run->ids[t][r % B], run->A ? run->variant[t][r] : (int64_t)(r / B),
            now};
    if (!x->view)
        return (struct sample_state){run->extra[t][e], V, now};
    return (struct sample_state){run->extra[t][e], run->view[t][e],
                                 x->epoch ? run->epoch[t][e] : 0};
}

/* Features are a function of the view and the step, as of an encoder that
 * learns. */
static int
weigh(struct run *run, int t, struct sample_weights *weights, struct err *err)
{
    const struct sample_extras *x = &run->extras[t];
    const size_t n = V * B, all = n + x->n;
    struct sample_step step = step_of(run, t);

    for (size_t r = 0; r < all; r++) {
        const struct sample_state is = view_of(run, t, r);
        struct rng image, view;

        rng_init(&image, 9, RNG_TEST, (uint64_t)is.id, 0, 0);
        rng_init(&view, 8, RNG_TEST, (uint64_t)is.id, (uint64_t)is.epoch,
                 (uint64_t)is.view);
        for (size_t k = 0; k < D; k++)
            run->z[r * D + k] = (float)(rng_normal(&image) +
                                        0.3 * rng_normal(&view) + 0.02 * t);
    }
    num_unit_rows(all, D, run->z, run->z, NULL);
    step.beta = 4;
    step.extra = x->n;
    step.dim = D;
    step.extra_ids = x->ids;
    step.extra_view = x->view;
    step.extra_epoch = x->epoch;
    step.z = run->z;
    step.extra_z = run->z + n * D;
    step.hints = x->hints;
    run->last = step;
    return sample_source_weigh(&run->source, &step, weights, err);
}

/* 1 when the weights of a row are weights, and none of its own image's. */
static int
is_good(const struct run *run, int t, const struct sample_weights *w,
        double low)
{
    int good = 1;

    for (size_t r = 0; r < w->rows; r++) {
        double sum = 0;

        for (size_t c = 0; c < w->columns; c++) {
            const float x = w->w[r * w->columns + c];

            sum += x;
            good &= x >= 0 && (c >= V * B || c % B != r % B || x == 0);
            good &= c < V * B || x == 0 ||
                    run->extra[t][c - V * B] != run->ids[t][r % B];
        }
        good &= sum <= 1 + 1e-5 && sum >= low - 1e-5;
    }
    return good;
}

static double
value(const struct sample_weights *w, const char *name)
{
    for (size_t i = 0; i < w->n_values; i++)
        if (!strcmp(w->values[i].name, name))
            return w->values[i].value;
    return NAN;
}

/* Writes down what a step wants kept. */
static void
keep_tables(struct sample_store *store, const struct sample_weights *w)
{
    struct err err;

    REQUIRE(!sample_store_judge(store, w->n_tables, w->tables, &err));
    sample_store_write(store, w->sampler, w->n_tables, w->tables);
}

/* What is kept of each step is all that there is to be remembered. */
static void
nothing_else_is_remembered(const struct sample_how *how, size_t A,
                           const char *what)
{
    struct run *run = mem_array(1, sizeof *run);
    struct sample_weights w = {0};
    struct sample_source other;
    struct sample_store store;
    struct err err = {""};
    int good = 1;

    begin(run, how, A);
    sample_store_init(&store);
    sample_source_init(&other, how, N);
    for (int t = 0; t < STEPS && good; t++) {
        draw(run, t);
        good = !weigh(run, t, &w, &err);
        keep_tables(&store, &w);
        good &= !sample_source_load(&other, &store, t + 1, &err) &&
                same_memories(&other.memory, &run->source.memory);
    }
    T(good && run->source.memory.total == STEPS,
      "%s: what is kept is the memory, after each of %d steps %s", what, STEPS,
      err.msg);
    sample_store_release(&store);
    sample_source_release(&other);
    sample_source_release(&run->source);
    free(run);
}

/* All answers of a run in which draws come `early` steps before the weighing:
 * what comes of it must not depend on that. */
static uint64_t
play(const struct sample_how *how, size_t A, int early, int restart,
     const char *what)
{
    struct run *run = mem_array(1, sizeof *run), *again;
    struct sample_weights w = {0};
    struct sample_store store;
    uint64_t sum = 7;
    size_t extras = 0;
    int good = 1, drawn = 0;
    struct err err = {""};

    begin(run, how, A);
    sample_store_init(&store);
    for (int t = 0; t < STEPS && good; t++) {
        if (t == restart) { // all is forgotten but what the trainer keeps
            again = mem_array(1, sizeof *again);
            begin(again, how, A);
            good &= !sample_source_load(&again->source, &store, t, &err);
            sample_source_release(&run->source);
            free(run);
            run = again;
            drawn = t;
        }
        for (; drawn < STEPS && drawn <= t + early; drawn++)
            draw(run, drawn);
        good &= !weigh(run, t, &w, &err) &&
                is_good(run, t, &w, how->scores == SAMPLE_STALE ? 0 : 1);
        keep_tables(&store, &w);
        extras += run->extras[t].n;
        for (size_t i = 0; good && i < w.rows * w.columns; i++)
            sum = sum * 31 + (uint64_t)(w.w[i] * 1e6f);
    }
    T(good, "%s, draws %d early: weights at each step; %s", what, early,
      err.msg);
    T(how->scores == SAMPLE_FRESH ? extras > 0 : extras == 0,
      "%zu from outside", extras);
    if (sample_source_banks(how))
        T(value(&w, "known") == 1 && value(&w, "age") > 1, "the bank is full");
    sample_store_release(&store);
    sample_source_release(&run->source);
    free(run);
    return sum;
}

static const struct {
    const char *what;
    size_t A;
    struct sample_how how;
    int early; /* images are under way in one step only */
} kinds[] = {
    {"row", 0, {.burn = -1, .horizon = H}, 0},
    {"once", 0, {.proposals = SAMPLE_ONCE, .burn = 0, .horizon = H}, 0},
    {"fixed", 3, {.burn = 2, .horizon = H}, 0},
    {"stale",
     0,
     {.proposals = SAMPLE_ALL4,
      .scores = SAMPLE_STALE,
      .burn = -1,
      .horizon = H},
     2},
    {"reset", 0, {.scores = SAMPLE_RESET, .burn = -1, .horizon = H}, 2},
    {"bank",
     0,
     {.proposals = SAMPLE_ONCE, .burn = -1, .moves = 5, .horizon = H},
     0},
    {"bank, fixed",
     3,
     {.proposals = SAMPLE_ONCE, .burn = -1, .moves = 5, .horizon = H},
     0},
    {"exact", 0, {.proposals = SAMPLE_EXACT, .burn = -1, .horizon = H}, 0},
    {"exact, fixed",
     3,
     {.proposals = SAMPLE_EXACT, .burn = -1, .horizon = H},
     0},
    {"exact and bank",
     0,
     {.proposals = SAMPLE_EXACT, .burn = -1, .moves = 5, .horizon = H},
     0},
    {"exact and bank, fixed",
     3,
     {.proposals = SAMPLE_EXACT, .burn = -1, .moves = 5, .horizon = H},
     0},
    {"cache", 0, {.cache = 1, .horizon = H, .refresh = 0.1, .limit = 5}, H - 1},
};

static void
early_or_late(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct sample_how *how = &kinds[i].how;
        const uint64_t sum = play(how, kinds[i].A, 0, -1, kinds[i].what);

        nothing_else_is_remembered(how, kinds[i].A, kinds[i].what);
        T(play(how, kinds[i].A, kinds[i].early, -1, kinds[i].what) == sum,
          "%s: the same however early", kinds[i].what);
        T(play(how, kinds[i].A, kinds[i].early, STEPS / 2, kinds[i].what) ==
              sum,
          "%s: the same after a restart", kinds[i].what);
    }
}

/* The chains of a batch stand there. */
static void
stand(struct run *run, int t, const struct sample_state *state)
{
    const struct sample_step step = step_of(run, t);

    sample_memory_step(&run->source.memory, &step, state, NULL);
}

/* 1 when these are the extra samples of a step. */
static int
brings(const struct run *run, int t, size_t n, const struct sample_state *want)
{
    int same = run->extras[t].n == n;

    for (size_t e = 0; same && e < n; e++)
        same = sample_state_same(view_of(run, t, V * B + e), want[e]);
    return same;
}

/* A state in the batch is not brought along again, nor one twice. */
static void
each_state_once(void)
{
    const struct sample_how how = {.burn = -1, .horizon = H};
    struct run *run = mem_array(1, sizeof *run);

    begin(run, &how, 0);
    stand(run, 6, // of 1, 6, 11, 16, in epoch 1
          (struct sample_state[V * B]){{20, 0, 0},
                                       {20, 1, 0},
                                       {9, 0, 1},
                                       {-1, -1, 0},
                                       {20, 0, 0},
                                       {1, 1, 1},
                                       {21, 0, 0},
                                       {6, 1, 0}});
    draw(run, 6);
    T(brings(run, 6, 5,
             (struct sample_state[]){
                 {6, 1, 0}, {9, 0, 1}, {20, 0, 0}, {20, 1, 0}, {21, 0, 0}}),
      "with endless augmentation a state is a view of an epoch");
    sample_source_release(&run->source);

    begin(run, &how, 3); // variants 0 1 2 0, 1 2 0 1
    stand(run, 0,        // of 0, 5, 10, 15
          (struct sample_state[V * B]){{20, 0, 0},
                                       {20, 1, 0},
                                       {9, 0, 0},
                                       {-1, -1, 0},
                                       {20, 0, 0},
                                       {0, 1, 0},
                                       {21, 0, 0},
                                       {5, 1, 0}});
    draw(run, 0);
    T(brings(run, 0, 4,
             (struct sample_state[]){
                 {9, 0, 0}, {20, 0, 0}, {20, 1, 0}, {21, 0, 0}}),
      "with fixed views it is one of these");
    sample_source_release(&run->source);
    free(run);
}

/* The weights outside of the batch where all hints say this of a view, and
 * name the rows from `row` on, or none. */
static double
weight_outside(struct run *run, int t, int32_t row, int32_t view)
{
    struct sample_weights w;
    struct err err;
    double sum = 0;

    for (size_t e = 0; e < run->extras[t].n; e++) {
        run->row[t][e] = row < 0 ? row : row + (int32_t)e;
        run->state_view[t][e] = view;
    }
    REQUIRE(!weigh(run, t, &w, &err));
    for (size_t i = 0; i < w.rows * w.columns; i++)
        sum += i % w.columns < V * B ? 0 : (double)w.w[i];
    return sum;
}

static void
hints_place_chains(void)
{
    static const struct {
        int32_t row, view;
        int outside;
        const char *what;
    } hint[] = {
        // the bank has first views
        {0, 0, 1, "a chain stands where the hint of its row says"},
        {-1, 0, 0, "without a row it starts in the batch"},
        {V * B, 0, 0, "a row that does not exist is none"},
        {0, V, 0, "a view that does not exist is no state"},
        {0, -1, 0, "nor is one that is not named"},
    };
    const struct sample_how how = {
        .proposals = SAMPLE_ONCE, .moves = 5, .horizon = 1};
    const int last = 12; // all samples are in the bank
    struct sample_weights w;
    struct err err;

    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++) {
        struct run *run = mem_array(1, sizeof *run);
        double sum;

        begin(run, &how, 0);
        for (int t = 0; t < last; t++) {
            draw(run, t);
            REQUIRE(!weigh(run, t, &w, &err));
        }
        draw(run, last);
        REQUIRE(run->extras[last].n > 0);
        sum = weight_outside(run, last, hint[i].row, hint[i].view);
        T((sum > 0) == hint[i].outside, "%s", hint[i].what);
        sample_source_release(&run->source);
        free(run);
    }
}

static void
refusals(void)
{
    struct sample_how how = {.burn = V * (B - 1), .horizon = H};
    struct run *run = mem_array(1, sizeof *run);
    struct sample_weights w;
    struct err err = {""};

    begin(run, &how, 0);
    T(weigh(run, 0, &w, &err) && run->source.memory.total == 0,
      "nothing to record: %s", err.msg);
    sample_source_release(&run->source);
    how.burn = -1;
    begin(run, &how, 0);
    T(!weigh(run, 0, &w, &err), "half of it");
    run->A = 3;
    T(weigh(run, 1, &w, &err), "other views: %s", err.msg);
    sample_source_release(&run->source);
    begin(run, &how, 3);
    run->A = 0;
    stand(run, 0, (struct sample_state[V * B]){{9, 0, 0}, {9, 1, 0}});
    run->A = 3;
    draw(run, 0);
    T(run->extras[0].n == 0 && weigh(run, 0, &w, &err),
      "chains of other views draw nothing: %s", err.msg);
    sample_source_release(&run->source);
    begin(run, &how, 3);
    run->source.memory.form.size = (size_t)1 << 29;
    T(weigh(run, 0, &w, &err) && strstr(err.msg, "8 GiB"),
      "more than is kept: %s", err.msg);
    run->source.memory.form.size = N;
    sample_source_release(&run->source);
    how.proposals = SAMPLE_ALL4;
    begin(run, &how, 3);
    T(weigh(run, 0, &w, &err), "one chain for views that differ: %s", err.msg);
    sample_source_release(&run->source);
    free(run);
}

/* A state that another sampler has kept, or that lacks something. */
static void
states_of_others(void)
{
    const struct sample_how how = {.burn = -1, .horizon = H},
                            bank = {.moves = 5, .horizon = H},
                            stale = {.scores = SAMPLE_STALE, .horizon = H},
                            cache = {.cache = 1, .horizon = H};
    const struct sample_how *const others[] = {&bank, &stale, &cache};
    struct run *run = mem_array(1, sizeof *run);
    struct sample_weights w;
    struct sample_store store;
    struct err err = {""};

    begin(run, &how, 0);
    sample_store_init(&store);
    T(sample_source_load(&run->source, &store, 9, &err) &&
          strstr(err.msg, "of 9 steps has no table 'chain'"),
      "nothing was kept: %s", err.msg);
    REQUIRE(!weigh(run, 0, &w, &err));
    keep_tables(&store, &w);
    for (size_t i = 0; i < 3; i++) {
        struct sample_source other;

        sample_source_init(&other, others[i], N);
        T(sample_source_load(&other, &store, 1, &err) &&
              strstr(err.msg, "sampler 'emc2 1', and this is '"),
          "%s", err.msg);
        sample_source_release(&other);
    }
    sample_source_begin(&run->source, 5);
    T(run->source.memory.total == 5 && !run->source.memory.chains.state,
      "it begins anew after steps without it");
    sample_store_release(&store);
    sample_source_release(&run->source);
    free(run);
}

/* The bank of a run has so many rows of a sample, and keeps them. */
static void
banks_keep_their_form(void)
{
    const struct sample_how how = {
        .proposals = SAMPLE_ONCE, .moves = 5, .horizon = 1};
    struct run *run = mem_array(1, sizeof *run);
    struct sample_weights w;
    struct err err = {""};

    begin(run, &how, 2);
    REQUIRE(!weigh(run, 0, &w, &err));
    run->A = 0; // two views, as before
    draw(run, 1);
    T(!run->extras[1].n && weigh(run, 1, &w, &err) &&
          strstr(err.msg, "1 rows of a sample where the bank so far has 2"),
      "views drawn anew after fixed ones: %s", err.msg);
    sample_source_release(&run->source);
    free(run);
}

/* Each word of SAMPLE_PROPOSALS is known, and those of a bank move. */
static void
each_word_proposes(void)
{
    char words[] = SAMPLE_PROPOSALS, *rest = words;
    size_t n = 0;

    for (char *word; (word = strtok_r(rest, "|", &rest)); n++) {
        struct sample_how how = {.moves = 99};

        sample_how_propose(&how, word, 5);
        T(how.moves == (strstr(word, "bank") ? 5 : 0),
          "%s moves over a bank, or not", word);
        T((how.proposals == SAMPLE_EXACT) == !strncmp(word, "exact", 5),
          "%s draws exactly, or not", word);
    }
    T(n == 6, "six kinds of proposals");
}

int
main(void)
{
    each_word_proposes();
    early_or_late();
    each_state_once();
    hints_place_chains();
    states_of_others();
    banks_keep_their_form();
    refusals();
    return t_done();
}
