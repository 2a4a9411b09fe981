#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "sample/source.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 24, B = 4, V = 2, D = 8, STEPS = 40, EXTRA = 64, H = 3 };

/* What is under way: items that were drawn for, in a ring. */
struct run {
    struct sample_source source;
    int64_t ids[STEPS][B], extra[STEPS][EXTRA], view[STEPS][EXTRA];
    struct wire_extra of_extra[STEPS];
    int32_t row[STEPS][EXTRA], state_view[STEPS][EXTRA];
    float log_q[STEPS][EXTRA];
    size_t n_extra[STEPS];
    int has_view[STEPS];
    int64_t variant[STEPS][V * B];
    float z[(V * B + EXTRA) * D];
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

static struct wire_variants
variants(const struct run *run, int t)
{
    if (!run->A)
        return (struct wire_variants){0};
    return (struct wire_variants){(int64_t)run->A, V, run->variant[t]};
}

/* A copy of n numbers of four bytes, where there are any. */
static void *
keep(void *to, const void *from, size_t n)
{
    return from ? memcpy(to, from, 4 * n) : NULL;
}

static void
draw(struct run *run, int t)
{
    struct wire_item item = {.at = {1, t / 6, t % 6},
                             .n = B,
                             .ids = run->ids[t],
                             .variants = variants(run, t)};

    sample_source_draw(&run->source, &item, t);
    REQUIRE(item.n_extra <= EXTRA);
    run->n_extra[t] = item.n_extra;
    if (item.n_extra)
        memcpy(run->extra[t], item.extra, item.n_extra * sizeof *item.extra);
    run->has_view[t] = item.of_extra.view != NULL;
    if (item.of_extra.view && item.n_extra)
        memcpy(run->view[t], item.of_extra.view,
               item.n_extra * sizeof *item.extra);
    run->of_extra[t] = item.of_extra;
    run->of_extra[t].view = item.of_extra.view ? run->view[t] : NULL;
    run->of_extra[t].hint_row =
        keep(run->row[t], item.of_extra.hint_row, item.n_extra);
    run->of_extra[t].hint_view =
        keep(run->state_view[t], item.of_extra.hint_view, item.n_extra);
    run->of_extra[t].hint_log_q =
        keep(run->log_q[t], item.of_extra.hint_log_q, item.n_extra);
}

/* Features are a function of sample, fixed view and step, as of an encoder that
 * learns. */
static int
weigh(struct run *run, int t, struct wire_weights *weights, struct err *err)
{
    const size_t n = V * B, all = n + run->n_extra[t];
    struct wire_pairs pairs = {
        .session = 1,
        .epoch = t / 6,
        .step = t % 6,
        .beta = 4,
        .n = B,
        .n_views = V,
        .dim = D,
        .n_extra = run->n_extra[t],
        .ids = run->ids[t],
        .z = run->z,
        .extra_ids = run->extra[t],
        .extra_z = run->z + n * D,
        .of_extra = run->of_extra[t],
        .variants = variants(run, t),
    };

    for (size_t r = 0; r < all; r++) {
        const int64_t id = r < n ? run->ids[t][r % B] : run->extra[t][r - n];
        const int64_t view = !run->A ? 0
                             : r < n ? run->variant[t][r]
                                     : run->view[t][r - n];
        struct rng rng;

        rng_init(&rng, 9, RNG_TEST, (uint64_t)id, (uint64_t)view, 0);
        for (size_t k = 0; k < D; k++)
            run->z[r * D + k] =
                (float)(rng_normal(&rng) + 0.02 * t + 0.1 * (r < n && r >= B));
    }
    num_unit_rows(all, D, run->z, run->z, NULL);
    return sample_source_weigh(&run->source, &pairs, weights, err);
}

/* 1 when the weights of a row are weights, and none of its own image's. */
static int
is_good(const struct run *run, int t, const struct wire_weights *w, double low)
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
value(const struct wire_weights *w, const char *name)
{
    for (size_t i = 0; i < w->n_values; i++)
        if (!strcmp(w->values[i].name, name))
            return w->values[i].value;
    return NAN;
}

/* All answers of a run in which draws come `early` steps before the weighing:
 * what comes of it must not depend on that. */
static uint64_t
play(const struct sample_how *how, size_t A, int early, int restart,
     const char *what)
{
    struct run *run = mem_array(1, sizeof *run), *again;
    struct wire_weights w = {0};
    uint64_t sum = 7;
    size_t extras = 0;
    int good = 1, drawn = 0;
    struct err err = {""};

    begin(run, how, A);
    for (int t = 0; t < STEPS && good; t++) {
        if (t == restart) { // all is forgotten but what the trainer mirrors
            struct wire_tensor list[SAMPLE_MEMORY_TENSORS];
            size_t n = sample_memory_list(&run->source.memory, list);

            again = mem_array(1, sizeof *again);
            begin(again, how, A);
            good &= !sample_source_load(&again->source, n, list, &err);
            sample_source_release(&run->source);
            free(run);
            run = again;
            drawn = t;
        }
        for (; drawn < STEPS && drawn <= t + early; drawn++)
            draw(run, drawn);
        good &= !weigh(run, t, &w, &err) &&
                is_good(run, t, &w, how->scores == SAMPLE_STALE ? 0 : 1);
        extras += run->n_extra[t];
        for (size_t i = 0; good && i < w.rows * w.columns; i++)
            sum = sum * 31 + (uint64_t)(w.w[i] * 1e6f);
    }
    T(good, "%s, draws %d early: weights at each step; %s", what, early,
      err.msg);
    T(how->scores == SAMPLE_FRESH ? extras > 0 : extras == 0,
      "%zu from outside", extras);
    if (sample_source_banks(how))
        T(value(&w, "known") == 1 && value(&w, "age") > 1, "the bank is full");
    sample_source_release(&run->source);
    free(run);
    return sum;
}

static void
early_or_late(void)
{
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
        {"cache",
         0,
         {.cache = 1, .horizon = H, .refresh = 0.1, .limit = 5},
         H - 1},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct sample_how *how = &kinds[i].how;
        const uint64_t sum = play(how, kinds[i].A, 0, -1, kinds[i].what);

        T(play(how, kinds[i].A, kinds[i].early, -1, kinds[i].what) == sum,
          "%s: the same however early", kinds[i].what);
        T(play(how, kinds[i].A, kinds[i].early, STEPS / 2, kinds[i].what) ==
              sum,
          "%s: the same after a restart", kinds[i].what);
    }
}

/* A state in the batch is not brought along again, nor one twice. */
static void
each_state_once(void)
{
    const struct sample_how how = {.burn = -1, .horizon = H};
    struct run *run = mem_array(1, sizeof *run);
    const struct sample_state state[V * B] = {
        {20, 0}, {20, 1}, {9, 0}, {-1, -1}, {20, 0}, {0, 1}, {21, 0}, {5, 1}};

    begin(run, &how, 0);
    sample_memory_keep(&run->source.memory, V, V, B, run->ids[0], NULL, state,
                       NULL);
    draw(run, 0); // of 0, 5, 10, 15
    T(run->n_extra[0] == 3 && run->extra[0][0] == 9 && run->extra[0][1] == 20 &&
          run->extra[0][2] == 21 && !run->has_view[0],
      "with endless augmentation a state is an image");
    sample_source_release(&run->source);

    begin(run, &how, 3); // variants 0 1 2 0, 1 2 0 1
    sample_memory_keep(&run->source.memory, 3, V, B, run->ids[0],
                       run->variant[0], state, NULL);
    draw(run, 0);
    T(run->n_extra[0] == 4 && run->extra[0][0] == 9 && run->extra[0][1] == 20 &&
          run->view[0][1] == 0 && run->extra[0][2] == 20 &&
          run->view[0][2] == 1 && run->extra[0][3] == 21,
      "with fixed views it is one of these");
    sample_source_release(&run->source);
    free(run);
}

static void
refusals(void)
{
    struct sample_how how = {.burn = V * (B - 1), .horizon = H};
    struct run *run = mem_array(1, sizeof *run);
    struct wire_weights w;
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
    sample_memory_keep(&run->source.memory, V, V, B, run->ids[0], NULL,
                       (struct sample_state[V * B]){{9, 0}, {9, 1}}, NULL);
    draw(run, 0);
    T(run->n_extra[0] == 0 && weigh(run, 0, &w, &err),
      "chains of other views draw nothing: %s", err.msg);
    sample_source_release(&run->source);
    begin(run, &how, 3);
    run->source.memory.size = (size_t)1 << 26;
    T(weigh(run, 0, &w, &err) && strstr(err.msg, "1 GiB"),
      "more than can be handed over: %s", err.msg);
    sample_source_release(&run->source);
    how.proposals = SAMPLE_ALL4;
    begin(run, &how, 3);
    T(weigh(run, 0, &w, &err), "one chain for views that differ: %s", err.msg);
    sample_source_release(&run->source);
    free(run);
}

int
main(void)
{
    early_or_late();
    each_state_once();
    refusals();
    return t_done();
}
