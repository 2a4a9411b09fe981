#include <string.h>

#include "circle.h"
#include "sample/walk.h"

enum { SIZE = 8, ROWS = 64, MISSING = 6 };

static const double cosine[SIZE] = {1, .9, .7, .5, .3, 0, 1, -.5};

struct example {
    struct sample_walk_settings settings;
    struct batch step;
    struct sample_bank bank;
    int64_t ids[ROWS];
    struct sample_state state[ROWS];
};

/* ROWS chains of sample 0, none begun; sample MISSING has no row. */
static void
example_init(struct example *e)
{
    *e =
        (struct example){.settings = {.moves = 60},
                         .step = {.beta = 3, .v = 1, .b = ROWS, .ids = e->ids}};
    circle_init(&e->bank, SIZE, cosine);
    circle_forget(&e->bank, MISSING);
    for (size_t r = 0; r < ROWS; r++)
        e->state[r] = (struct sample_state){-1, -1, 0};
}

static struct sample_walk
walk_on(struct example *e, const struct sample_bank *bank)
{
    static struct arena scratch;

    arena_begin(&scratch);
    return sample_walk(&e->settings, bank, &e->step, e->state, &scratch);
}

static struct sample_walk
walk(struct example *e)
{
    return walk_on(e, &e->bank);
}

/* 60 moves apart, states are independent: (1 - 1/(M w))^60 with M = 7
 * proposals and w < 6 the largest ratio of target and proposal is .05 times
 * what little the first move left. */
static void
the_law_is_the_softmax(void)
{
    double target[SIZE], count[SIZE] = {0}, chi, accepted = 0;
    struct example e;
    int known = 1, shown = 1;

    example_init(&e);
    softmax(SIZE, e.step.beta, cosine, MISSING, target);
    for (e.step.step = 0; e.step.step < 600; e.step.step++) {
        accepted += walk(&e).accepted / 600;
        for (size_t r = 0; r < ROWS; r++) {
            known &= e.state[r].id != 0 && e.state[r].id != MISSING;
            count[e.state[r].id]++;
            shown &= e.state[r].view == e.state[r].id % 2 &&
                     e.state[r].epoch == e.state[r].id + 3;
        }
    }
    chi = chi_square(SIZE, count, target);
    T(chi < 20.5, "chi-square of 5 degrees, alpha .001: %.1f < 20.5", chi);
    T(known, "neither the own sample nor one without a row");
    T(shown, "each stands at the view that the row of its sample is of");
    T(accepted > .2 && accepted < 6. / 7, "some moves are accepted: %.3f",
      accepted);
    sample_bank_release(&e.bank);
}

/* Makes weights of [2 SIZE] rows a distribution without the one that is
 * missing; chi square of the counts. */
static double
chi_square_of(double *target, const double *count)
{
    double sum = 0;

    target[2 * MISSING + 1] = 0;
    for (size_t at = 0; at < 2 * SIZE; at++)
        sum += target[at];
    for (size_t at = 0; at < 2 * SIZE; at++)
        target[at] /= sum;
    return chi_square(2 * SIZE, count, target);
}

/*
 * Two rows a sample: view 0 of sample 0 points right, its view 1 up, and sample
 * j has two views at different cosines with the first.  Each chain has the
 * distribution of its own row over both views of the others.
 */
static void
each_view_has_its_distribution(void)
{
    static const double other[SIZE] = {0, .2, .95, .5, -.3, .8, 1, .1};
    double target[2][2 * SIZE], count[2][2 * SIZE] = {{0}}, chi[2];
    int64_t variants[ROWS];
    struct sample_bank bank;
    struct example e;
    int known = 1;

    example_init(&e);
    sample_bank_init(&bank, SIZE, 2, 2);
    for (int64_t at = 0; at < 2 * SIZE; at++) {
        const double x = at % 2 ? other[at / 2] : cosine[at / 2];
        const float row[2] = {(float)x, (float)sqrt(1 - x * x)};

        for (size_t k = 0; k < 2; k++)
            target[k][at] = at < 2 ? 0 : exp(e.step.beta * row[k]);
        if (at != 2 * MISSING + 1)
            sample_bank_push(&bank, 0, at, (struct sample_row_view){0}, row);
    }
    sample_bank_advance(&bank, 0);
    for (size_t r = 0; r < ROWS; r++)
        variants[r] = r % 2;
    e.step.view_of = variants;
    for (e.step.step = 0; e.step.step < 600; e.step.step++) {
        walk_on(&e, &bank);
        for (size_t r = 0; r < ROWS; r++) {
            const int64_t at = 2 * e.state[r].id + e.state[r].view;

            known &= at >= 2 && at != 2 * MISSING + 1;
            count[r % 2][at]++;
        }
    }
    for (size_t k = 0; k < 2; k++)
        chi[k] = chi_square_of(target[k], count[k]);
    T(known && chi[0] < 32.9 && chi[1] < 32.9,
      "the distribution of each view, chi-square of 12 degrees, alpha .001: "
      "%.1f, %.1f < 32.9; none of the own sample, nor without a row",
      chi[0], chi[1]);
    sample_bank_release(&bank);
    sample_bank_release(&e.bank);
}

/* Across the views, of three: the first meets the others, and they meet it. */
static void
each_side_meets_the_other(void)
{
    static const float row[2] = {1, 0};
    int64_t variants[ROWS];
    size_t count[3][3] = {{0}};
    struct sample_bank bank;
    struct example e;

    example_init(&e);
    e.settings.cross = 1;
    sample_bank_init(&bank, SIZE, 3, 2);
    for (int64_t at = 0; at < 3 * SIZE; at++)
        sample_bank_push(&bank, 0, at, (struct sample_row_view){0}, row);
    sample_bank_advance(&bank, 0);
    for (size_t r = 0; r < ROWS; r++)
        variants[r] = r % 3;
    e.step.view_of = variants;
    walk_on(&e, &bank);
    for (size_t r = 0; r < ROWS; r++)
        count[r % 3][e.state[r].view]++;
    T(!count[0][0] && count[0][1] > ROWS / 9 && count[0][2] > ROWS / 9,
      "chains of view 0 stand at views 1 and 2");
    T(count[1][0] + count[2][0] == ROWS - (ROWS + 2) / 3,
      "chains of these at view 0");
    sample_bank_release(&bank);
    sample_bank_release(&e.bank);
}

/* Equal scores: each proposal with a row is accepted, draws are independent. */
static void
what_is_reported(void)
{
    struct sample_walk a;
    struct example e;

    example_init(&e);
    e.step.beta = 0;
    e.settings.moves = 1000;
    a = walk(&e);
    T(fabs(a.accepted - 6. / 7) < 4 * sqrt(6. / 49 / (1000 * ROWS)),
      "beta 0: all but those without a row, alpha 6e-5: %.4f", a.accepted);
    T(a.effective == 1, "scores that are all equal tell nothing");
    e.step.beta = .01;
    a = walk(&e);
    T(a.effective > 500 && a.effective <= 1000,
      "near 0: three quarters of the draws count: %.0f of 1000", a.effective);
    e.step.beta = 1e30;
    a = walk(&e);
    T(e.state[0].id == 1 && e.state[ROWS - 1].id == 1,
      "beta 1e30: the nearest of all");
    a = walk(&e);
    T(a.accepted < .2 && a.effective == 1, "where chains stay");
    sample_bank_release(&e.bank);
}

/* A chain that moves stands at the view of the row, one that stays where it
 * was. */
static void
who_moves_is_seen_as_in_the_bank(void)
{
    struct example e;

    example_init(&e);
    e.step.epoch = 7;
    e.step.beta = 1e30;
    for (size_t r = 0; r < ROWS; r++)
        e.state[r] = (struct sample_state){1, 0, 3};
    walk(&e);
    T(e.state[0].id == 1 && e.state[0].epoch == 3,
      "where a chain stays, so does its view");
    sample_bank_release(&e.bank);
}

static void
a_function_of_its_key(void)
{
    struct sample_state first[ROWS];
    struct example e, f;

    example_init(&e);
    example_init(&f);
    walk(&e);
    walk(&f);
    memcpy(first, e.state, sizeof first);
    T(!memcmp(first, f.state, sizeof first), "the same key, the same walk");
    T(memcmp(first, first + ROWS / 2, sizeof first / 2),
      "rows walk for themselves");
    f.step.step = 1;
    walk(&e);
    walk(&f);
    T(memcmp(e.state, f.state, sizeof first), "another step, another walk");
    sample_bank_release(&e.bank);
    sample_bank_release(&f.bank);
}

static void
edges(void)
{
    struct sample_walk a;
    struct example e;
    int sound = 1;

    example_init(&e);
    e.ids[0] = MISSING;
    e.state[0] = (struct sample_state){3, 1, 0};
    e.settings.moves = 1;
    a = walk(&e);
    T(e.state[0].id == 3 && e.state[0].view == 1,
      "a sample without a row: its chain stays");
    T(a.effective == 1, "one move: worth one");
    for (size_t r = 1; r < ROWS; r++)
        sound &= e.state[r].id != MISSING && e.state[r].id != 0 &&
                 (e.state[r].id < 0) == (e.state[r].view < 0);
    T(sound, "the others are somewhere, or nowhere yet");
    // a state whose row is gone is none
    e.state[1] = (struct sample_state){MISSING, 0, 0};
    e.settings.moves = 50;
    e.step.beta = 1e30;
    walk(&e);
    T(e.state[1].id == 1, "a state without a row is left");
    e.step.b = 0;
    a = walk(&e);
    T(a.accepted == 0 && a.effective == 0, "no chains at all");
    sample_bank_release(&e.bank);
}

int
main(void)
{
    the_law_is_the_softmax();
    each_view_has_its_distribution();
    each_side_meets_the_other();
    what_is_reported();
    who_moves_is_seen_as_in_the_bank();
    a_function_of_its_key();
    edges();
    return t_done();
}
