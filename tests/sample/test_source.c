#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "t.h"

#include "remember.h"
#include "source_run.h"

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
    return t_done();
}
