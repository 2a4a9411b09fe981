#include "winograd_work.h"

/* The weights of a panel, brought to points. */
static void
make_weights(const struct winograd_work *work, size_t panel, float *u)
{
    const struct num_conv_spec *spec = &work->wino->spec;

    work->wino->isa->weights(work->w, spec->out, spec->in.c, work->back, panel,
                             u, winograd_panel_plane(work->wino, work->p->c));
}

/* All pixels of a panel that come of a group of tiles. */
static void
make_panel(const struct winograd_work *work, size_t group, size_t count,
           size_t panel, const float *v, const float *u, float *m)
{
    const struct num_winograd *wino = work->wino;
    const struct winograd_pass *p = work->p;
    const size_t plane = winograd_panel_plane(wino, winograd_results(p));

    for (size_t at = 0; at < count; at += winograd_results(p)) {
        const size_t now = winograd_least(winograd_results(p), count - at);
        const struct winograd_tiles tiles =
            num_winograd_tiles(wino, p->o, group + at, now);

        for (size_t i = 0; i < WINOGRAD_POINTS; i++)
            wino->isa->product(&(struct winograd_product){
                .a = v + i * winograd_points_plane(p) + at * winograd_row(p),
                .row = winograd_row(p),
                .step = 1,
                .b = u + i * winograd_panel_plane(wino, p->c),
                .c = m + i * plane,
                .rows = now,
                .depth = p->c,
                .vectors = winograd_vectors(wino, p, panel)});
        wino->isa->tiles(&tiles, panel, m, plane, &work->sink);
    }
}

static void
all_weights(const struct winograd_work *work)
{
#pragma omp for schedule(dynamic)
    for (size_t panel = 0; panel < work->p->panels; panel++)
        make_weights(work, panel,
                     work->weights +
                         panel * WINOGRAD_POINTS *
                             winograd_panel_plane(work->wino, work->p->c));
}

/* Each thread with groups of its own. */
static void
run_apart(const struct winograd_work *work)
{
    const struct winograd_pass *p = work->p;
    const size_t groups = winograd_groups(work->wino, p);
    const size_t each =
        WINOGRAD_POINTS * winograd_panel_plane(work->wino, p->c);

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        all_weights(work);
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < groups; i++) {
            const size_t group = i * p->group,
                         count = winograd_count(work, group);

            num_winograd_points(work, group, 0, count,
                                winograd_my_points(work));
            for (size_t panel = 0; panel < p->panels; panel++)
                make_panel(work, group, count, panel, winograd_my_points(work),
                           work->weights + panel * each,
                           winograd_my_results(work));
        }
    }
}

/* All threads with one group after the other, each with panels of its own. */
static void
run_together(const struct winograd_work *work)
{
    const struct winograd_pass *p = work->p;
    const size_t each =
        WINOGRAD_POINTS * winograd_panel_plane(work->wino, p->c);
    const int passes = winograd_passing(work->wino, p);

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        if (!passes)
            all_weights(work);
        for (size_t group = 0; group < work->wino->tiles; group += p->group) {
            num_winograd_share_points(work, group);
#pragma omp for schedule(dynamic)
            for (size_t panel = 0; panel < p->panels; panel++) {
                float *u = passes ? winograd_my_weights(work)
                                  : work->weights + panel * each;

                if (passes)
                    make_weights(work, panel, u);
                make_panel(work, group, winograd_count(work, group), panel,
                           work->points, u, winograd_my_results(work));
            }
        }
    }
}

static void
run(const struct winograd_work *work)
{
    if (work->p->together)
        run_together(work);
    else
        run_apart(work);
}

void
num_winograd_forward(const struct num_winograd *wino, const void *x,
                     const float *w, const float *b, void *y, void *scratch)
{
    struct winograd_work work =
        num_winograd_work(wino, NUM_CONV_FORWARD, scratch);

    work.from = x;
    work.w = w;
    work.sink = (struct winograd_sink){y, b, wino->spec.add, wino->spec.relu};
    run(&work);
}

void
num_winograd_back_data(const struct num_winograd *wino, const void *dy,
                       const float *w, void *dx, void *scratch)
{
    struct winograd_work work =
        num_winograd_work(wino, NUM_CONV_BACK_DATA, scratch);

    work.from = dy;
    work.w = w;
    work.sink = (struct winograd_sink){.y = dx};
    run(&work);
}
