#include "util/err.h"

#include "winograd_work.h"

enum {
    PASSING = 128,  /* channels of weights that are used once */
    CACHE_LINE = 64 /* bytes */
};

/* Prefetches between products: `step` bytes of each map at a time. */
struct winograd_prefetch {
    const char *maps[NUM_CONV_PREFETCHES];
    size_t bytes, at, step;
};

/* The prefetches of the task after tiles first..end. */
static struct winograd_prefetch
prefetch_for(const struct winograd_work *work, size_t first, size_t end)
{
    const struct num_conv_task *task = &work->fused.after;
    const size_t each = work->wino->down * work->wino->across;
    const size_t products = num_divide_up(end - first, work->p->group) *
                            work->p->panels * work->wino->points;
    struct winograd_prefetch prefetch = {.bytes = (end - first) / each *
                                                  task->bytes};

    for (size_t k = 0; k < NUM_CONV_PREFETCHES && task->prefetch[k]; k++)
        prefetch.maps[k] =
            (const char *)task->prefetch[k] + first / each * task->bytes;
    prefetch.step =
        num_round_up(num_divide_up(prefetch.bytes, products), CACHE_LINE);
    return prefetch;
}

static void
prefetch_more(struct winograd_prefetch *prefetch)
{
    const size_t end =
        num_least(prefetch->at + prefetch->step, prefetch->bytes);

    for (size_t k = 0; k < NUM_CONV_PREFETCHES && prefetch->maps[k]; k++)
        for (size_t at = prefetch->at; at < end; at += CACHE_LINE)
            __builtin_prefetch(prefetch->maps[k] + at, 0,
                               2); // the second cache
    prefetch->at = end;
}

/* Channels that are read: from..to. */
struct range {
    size_t from, to;
};

static size_t
weights_plane(const struct winograd_work *work, struct range part)
{
    const size_t phases = work->p->depth / work->p->c;

    return winograd_panel_plane(work->wino, phases * (part.to - part.from));
}

/* Transforms the weights of a part of a panel to points. */
static void
make_weights(const struct winograd_work *work, size_t panel, struct range part,
             float *u)
{
    const struct num_conv_spec *spec = &work->wino->spec;
    const struct winograd_isa *isa = work->wino->isa;
    const size_t plane = weights_plane(work, part);

    if (winograd_strided(work->wino))
        isa->strided_weights(work->w, spec->out, spec->in.c, panel, part.from,
                             part.to, u, plane);
    else
        isa->weights(work->w, spec->out, spec->in.c, work->back, panel,
                     part.from, part.to, u, plane);
}

/* Adds the product of matrices of a point (winograd.h), over the channels of a
 * part, to that of earlier parts.  If the part has all channels, phases are
 * adjacent without a gap. */
static void
multiply_point(const struct winograd_work *work, size_t point,
               struct range part, struct winograd_product product)
{
    const struct winograd_pass *p = work->p;
    const size_t phases =
        winograd_strided(work->wino) ? strided_phases(point) : 1;
    const size_t width = part.to - part.from;
    const size_t parts = width == p->c ? 1 : phases;

    product.depth = phases / parts * width;
    for (size_t i = 0; i < parts; i++) {
        work->wino->isa->product(&product);
        product.a += p->c;
        product.b += width * winograd_width(work->wino);
        product.add = 1;
    }
}

/* Adds a part to the sums of a panel, for a group of tiles; after the last part
 * transforms the sums to pixels. */
static void
make_panel(const struct winograd_work *work, size_t group, size_t count,
           size_t panel, struct range part, const float *v, const float *u,
           float *m, struct winograd_prefetch *prefetch)
{
    const struct num_winograd *wino = work->wino;
    const struct winograd_pass *p = work->p;
    const size_t plane = winograd_panel_plane(wino, winograd_results(p));

    for (size_t at = 0; at < count; at += winograd_results(p)) {
        const size_t now = num_least(winograd_results(p), count - at);
        const struct winograd_tiles tiles =
            num_winograd_tiles(wino, &p->to, group + at, now);

        for (size_t i = 0; i < wino->points; i++) {
            prefetch_more(prefetch);
            multiply_point(work, i, part,
                           (struct winograd_product){
                               .a = v + i * winograd_points_plane(p) +
                                    at * winograd_row(p) + part.from,
                               .row = winograd_row(p),
                               .step = 1,
                               .b = u + i * weights_plane(work, part),
                               .c = m + i * plane,
                               .rows = now,
                               .vectors = winograd_vectors(wino, p, panel),
                               .add = part.from > 0,
                               .next = u + (i + 1) * weights_plane(work, part),
                               .ahead = weights_plane(work, part)});
        }
        if (part.to == p->c)
            (winograd_strided(wino)
                 ? wino->isa->strided_tiles
                 : wino->isa->tiles)(&tiles, panel, m, plane, &work->sink);
    }
}

/* The same for weights that are used once: some channels at a time, which stay
 * in the caches together with the sums of all tiles. */
static void
pass_panel(const struct winograd_work *work, size_t group, size_t count,
           size_t panel, float *u, float *m)
{
    const size_t c = work->p->c;
    const size_t each = count > winograd_results(work->p) ? c : PASSING;
    struct winograd_prefetch none = {.at = 0};

    for (size_t from = 0; from < c; from += each) {
        const struct range part = {from, num_least(from + each, c)};

        make_weights(work, panel, part, u);
        make_panel(work, group, count, panel, part, work->points.at, u, m,
                   &none);
    }
}

/* Floats of a panel's weights. */
static size_t
panel_weights(const struct winograd_work *work)
{
    return work->wino->points *
           winograd_panel_plane(work->wino, work->p->depth);
}

static void
all_weights(const struct winograd_work *work)
{
#pragma omp for schedule(dynamic)
    for (size_t panel = 0; panel < work->p->panels; panel++)
        make_weights(work, panel, (struct range){0, work->p->c},
                     work->weights.at + panel * panel_weights(work));
}

static void
run_group(const struct winograd_work *work, size_t group, size_t count,
          struct winograd_prefetch *prefetch)
{
    const struct winograd_pass *p = work->p;

    num_winograd_points(work, group, 0, count, winograd_mine(&work->points));
    for (size_t panel = 0; panel < p->panels; panel++)
        make_panel(work, group, count, panel, (struct range){0, p->c},
                   winograd_mine(&work->points),
                   work->weights.at + panel * panel_weights(work),
                   winograd_mine(&work->results), prefetch);
}

/* Processes tiles first..end; with a task, these are whole images. */
static void
run_tiles(const struct winograd_work *work, size_t first, size_t end)
{
    const struct num_conv_task *after = &work->fused.after;
    const size_t each = work->wino->down * work->wino->across;
    struct winograd_prefetch prefetch = prefetch_for(work, first, end);

    for (size_t at = first; at < end; at += work->p->group)
        run_group(work, at, num_least(work->p->group, end - at), &prefetch);
    for (size_t i = first / each; after->run && i < end / each; i++)
        after->run(after->self, i);
}

/* Each thread processes its own tiles. */
static void
run_apart(const struct winograd_work *work)
{
    const size_t tiles = work->wino->tiles, take = work->p->take;

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        all_weights(work);
#pragma omp for schedule(dynamic)
        for (size_t first = 0; first < tiles; first += take)
            run_tiles(work, first, num_least(first + take, tiles));
    }
}

/* All threads process one group after the other, each its own panels. */
static void
run_together(const struct winograd_work *work)
{
    const struct winograd_pass *p = work->p;
    const size_t each = panel_weights(work);
    const int passes = winograd_passing(work->wino, p);

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        if (!passes)
            all_weights(work);
        for (size_t group = 0; group < work->wino->tiles; group += p->group) {
            num_winograd_share_points(work, group);
#pragma omp for schedule(dynamic)
            for (size_t panel = 0; panel < p->panels; panel++)
                if (passes)
                    pass_panel(work, group, winograd_count(work, group), panel,
                               winograd_mine(&work->weights),
                               winograd_mine(&work->results));
                else
                    make_panel(work, group, winograd_count(work, group), panel,
                               (struct range){0, p->c}, work->points.at,
                               work->weights.at + panel * each,
                               winograd_mine(&work->results),
                               &(struct winograd_prefetch){.at = 0});
        }
    }
}

static void
run_winograd(const struct winograd_work *work)
{
    REQUIRE(work->p->by_image || !work->fused.after.run);
    if (work->p->together)
        run_together(work);
    else
        run_apart(work);
}

void
num_winograd_forward(const struct num_winograd *wino, const void *x,
                     const float *w, const float *b, void *y, void *scratch)
{
    const struct num_conv_fused none = {.norm = NULL};

    num_winograd_forward_fused(wino, &none, x, w, b, y, scratch);
}

void
num_winograd_forward_fused(const struct num_winograd *wino,
                           const struct num_conv_fused *fused, const void *x,
                           const float *w, const float *b, void *y,
                           void *scratch)
{
    struct winograd_work work =
        num_winograd_work(wino, NUM_CONV_FORWARD, scratch);

    work.fused = *fused;
    work.from = x;
    work.w = w;
    work.sink = (struct winograd_sink){y, b, wino->spec.add, wino->spec.relu};
    run_winograd(&work);
}

void
num_winograd_back_data(const struct num_winograd *wino, const void *dy,
                       const float *w, void *dx, void *scratch)
{
    const struct num_conv_fused none = {.norm = NULL};

    num_winograd_back_data_fused(wino, &none, dy, w, dx, scratch);
}

void
num_winograd_back_data_fused(const struct num_winograd *wino,
                             const struct num_conv_fused *fused, const void *dy,
                             const float *w, void *dx, void *scratch)
{
    struct winograd_work work =
        num_winograd_work(wino, NUM_CONV_BACK_DATA, scratch);

    work.fused.after = fused->after;
    work.from = dy;
    work.w = w;
    work.sink = (struct winograd_sink){.y = dx};
    run_winograd(&work);
}
