#include "batch_view.h"

#include <stdlib.h>

#include "json_number.h"
#include "util/mem.h"

void
batch_view_release(struct batch_view *batch)
{
    wire_top_negatives_release(&batch->top);
    mem_free(batch->ids, batch->z);
    *batch = (struct batch_view){0};
}

size_t
batch_view_pictures(const struct batch_view *batch)
{
    return batch->texts ? 1 : batch->views;
}

int
batch_view_label(const struct data_set *set, int64_t id)
{
    return set && id >= 0 && (size_t)id < data_size(set)
               ? data_label(set, (size_t)id)
               : -1;
}

json_t *
batch_view_json(const struct batch_view *b, const struct data_set *set)
{
    json_t *ids = json_array(), *labels = json_array();

    for (size_t i = 0; i < b->n; i++) {
        json_array_append_new(ids, json_integer(b->ids[i]));
        json_array_append_new(labels,
                              json_integer(batch_view_label(set, b->ids[i])));
    }
    return json_pack("{s:I s:I s:o s:o s:I s:I s:b s:b}", "epoch",
                     (json_int_t)b->epoch, "step", (json_int_t)b->step, "ids",
                     ids, "labels", labels, "views", (json_int_t)b->views,
                     "pictures", (json_int_t)batch_view_pictures(b), "known",
                     b->z != NULL, "made", b->made);
}

json_t *
batch_view_embeddings(const struct batch_view *b)
{
    const size_t bytes = b->views * b->n * b->d * sizeof *b->z;
    char *z = base64_encode((const uint8_t *)b->z, bytes);
    json_t *embeddings = json_pack("{s:s}", "z", z);

    free(z);
    return embeddings;
}

json_t *
batch_view_negative(const struct data_set *set, int64_t id, int view,
                    int64_t epoch, float weight, float cosine)
{
    return json_pack("{s:I s:i s:i s:I s:o s:o}", "id", (json_int_t)id, "label",
                     batch_view_label(set, id), "view", view, "epoch",
                     (json_int_t)epoch, "weight",
                     json_number_or_null((double)weight), "cosine",
                     json_number_or_null((double)cosine));
}

json_t *
batch_view_negatives(const struct batch_view *b, const struct data_set *set,
                     size_t row)
{
    const struct heaviest *h = &b->top.heaviest;
    json_t *list;

    if (!h->k)
        return json_null();
    list = json_array();
    for (size_t i = row * h->k; i < (row + 1) * h->k; i++)
        if (h->w[i] > 0) {
            json_t *negative =
                batch_view_negative(set, h->sample[i], h->view[i], h->epoch[i],
                                    h->w[i], h->cosine[i]);
            const int in_batch =
                h->row[i] >= 0 && (size_t)h->row[i] < b->views * b->n;

            json_object_set_new(negative, "row",
                                in_batch ? json_integer(h->row[i])
                                         : json_null());
            json_array_append_new(list, negative);
        }
    return json_pack("{s:s s:I s:o s:o s:o}", "sampler", b->top.sampler,
                     "columns", (json_int_t)b->top.columns, "outside",
                     json_number_or_null((double)h->outside[row]), "effective",
                     json_number_or_null((double)h->effective[row]),
                     "negatives", list);
}

const struct batch_view *
batch_cache_add(struct batch_cache *cache, struct batch_view *batch)
{
    struct batch_view *place;

    do
        cache->last = (cache->last + 1) % BATCH_CACHE_PLACES;
    while (cache->pinned[cache->last]);
    place = &cache->place[cache->last];
    batch_view_release(place);
    *place = *batch;
    *batch = (struct batch_view){0};
    cache->n++;
    return place;
}

struct batch_view *
batch_cache_newest(struct batch_cache *cache)
{
    return cache->n ? &cache->place[cache->last] : NULL;
}

struct batch_view *
batch_cache_find(struct batch_cache *cache, int64_t epoch, int64_t step)
{
    for (size_t i = 0; i < BATCH_CACHE_PLACES; i++) {
        struct batch_view *b = &cache->place[i];

        if (b->n && b->epoch == epoch && b->step == step)
            return b;
    }
    return NULL;
}

void
batch_cache_pin(struct batch_cache *cache, const struct batch_view *batch)
{
    size_t n = 0, oldest = 0;

    for (size_t i = 0; i < BATCH_CACHE_PLACES; i++) {
        if (batch == &cache->place[i])
            cache->pinned[i] = ++cache->pins;
        if (cache->pinned[i] &&
            (!n++ || cache->pinned[i] < cache->pinned[oldest]))
            oldest = i;
    }
    if (n > BATCH_CACHE_PINS)
        cache->pinned[oldest] = 0;
}

void
batch_cache_release(struct batch_cache *cache)
{
    for (size_t i = 0; i < BATCH_CACHE_PLACES; i++)
        batch_view_release(&cache->place[i]);
    *cache = (struct batch_cache){0};
}

/* ---- the trail of chains ---- */

enum { VIEWS_MOST = 64 }; /* a batch with more views has no trail */

struct state {
    int64_t id, epoch;
    int32_t view;
    float w, cosine;
};

struct step {
    int64_t epoch, step;
    float outside, effective;
    size_t n;
    struct state state[CHAIN_TRAIL_STATES];
};

/* A ring: step k is at k mod CHAIN_TRAIL_STEPS. */
struct chain_steps {
    uint64_t n;
    struct step step[CHAIN_TRAIL_STEPS];
};

/* Returns the steps of a view of a sample, which it makes if there is room; or
 * NULL. */
static struct chain_steps *
find_steps(struct chain_trail *trail, int64_t id, size_t view)
{
    struct chain_steps **steps;

    if (id < 0 || (size_t)id >= trail->size)
        return NULL;
    steps = &trail->steps[(size_t)id * trail->views + view];
    if (!*steps && trail->n < CHAIN_TRAIL_MOST) {
        *steps = mem_array(1, sizeof **steps);
        trail->n++;
    }
    return *steps;
}

static void
add_step(struct chain_steps *steps, const struct wire_top_negatives *d,
         size_t row)
{
    const struct heaviest *h = &d->heaviest;
    const struct batch *batch = &d->batch;
    struct step *step = &steps->step[(steps->n - 1) % CHAIN_TRAIL_STEPS];

    if (steps->n &&
        (step->epoch > batch->epoch ||
         (step->epoch == batch->epoch && step->step >= batch->step)))
        steps->n = 0;
    step = &steps->step[steps->n++ % CHAIN_TRAIL_STEPS];
    *step = (struct step){.epoch = batch->epoch,
                          .step = batch->step,
                          .outside = h->outside[row],
                          .effective = h->effective[row]};
    for (size_t i = row * h->k; i < (row + 1) * h->k; i++)
        if (h->w[i] > 0 && h->sample[i] >= 0 && step->n < CHAIN_TRAIL_STATES)
            step->state[step->n++] = (struct state){
                h->sample[i], h->epoch[i], h->view[i], h->w[i], h->cosine[i]};
}

void
chain_trail_add(struct chain_trail *trail, const struct wire_top_negatives *d,
                size_t size)
{
    const size_t views = d->batch.v, n = d->batch.b;

    if (!size || views > VIEWS_MOST)
        return;
    if (trail->size != size || trail->views != views) {
        chain_trail_release(trail);
        trail->size = size;
        trail->views = views;
        trail->steps = mem_array(size * views, sizeof(void *));
    }
    for (size_t row = 0; row < views * n; row++) {
        struct chain_steps *steps =
            find_steps(trail, d->batch.ids[row % n], row / n);

        if (steps)
            add_step(steps, d, row);
    }
}

static json_t *
step_json(const struct step *step, const struct data_set *set)
{
    json_t *states = json_array();

    for (const struct state *s = step->state; s < step->state + step->n; s++)
        json_array_append_new(states,
                              batch_view_negative(set, s->id, s->view, s->epoch,
                                                  s->w, s->cosine));
    return json_pack("{s:I s:I s:o s:o s:o}", "epoch", (json_int_t)step->epoch,
                     "step", (json_int_t)step->step, "outside",
                     json_number_or_null((double)step->outside), "effective",
                     json_number_or_null((double)step->effective), "states",
                     states);
}

json_t *
chain_trail_json(const struct chain_trail *trail, int64_t id, size_t view,
                 const struct data_set *set)
{
    const int there =
        id >= 0 && (size_t)id < trail->size && view < trail->views;
    const struct chain_steps *steps =
        there ? trail->steps[(size_t)id * trail->views + view] : NULL;
    const uint64_t n = steps ? steps->n : 0;
    json_t *list = json_array();

    for (uint64_t k = n > CHAIN_TRAIL_STEPS ? n - CHAIN_TRAIL_STEPS : 0; k < n;
         k++)
        json_array_append_new(
            list, step_json(&steps->step[k % CHAIN_TRAIL_STEPS], set));
    return list;
}

void
chain_trail_release(struct chain_trail *trail)
{
    for (size_t i = 0; i < trail->size * trail->views; i++)
        free(trail->steps[i]);
    free(trail->steps);
    *trail = (struct chain_trail){0};
}
