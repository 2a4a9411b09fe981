#include "kept.h"

const struct moment *
kept_add(struct kept *kept, struct moment *moment)
{
    struct moment *place;

    do
        kept->last = (kept->last + 1) % KEPT_PLACES;
    while (kept->held[kept->last]);
    place = &kept->place[kept->last];
    moment_release(place);
    *place = *moment;
    *moment = (struct moment){0};
    kept->n++;
    return place;
}

const struct moment *
kept_newest(const struct kept *kept)
{
    return kept->n ? &kept->place[kept->last] : NULL;
}

const struct moment *
kept_find(const struct kept *kept, int64_t epoch, int64_t step)
{
    for (const struct moment *m = kept->place; m < kept->place + KEPT_PLACES;
         m++)
        if (m->n && m->epoch == epoch && m->step == step)
            return m;
    return NULL;
}

void
kept_hold(struct kept *kept, const struct moment *moment)
{
    size_t n = 0, oldest = 0;

    for (size_t i = 0; i < KEPT_PLACES; i++) {
        if (moment == &kept->place[i])
            kept->held[i] = ++kept->holds;
        if (kept->held[i] && (!n++ || kept->held[i] < kept->held[oldest]))
            oldest = i;
    }
    if (n > KEPT_HELD)
        kept->held[oldest] = 0;
}

void
kept_release(struct kept *kept)
{
    for (size_t i = 0; i < KEPT_PLACES; i++)
        moment_release(&kept->place[i]);
    *kept = (struct kept){0};
}
