/* EMC2 on the views of images, in its proposals (sample/emc2.h). */
#include "bring.h"
#include "exact.h"
#include "samplers.h"
#include "visit.h"

static int
is_fresh(const struct sample_how *how)
{
    return sample_how_value(how, "scores") == SAMPLE_FRESH;
}

static void
emc2_keep_chains(const struct sample_how *how, struct sample_memory_form *form)
{
    form->chains = 1;
    form->scores = sample_how_value(how, "scores") == SAMPLE_STALE;
}

/* Chains stand nowhere else where a visit does not go on from its state. */
static void
draw_states(struct sample_source *source, const struct sample_step *step,
            int64_t number, struct sample_extras *extras)
{
    (void)number;
    if (is_fresh(&source->how))
        sample_bring_states(source, step, extras);
}

/* Chains go on from where they stood. */
static void
weigh_states(struct sample_source *source, const struct sample_step *step,
             struct sample_weights *weights)
{
    struct sample_state *state = sample_visit_states(source, step);
    const float *s = sample_visit_compare(source, step);

    sample_visit(source, step, state, s, weights);
}

/* ---- after moves on the bank --------------------------------------------- */

static void
keep_bank(const struct sample_how *how, struct sample_memory_form *form)
{
    form->chains = 1;
    form->horizon = (size_t)sample_how_value(how, "horizon");
}

/* Where chains stand by the hints of a step: [v b]. */
static struct sample_state *
hinted_states(struct sample_source *source, const struct sample_step *step)
{
    const size_t n = step->v * step->b, views = sample_step_views(step);
    const int32_t *view = step->hints.view;
    struct sample_state *state = arena_take(&source->weighed, n, sizeof *state);

    for (size_t r = 0; r < n; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    for (size_t e = 0; view && e < step->extra; e++) {
        const size_t row = sample_row_of(step, e, n);

        if (row < n && view[e] >= 0 && (size_t)view[e] < views)
            state[row] = (struct sample_state){
                step->extra_ids[e], view[e],
                step->extra_epoch ? step->extra_epoch[e] : 0};
    }
    return state;
}

/* Chains moved since, sample_bring_walked(), to where the hints say. */
static void
weigh_walked(struct sample_source *source, const struct sample_step *step,
             struct sample_weights *weights)
{
    struct sample_state *state = hinted_states(source, step);
    const float *s = sample_visit_compare(source, step);

    sample_visit(source, step, state, s, weights);
}

/* ---- an exact draw --------------------------------------------------------
 */

static int
check_exact(const struct sample_source *source, const struct sample_step *step,
            struct err *err)
{
    if (sample_visit_check(source, step, err))
        return -1;
    return step->v == 2
               ? 0
               : err_set(err, "%zu views: an exact draw wants 2", step->v);
}

/* ---- the rows -------------------------------------------------------------
 */

static const struct param chains[] = {
    SAMPLE_PARAM_SCORES, SAMPLE_PARAM_BURN, {0}};
static const struct param banked[] = {
    SAMPLE_PARAM_BURN, SAMPLE_PARAM_MOVES, SAMPLE_PARAM_HORIZON, {0}};
static const struct param exact[] = {{0}};
static const struct param exact_banked[] = {
    SAMPLE_PARAM_MOVES, SAMPLE_PARAM_HORIZON, {0}};

#define IN_BATCH                                                    \
    .method = "emc2", .name = "emc2 1", .tables = emc2_keep_chains, \
    .waits = is_fresh, .draw = draw_states, .weigh = weigh_states
#define ON_BANK                                                          \
    .method = "emc2", .wants_outside = 1, .name = "emc2 1",              \
    .tables = keep_bank, .waits = is_fresh, .draw = sample_bring_walked, \
    .weigh = weigh_walked

const struct sample_sampler sample_sampler_emc2_once = {
    IN_BATCH,
    .proposals = "once",
    .summary = "each other image of the batch, in one of its views",
    .params = chains,
    .kernel = SAMPLE_ONCE,
    .move = sample_emc2,
    .check_step = sample_visit_check,
};

const struct sample_sampler sample_sampler_emc2_row = {
    IN_BATCH,
    .proposals = "row",
    .summary = "each row of another image of the batch",
    .params = chains,
    .kernel = SAMPLE_ROW,
    .move = sample_emc2,
    .check_step = sample_visit_check,
};

const struct sample_sampler sample_sampler_emc2_all4 = {
    IN_BATCH,
    .proposals = "all4",
    .summary = "each row for each view of one chain an image, as the reference",
    .params = chains,
    .kernel = SAMPLE_ALL4,
    .move = sample_emc2,
    .one_chain = 1,
    .check_step = sample_visit_check,
};

const struct sample_sampler sample_sampler_emc2_bank = {
    ON_BANK,
    .proposals = "bank",
    .summary = "as once, after moves among all images by a bank of features",
    .params = banked,
    .kernel = SAMPLE_ONCE,
    .move = sample_emc2,
    .check_step = sample_visit_check,
};

const struct sample_sampler sample_sampler_emc2_exact = {
    IN_BATCH,
    .proposals = "exact",
    .summary = "a draw from the softmax over the batch and the old state",
    .params = exact,
    .kernel = SAMPLE_EXACT,
    .move = sample_exact,
    .wants_outside = 1,
    .check_step = check_exact,
};

const struct sample_sampler sample_sampler_emc2_exact_bank = {
    ON_BANK,
    .proposals = "exact-bank",
    .summary = "as exact, after moves among all images by a bank of features",
    .params = exact_banked,
    .kernel = SAMPLE_EXACT,
    .move = sample_exact,
    .check_step = check_exact,
};
