/* sample_emc2() where its outcome is certain: beta without bound, or 0. */
#include <stdlib.h>
#include <string.h>

#include "t.h"
#include "util/rng.h"
#include "visit.h"

enum { V = 2, B = 4, N = V * B, EXTRA = 3, COLUMNS = N + EXTRA };

static const int64_t ids[B] = {10, 11, 12, 13};
static const int64_t extra_ids[EXTRA] = {20, 21, 20};

struct example {
    struct sample_emc2_settings settings;
    struct batch batch;
    struct sample_state state[N];
    float score[N], s[N * COLUMNS], w[N * COLUMNS];
    struct sample_moves moves;
};

/* Random scores in (-1,1), no state. */
static struct example
example(size_t extra)
{
    struct example e = {
        .settings = {.seed = 3},
        .batch = {.beta = 1e6,
                  .v = V,
                  .b = B,
                  .extra.n = extra,
                  .ids = ids,
                  .extra.ids = extra_ids},
    };
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < N * COLUMNS; i++)
        e.s[i] = (float)rng_range(&rng, -1, 1);
    for (size_t r = 0; r < N; r++) {
        e.state[r] = (struct sample_state){-1, -1, 0};
        e.score[r] = -INFINITY;
    }
    return e;
}

static void
visit(struct example *e)
{
    e->moves =
        move_chains(&e->settings, &e->batch, e->s, e->state, e->score, e->w);
}

static size_t
columns(const struct example *e)
{
    return N + e->batch.extra.n;
}

static float
weight(const struct example *e, size_t r, size_t c)
{
    return e->w[r * columns(e) + c];
}

static void
set(struct example *e, size_t r, size_t c, float s)
{
    e->s[r * columns(e) + c] = s;
}

static double
row_sum(const struct example *e, size_t r)
{
    double sum = 0;

    for (size_t c = 0; c < columns(e); c++)
        sum += weight(e, r, c);
    return sum;
}

static int
is(struct sample_state a, int64_t id, int64_t view)
{
    return a.id == id && a.view == view;
}

static void
lengths(void)
{
    T(sample_emc2_length(SAMPLE_ROW, 2, 32) == 62 &&
          sample_emc2_length(SAMPLE_ALL4, 2, 32) == 62 &&
          sample_emc2_length(SAMPLE_ONCE, 2, 32) == 31,
      "R: v (b - 1), but b - 1 for once");
}

/* A state from outside is scored by its extra column. */
static void
fresh_states_have_their_column(void)
{
    struct example e = example(EXTRA);
    int stay = 1, leave = 1;

    for (size_t r = 0; r < N; r++) {
        e.state[r] = (struct sample_state){21, 0, 0};
        set(&e, r, N + 1, r % 2 ? 2 : -2);
        set(&e, r, N, 5); // another extra's is not looked at
    }
    visit(&e);
    for (size_t r = 0; r < N; r++) {
        const int64_t id = e.state[r].id;

        if (r % 2)
            stay &= weight(&e, r, N + 1) == 1 && is(e.state[r], 21, 0) &&
                    e.score[r] == 2e6f;
        else
            leave &= weight(&e, r, N + 1) == 0 && id >= 10 && id <= 13 &&
                     fabs(row_sum(&e, r) - 1) < 1e-6;
    }
    T(stay, "the best of all: it stays, all of w in its column");
    T(leave, "the worst of all: it leaves with the first proposal");
    T(e.moves.moved == 4 && e.moves.cold == 0, "half of them moved, none cold");
}

/* Which extra a state is: by image and view. */
static void
extras_may_name_their_view(void)
{
    static const int64_t view[EXTRA] = {0, -1, 1};
    struct example e = example(EXTRA);

    e.batch.extra.view = view;
    for (size_t r = 0; r < N; r++)
        for (size_t x = 0; x < EXTRA; x++)
            set(&e, r, N + x, 2);
    e.state[0] = (struct sample_state){20, 0, 0};
    e.state[1] = (struct sample_state){20, 1, 0};
    e.state[2] = (struct sample_state){21, 1, 0};
    e.state[3] = (struct sample_state){22, 0, 0};
    visit(&e);
    T(weight(&e, 0, N) == 1 && weight(&e, 1, N + 2) == 1,
      "two extras of an image: the one of the state's view");
    T(weight(&e, 2, N + 1) == 1, "an extra without a view fits all");
    T(e.state[3].id != 22 && e.moves.cold == 5, "one without an extra: cold");
    e.batch.extra.view = NULL;
    e.state[1] = (struct sample_state){20, 1, 0};
    visit(&e);
    T(weight(&e, 1, N) == 1, "no views named: the first of the image");
}

/* Fixed views: rows and states are (image, variant). */
static void
variants_name_the_rows(void)
{
    static const int64_t variants[N] = {2, 0, 1, 2, 0, 1, 2, 1};
    static const int64_t view[EXTRA] = {2, 0, 1};
    static const int64_t extras[EXTRA] = {11, 21, 12};
    struct example e = example(EXTRA);
    int named = 1;

    e.batch.view_of = variants;
    e.batch.extra.view = view;
    e.batch.extra.ids = extras;
    for (size_t c = 0; c < N + EXTRA; c++)
        set(&e, 0, c, c == 5 || c == N ? 3 : 0); // 5: image 11, variant 1
    e.state[0] = (struct sample_state){11, 1, 0};
    e.state[4] = (struct sample_state){11, 2, 0};
    set(&e, 4, N, 3);
    visit(&e);
    T(weight(&e, 0, 5) == 1 && is(e.state[0], 11, 1),
      "a state is found in the batch by its variant");
    T(weight(&e, 4, N) == 1 && is(e.state[4], 11, 2),
      "another variant of an image in the batch is an extra");
    for (size_t r = 1; r < N; r++)
        if (r != 4) {
            const size_t i = (size_t)e.state[r].id - 10;

            named &= e.state[r].view == variants[i] ||
                     e.state[r].view == variants[B + i];
        }
    T(named, "new states have the variant of their row");
}

/* What a stale chain is worth is what it was. */
static void
stale_scores_stay(void)
{
    struct example e = example(EXTRA);
    float sum = 0;

    e.settings.scores = SAMPLE_STALE;
    e.settings.burn = 1;
    for (size_t r = 0; r < N; r++) {
        e.state[r] = (struct sample_state){ids[(r + 1) % B], 1, 0};
        e.score[r] = r % 2 ? 2e6f : -2e6f;
    }
    e.state[0] = (struct sample_state){21, 0, 0};
    visit(&e);
    for (size_t r = 1; r < N; r += 2)
        sum += (float)row_sum(&e, r);
    T(sum == 0 && is(e.state[1], 12, 1) && e.score[1] == 2e6f,
      "a score above all: it stays, and its steps are dropped");
    T(e.moves.moved == 4, "even with an extra, or in the batch");
    T(fabs(row_sum(&e, 0) - 1) < 1e-6 && fabs(e.score[0]) <= 1e6f,
      "one that moved has the score of where it is");
    e = example(0);
    e.settings.scores = SAMPLE_STALE;
    for (size_t r = 0; r < N; r++)
        e.score[r] = 2e6f;
    visit(&e);
    T(e.moves.cold == N, "chains not begun are cold, whatever their score");
}

static void
reset_forgets(void)
{
    struct example e = example(EXTRA);
    double most = 0;

    e.settings.scores = SAMPLE_RESET;
    for (size_t r = 0; r < N; r++) {
        e.state[r] = (struct sample_state){21, 0, 0};
        set(&e, r, N + 1, 2);
    }
    visit(&e);
    for (size_t r = 0; r < N; r++)
        most = fmax(most, weight(&e, r, N + 1));
    T(most == 0 && e.moves.cold == N && e.moves.moved == N,
      "a better state from before does not count");
}

/* beta 0 takes every proposal: w shows what was proposed. */
static void
what_is_proposed(void)
{
    struct example e = example(EXTRA);
    int each = 1, one = 1, last = 1;
    double view = 0, mean;

    e.batch.beta = 0;
    visit(&e);
    for (size_t r = 0; r < N; r++)
        for (size_t c = 0; c < N; c++)
            each &=
                fabs(weight(&e, r, c) - (c % B == r % B ? 0 : 1.0 / 6)) < 1e-6;
    T(each && e.moves.accepted == 1, "row: each row of another image, once");

    e.settings.proposals = SAMPLE_ONCE;
    for (e.batch.step = 0; e.batch.step < 500; e.batch.step++) {
        visit(&e);
        for (size_t r = 0; r < N; r++)
            for (size_t i = 0; i < B; i++) {
                const double w = weight(&e, r, i) + weight(&e, r, i + B);

                one &= fabs(w - (i == r % B ? 0 : 1.0 / 3)) < 1e-6;
                view += weight(&e, r, i);
            }
    }
    T(one, "once: each other image, once");
    mean = view / (500 * N);
    T(fabs(mean - 0.5) < 4 * sqrt(.25 / (500 * N * 3)),
      "by either view, within four deviations, alpha 6e-5: %.4f", mean);

    e.settings.proposals = SAMPLE_ALL4;
    visit(&e);
    for (size_t r = 0; r < N; r++)
        last &= is(e.state[r], r % B == 3 ? 12 : 13, 1);
    T(last, "all4: in the order of the batch");
}

/* One chain goes through all rows of its image. */
static void
all4_is_one_chain(void)
{
    struct example e = example(0);
    int same = 1;

    e.settings.proposals = SAMPLE_ALL4;
    e.batch.beta = 3;
    visit(&e);
    for (size_t i = 0; i < B; i++)
        same &= is(e.state[i], e.state[i + B].id, e.state[i + B].view);
    T(same && e.moves.cold == B, "its state comes with both rows");

    e = example(0);
    e.settings.proposals = SAMPLE_ALL4;
    set(&e, 0, 1, 3);
    set(&e, B, 2, 2);
    visit(&e);
    T(weight(&e, B, 2) > 0 && e.score[0] == 2e6f,
      "fresh: view 1 scores anew where view 0 left the chain");
    e = example(0);
    e.settings.proposals = SAMPLE_ALL4;
    e.settings.scores = SAMPLE_STALE;
    set(&e, 0, 1, 3);
    set(&e, B, 2, 2);
    visit(&e);
    T(weight(&e, B, 1) == 1 && e.score[0] == 3e6f && is(e.state[0], 11, 0),
      "stale: the score of view 0 goes on");
}

/* The share of recorded steps: w times R - burn is whole; sums, with what was
 * dropped, to R - burn. */
static void
nothing_is_lost(void)
{
    int whole = 1, sums = 1, own = 1;
    double most = 0;

    for (unsigned i = 0; i < 900; i++) {
        struct example e = example(i % 2 ? EXTRA : 0);
        double all = 0;
        size_t length;

        e.settings.proposals = (enum sample_proposals)(i % 3);
        e.settings.scores = (enum sample_scores)(i / 3 % 3);
        e.batch.beta = 4;
        e.batch.step = i;
        length = sample_emc2_length(e.settings.proposals, V, B);
        e.settings.burn = i % length;
        for (size_t r = 0; r < N; r++) {
            e.state[r] = (struct sample_state){r % 3 ? 20 : ids[(r + 1) % B],
                                               (int64_t)(r / B), 0};
            e.score[r] = 1;
        }
        visit(&e);
        for (size_t r = 0; r < N; r++) {
            all += row_sum(&e, r);
            sums &= e.settings.scores == SAMPLE_STALE ||
                    fabs(row_sum(&e, r) - 1) < 1e-6;
            for (size_t c = 0; c < columns(&e); c++) {
                const double count =
                    weight(&e, r, c) * (double)(length - e.settings.burn);

                whole &= fabs(count - rint(count)) < 1e-5;
                own &= c >= N || c % B != r % B || count == 0;
            }
        }
        most = fmax(most, all / N);
    }
    T(whole, "weights are counts over R - burn");
    T(sums, "rows sum to 1 but for stale");
    T(own, "the own image is no negative");
    T(most < 1 + 1e-6, "the mean sum of the rows is at most 1");
}

/* Scores that are not finite, or huge, or beyond single precision. */
static void
bad_scores_are_bearable(void)
{
    static const float bad[] = {NAN, INFINITY, -INFINITY, 3e38f};
    int finite = 1;

    for (unsigned i = 0; i < 4 * 9; i++) {
        struct example e = example(EXTRA);

        e.settings.proposals = (enum sample_proposals)(i / 4 % 3);
        e.settings.scores = (enum sample_scores)(i / 12);
        e.batch.beta = 1e300;
        for (size_t j = i % 3; j < N * COLUMNS; j += 3)
            e.s[j] = bad[i % 4];
        visit(&e);
        for (size_t r = 0; r < N; r++)
            finite &= e.state[r].id >= 10 && isfinite(e.score[r]) &&
                      fabs(row_sum(&e, r) - 1) < 1e-6;
    }
    T(finite, "every chain has a state, every row its weights");
}

int
main(void)
{
    lengths();
    fresh_states_have_their_column();
    extras_may_name_their_view();
    variants_name_the_rows();
    stale_scores_stay();
    reset_forgets();
    what_is_proposed();
    all4_is_one_chain();
    nothing_is_lost();
    bad_scores_are_bearable();
    return t_done();
}
