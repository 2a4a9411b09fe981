/*
 * Markov chains: EMC2 in its proposals, on views of images and across two views
 * as of images and their texts (sample/emc2.h).
 *
 * draw_along() says whose states come along with a batch; weigh_chains() is a
 * visit: where chains stand, moves on the bank, similarities, sample_emc2().
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "exact.h"
#include "samplers.h"
#include "walk.h"

/* ---- what a sampler is set to -------------------------------------------- */

static int
is_exact(const struct sample_how *how)
{
    return how->sampler->kernel >= SAMPLE_EXACT;
}

static int
is_across(const struct sample_how *how)
{
    return how->sampler->kernel == SAMPLE_CROSS ||
           how->sampler->kernel == SAMPLE_EXACT_CROSS;
}

/* Its parameters; 0 where it has none of a name. */
struct settings {
    enum sample_scores scores;
    enum sample_elsewhere said;
    double burn;
    size_t moves, horizon;
};

static struct settings
settings_of(const struct sample_how *how)
{
    return (struct settings){
        (enum sample_scores)sample_how_value(how, "scores"),
        (enum sample_elsewhere)sample_how_value(how, "outside"),
        sample_how_value(how, "burn-in"),
        (size_t)sample_how_value(how, "moves"),
        (size_t)sample_how_value(how, "horizon")};
}

/* What scores a state that is no row of the batch; SAMPLE_AUTO: nothing does.
 */
static enum sample_elsewhere
elsewhere_of(const struct sample_how *how)
{
    const struct settings set = settings_of(how);

    if (set.scores != SAMPLE_FRESH)
        return SAMPLE_AUTO;
    if (!is_across(how))
        return SAMPLE_BROUGHT;
    if (set.moves)
        return SAMPLE_BANKED;
    if (set.said != SAMPLE_AUTO)
        return set.said;
    return how->brings ? SAMPLE_BROUGHT : SAMPLE_BANKED;
}

/* How many proposals are made, and how many of them are not recorded: half
 * where that is not said. */
static size_t
length_of(const struct sample_how *how, const struct batch *step, size_t *burn)
{
    const double said = settings_of(how).burn;
    const size_t length =
        sample_emc2_length(how->sampler->kernel, step->v, step->b);

    *burn = said < 0 ? length / 2 : (size_t)said;
    return length;
}

static void
keep_chains(const struct sample_how *how, struct sample_memory_form *form)
{
    const struct settings set = settings_of(how);

    form->chains = 1;
    form->scores = set.scores == SAMPLE_STALE;
    form->slots = is_across(how);
    form->recalls = elsewhere_of(how) == SAMPLE_BANKED;
    form->horizon = form->recalls ? 1 : set.horizon;
}

/* Chains of images that are under way decide who comes along. */
static int
chains_wait(const struct sample_how *how)
{
    const enum sample_elsewhere by = elsewhere_of(how);

    return by == SAMPLE_BROUGHT || by == SAMPLE_BROUGHT_TEXTS;
}

static int
check_how(const struct sample_how *how, struct err *err)
{
    const struct settings set = settings_of(how);
    const int brought =
        set.said == SAMPLE_BROUGHT || set.said == SAMPLE_BROUGHT_TEXTS;
    int length;
    const char *word = opt_word(SAMPLE_ELSEWHERE, (int)set.said, &length);

    if (set.said != SAMPLE_AUTO && set.scores != SAMPLE_FRESH)
        return err_set(err,
                       "outside=%.*s scores afresh where a chain stands: it "
                       "wants scores=fresh",
                       length, word);
    if (elsewhere_of(how) == SAMPLE_BANKED && how->brings)
        return err_set(err,
                       "a bank of %s lets nothing come along: it wants "
                       "no --filter",
                       how->sampler->method);
    if (brought && !how->brings)
        return err_set(err,
                       "outside=%.*s lets samples come along: that needs "
                       "--filter",
                       length, word);
    return 0;
}

static int
check_across(const struct sample_source *source, const struct batch *step,
             struct err *err)
{
    if (elsewhere_of(&source->how) == SAMPLE_BROUGHT_TEXTS && !step->fixed)
        return err_set(err, "captions come along with captions: these are "
                            "views");
    if (source->memory.form.recalls && step->extra.n)
        return err_set(err,
                       "%zu samples came along: states that are not in the "
                       "batch are scored by the bank",
                       step->extra.n);
    return step->v == 2 ? 0
                        : err_set(err,
                                  "chains across the views want 2 views, not "
                                  "%zu",
                                  step->v);
}

static int
check_chains(const struct sample_source *source, const struct batch *step,
             struct err *err)
{
    const struct sample_how *how = &source->how;
    const struct sample_chains *chains = &source->memory.chains;
    const size_t views = sample_step_views(step);
    size_t burn;
    const size_t length = length_of(how, step, &burn);

    if (is_across(how) && check_across(source, step, err))
        return -1;
    if (chains->state && views != chains->views)
        return err_set(err, "%zu views where the chains are for %zu", views,
                       chains->views);
    if (step->fixed && how->sampler->one_chain)
        return err_set(err,
                       "%s has one chain for each image: it is not for fixed "
                       "views",
                       how->sampler->proposals);
    if (burn >= length)
        return err_set(err,
                       "a burn-in of %zu leaves nothing to record: a batch of "
                       "%zu images makes %zu proposals",
                       burn, step->b, length);
    return !is_exact(how) || step->v == 2
               ? 0
               : err_set(err, "%zu views: an exact draw wants 2", step->v);
}

/* ---- where chains stand -------------------------------------------------- */

/* By what is remembered: [v b].  Chains of other views stand nowhere: the
 * weighing refuses them. */
static struct sample_state *
find_states(const struct sample_source *source, const struct batch *step,
            float *score, struct arena *to)
{
    const struct sample_chains *chains = &source->memory.chains;
    const size_t n = step->v * step->b;
    struct sample_state *state = arena_take(to, n, sizeof *state);

    for (size_t r = 0; r < n; r++) {
        state[r] = (struct sample_state){-1, -1, 0};
        if (score)
            score[r] = -FLT_MAX;
    }
    if (chains->state && chains->views == sample_step_views(step))
        sample_chains_get(chains, step->v, step->b, step->ids, step->view_of,
                          state, score);
    return state;
}

/* By the hints of a step, where they have walked since, draw_along(): [v b]. */
static struct sample_state *
hinted_states(const struct batch *step, struct arena *to)
{
    const size_t n = step->v * step->b, views = sample_step_views(step);
    const int32_t *view = step->extra.hint_view;
    struct sample_state *state = arena_take(to, n, sizeof *state);

    for (size_t r = 0; r < n; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    for (size_t e = 0; view && e < step->extra.n; e++) {
        const size_t row = sample_step_hint(step, e, n);

        if (row < n && view[e] >= 0 && (size_t)view[e] < views)
            state[row] = (struct sample_state){
                step->extra.ids[e], view[e],
                step->extra.epoch ? step->extra.epoch[e] : 0};
    }
    return state;
}

/* Chains move on a bank, at this inverse temperature. */
static struct sample_walk
walk_chains(const struct sample_source *source, const struct sample_bank *bank,
            const struct batch *step, double beta, struct sample_state *state,
            struct arena *scratch)
{
    const struct sample_walk_how how = {
        .moves = settings_of(&source->how).moves,
        .cross = is_across(&source->how),
        .seed = source->how.seed,
    };
    struct batch then = *step;

    then.beta = beta;
    return how.moves && bank->rows
               ? sample_walk(&how, bank, &then, state, scratch)
               : (struct sample_walk){0};
}

/* ---- who comes along ----------------------------------------------------- */

/* Adds a state that comes along for a row, and for an exact draw a second view
 * of an image that is not in the batch; returns how many. */
static size_t
add_state(const struct sample_source *source, const struct batch *step,
          size_t r, struct sample_state state, struct sample_state *want,
          int32_t *row)
{
    size_t i = 0;

    want[0] = state;
    row[0] = (int32_t)r;
    while (i < step->b && step->ids[i] != state.id)
        i++;
    if (!is_exact(&source->how) || i < step->b)
        return 1;
    want[1] = sample_exact_second(source->how.seed, step, r, state);
    row[1] = -1;
    return 2;
}

/* The states as extra samples; with hints, where rows are given. */
static void
hand_out(const struct sample_state *state, const int32_t *row, int epochs,
         struct batch_extra *extras, struct arena *to)
{
    const size_t n = extras->n;
    int64_t *id = arena_take(to, n, sizeof *id);
    int64_t *view = arena_take(to, n, sizeof *view);
    int64_t *epoch = arena_take(to, n, sizeof *epoch);
    int32_t *hint = arena_take(to, n, sizeof *hint);

    for (size_t k = 0; k < n; k++) {
        id[k] = state[k].id;
        view[k] = state[k].view;
        epoch[k] = state[k].epoch;
        hint[k] = row && row[k] >= 0 ? (int32_t)state[k].view : -1;
    }
    extras->ids = id;
    extras->view = view;
    extras->epoch = epochs ? epoch : NULL;
    extras->hint_row = row;
    extras->hint_view = row ? hint : NULL;
}

/* The captions at which chains of images stand.  Which captions the batch will
 * have is the augmenter's to draw, so theirs come along, too. */
static void
draw_texts(struct sample_source *source, const struct batch *step,
           struct batch_extra *extras)
{
    const struct sample_chains *chains = &source->memory.chains;
    struct arena *to = &source->drawn;
    struct sample_state *want = arena_take(to, step->b, sizeof *want);
    size_t wanted = 0;
    int64_t *text;

    for (size_t i = 0; chains->state && i < step->b; i++) {
        sample_chains_get(chains, 1, 1, step->ids + i, NULL, want + wanted,
                          NULL);
        wanted += want[wanted].id >= 0 && want[wanted].view > 0;
    }
    extras->most = (int64_t)step->b;
    extras->n_texts =
        sample_step_outside(&(struct batch){.v = 1}, wanted, want, to);
    text = arena_take(to, 2 * extras->n_texts, sizeof *text);
    for (size_t k = 0; k < extras->n_texts; k++) {
        text[2 * k] = want[k].id;
        text[2 * k + 1] = want[k].view - 1;
    }
    extras->texts = extras->n_texts ? text : NULL;
}

/* The states of chains that the batch does not hold itself; with moves, each
 * where it stands after them, with a hint for its row. */
static void
draw_states(struct sample_source *source, const struct batch *step,
            int64_t number, struct batch_extra *extras)
{
    const int walks = settings_of(&source->how).moves > 0;
    const size_t n = step->v * step->b, most = n * (is_exact(&source->how) + 1);
    struct arena *to = &source->drawn;
    struct sample_state *state = find_states(source, step, NULL, to);
    struct sample_state *want = arena_take(to, most, sizeof *want);
    int32_t *row = arena_take(to, most, sizeof *row);
    const struct sample_walk went =
        walk_chains(source, &source->ahead, step,
                    sample_source_beta(source, number), state, to);
    size_t wanted = 0;

    for (size_t r = 0; r < n; r++)
        if (state[r].id >= 0)
            wanted += add_state(source, step, r, state[r], want + wanted,
                                row + wanted);
    extras->most = (int64_t)most;
    extras->n = walks ? wanted : sample_step_outside(step, wanted, want, to);
    hand_out(want, walks ? row : NULL, !step->fixed, extras, to);
    if (!walks || !extras->n)
        return;
    value_add(extras->values, &extras->n_values, BATCH_VALUES_MAX,
              "walk_accepted", went.accepted);
    value_add(extras->values, &extras->n_values, BATCH_VALUES_MAX, "walk_ess",
              went.effective);
}

static void
draw_along(struct sample_source *source, const struct batch *step,
           int64_t number, struct batch_extra *extras)
{
    const enum sample_elsewhere by = elsewhere_of(&source->how);

    if (by == SAMPLE_BROUGHT)
        draw_states(source, step, number, extras);
    else if (by == SAMPLE_BROUGHT_TEXTS)
        draw_texts(source, step, extras);
}

/* ---- a visit ------------------------------------------------------------- */

/* What the bank, which has a row of each view, has of the states that are no
 * rows of the batch comes along with the step: in the order of states, which
 * are returned. */
static const struct sample_state *
recall_states(const struct sample_bank *bank, struct batch *step,
              const struct sample_state *state, struct arena *to)
{
    const size_t n = step->v * step->b, d = step->dim;
    struct sample_state *want = arena_take(to, n, sizeof *want);
    int64_t *ids = arena_take(to, n, sizeof *ids);
    int64_t *view = arena_take(to, n, sizeof *view);
    float *z = arena_take(to, n * d, sizeof *z);
    size_t wanted = 0, known = 0;

    for (size_t r = 0; bank->rows && r < n; r++)
        if (state[r].id >= 0)
            want[wanted++] = state[r];
    wanted = sample_step_outside(step, wanted, want, to);
    for (size_t k = 0; k < wanted; k++) {
        const struct sample_state of = want[k];
        const size_t row = (size_t)of.id * bank->views + (size_t)of.view;

        REQUIRE((uint64_t)of.id < bank->size &&
                (uint64_t)of.view < bank->views);
        if (bank->when[row] < 0)
            continue;
        ids[known] = of.id;
        view[known] = of.view;
        memcpy(z + known * d, bank->rows + row * d, d * sizeof *z);
        want[known++] = of;
    }
    step->extra.n = known;
    step->extra.ids = ids;
    step->extra.view = view;
    step->extra.z = z;
    return want;
}

/* Similarities where what is besides is a bank's: a chain looks at its own
 * state alone.  The products of the batch are packed first, and then moved
 * apart. */
static const float *
compare_recalled(const struct batch *step, const struct sample_state *recalled,
                 const struct sample_state *state, struct arena *to)
{
    const size_t n = step->v * step->b, extra = step->extra.n, d = step->dim;
    float *s = arena_take(to, n * (n + extra), sizeof *s);

    num_gemm_nt(n, n, d, 1, step->z, step->z, 0, s);
    for (size_t r = n; r-- > 0;) {
        const struct sample_state *own = bsearch(
            &state[r], recalled, extra, sizeof *own, sample_state_order);
        float *row = s + r * (n + extra);

        memmove(row, s + r * n, n * sizeof *row);
        memset(row + n, 0, extra * sizeof *row);
        if (own)
            row[n + (size_t)(own - recalled)] = (float)num_dot(
                d, step->z + r * d, step->extra.z + (own - recalled) * (long)d);
    }
    return s;
}

/* Similarities, for which chains across the views first move on the bank, and
 * what that has of their states then comes along. */
static const float *
compare_states(struct sample_source *source, struct batch *step,
               struct sample_state *state, struct weights *weights)
{
    const struct sample_bank *bank = &source->memory.bank;
    struct arena *to = &source->weighed;
    const struct sample_state *recalled;
    struct sample_walk went;

    if (!source->memory.form.recalls)
        return sample_step_compare(step, to);
    went = walk_chains(source, bank, step, step->beta, state, to);
    if (settings_of(&source->how).moves && bank->rows) {
        values_add(&weights->values, "walk_accepted", went.accepted);
        values_add(&weights->values, "walk_ess", went.effective);
    }
    recalled = recall_states(bank, step, state, to);
    weights->n_outside = step->extra.n;
    weights->outside = step->extra.z;
    return compare_recalled(step, recalled, state, to);
}

static void
weigh_chains(struct sample_source *source, const struct batch *asked,
             struct weights *weights)
{
    const struct sample_how *how = &source->how;
    const struct sample_memory_form *form = &source->memory.form;
    const struct settings set = settings_of(how);
    struct sample_emc2_how visit = {how->sampler->kernel, set.scores, 0,
                                    how->seed};
    const size_t n = asked->v * asked->b;
    struct arena *to = &source->weighed;
    struct batch step = *asked;
    struct sample_state *state;
    struct sample_moves moves;
    float *w, *score = NULL;

    length_of(how, asked, &visit.burn);
    // what has a score of its own, or a bank's, is not shown again
    step.timeless = form->scores || form->recalls;
    if (form->scores)
        score = arena_take(to, n, sizeof *score);
    state = set.moves && !is_across(how)
                ? hinted_states(&step, to)
                : find_states(source, &step, score, to);
    weights->s = compare_states(source, &step, state, weights);
    weights->columns = n + step.extra.n;
    w = arena_take(to, n * weights->columns, sizeof *w);
    moves = sample_emc2(&visit, &step, weights->s, state, score, w, to);
    weights->w = w;
    weights->accepted = moves.accepted;
    weights->moved = moves.moved;
    weights->partial = form->scores;
    values_add(&weights->values, "cold", (double)moves.cold / (double)n);
    source->state = state;
    source->score = score;
}

/* ---- the rows ------------------------------------------------------------ */

#define SCORES                                                 \
    {                                                          \
        PARAM_CHOICE("scores", SAMPLE_FRESH, SAMPLE_SCORES,    \
                     "how the old state of a chain is scored") \
    }
#define OUTSIDE                                                       \
    {                                                                 \
        PARAM_CHOICE("outside", SAMPLE_AUTO, SAMPLE_ELSEWHERE,        \
                     "what scores a state from outside of the batch") \
    }
#define BURN                                                    \
    {                                                           \
        PARAM_WHOLE("burn-in", -1, -1, 1e6,                     \
                    "proposals not recorded; -1: half of them") \
    }
#define MOVES                                                            \
    {                                                                    \
        PARAM_WHOLE("moves", 64, 1, 1e6,                                 \
                    "moves of a chain over the bank, before each visit") \
    }

static const struct param chains[] = {SCORES, BURN, {0}};
static const struct param banked[] = {BURN, MOVES, SAMPLE_PARAM_HORIZON, {0}};
static const struct param exact[] = {{0}};
static const struct param exact_banked[] = {MOVES, SAMPLE_PARAM_HORIZON, {0}};
static const struct param across[] = {SCORES, OUTSIDE, BURN, {0}};
static const struct param across_banked[] = {BURN, MOVES, {0}};
static const struct param across_exact[] = {OUTSIDE, {0}};
static const struct param across_both[] = {MOVES, {0}};

/* A row: its method and proposals, what it gets in a visit, its parameters;
 * whether it wants images from outside, and has one chain an image. */
#define CHAINS(row, word, choice, what, own, outside, one, text) \
    const struct sample_sampler sample_sampler_##row = {         \
        .method = (word),                                        \
        .name = word " 1",                                       \
        .proposals = (choice),                                   \
        .summary = (text),                                       \
        .params = (own),                                         \
        .kernel = (what),                                        \
        .wants_outside = (outside),                              \
        .one_chain = (one),                                      \
        .tables = keep_chains,                                   \
        .check_how = check_how,                                  \
        .waits = chains_wait,                                    \
        .draw = draw_along,                                      \
        .check_step = check_chains,                              \
        .weigh = weigh_chains,                                   \
    }

CHAINS(emc2_once, "emc2", "once", SAMPLE_ONCE, chains, 0, 0,
       "each other image of the batch, in one of its views");
CHAINS(emc2_row, "emc2", "row", SAMPLE_ROW, chains, 0, 0,
       "each row of another image of the batch");
CHAINS(emc2_all4, "emc2", "all4", SAMPLE_ALL4, chains, 0, 1,
       "each row for each view of one chain an image, as the reference");
CHAINS(emc2_bank, "emc2", "bank", SAMPLE_ONCE, banked, 1, 0,
       "as once, after moves among all images by a bank of features");
CHAINS(emc2_exact, "emc2", "exact", SAMPLE_EXACT, exact, 1, 0,
       "a draw from the softmax over the batch and the old state");
CHAINS(emc2_exact_bank, "emc2", "exact-bank", SAMPLE_EXACT, exact_banked, 1, 0,
       "as exact, after moves among all images by a bank of features");
CHAINS(bimodal_once, "emc2_bimodal", "once", SAMPLE_CROSS, across, 0, 0,
       "each other image of the batch, in the other view");
CHAINS(bimodal_bank, "emc2_bimodal", "bank", SAMPLE_CROSS, across_banked, 0, 0,
       "as once, after moves among all images by a bank of features");
CHAINS(bimodal_exact, "emc2_bimodal", "exact", SAMPLE_EXACT_CROSS, across_exact,
       0, 0, "a draw from the softmax over the other view and the old state");
CHAINS(bimodal_exact_bank, "emc2_bimodal", "exact-bank", SAMPLE_EXACT_CROSS,
       across_both, 0, 0,
       "as exact, after moves among all images by a bank of features");
