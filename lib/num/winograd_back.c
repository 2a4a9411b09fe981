#include <string.h>

#include "winograd_work.h"

/* Computes gradients at points: s(panel, p, c, .) (+)= sum over the tiles of a
 * group. */
static void
add_group(const struct winograd_work *work, size_t count, size_t panel,
          const float *v, const float *n, float *s, int add)
{
    const struct num_winograd *wino = work->wino;
    const struct winograd_pass *p = work->p;

    for (size_t i = 0; i < WINOGRAD_POINTS; i++)
        wino->isa->product(&(struct winograd_product){
            .a = v + i * winograd_points_plane(p),
            .row = 1,
            .step = winograd_row(p),
            .b = n + (panel * WINOGRAD_POINTS + i) *
                         winograd_panel_plane(wino, p->group),
            .c = s + i * winograd_panel_plane(wino, p->c),
            .rows = p->c,
            .depth = count,
            .vectors = winograd_vectors(wino, p, panel),
            .add = add,
            .next = v + (i + 1) % WINOGRAD_POINTS * winograd_points_plane(p),
            .ahead = count * winograd_row(p)});
}

/* Computes A dy A' of tiles first .. first + count of a group. */
static void
make_spread(const struct winograd_work *work, const void *dy, size_t group,
            size_t first, size_t count, float *n)
{
    const struct num_winograd *wino = work->wino;
    const struct winograd_tiles tiles =
        num_winograd_tiles(wino, &work->p->to, group + first, count);
    const size_t plane = winograd_panel_plane(wino, work->p->group);

    wino->isa->spread(&tiles, dy, n + first * winograd_width(wino), plane,
                      WINOGRAD_POINTS * plane);
}

struct gradient {
    const void *dy;
    float *dw;
    int accumulate;
};

static void
finish_gradient(const struct winograd_work *work, const struct gradient *g,
                size_t panel, const float *s, size_t from, size_t to)
{
    const struct num_conv_spec *spec = &work->wino->spec;

    work->wino->isa->gradient(s, winograd_panel_plane(work->wino, work->p->c),
                              panel, from, to, spec->out, spec->in.c,
                              g->accumulate, g->dw);
}

/* Adds s of all threads to that of the first, for one plane of a panel. */
static void
add_sums(const struct winograd_work *work, size_t from, size_t count,
         size_t threads)
{
    for (size_t k = 1; k < threads; k++) {
        const float *more = work->weights.at + k * work->weights.each + from;

        for (size_t i = 0; i < count; i++)
            work->weights.at[from + i] += more[i];
    }
}

static void
gradient_apart(const struct winograd_work *work, const struct gradient *g)
{
    const struct winograd_pass *p = work->p;
    const size_t groups = winograd_groups(work->wino, p);
    const size_t plane = winograd_panel_plane(work->wino, p->c),
                 each = WINOGRAD_POINTS * plane;

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        const size_t threads = (size_t)omp_get_num_threads();
        const size_t me = (size_t)omp_get_thread_num();
        const size_t from = groups * me / threads;

        if (from == groups * (me + 1) / threads)
            memset(winograd_mine(&work->weights), 0,
                   p->panels * each * sizeof(float));
        for (size_t i = from; i < groups * (me + 1) / threads; i++) {
            const size_t group = i * p->group,
                         count = winograd_count(work, group);

            num_winograd_points(work, group, 0, count,
                                winograd_mine(&work->points));
            make_spread(work, g->dy, group, 0, count,
                        winograd_mine(&work->results));
            for (size_t panel = 0; panel < p->panels; panel++)
                add_group(work, count, panel, winograd_mine(&work->points),
                          winograd_mine(&work->results),
                          winograd_mine(&work->weights) + panel * each,
                          i > from);
        }
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t i = 0; i < p->panels * WINOGRAD_POINTS; i++)
            add_sums(work, i * plane, plane - WINOGRAD_PAD, threads);
#pragma omp for schedule(static)
        for (size_t i = 0; i < p->panels; i++)
            finish_gradient(work, g, i, work->weights.at + i * each, 0, p->c);
    }
}

static void
share_spread(const struct winograd_work *work, const void *dy, size_t group)
{
    const size_t count = winograd_count(work, group);

#pragma omp for schedule(dynamic)
    for (size_t at = 0; at < count; at += WINOGRAD_SHARE)
        make_spread(work, dy, group, at, num_least(WINOGRAD_SHARE, count - at),
                    work->results.at);
}

static void
gradient_together(const struct winograd_work *work, const struct gradient *g)
{
    const struct winograd_pass *p = work->p;
    const size_t each =
        WINOGRAD_POINTS * winograd_panel_plane(work->wino, p->c);
    const int passes = winograd_passing(work->wino, p);

#pragma omp parallel num_threads((int)work->wino->threads)
    for (size_t group = 0; group < work->wino->tiles; group += p->group) {
        const size_t count = winograd_count(work, group);

        num_winograd_share_points(work, group);
        share_spread(work, g->dy, group);
#pragma omp for schedule(dynamic)
        for (size_t panel = 0; panel < p->panels; panel++) {
            float *s = passes ? winograd_mine(&work->weights)
                              : work->weights.at + panel * each;

            add_group(work, count, panel, work->points.at, work->results.at, s,
                      group > 0);
            if (group + count == work->wino->tiles)
                finish_gradient(work, g, panel, s, 0, p->c);
        }
    }
}

void
num_winograd_back_weights(const struct num_winograd *wino, const void *x,
                          const void *dy, float *dw, int accumulate,
                          void *scratch)
{
    num_winograd_norm_back_weights(wino, x, NULL, dy, dw, accumulate, scratch);
}

void
num_winograd_norm_back_weights(const struct num_winograd *wino, const void *x,
                               const struct num_conv_norm *norm, const void *dy,
                               float *dw, int accumulate, void *scratch)
{
    struct winograd_work work =
        num_winograd_work(wino, NUM_CONV_BACK_WEIGHTS, scratch);
    const struct gradient g = {dy, dw, accumulate};

    work.from = x;
    work.fused.norm = norm;
    if (work.p->together)
        gradient_together(&work, &g);
    else
        gradient_apart(&work, &g);
}
