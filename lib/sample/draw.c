#include <stdlib.h>

#include "sample/source.h"
#include "util/mem.h"

#include "exact.h"
#include "outside.h"

/* Room for n extra samples. */
static void
make_room(struct sample_source *x, size_t n)
{
    mem_grow(&x->extra, &x->extra_room, n, sizeof *x->extra);
    mem_grow(&x->view, &x->view_room, n, sizeof *x->view);
    mem_grow(&x->epoch, &x->epoch_room, n, sizeof *x->epoch);
    mem_grow(&x->hint_row, &x->hint_row_room, n, sizeof *x->hint_row);
    mem_grow(&x->hint_view, &x->hint_view_room, n, sizeof *x->hint_view);
    mem_grow(&x->hint_log_q, &x->hint_log_q_room, n, sizeof *x->hint_log_q);
}

/* Adds an extra sample for a row, or -1.  Whoever draws made room for it. */
static void
add(struct sample_source *source, struct sample_extras *extras,
    struct sample_state state, int32_t row)
{
    const size_t at = extras->n++;

    source->extra[at] = state.id;
    source->view[at] = state.view;
    source->epoch[at] = state.epoch;
    source->hint_row[at] = row;
    source->hint_view[at] = -1;
    source->hint_log_q[at] = 0;
}

/* Where the chains of a batch stand: state [v b].  Chains of other views stand
 * nowhere: the weighing will refuse them. */
static void
stand(struct sample_source *source, const struct sample_step *step,
      struct sample_state *state)
{
    const struct sample_chains *chains = &source->memory.chains;

    for (size_t r = 0; r < step->v * step->b; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    if (chains->state && chains->views == sample_step_views(step))
        sample_chains_get(chains, step->v, step->b, step->ids, step->variants,
                          state, NULL);
}

/* 1 when an image is in the batch. */
static int
is_inside(const struct sample_step *step, int64_t id)
{
    size_t i = 0;

    while (i < step->b && step->ids[i] != id)
        i++;
    return i < step->b;
}

/* The second view of the state of row r, for an exact draw. */
static struct sample_state
second_view(const struct sample_source *source, const struct sample_step *step,
            size_t r, struct sample_state state)
{
    return sample_exact_other(source->how.seed, step->epoch, step->step, r,
                              state, step->fixed);
}

/* The states of chains that the batch does not hold itself, each once; for an
 * exact draw with a second view of their images. */
static void
attach_states(struct sample_source *source, const struct sample_step *step,
              struct sample_extras *extras)
{
    const struct sample_batch batch = {
        .v = step->v,
        .b = step->b,
        .epoch = step->fixed ? 0 : (int64_t)step->epoch,
        .ids = step->ids,
        .variants = step->variants};
    const int exact = source->how.proposals == SAMPLE_EXACT;
    const size_t n = step->v * step->b;
    struct sample_state *want, *state = source->state;
    size_t wanted = 0;

    mem_grow(&source->stand, &source->stand_room, 3 * n, sizeof *want);
    want = source->stand + n;
    stand(source, step, state);
    for (size_t r = 0; r < n; r++) {
        if (state[r].id < 0)
            continue;
        want[wanted++] = state[r];
        if (exact && !is_inside(step, state[r].id))
            want[wanted++] = second_view(source, step, r, state[r]);
    }
    wanted = sample_outside(&batch, wanted, want, source->stand);
    for (size_t k = 0; k < wanted; k++)
        add(source, extras, want[k], -1);
}

/* The captions at which chains of images stand, each once.  Which captions the
 * batch will have is the augmenter's to draw, so theirs come along, too. */
static void
attach_texts(struct sample_source *source, const struct sample_step *step,
             struct sample_extras *extras)
{
    const struct sample_chains *chains = &source->memory.chains;
    const struct sample_batch none = {.v = step->v, .ids = step->ids};
    struct sample_state *want;
    size_t wanted = 0;

    extras->texts = 1;
    if (!chains->state)
        return;
    mem_grow(&source->stand, &source->stand_room, 2 * step->b, sizeof *want);
    want = source->stand;
    for (size_t i = 0; i < step->b; i++) {
        const int64_t *id = step->ids + i;

        want[wanted] =
            chains->state[sample_chains_place(chains, 1, id, NULL, 0)];
        wanted += want[wanted].id >= 0 && want[wanted].view > 0;
    }
    wanted = sample_outside(&none, wanted, want, want + step->b);
    for (size_t k = 0; k < wanted; k++)
        add(source, extras, want[k], -1);
}

/* The chains walk on the bank, and each brings along where it stands then: the
 * hint names its row and the view of the state. */
static void
walk(struct sample_source *source, const struct sample_step *step, double beta,
     struct sample_extras *extras)
{
    const size_t n = step->v * step->b;
    const struct sample_walk_how how = {
        .beta = beta,
        .moves = source->how.moves,
        .views = sample_step_views(step),
        .seed = source->how.seed,
        .epoch = step->epoch,
        .step = step->step,
    };
    struct sample_state *state = source->state;
    struct sample_walk went = {0};

    stand(source, step, state);
    mem_grow(&source->ids, &source->ids_room, n, sizeof *source->ids);
    for (size_t r = 0; r < n; r++)
        source->ids[r] = step->ids[r % step->b];
    if (source->ahead.rows)
        went = sample_walk(&how, &source->ahead, n, source->ids, step->variants,
                           state);
    for (size_t r = 0; r < n; r++) {
        if (state[r].id < 0)
            continue;
        add(source, extras, state[r], (int32_t)r);
        source->hint_view[extras->n - 1] = (int32_t)state[r].view;
        if (source->how.proposals != SAMPLE_EXACT ||
            is_inside(step, state[r].id))
            continue;
        state[r] = second_view(source, step, r, state[r]);
        add(source, extras, state[r], -1);
    }
    if (!extras->n)
        return;
    extras->n_values = 2;
    extras->values[0] = (struct sample_value){"walk_accepted", went.accepted};
    extras->values[1] = (struct sample_value){"walk_ess", went.effective};
}

/* A negative from the bank for each image, whose hint names the image and
 * log q of the draw; then who is refreshed, for no row. */
static void
consult_cache(struct sample_source *source, const struct sample_step *step,
              int64_t number, double beta, struct sample_extras *extras)
{
    const struct sample_cache_how how = {beta, source->how.seed, step->epoch,
                                         step->step};
    const struct sample_bank *bank = &source->ahead;
    const struct sample_draw *draw;
    const int64_t *ids;
    size_t n;

    if (bank->rows) {
        mem_grow(&source->draw, &source->draw_room, step->b,
                 sizeof *source->draw);
        draw = source->draw;
        sample_cache_draw(&how, bank, step->b, step->ids, NULL, 1,
                          source->draw);
        for (size_t i = 0; i < step->b; i++) {
            if (draw[i].id < 0)
                continue;
            add(source, extras, (struct sample_state){draw[i].id, 0, 0},
                (int32_t)i);
            source->hint_log_q[extras->n - 1] = (float)draw[i].log_q;
        }
    }
    if (!source->refresh.order)
        return;
    n = sample_refresh_next(&source->refresh, (uint64_t)number, &ids);
    for (size_t i = 0; i < n; i++)
        add(source, extras, (struct sample_state){ids[i], 0, 0}, -1);
}

/* How many extra samples a step can have. */
static size_t
most(const struct sample_source *source, const struct sample_step *step)
{
    const struct sample_refresh *refresh = &source->refresh;

    if (source->how.cache)
        return step->b +
               (refresh->order ? refresh->size / refresh->period + 1 : 0);
    if (!sample_source_waits(&source->how))
        return 0;
    if (source->how.elsewhere == SAMPLE_BROUGHT_TEXTS)
        return step->b;
    return step->v * step->b * (source->how.proposals == SAMPLE_EXACT ? 2 : 1);
}

/* The bank as of a step, which may lie ahead of what is to be weighed next.
 * Where it has other views there is none: the weighing will refuse the step. */
static void
look_ahead(struct sample_source *source, size_t views, int64_t then)
{
    const struct sample_bank *from = &source->memory.bank;
    struct sample_bank *ahead = &source->ahead;

    if (!from->rows || from->views != views) {
        sample_bank_release(ahead);
        return;
    }
    if (!ahead->rows)
        sample_bank_copy(ahead, from);
    sample_bank_advance(ahead, then);
}

struct sample_extras
sample_source_draw(struct sample_source *source, const struct sample_step *step,
                   int64_t number)
{
    const struct sample_how *how = &source->how;
    const int64_t then = number - (int64_t)how->horizon;
    const double beta = sample_memory_beta(&source->memory, then);
    struct sample_extras extras = {.most = most(source, step)};

    REQUIRE(!how->cache || step->v == 2);
    make_room(source, extras.most);
    mem_grow(&source->state, &source->state_room, step->v * step->b,
             sizeof *source->state);
    look_ahead(source, sample_memory_views(&source->memory, step), then);
    if (how->cache)
        consult_cache(source, step, number, beta, &extras);
    else if (how->moves)
        walk(source, step, beta, &extras);
    else if (how->elsewhere == SAMPLE_BROUGHT_TEXTS)
        attach_texts(source, step, &extras);
    else if (sample_source_waits(how))
        attach_states(source, step, &extras);
    REQUIRE(extras.n <= extras.most);
    extras.ids = source->extra;
    extras.view = step->fixed || !how->cache ? source->view : NULL;
    extras.epoch =
        step->fixed || how->cache || extras.texts ? NULL : source->epoch;
    if (how->cache || how->moves)
        extras.hints.row = source->hint_row;
    if (how->cache)
        extras.hints.log_q = source->hint_log_q;
    else if (how->moves)
        extras.hints.view = source->hint_view;
    return extras;
}
