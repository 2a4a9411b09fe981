#include "util/isa.h"

#include "winograd_work.h"

enum {
    TILE = WINOGRAD_TILE,
    APART = 256 * 256, /* weights, c x o, up to which threads work apart */
    APART_GRADIENT = 128 * 128,
    BY_IMAGE = 32 * 64,        /* weights that leave an image in the cache */
    TILES_APART = 32,          /* of a group then */
    ENOUGH = 4,                /* parts of a batch for each thread */
    POINTS_TOGETHER = 3 << 19, /* floats of a group's points otherwise */
    POINTS_GRADIENT = 3 << 20  /* the same for back_weights */
};

const struct winograd_isa *
num_winograd_isa(size_t i)
{
    const size_t widest = UTIL_ISA_V4 - i, ours = util_isa();

    return LEVELS_FIND(num_winograd, num_least(widest, ours));
}

/* The count of numbers of a tile and channel. */
static size_t
numbers_of_tile(const struct num_winograd *wino)
{
    size_t sum = 0;

    for (size_t i = 0; i < wino->points; i++)
        sum += winograd_strided(wino) ? strided_phases(i) : 1;
    return sum;
}

/* Sets the share of threads that work independently: images; but groups if
 * there are few images, the pass writes none, or weights would evict them from
 * the cache. */
static void
choose_share(const struct num_winograd *wino, enum num_conv_pass pass,
             struct winograd_pass *p)
{
    const size_t each = wino->down * wino->across;
    const size_t most = wino->spec.in.n / (ENOUGH * wino->threads);
    const size_t want = each < TILES_APART ? TILES_APART / each : 1;
    size_t groups = num_divide_up(wino->tiles, TILES_APART);

    p->by_image = most > 0 && pass != NUM_CONV_BACK_WEIGHTS &&
                  p->depth * p->o <= BY_IMAGE;
    if (p->by_image) {
        p->take = each * num_least(most, want);
        p->group = num_divide_up(p->take, num_divide_up(p->take, TILES_APART));
        return;
    }
    if (groups < wino->threads)
        groups = wino->threads;
    p->group = p->take = num_divide_up(wino->tiles, groups);
}

static struct winograd_pass
pass_of(const struct num_winograd *wino, enum num_conv_pass pass)
{
    const struct num_map x = wino->spec.in, y = num_conv_out(&wino->spec);
    const int back = pass == NUM_CONV_BACK_DATA;
    const int gradient = pass == NUM_CONV_BACK_WEIGHTS;
    const size_t phases = winograd_strided(wino) ? STRIDED_PHASES : 1;
    struct winograd_pass p = {.from = back ? y : x, .to = back ? x : y};
    size_t groups;

    p.c = p.from.c;
    p.o = p.to.c;
    p.depth = phases * p.c;
    p.panels = num_divide_up(p.o, winograd_width(wino));
    p.together = p.depth * p.o > (gradient ? APART_GRADIENT : APART);
    groups = gradient ? POINTS_GRADIENT : POINTS_TOGETHER;
    groups = num_divide_up(wino->tiles * numbers_of_tile(wino) * p.c, groups);
    p.group = p.take = num_divide_up(wino->tiles, groups);
    if (!p.together)
        choose_share(wino, pass, &p);
    return p;
}

int
num_winograd_init(struct num_winograd *wino, const struct num_conv_spec *spec,
                  const struct winograd_isa *isa)
{
    const struct num_map y = num_conv_out(spec);
    const int strided = spec->stride == 2;

    if (spec->kernel != 3 || (spec->stride != 1 && !strided) ||
        spec->pad != 1 || spec->in.block != isa->lanes ||
        spec->block != isa->lanes)
        return -1;
    *wino = (struct num_winograd){.spec = *spec,
                                  .isa = isa,
                                  .points = strided ? STRIDED_POINTS
                                                    : WINOGRAD_POINTS,
                                  .down = num_divide_up(y.h, TILE),
                                  .across = num_divide_up(y.w, TILE),
                                  .threads = (size_t)omp_get_max_threads()};
    wino->tiles = y.n * wino->down * wino->across;
    for (int i = 0; i < 3; i++)
        if (num_winograd_does(wino, (enum num_conv_pass)i))
            wino->pass[i] = pass_of(wino, (enum num_conv_pass)i);
    return 0;
}

int
num_winograd_by_image(const struct num_winograd *wino, enum num_conv_pass pass)
{
    return wino->pass[pass].by_image;
}

int
num_winograd_does(const struct num_winograd *wino, enum num_conv_pass pass)
{
    return pass == NUM_CONV_FORWARD || !winograd_strided(wino);
}

/* A pass with the sizes of its scratch. */
static struct winograd_work
measure_work(const struct num_winograd *wino, enum num_conv_pass pass)
{
    const struct winograd_pass *p = &wino->pass[pass];
    const size_t panel = wino->points * winograd_panel_plane(wino, p->depth);
    const int passes = winograd_passing(wino, p);
    struct winograd_work work = {
        .wino = wino,
        .p = p,
        .back = pass == NUM_CONV_BACK_DATA,
        .points = {.n = p->together ? 1 : wino->threads,
                   .each = wino->points * winograd_points_plane(p)},
        .weights = {.n = passes ? wino->threads : 1,
                    .each = passes ? panel : p->panels * panel},
        .results = {.n = wino->threads,
                    .each = wino->points *
                            winograd_panel_plane(wino, winograd_results(p))},
    };

    if (pass == NUM_CONV_BACK_WEIGHTS) {
        work.weights.n = p->together && !passes ? 1 : wino->threads;
        work.results.n = work.points.n;
        work.results.each =
            p->panels * WINOGRAD_POINTS * winograd_panel_plane(wino, p->group);
    }
    return work;
}

size_t
num_winograd_scratch(const struct num_winograd *wino, enum num_conv_pass pass)
{
    const struct winograd_work work = measure_work(wino, pass);

    return num_align((work.points.n * work.points.each +
                      work.weights.n * work.weights.each +
                      work.results.n * work.results.each) *
                     sizeof(float));
}

struct winograd_work
num_winograd_work(const struct num_winograd *wino, enum num_conv_pass pass,
                  void *scratch)
{
    struct winograd_work work = measure_work(wino, pass);

    work.points.at = scratch;
    work.weights.at = work.points.at + work.points.n * work.points.each;
    work.results.at = work.weights.at + work.weights.n * work.weights.each;
    return work;
}

struct winograd_tiles
num_winograd_tiles(const struct num_winograd *wino, const struct num_map *map,
                   size_t first, size_t count)
{
    return (struct winograd_tiles){.h = map->h,
                                   .w = map->w,
                                   .down = wino->down,
                                   .across = wino->across,
                                   .groups = map->c / wino->isa->lanes,
                                   .bf16 = map->bf16,
                                   .first = first,
                                   .count = count,
                                   .all = wino->tiles};
}

void
num_winograd_points(const struct winograd_work *work, size_t group,
                    size_t first, size_t count, float *v)
{
    const struct winograd_isa *isa = work->wino->isa;
    const struct winograd_tiles tiles =
        num_winograd_tiles(work->wino, &work->p->from, group + first, count);
    const size_t row = winograd_row(work->p);
    const size_t plane = winograd_points_plane(work->p);

    if (winograd_strided(work->wino))
        isa->strided_points(&tiles, work->from, v + first * row, row, plane);
    else
        isa->points(&tiles, work->from, work->fused.norm, v + first * row, row,
                    plane);
}

void
num_winograd_share_points(const struct winograd_work *work, size_t group)
{
    const size_t count = winograd_count(work, group);

#pragma omp for schedule(dynamic)
    for (size_t at = 0; at < count; at += WINOGRAD_SHARE)
        num_winograd_points(work, group, at,
                            num_least(WINOGRAD_SHARE, count - at),
                            work->points.at);
}
