#include "batch_view.h"

#include <stdlib.h>

#include "json_number.h"

void
batch_view_release(struct batch_view *batch)
{
    wire_top_negatives_release(&batch->top);
    free(batch->ids);
    free(batch->z);
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
batch_view_show(const struct batch_view *b, const struct data_set *set)
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
                     json_number_show((double)weight), "cosine",
                     json_number_show((double)cosine));
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
                     json_number_show((double)h->outside[row]), "effective",
                     json_number_show((double)h->effective[row]), "negatives",
                     list);
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
