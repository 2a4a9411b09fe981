#include <stdlib.h>
#include <string.h>

#include "sample/source.h"
#include "util/mem.h"

enum { VIEWS = 2 };

/* Room for n extra samples. */
static void
make_room(struct sample_source *source, size_t n)
{
    mem_grow(&source->extra, &source->extra_room, n, sizeof *source->extra);
    mem_grow(&source->view, &source->view_room, n, sizeof *source->view);
    mem_grow(&source->hint_row, &source->hint_row_room, n,
             sizeof *source->hint_row);
    mem_grow(&source->hint_view, &source->hint_view_room, n,
             sizeof *source->hint_view);
    mem_grow(&source->hint_log_q, &source->hint_log_q_room, n,
             sizeof *source->hint_log_q);
}

/* What the weighing is told of an extra sample. */
struct hint {
    size_t row;
    int64_t view;
    double log_q;
};

/* Adds an extra sample to the item's, with a hint or, NULL, for no row. */
static void
add(struct sample_source *source, struct wire_item *item, int64_t id,
    int64_t view, const struct hint *hint)
{
    const size_t at = item->n_extra++;

    source->extra[at] = id;
    source->view[at] = view;
    source->hint_row[at] = hint ? (int32_t)hint->row : -1;
    source->hint_view[at] = hint ? (int32_t)hint->view : -1;
    source->hint_log_q[at] = hint ? (float)hint->log_q : 0;
}

/* Views that a chain's state may have. */
static size_t
views_of(const struct wire_item *item)
{
    const int64_t A = item->variants.augmentations;

    return A ? (size_t)A : VIEWS;
}

static int
by_state(const void *a, const void *b)
{
    const struct sample_state *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->view > y->view) - (x->view < y->view);
}

/*
 * Where the chains of an item stand: state [2b].  With endless augmentation a
 * state is an image, and its view is 0.  Chains of other views stand nowhere:
 * the weighing will refuse them.
 */
static void
stand(struct sample_source *source, const struct wire_item *item,
      struct sample_state *state)
{
    const struct sample_chains *chains = &source->memory.chains;
    const size_t n = VIEWS * item->n;

    for (size_t r = 0; r < n; r++)
        state[r] = (struct sample_state){-1, -1};
    if (chains->state && chains->views == views_of(item))
        sample_chains_get(chains, VIEWS, item->n, item->ids,
                          item->variants.variant, state, NULL);
}

/* The states of chains that the batch does not hold itself, each once. */
static void
attach_states(struct sample_source *source, struct wire_item *item)
{
    const int64_t *variant = item->variants.variant;
    const size_t n = VIEWS * item->n;
    struct sample_state *own, *state;

    mem_grow(&source->stand, &source->stand_room, n, sizeof *source->stand);
    own = source->stand;
    state = source->state;
    stand(source, item, state);
    for (size_t r = 0; r < n; r++) {
        own[r] = (struct sample_state){item->ids[r % item->n],
                                       variant ? variant[r] : 0};
        if (!variant)
            state[r].view = 0;
    }
    qsort(own, n, sizeof *own, by_state);
    qsort(state, n, sizeof *state, by_state);
    for (size_t r = 0; r < n; r++)
        if (state[r].id >= 0 && (!r || by_state(&state[r], &state[r - 1])) &&
            !bsearch(&state[r], own, n, sizeof *own, by_state))
            add(source, item, state[r].id, variant ? state[r].view : -1, NULL);
}

/* The chains walk on the bank, and each brings along where it stands then: the
 * hint names its row and the view of the state. */
static void
walk(struct sample_source *source, struct wire_item *item, double beta)
{
    const size_t n = VIEWS * item->n;
    const int64_t A = item->variants.augmentations;
    const struct sample_walk_how how = {
        .beta = beta,
        .moves = source->how.moves,
        .views = views_of(item),
        .seed = source->how.seed,
        .epoch = (uint64_t)item->at.epoch,
        .step = (uint64_t)item->at.step,
    };
    struct sample_state *state = source->state;
    struct sample_walk went = {0};

    stand(source, item, state);
    mem_grow(&source->ids, &source->ids_room, n, sizeof *source->ids);
    for (size_t r = 0; r < n; r++)
        source->ids[r] = item->ids[r % item->n];
    if (source->ahead.rows)
        went = sample_walk(&how, &source->ahead, n, source->ids,
                           item->variants.variant, state);
    for (size_t r = 0; r < n; r++)
        if (state[r].id >= 0)
            add(source, item, state[r].id, A ? state[r].view : -1,
                &(struct hint){r, state[r].view, 0});
    if (!item->n_extra)
        return;
    item->of_extra.hint_values[0] =
        (struct wire_metric){"walk_accepted", went.accepted};
    item->of_extra.hint_values[1] =
        (struct wire_metric){"walk_ess", went.effective};
    item->of_extra.n_hint_values = 2;
}

/* A negative from the bank for each image, whose hint names the image and
 * log q of the draw; then who is refreshed, for no row. */
static void
consult_cache(struct sample_source *source, struct wire_item *item,
              int64_t step, double beta)
{
    const struct sample_cache_how how = {beta, source->how.seed,
                                         (uint64_t)item->at.epoch,
                                         (uint64_t)item->at.step};
    const struct sample_bank *bank = &source->ahead;
    const int64_t view = item->variants.augmentations ? 0 : -1;
    const int64_t *ids;
    size_t n;

    if (bank->rows) {
        mem_grow(&source->draw, &source->draw_room, item->n,
                 sizeof *source->draw);
        sample_cache_draw(&how, bank, item->n, item->ids, NULL, 1,
                          source->draw);
        for (size_t i = 0; i < item->n; i++)
            if (source->draw[i].id >= 0)
                add(source, item, source->draw[i].id, view,
                    &(struct hint){i, -1, source->draw[i].log_q});
    }
    if (!source->refresh.order)
        return;
    n = sample_refresh_next(&source->refresh, (uint64_t)step, &ids);
    for (size_t i = 0; i < n; i++)
        add(source, item, ids[i], view, NULL);
}

/* How many extra samples an item of b can have. */
static size_t
most(const struct sample_source *source, size_t b)
{
    const struct sample_refresh *refresh = &source->refresh;

    if (!source->how.cache)
        return sample_source_waits(&source->how) ? VIEWS * b : 0;
    return b + (refresh->order ? refresh->size / refresh->period + 1 : 0);
}

/* The bank as of a step, which may lie ahead of what is to be weighed next. */
static void
look_ahead(struct sample_source *source, size_t views, int64_t then)
{
    const struct sample_bank *from = &source->memory.bank;
    struct sample_bank *ahead = &source->ahead;
    struct err err;

    sample_memory_fit(&source->memory, views);
    if (ahead->rows && ahead->views != views)
        sample_bank_release(ahead);
    if (!from->rows)
        return;
    if (!ahead->rows) {
        sample_bank_init(ahead, from->size, from->views, from->dim);
        REQUIRE(!sample_bank_load(ahead, from->rows, from->when, from->n,
                                  from->queue_when, from->queue_ids,
                                  from->queue_rows, &err));
    }
    sample_bank_advance(ahead, then);
}

void
sample_source_draw(struct sample_source *source, struct wire_item *item,
                   int64_t step)
{
    const struct sample_how *how = &source->how;
    const int64_t then = step - (int64_t)how->horizon;
    const size_t room = most(source, item->n);
    const double beta = sample_memory_beta(&source->memory, then);

    item->n_extra = 0;
    item->of_extra = (struct wire_extra){0};
    make_room(source, room);
    mem_grow(&source->state, &source->state_room, VIEWS * item->n,
             sizeof *source->state);
    look_ahead(source, sample_memory_views(&item->variants, !how->cache), then);
    if (how->cache)
        consult_cache(source, item, step, beta);
    else if (how->moves)
        walk(source, item, beta);
    else if (sample_source_waits(how))
        attach_states(source, item);
    REQUIRE(item->n_extra <= room);
    item->extra = source->extra;
    item->of_extra.reserve = (int64_t)room;
    item->of_extra.view = item->variants.augmentations ? source->view : NULL;
    item->of_extra.hint_row =
        how->cache || how->moves ? source->hint_row : NULL;
    item->of_extra.hint_view =
        !how->cache && how->moves ? source->hint_view : NULL;
    item->of_extra.hint_log_q = how->cache ? source->hint_log_q : NULL;
}
