#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "t.h"

#include "remember.h"
#include "source_run.h"

/* What is kept of each step is all that there is to be remembered. */
static void
nothing_else_is_remembered(const char *words, size_t A, const char *what)
{
    const struct sample_settings how = how_of(words);
    struct run *run = mem_array(1, sizeof *run);
    struct weights w = {0};
    struct sample_source other;
    struct sample_store store;
    struct err err = {""};
    int good = 1;

    begin(run, words, A);
    sample_store_init(&store);
    sample_source_init(&other, &how, N);
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

/* A run that has forgotten all but what the trainer keeps. */
static struct run *
restarted(struct run *run, const char *words, size_t A,
          const struct sample_store *store, int t)
{
    struct run *again = mem_array(1, sizeof *again);
    struct err err;

    begin(again, words, A);
    REQUIRE(!sample_source_load(&again->source, store, t, &err));
    sample_source_release(&run->source);
    free(run);
    return again;
}

/* All answers of a run in which draws come `early` steps before the weighing:
 * what comes of it must not depend on that. */
static uint64_t
play(const char *words, size_t A, int early, int restart, const char *what)
{
    const struct sample_settings how = how_of(words);
    const int scores = (int)sample_settings_value(&how, "scores");
    struct run *run = mem_array(1, sizeof *run);
    struct weights w = {0};
    struct sample_store store;
    uint64_t sum = 7;
    size_t extras = 0;
    int good = 1, drawn = 0;
    struct err err = {""};

    begin(run, words, A);
    sample_store_init(&store);
    for (int t = 0; t < STEPS && good; t++) {
        if (t == restart) {
            run = restarted(run, words, A, &store, t);
            drawn = t;
        }
        for (; drawn < STEPS && drawn <= t + early; drawn++)
            draw(run, drawn);
        good &= !weigh(run, t, &w, &err) &&
                is_good(run, t, &w, scores == SAMPLE_STALE ? 0 : 1);
        keep_tables(&store, &w);
        extras += run->extras[t].n;
        for (size_t i = 0; good && i < w.rows * w.columns; i++)
            sum = sum * 31 + (uint64_t)(w.w[i] * 1e6f);
    }
    T(good, "%s, draws %d early: weights at each step; %s", what, early,
      err.msg);
    T(scores == SAMPLE_FRESH && how.sampler->draw ? extras > 0 : extras == 0,
      "%zu from outside", extras);
    if (sample_source_banks(&run->source))
        T(value(&w, "bank_filled") == 1 && value(&w, "age") > 1,
          "the bank is full");
    sample_store_release(&store);
    sample_source_release(&run->source);
    free(run);
    return sum;
}

static const struct {
    const char *what;
    size_t A;
    const char *settings;
    int early; /* images are under way in one step only */
} kinds[] = {
    {"row", 0, "emc2 row", 0},
    {"once", 0, "emc2 once burn-in=0", 0},
    {"fixed", 3, "emc2 row burn-in=2", 0},
    {"stale", 0, "emc2 all4 scores=stale", 2},
    {"reset", 0, "emc2 row scores=reset", 2},
    {"bank", 0, "emc2 bank moves=5 horizon=3", 0},
    {"bank, fixed", 3, "emc2 bank moves=5 horizon=3", 0},
    {"exact", 0, "emc2 exact", 0},
    {"exact, fixed", 3, "emc2 exact", 0},
    {"exact and bank", 0, "emc2 exact-bank moves=5 horizon=3", 0},
    {"exact and bank, fixed", 3, "emc2 exact-bank moves=5 horizon=3", 0},
    {"shared", 0, "emc2 shared horizon=3", H - 1},
    {"shared, fixed", 3, "emc2 shared horizon=3 draws=1", H - 1},
    {"zbank", 0, "emc2 zbank horizon=3", H - 1},
    {"cache", 0, "cache horizon=3 refresh=0.1 clip=5", H - 1},
};

static void
early_or_late(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *how = kinds[i].settings;
        const uint64_t sum = play(how, kinds[i].A, 0, -1, kinds[i].what);

        nothing_else_is_remembered(how, kinds[i].A, kinds[i].what);
        T(play(how, kinds[i].A, kinds[i].early, -1, kinds[i].what) == sum,
          "%s: the same however early", kinds[i].what);
        T(play(how, kinds[i].A, kinds[i].early, STEPS / 2, kinds[i].what) ==
              sum,
          "%s: the same after a restart", kinds[i].what);
    }
}

/* 1 when these are the extra samples of a step. */
static int
brings(const struct run *run, int t, size_t n, const struct sample_state *want)
{
    int same = run->extras[t].n == n;

    for (size_t e = 0; same && e < n; e++) {
        const struct sample_state is = view_of(run, t, V * B + e);

        same = !sample_state_order(&is, &want[e]);
    }
    return same;
}

/* A state in the batch is not brought along again, nor one twice. */
static void
each_state_once(void)
{
    struct run *run = mem_array(1, sizeof *run);

    begin(run, "emc2 row", 0);
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

    begin(run, "emc2 row", 3); // variants 0 1 2 0, 1 2 0 1
    stand(run, 0,              // of 0, 5, 10, 15
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
    struct weights w;
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
        {0, -1, 0, "a view without a name is no state"},
    };
    const int last = 12; // all samples are in the bank
    struct weights w;
    struct err err;

    for (size_t i = 0; i < sizeof hint / sizeof *hint; i++) {
        struct run *run = mem_array(1, sizeof *run);
        double sum;

        begin(run, "emc2 bank moves=5 horizon=1 burn-in=0", 0);
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

/* 1 GiB has chains of 16 bytes, or rows of a bank of 4 (dim + 6). */
static void
known_before_a_batch(void)
{
    const size_t gib = (size_t)1 << 30;
    struct sample_settings how = how_of("emc2 once");
    struct err err = {""};

    how.most = gib;
    T(!sample_settings_fit(&how, gib / 32, 0, 9, &err),
      "two chains of each sample fit: %s", err.msg);
    T(sample_settings_fit(&how, gib / 32 + 1, 0, 9, &err),
      "one sample more does not fit: %s", err.msg);
    T(sample_settings_fit(&how, gib / 32, 3, 9, &err),
      "three chains of each sample do not fit: %s", err.msg);
    how = how_of("cache");
    how.most = gib;
    T(!sample_settings_fit(&how, gib / 64, 0, 10, &err),
      "a bank of each sample fits: %s", err.msg);
    T(sample_settings_fit(&how, gib / 64, 0, 11, &err),
      "a wider one does not: %s", err.msg);
}

int
main(void)
{
    known_before_a_batch();
    early_or_late();
    each_state_once();
    hints_place_chains();
    return t_done();
}
