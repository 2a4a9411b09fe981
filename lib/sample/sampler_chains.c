/*
 * Samplers with Markov chains: all proposals of EMC2, on views of images, and
 * across two views such as images and texts (sample/emc2.h).
 *
 * draw_extras() lists the states that a batch gets as extra samples.
 * weigh_chains() makes a visit: it collects the states, moves the chains over
 * the bank, computes similarities and calls sample_emc2().
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "exact.h"
#include "samplers.h"
#include "walk.h"

/* ---- settings ------------------------------------------------------------ */

static int
is_exact(const struct sample_settings *how)
{
    return how->sampler->kernel >= SAMPLE_EXACT;
}

static int
is_across(const struct sample_settings *how)
{
    return how->sampler->kernel == SAMPLE_CROSS ||
           how->sampler->kernel == SAMPLE_EXACT_CROSS;
}

/* The parameters of a sampler; 0 for those that it does not have. */
struct settings {
    enum sample_scores scores;
    enum sample_score_source outside;
    double burn;
    size_t moves, horizon;
};

static struct settings
settings_of(const struct sample_settings *how)
{
    return (struct settings){
        (enum sample_scores)sample_settings_value(how, "scores"),
        (enum sample_score_source)sample_settings_value(how, "outside"),
        sample_settings_value(how, "burn-in"),
        (size_t)sample_settings_value(how, "moves"),
        (size_t)sample_settings_value(how, "horizon")};
}

/* How a state that is no row of the batch is scored; SAMPLE_AUTO: not at all.
 */
static enum sample_score_source
score_source_of(const struct sample_settings *how)
{
    const struct settings set = settings_of(how);

    if (set.scores != SAMPLE_FRESH)
        return SAMPLE_AUTO;
    if (!is_across(how))
        return SAMPLE_FROM_BATCH_EXTRA;
    if (set.moves)
        return SAMPLE_FROM_BANK;
    if (set.outside != SAMPLE_AUTO)
        return set.outside;
    return how->draws_outside ? SAMPLE_FROM_BATCH_EXTRA : SAMPLE_FROM_BANK;
}

/* Returns the number of proposals; *burn is how many are not recorded, by
 * default half. */
static size_t
length_of(const struct sample_settings *how, const struct batch *step,
          size_t *burn)
{
    const double set = settings_of(how).burn;
    const size_t length =
        sample_emc2_length(how->sampler->kernel, step->v, step->b);

    *burn = set < 0 ? length / 2 : (size_t)set;
    return length;
}

static void
set_form(const struct sample_settings *how, struct sample_memory_form *form)
{
    const struct settings set = settings_of(how);

    form->chains = 1;
    form->scores = set.scores == SAMPLE_STALE;
    form->slots = is_across(how);
    form->recalls = score_source_of(how) == SAMPLE_FROM_BANK;
    form->horizon = form->recalls ? 1 : set.horizon;
}

/* Extra samples are states of chains, which steps in flight may move. */
static int
waits_for_steps(const struct sample_settings *how)
{
    return score_source_of(how) == SAMPLE_FROM_BATCH_EXTRA;
}

static int
check_settings(const struct sample_settings *how, struct err *err)
{
    const struct settings set = settings_of(how);
    int length;
    const char *word =
        opt_word(SAMPLE_SCORE_SOURCES, (int)set.outside, &length);

    if (set.outside != SAMPLE_AUTO && set.scores != SAMPLE_FRESH)
        return err_set(err,
                       "outside=%.*s computes the score of a chain's state: "
                       "it needs scores=fresh",
                       length, word);
    if (score_source_of(how) == SAMPLE_FROM_BANK && how->draws_outside)
        return err_set(err,
                       "a bank of %s adds no samples to a batch: remove "
                       "--filter",
                       how->sampler->method);
    if (set.outside == SAMPLE_FROM_BATCH_EXTRA && !how->draws_outside)
        return err_set(err,
                       "outside=%.*s adds samples to a batch: it needs "
                       "--filter",
                       length, word);
    return 0;
}

static int
check_across(const struct sample_source *source, const struct batch *step,
             struct err *err)
{
    if (source->memory.form.recalls && step->extra.n)
        return err_set(err,
                       "%zu extra samples in the batch, want none: the bank "
                       "scores states that are not in the batch",
                       step->extra.n);
    return step->v == 2 ? 0
                        : err_set(err,
                                  "chains across the views need 2 views, not "
                                  "%zu",
                                  step->v);
}

static int
check_chains(const struct sample_source *source, const struct batch *step,
             struct err *err)
{
    const struct sample_settings *how = &source->settings;
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
               : err_set(err, "%zu views: an exact draw needs 2", step->v);
}

/* ---- states of chains ---------------------------------------------------- */

/* The remembered states and scores: [v b].  All are {-1, -1, 0} if the chains
 * have another number of views; check_chains() refuses such a step. */
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

/* The states after their walk in draw_extras(), from the hints: [v b]. */
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

/* Moves chains on a bank, at this inverse temperature. */
static struct sample_walk
walk_chains(const struct sample_source *source, const struct sample_bank *bank,
            const struct batch *step, double beta, struct sample_state *state,
            struct arena *scratch)
{
    const struct sample_walk_settings how = {
        .moves = settings_of(&source->settings).moves,
        .cross = is_across(&source->settings),
        .seed = source->settings.seed,
    };
    struct batch then = *step;

    then.beta = beta;
    return how.moves && bank->rows
               ? sample_walk(&how, bank, &then, state, scratch)
               : (struct sample_walk){0};
}

/* ---- extra samples ------------------------------------------------------- */

/* Adds the state of a row's chain, and for an exact draw a second view if its
 * image is not in the batch; returns how many. */
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
    if (!is_exact(&source->settings) || i < step->b)
        return 1;
    want[1] = sample_exact_second(source->settings.seed, step, r, state);
    row[1] = -1;
    return 2;
}

/* Lists the states as extra samples; with hints unless row is NULL. */
static void
list_extras(const struct sample_state *state, const int32_t *row, int epochs,
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

/* Lists the states of chains that are not in the batch; with moves, all states
 * after these moves, with hints. */
static void
draw_states(struct sample_source *source, const struct batch *step,
            int64_t number, struct batch_extra *extras)
{
    const int walks = settings_of(&source->settings).moves > 0;
    const size_t n = step->v * step->b,
                 most = n * (is_exact(&source->settings) + 1);
    struct arena *to = &source->drawn;
    struct sample_state *state = find_states(source, step, NULL, to);
    struct sample_state *want = arena_take(to, most, sizeof *want);
    int32_t *row = arena_take(to, most, sizeof *row);
    const struct sample_walk walk =
        walk_chains(source, &source->ahead, step,
                    sample_source_beta(source, number), state, to);
    size_t wanted = 0;

    for (size_t r = 0; r < n; r++)
        if (state[r].id >= 0)
            wanted += add_state(source, step, r, state[r], want + wanted,
                                row + wanted);
    extras->most = (int64_t)most;
    extras->n = walks ? wanted : sample_step_outside(step, wanted, want, to);
    list_extras(want, walks ? row : NULL, !step->fixed, extras, to);
    if (!walks || !extras->n)
        return;
    value_add(extras->values, &extras->n_values, BATCH_VALUES_MAX,
              "walk_accepted", walk.accepted);
    value_add(extras->values, &extras->n_values, BATCH_VALUES_MAX, "walk_ess",
              walk.effective);
}

static void
draw_extras(struct sample_source *source, const struct batch *step,
            int64_t number, struct batch_extra *extras)
{
    if (score_source_of(&source->settings) == SAMPLE_FROM_BATCH_EXTRA)
        draw_states(source, step, number, extras);
}

/* ---- a visit ------------------------------------------------------------- */

/* Adds the bank's rows of the states that are not in the batch to the step, as
 * extra samples.  The bank has a row for each view.  Returns the states of the
 * extra samples, sorted. */
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

/* Returns the similarities.  If the bank scores states, chains first move on
 * it, and its rows of their states become extra columns. */
static const float *
compare_states(struct sample_source *source, struct batch *step,
               struct sample_state *state, struct weights *weights)
{
    const struct sample_bank *bank = &source->memory.bank;
    struct arena *to = &source->weighed;
    const struct sample_state *recalled;
    struct sample_walk walk;
    const size_t n = step->v * step->b, d = step->dim;
    size_t extra;
    float *s;

    if (!source->memory.form.recalls)
        return sample_step_compare(step, to);
    walk = walk_chains(source, bank, step, step->beta, state, to);
    if (settings_of(&source->settings).moves && bank->rows) {
        values_add(&weights->values, "walk_accepted", walk.accepted);
        values_add(&weights->values, "walk_ess", walk.effective);
    }
    recalled = recall_states(bank, step, state, to);
    weights->n_outside = extra = step->extra.n;
    weights->outside = step->extra.z;
    // each row is compared with its own state only.  The products of the batch
    // are computed without gaps, then moved to their rows.
    s = arena_take(to, n * (n + extra), sizeof *s);
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

static void
weigh_chains(struct sample_source *source, const struct batch *batch,
             struct weights *weights)
{
    const struct sample_settings *how = &source->settings;
    const struct sample_memory_form *form = &source->memory.form;
    const struct settings set = settings_of(how);
    struct sample_emc2_settings visit = {how->sampler->kernel, set.scores, 0,
                                         how->seed};
    const size_t n = batch->v * batch->b;
    struct arena *to = &source->weighed;
    struct batch step = *batch;
    struct sample_state *state;
    struct sample_moves moves;
    float *w, *score = NULL;

    length_of(how, batch, &visit.burn);
    // states that have a score need no view that can be made again
    step.without_epoch = form->scores || form->recalls;
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
        PARAM_CHOICE("outside", SAMPLE_AUTO, SAMPLE_SCORE_SOURCES,    \
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

/* A row of the table: method, proposals, their kind, parameters, whether it
 * needs outside samples, whether an image has one chain, summary. */
#define CHAINS(row, word, choice, what, own, outside, one, text) \
    const struct sample_sampler sample_sampler_##row = {         \
        .method = (word),                                        \
        .name = word " 1",                                       \
        .proposals = (choice),                                   \
        .summary = (text),                                       \
        .params = (own),                                         \
        .kernel = (what),                                        \
        .needs_outside = (outside),                              \
        .one_chain = (one),                                      \
        .tables = set_form,                                      \
        .check_settings = check_settings,                        \
        .waits = waits_for_steps,                                \
        .draw = draw_extras,                                     \
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
