#include "ways.h"

#include <stdlib.h>

#include "moment.h"
#include "number.h"
#include "util/mem.h"

enum { VIEWS = 64 }; /* more have no ways */

struct state {
    int64_t id, epoch;
    int32_t view;
    float w, cosine;
};

struct visit {
    int64_t epoch, step;
    float outside, effective;
    size_t n;
    struct state state[WAYS_STATES];
};

/* The latest visits: visit k is at k mod WAYS_VISITS. */
struct way {
    uint64_t n;
    struct visit visit[WAYS_VISITS];
};

/* The way of a view of a sample, which is made where there is room; or NULL. */
static struct way *
find_way(struct ways *ways, int64_t id, size_t view)
{
    struct way **way;

    if (id < 0 || (size_t)id >= ways->size)
        return NULL;
    way = &ways->way[(size_t)id * ways->views + view];
    if (!*way && ways->n < WAYS_MOST) {
        *way = mem_array(1, sizeof **way);
        ways->n++;
    }
    return *way;
}

static int
is_later(const struct visit *visit, int64_t epoch, int64_t step)
{
    return visit->epoch < epoch ||
           (visit->epoch == epoch && visit->step < step);
}

static void
add_visit(struct way *way, const struct wire_drawn *d, size_t row)
{
    struct visit *visit;

    if (way->n &&
        !is_later(&way->visit[(way->n - 1) % WAYS_VISITS], d->epoch, d->step))
        way->n = 0;
    visit = &way->visit[way->n++ % WAYS_VISITS];
    *visit = (struct visit){.epoch = d->epoch,
                            .step = d->step,
                            .outside = d->outside[row],
                            .effective = d->effective[row]};
    for (size_t i = row * d->k; i < (row + 1) * d->k; i++)
        if (d->w[i] > 0 && d->sample[i] >= 0 && visit->n < WAYS_STATES)
            visit->state[visit->n++] =
                (struct state){d->sample[i], d->of_epoch[i], d->view[i],
                               d->w[i], d->cosine[i]};
}

void
ways_take(struct ways *ways, const struct wire_drawn *d, size_t size)
{
    if (!size || d->n_views > VIEWS)
        return;
    if (ways->size != size || ways->views != d->n_views) {
        ways_release(ways);
        ways->size = size;
        ways->views = d->n_views;
        ways->way = mem_array(size * d->n_views, sizeof *ways->way);
    }
    for (size_t row = 0; row < d->n_views * d->n; row++) {
        struct way *way = find_way(ways, d->ids[row % d->n], row / d->n);

        if (way)
            add_visit(way, d, row);
    }
}

static json_t *
show_states(const struct visit *visit, int own, const struct data_set *set)
{
    json_t *list = json_array();

    for (const struct state *s = visit->state; s < visit->state + visit->n;
         s++) {
        const int label = moment_label(set, s->id);

        json_array_append_new(
            list,
            json_pack("{s:I s:i s:i s:I s:o s:o s:b}", "id", (json_int_t)s->id,
                      "label", label, "view", (int)s->view, "epoch",
                      (json_int_t)s->epoch, "weight", number_show((double)s->w),
                      "cosine", number_show((double)s->cosine), "same",
                      own >= 0 && label == own));
    }
    return list;
}

json_t *
ways_show(const struct ways *ways, int64_t id, size_t view,
          const struct data_set *set)
{
    const int there = id >= 0 && (size_t)id < ways->size && view < ways->views;
    const struct way *way =
        there ? ways->way[(size_t)id * ways->views + view] : NULL;
    const uint64_t n = way ? way->n : 0;
    json_t *list = json_array();

    for (uint64_t k = n > WAYS_VISITS ? n - WAYS_VISITS : 0; k < n; k++) {
        const struct visit *v = &way->visit[k % WAYS_VISITS];

        json_array_append_new(
            list,
            json_pack("{s:I s:I s:o s:o s:o}", "epoch", (json_int_t)v->epoch,
                      "step", (json_int_t)v->step, "outside",
                      number_show((double)v->outside), "effective",
                      number_show((double)v->effective), "states",
                      show_states(v, moment_label(set, id), set)));
    }
    return list;
}

void
ways_release(struct ways *ways)
{
    for (size_t i = 0; i < ways->size * ways->views; i++)
        free(ways->way[i]);
    free(ways->way);
    *ways = (struct ways){0};
}
