/* EMC2 across two views, as of images and their texts (sample/emc2.h). */
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "bring.h"
#include "exact.h"
#include "samplers.h"
#include "visit.h"
#include "walk.h"

/* 1 where chains move on the bank before each visit. */
static int
bimodal_walks(const struct sample_how *how)
{
    return sample_how_value(how, "moves") > 0;
}

/* What scores a state that is no row of the batch; SAMPLE_AUTO: nothing does.
 */
static enum sample_elsewhere
bimodal_elsewhere(const struct sample_how *how)
{
    const enum sample_elsewhere said =
        (enum sample_elsewhere)sample_how_value(how, "outside");

    if (sample_how_value(how, "scores") != SAMPLE_FRESH)
        return SAMPLE_AUTO;
    if (bimodal_walks(how))
        return SAMPLE_BANKED;
    if (said != SAMPLE_AUTO)
        return said;
    return how->brings ? SAMPLE_BROUGHT : SAMPLE_BANKED;
}

static void
bimodal_keep_chains(const struct sample_how *how,
                    struct sample_memory_form *form)
{
    form->chains = form->slots = 1;
    form->scores = sample_how_value(how, "scores") == SAMPLE_STALE;
    form->horizon = form->recalls = bimodal_elsewhere(how) == SAMPLE_BANKED;
}

static int
check_how(const struct sample_how *how, struct err *err)
{
    const int said = (int)sample_how_value(how, "outside"),
              brought = said == SAMPLE_BROUGHT || said == SAMPLE_BROUGHT_TEXTS;
    int length;
    const char *word = opt_word(SAMPLE_ELSEWHERE, said, &length);

    if (said != SAMPLE_AUTO && sample_how_value(how, "scores") != SAMPLE_FRESH)
        return err_set(err,
                       "--outside %.*s scores afresh where a chain stands: it "
                       "wants --scores fresh",
                       length, word);
    if ((said == SAMPLE_BANKED || bimodal_walks(how)) && how->brings)
        return err_set(err,
                       "a bank of %s lets nothing come along: it wants "
                       "no --filter",
                       how->sampler->method);
    if (brought && !how->brings)
        return err_set(err,
                       "--outside %.*s lets samples come along: that needs "
                       "--filter",
                       length, word);
    return 0;
}

static int
bimodal_waits(const struct sample_how *how)
{
    const enum sample_elsewhere by = bimodal_elsewhere(how);

    return by == SAMPLE_BROUGHT || by == SAMPLE_BROUGHT_TEXTS;
}

static void
draw_outside(struct sample_source *source, const struct sample_step *step,
             int64_t number, struct sample_extras *extras)
{
    const enum sample_elsewhere by = bimodal_elsewhere(&source->how);

    (void)number;
    if (by == SAMPLE_BROUGHT)
        sample_bring_states(source, step, extras);
    else if (by == SAMPLE_BROUGHT_TEXTS)
        sample_bring_texts(source, step, extras);
}

static int
bimodal_check_step(const struct sample_source *source,
                   const struct sample_step *step, struct err *err)
{
    if (bimodal_elsewhere(&source->how) == SAMPLE_BROUGHT_TEXTS && !step->fixed)
        return err_set(err, "captions come along with captions: these are "
                            "views");
    if (source->memory.form.recalls && step->extra)
        return err_set(err,
                       "%zu samples came along: states that are not in the "
                       "batch are scored by the bank",
                       step->extra);
    if (step->v != 2)
        return err_set(err, "chains across the views want 2 views, not %zu",
                       step->v);
    return sample_visit_check(source, step, err);
}

/* What a bank knows of states outside of a batch. */
struct recall {
    size_t n;
    int64_t *ids, *view; /* [n] in the order of sample and view */
    float *z;            /* [n,dim] */
};

/* Adds what the bank has of a state, if it has. */
static void
add_state(struct recall *recall, const struct sample_bank *bank,
          struct sample_state of)
{
    const size_t at = recall->n, d = bank->dim;
    const size_t row = (size_t)of.id * bank->views + (size_t)of.view;

    REQUIRE((uint64_t)of.id < bank->size && of.view >= 0 &&
            (uint64_t)of.view < bank->views);
    if (bank->when[row] < 0)
        return;
    recall->ids[at] = of.id;
    recall->view[at] = of.view;
    memcpy(recall->z + at * d, bank->rows + row * d, d * sizeof *recall->z);
    recall->n++;
}

/* Lists the states of a batch's chains that are none of its rows and that the
 * bank, which has a row of each view, has features of. */
static struct recall
recall_states(struct arena *to, const struct sample_bank *bank,
              const struct sample_step *step, const struct sample_state *state)
{
    const struct sample_batch batch = {.v = step->v,
                                       .b = step->b,
                                       .ids = step->ids,
                                       .variants = step->variants};
    const size_t n = step->v * step->b;
    struct sample_state *want = arena_take(to, 2 * n, sizeof *want);
    struct recall recall = {0};
    size_t wanted = 0;

    if (!bank->rows)
        return recall;
    for (size_t r = 0; r < n; r++)
        if (state[r].id >= 0)
            want[wanted++] = state[r];
    wanted = sample_outside(&batch, wanted, want, want + n);
    recall.ids = arena_take(to, wanted, sizeof *recall.ids);
    recall.view = arena_take(to, wanted, sizeof *recall.view);
    recall.z = arena_take(to, wanted * bank->dim, sizeof *recall.z);
    for (size_t k = 0; k < wanted; k++)
        add_state(&recall, bank, want[k]);
    return recall;
}

/* Where a state is in that list, or n. */
static size_t
find_recalled(const struct recall *recall, struct sample_state state)
{
    size_t from = 0, to = recall->n;

    while (from < to) {
        const size_t mid = (from + to) / 2;
        const struct sample_state at = {recall->ids[mid], recall->view[mid], 0};
        const int sign = sample_state_order(&at, &state);

        if (!sign)
            return mid;
        if (sign < 0)
            from = mid + 1;
        else
            to = mid;
    }
    return recall->n;
}

/* Similarities where what is besides is a bank's: a chain looks at its own
 * state alone.  The products of the batch are packed first, and then moved
 * apart. */
static const float *
compare_recalled(struct sample_source *source, const struct sample_step *step,
                 const struct recall *recall, const struct sample_state *state)
{
    const size_t n = step->v * step->b, columns = n + recall->n, d = step->dim;
    float *s = arena_take(&source->weighed, n * columns, sizeof *s);

    num_gemm_nt(n, n, d, 1, step->z, step->z, 0, s);
    for (size_t r = n; r-- > 0;) {
        const size_t own = find_recalled(recall, state[r]);
        float *row = s + r * columns;

        memmove(row, s + r * n, n * sizeof *row);
        memset(row + n, 0, recall->n * sizeof *row);
        if (own < recall->n)
            row[n + own] =
                (float)num_dot(d, step->z + r * d, recall->z + own * d);
    }
    return s;
}

/* The step as if what the bank has of its states had come along with it. */
static void
weigh_recalled(struct sample_source *source, const struct sample_step *step,
               struct sample_state *state, struct sample_weights *weights)
{
    const struct recall recall =
        recall_states(&source->weighed, &source->memory.bank, step, state);
    struct sample_step full = *step;

    full.extra = recall.n;
    full.extra_ids = recall.ids;
    full.extra_view = recall.view;
    full.extra_z = recall.z;
    weights->n_outside = recall.n;
    weights->outside = recall.z;
    sample_visit(source, &full, state,
                 compare_recalled(source, step, &recall, state), weights);
}

/* Whose chains the rows of a step are: the sample and the view of each. */
static void
name_chains(const struct sample_step *step, int64_t *ids, int64_t *views)
{
    for (size_t r = 0; r < step->v * step->b; r++) {
        ids[r] = step->ids[r % step->b];
        views[r] = step->variants ? step->variants[r] : (int64_t)(r / step->b);
    }
}

/* The chains move on the bank, each on the other side. */
static void
walk_across(struct sample_source *source, const struct sample_step *step,
            struct sample_state *state, struct sample_weights *weights)
{
    const size_t n = step->v * step->b;
    const struct sample_walk_how how = {
        .beta = step->beta,
        .moves = (size_t)sample_how_value(&source->how, "moves"),
        .views = sample_step_views(step),
        .cross = 1,
        .seed = source->how.seed,
        .epoch = step->epoch,
        .step = step->step,
    };
    int64_t *ids = arena_take(&source->weighed, n, sizeof *ids);
    int64_t *views = arena_take(&source->weighed, n, sizeof *views);
    struct sample_walk went;

    name_chains(step, ids, views);
    went = sample_walk(&how, &source->memory.bank, n, ids, views, state);
    sample_weights_value(weights, "walk_accepted", went.accepted);
    sample_weights_value(weights, "walk_ess", went.effective);
}

static void
weigh_chains(struct sample_source *source, const struct sample_step *step,
             struct sample_weights *weights)
{
    struct sample_state *state = sample_visit_states(source, step);

    if (bimodal_walks(&source->how) && source->memory.bank.rows)
        walk_across(source, step, state, weights);
    if (source->memory.form.recalls)
        weigh_recalled(source, step, state, weights);
    else
        sample_visit(source, step, state, sample_visit_compare(source, step),
                     weights);
}

#define PARAM_OUTSIDE                                                 \
    {                                                                 \
        PARAM_CHOICE("outside", SAMPLE_AUTO, SAMPLE_ELSEWHERE,        \
                     "what scores a state from outside of the batch") \
    }

static const struct param params[] = {
    SAMPLE_PARAM_SCORES, PARAM_OUTSIDE, SAMPLE_PARAM_BURN, {0}};
static const struct param banked[] = {
    SAMPLE_PARAM_BURN, SAMPLE_PARAM_MOVES, {0}};
static const struct param exact[] = {PARAM_OUTSIDE, {0}};
static const struct param exact_banked[] = {SAMPLE_PARAM_MOVES, {0}};

#define ACROSS                                             \
    .method = "emc2_bimodal", .name = "emc2_bimodal 1",    \
    .tables = bimodal_keep_chains, .check_how = check_how, \
    .waits = bimodal_waits, .draw = draw_outside,          \
    .check_step = bimodal_check_step, .weigh = weigh_chains

const struct sample_sampler sample_sampler_bimodal_once = {
    ACROSS,
    .proposals = "once",
    .summary = "each other image of the batch, in the other view",
    .params = params,
    .kernel = SAMPLE_CROSS,
    .move = sample_emc2,
};

const struct sample_sampler sample_sampler_bimodal_bank = {
    ACROSS,
    .proposals = "bank",
    .summary = "as once, after moves among all images by a bank of features",
    .params = banked,
    .kernel = SAMPLE_CROSS,
    .move = sample_emc2,
};

const struct sample_sampler sample_sampler_bimodal_exact = {
    ACROSS,
    .proposals = "exact",
    .summary = "a draw from the softmax over the other view and the old state",
    .params = exact,
    .kernel = SAMPLE_EXACT_CROSS,
    .move = sample_exact,
};

const struct sample_sampler sample_sampler_bimodal_exact_bank = {
    ACROSS,
    .proposals = "exact-bank",
    .summary = "as exact, after moves among all images by a bank of features",
    .params = exact_banked,
    .kernel = SAMPLE_EXACT_CROSS,
    .move = sample_exact,
};
