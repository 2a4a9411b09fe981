#include <omp.h>
#include <string.h>

#include "util/err.h"
#include "util/isa.h"

#include "helpers.h"
#include "winograd.h"
#include "winograd_isa.h"

/*
 * Small weights (up to 256 channels, for the gradient 128) stay in the caches,
 * so threads work independently, on groups of tiles with points that also stay
 * there.  Large weights do not: threads share the points of many tiles, and
 * each transforms some columns of the weights, uses them for all these tiles,
 * and discards them.  Both limit the scratch.
 */
enum {
    TILE = WINOGRAD_TILE,
    APART = 256 * 256, /* weights, c x o, up to which threads work apart */
    APART_GRADIENT = 128 * 128,
    BY_IMAGE = 32 * 64,        /* weights that leave an image in the cache */
    TILES_APART = 32,          /* of a group then */
    ENOUGH = 4,                /* parts of a batch for each thread */
    POINTS_TOGETHER = 3 << 19, /* floats of a group's points otherwise */
    POINTS_GRADIENT = 3 << 20, /* the same for back_weights */
    PAD = 16,                  /* padding against cache conflicts, in floats */
    AT_A_TIME = 64,            /* tiles of a product */
    SHARE = 16,                /* tiles that a thread transforms at a time */
    PASSING = 128,             /* channels of weights that are used once */
    CACHE_LINE = 64            /* bytes */
};

static size_t
panel_width(const struct num_winograd *wino)
{
    return 2 * wino->isa->lanes;
}

/* Sizes of rows and planes in scratch, in floats. */
static size_t
points_row(const struct winograd_pass *p)
{
    return p->depth + PAD;
}

static size_t
points_plane(const struct winograd_pass *p)
{
    return p->group * points_row(p) + PAD;
}

/* [c, panel] of weights, and [tiles, panel] of results. */
static size_t
panel_plane(const struct num_winograd *wino, size_t rows)
{
    return rows * panel_width(wino) + PAD;
}

static size_t
tiles_of_product(const struct winograd_pass *p)
{
    return num_least(p->group, AT_A_TIME);
}

static size_t
count_groups(const struct num_winograd *wino, const struct winograd_pass *p)
{
    return num_divide_up(wino->tiles, p->group);
}

/* Whether it has phases. */
static int
is_strided(const struct num_winograd *wino)
{
    return wino->points == STRIDED_POINTS;
}

static const struct winograd_transforms *
transforms_of(const struct num_winograd *wino)
{
    return &wino->isa->by_stride[is_strided(wino)];
}

/* Whether weights are used for one group only. */
static int
uses_weights_once(const struct num_winograd *wino,
                  const struct winograd_pass *p)
{
    return p->together && count_groups(wino, p) == 1;
}

/* Columns of a panel that hold channels. */
static size_t
columns_of_panel(const struct num_winograd *wino, const struct winograd_pass *p,
                 size_t panel)
{
    return num_least(panel_width(wino), p->o - panel * panel_width(wino));
}

/* Scratch of one kind: n arrays of `each` floats. */
struct winograd_room {
    size_t n, each;
    float *at;
};

/* The scratch and the arguments of a pass. */
struct winograd_work {
    const struct num_winograd *wino;
    const struct winograd_pass *p;
    struct winograd_room points;  /* B' d B */
    struct winograd_room weights; /* G g G', or the gradient's sums */
    struct winograd_room results; /* a panel's sums, or A dy A' of all panels */
    int back;
    const struct num_conv_args *args;
};

/* The array of the calling thread, or the only one. */
static float *
scratch_of_thread(const struct winograd_room *room)
{
    return room->at +
           (room->n == 1 ? 0 : (size_t)omp_get_thread_num() * room->each);
}

/* Tiles of a group; the last one has fewer. */
static size_t
count_tiles(const struct winograd_work *work, size_t group)
{
    return num_least(work->p->group, work->wino->tiles - group);
}

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
        sum += is_strided(wino) ? strided_phases(i) : 1;
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
    const size_t phases = is_strided(wino) ? STRIDED_PHASES : 1;
    struct winograd_pass p = {.from = back ? y : x, .to = back ? x : y};
    size_t groups;

    p.c = p.from.c;
    p.o = p.to.c;
    p.depth = phases * p.c;
    p.panels = num_divide_up(p.o, panel_width(wino));
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
num_winograd_does(const struct num_winograd *wino, enum num_conv_pass pass)
{
    return pass == NUM_CONV_FORWARD || !is_strided(wino);
}

/* A pass with the sizes of its scratch. */
static struct winograd_work
measure_work(const struct num_winograd *wino, enum num_conv_pass pass)
{
    const struct winograd_pass *p = &wino->pass[pass];
    const size_t panel = wino->points * panel_plane(wino, p->depth);
    const int passes = uses_weights_once(wino, p);
    struct winograd_work work = {
        .wino = wino,
        .p = p,
        .back = pass == NUM_CONV_BACK_DATA,
        .points = {.n = p->together ? 1 : wino->threads,
                   .each = wino->points * points_plane(p)},
        .weights = {.n = passes ? wino->threads : 1,
                    .each = passes ? panel : p->panels * panel},
        .results = {.n = wino->threads,
                    .each =
                        wino->points * panel_plane(wino, tiles_of_product(p))},
    };

    if (pass == NUM_CONV_BACK_WEIGHTS) {
        work.weights.n = p->together && !passes ? 1 : wino->threads;
        work.results.n = work.points.n;
        work.results.each =
            p->panels * WINOGRAD_POINTS * panel_plane(wino, p->group);
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

/* Tiles first .. first + count of a map. */
static struct winograd_tiles
tiles_of(const struct num_winograd *wino, const struct num_map *map,
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

/* Computes the points of tiles first .. first + count of the group that starts
 * at tile `group`. */
static void
make_points(const struct winograd_work *work, size_t group, size_t first,
            size_t count, float *v)
{
    const struct winograd_tiles tiles =
        tiles_of(work->wino, &work->p->from, group + first, count);
    const size_t row = points_row(work->p);

    transforms_of(work->wino)
        ->points(&tiles, work->back ? work->args->dy : work->args->x,
                 work->back ? NULL : work->args->norm, v + first * row, row,
                 points_plane(work->p));
}

/* The same for the whole group, with all threads. */
static void
share_points(const struct winograd_work *work, size_t group)
{
    const size_t count = count_tiles(work, group);

#pragma omp for schedule(dynamic)
    for (size_t at = 0; at < count; at += SHARE)
        make_points(work, group, at, num_least(SHARE, count - at),
                    work->points.at);
}

/* Prefetches between products: `step` bytes of each map at a time. */
struct winograd_prefetch {
    const char *maps[NUM_CONV_PREFETCHES];
    size_t bytes, at, step;
};

/* The prefetches of the task after tiles first..end. */
static struct winograd_prefetch
prefetch_for(const struct winograd_work *work, size_t first, size_t end)
{
    const struct num_conv_task *task = &work->args->after;
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

    return panel_plane(work->wino, phases * (part.to - part.from));
}

/* Transforms the weights of a part of a panel to points. */
static void
make_weights(const struct winograd_work *work, size_t panel, struct range part,
             float *u)
{
    const struct num_conv_spec *spec = &work->wino->spec;

    transforms_of(work->wino)
        ->weights(work->args->w, spec->out, spec->in.c, work->back, panel,
                  part.from, part.to, u, weights_plane(work, part));
}

/* Adds the product of matrices of a point (winograd.h), over the channels of a
 * part, to that of earlier parts.  If the part has all channels, phases are
 * adjacent without a gap. */
static void
multiply_point(const struct winograd_work *work, size_t point,
               struct range part, struct products_rows product)
{
    const struct winograd_pass *p = work->p;
    const size_t phases = is_strided(work->wino) ? strided_phases(point) : 1;
    const size_t width = part.to - part.from;
    const size_t parts = width == p->c ? 1 : phases;

    product.depth = phases / parts * width;
    for (size_t i = 0; i < parts; i++) {
        work->wino->isa->products->rows(&product);
        product.a += p->c;
        product.b += width * product.ldb;
        product.add = 1;
    }
}

static struct winograd_sink
sink_of(const struct winograd_work *work)
{
    const struct num_conv_spec *spec = &work->wino->spec;
    const struct num_conv_args *args = work->args;

    if (work->back)
        return (struct winograd_sink){.y = args->dx};
    return (struct winograd_sink){args->y, args->b, spec->add, spec->relu};
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
    const size_t plane = panel_plane(wino, tiles_of_product(p));
    const struct winograd_sink sink = sink_of(work);

    for (size_t at = 0; at < count; at += tiles_of_product(p)) {
        const size_t now = num_least(tiles_of_product(p), count - at);
        const struct winograd_tiles tiles =
            tiles_of(wino, &p->to, group + at, now);

        for (size_t i = 0; i < wino->points; i++) {
            prefetch_more(prefetch);
            multiply_point(work, i, part,
                           (struct products_rows){
                               .a = v + i * points_plane(p) +
                                    at * points_row(p) + part.from,
                               .row = points_row(p),
                               .step = 1,
                               .b = u + i * weights_plane(work, part),
                               .ldb = panel_width(wino),
                               .c = m + i * plane,
                               .ldc = panel_width(wino),
                               .rows = now,
                               .n = columns_of_panel(wino, p, panel),
                               .add = part.from > 0,
                               .next = u + (i + 1) * weights_plane(work, part),
                               .ahead = weights_plane(work, part)});
        }
        if (part.to == p->c)
            transforms_of(wino)->tiles(&tiles, panel, m, plane, &sink);
    }
}

/* The same for weights that are used once: some channels at a time, which stay
 * in the caches together with the sums of all tiles. */
static void
pass_panel(const struct winograd_work *work, size_t group, size_t count,
           size_t panel, float *u, float *m)
{
    const size_t c = work->p->c;
    const size_t each = count > tiles_of_product(work->p) ? c : PASSING;
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
    return work->wino->points * panel_plane(work->wino, work->p->depth);
}

static void
all_weights(const struct winograd_work *work)
{
#pragma omp for schedule(dynamic)
    for (size_t panel = 0; panel < work->p->panels; panel++)
        make_weights(work, panel, (struct range){0, work->p->c},
                     work->weights.at + panel * panel_weights(work));
}

/* Processes tiles first..end; with a task, these are whole images. */
static void
run_tiles(const struct winograd_work *work, size_t first, size_t end)
{
    const struct winograd_pass *p = work->p;
    const struct num_conv_task *after = &work->args->after;
    const size_t each = work->wino->down * work->wino->across;
    struct winograd_prefetch prefetch = prefetch_for(work, first, end);

    for (size_t at = first; at < end; at += p->group) {
        const size_t count = num_least(p->group, end - at);

        make_points(work, at, 0, count, scratch_of_thread(&work->points));
        for (size_t panel = 0; panel < p->panels; panel++)
            make_panel(work, at, count, panel, (struct range){0, p->c},
                       scratch_of_thread(&work->points),
                       work->weights.at + panel * panel_weights(work),
                       scratch_of_thread(&work->results), &prefetch);
    }
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
    const int passes = uses_weights_once(work->wino, p);

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        if (!passes)
            all_weights(work);
        for (size_t group = 0; group < work->wino->tiles; group += p->group) {
            share_points(work, group);
#pragma omp for schedule(dynamic)
            for (size_t panel = 0; panel < p->panels; panel++)
                if (passes)
                    pass_panel(work, group, count_tiles(work, group), panel,
                               scratch_of_thread(&work->weights),
                               scratch_of_thread(&work->results));
                else
                    make_panel(work, group, count_tiles(work, group), panel,
                               (struct range){0, p->c}, work->points.at,
                               work->weights.at + panel * each,
                               scratch_of_thread(&work->results),
                               &(struct winograd_prefetch){.at = 0});
        }
    }
}

/* Computes gradients at points: s(panel, p, c, .) (+)= sum over the tiles of a
 * group. */
static void
add_group(const struct winograd_work *work, size_t count, size_t panel,
          const float *v, const float *n, float *s, int add)
{
    const struct num_winograd *wino = work->wino;
    const struct winograd_pass *p = work->p;

    for (size_t i = 0; i < WINOGRAD_POINTS; i++)
        wino->isa->products->rows(&(struct products_rows){
            .a = v + i * points_plane(p),
            .row = 1,
            .step = points_row(p),
            .b =
                n + (panel * WINOGRAD_POINTS + i) * panel_plane(wino, p->group),
            .ldb = panel_width(wino),
            .c = s + i * panel_plane(wino, p->c),
            .ldc = panel_width(wino),
            .rows = p->c,
            .depth = count,
            .n = columns_of_panel(wino, p, panel),
            .add = add,
            .next = v + (i + 1) % WINOGRAD_POINTS * points_plane(p),
            .ahead = count * points_row(p)});
}

/* Computes A dy A' of tiles first .. first + count of a group. */
static void
make_spread(const struct winograd_work *work, size_t group, size_t first,
            size_t count, float *n)
{
    const struct num_winograd *wino = work->wino;
    const struct winograd_tiles tiles =
        tiles_of(wino, &work->p->to, group + first, count);
    const size_t plane = panel_plane(wino, work->p->group);

    wino->isa->spread(&tiles, work->args->dy, n + first * panel_width(wino),
                      plane, WINOGRAD_POINTS * plane);
}

static void
finish_gradient(const struct winograd_work *work, size_t panel, const float *s)
{
    const struct num_conv_spec *spec = &work->wino->spec;

    work->wino->isa->gradient(s, panel_plane(work->wino, work->p->c), panel,
                              spec->out, spec->in.c, work->args->accumulate,
                              work->args->dw);
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
gradient_apart(const struct winograd_work *work)
{
    const struct winograd_pass *p = work->p;
    const size_t groups = count_groups(work->wino, p);
    const size_t plane = panel_plane(work->wino, p->c),
                 each = WINOGRAD_POINTS * plane;

#pragma omp parallel num_threads((int)work->wino->threads)
    {
        const size_t threads = (size_t)omp_get_num_threads();
        const size_t me = (size_t)omp_get_thread_num();
        const size_t from = groups * me / threads;

        if (from == groups * (me + 1) / threads)
            memset(scratch_of_thread(&work->weights), 0,
                   p->panels * each * sizeof(float));
        for (size_t i = from; i < groups * (me + 1) / threads; i++) {
            const size_t group = i * p->group, count = count_tiles(work, group);

            make_points(work, group, 0, count,
                        scratch_of_thread(&work->points));
            make_spread(work, group, 0, count,
                        scratch_of_thread(&work->results));
            for (size_t panel = 0; panel < p->panels; panel++)
                add_group(work, count, panel, scratch_of_thread(&work->points),
                          scratch_of_thread(&work->results),
                          scratch_of_thread(&work->weights) + panel * each,
                          i > from);
        }
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t i = 0; i < p->panels * WINOGRAD_POINTS; i++)
            add_sums(work, i * plane, plane - PAD, threads);
#pragma omp for schedule(static)
        for (size_t i = 0; i < p->panels; i++)
            finish_gradient(work, i, work->weights.at + i * each);
    }
}

static void
share_spread(const struct winograd_work *work, size_t group)
{
    const size_t count = count_tiles(work, group);

#pragma omp for schedule(dynamic)
    for (size_t at = 0; at < count; at += SHARE)
        make_spread(work, group, at, num_least(SHARE, count - at),
                    work->results.at);
}

static void
gradient_together(const struct winograd_work *work)
{
    const struct winograd_pass *p = work->p;
    const size_t each = WINOGRAD_POINTS * panel_plane(work->wino, p->c);
    const int passes = uses_weights_once(work->wino, p);

#pragma omp parallel num_threads((int)work->wino->threads)
    for (size_t group = 0; group < work->wino->tiles; group += p->group) {
        const size_t count = count_tiles(work, group);

        share_points(work, group);
        share_spread(work, group);
#pragma omp for schedule(dynamic)
        for (size_t panel = 0; panel < p->panels; panel++) {
            float *s = passes ? scratch_of_thread(&work->weights)
                              : work->weights.at + panel * each;

            add_group(work, count, panel, work->points.at, work->results.at, s,
                      group > 0);
            if (group + count == work->wino->tiles)
                finish_gradient(work, panel, s);
        }
    }
}

void
num_winograd_run(const struct num_winograd *wino, enum num_conv_pass pass,
                 const struct num_conv_args *args)
{
    struct winograd_work work = measure_work(wino, pass);
    const int sums = pass == NUM_CONV_BACK_WEIGHTS;

    work.args = args;
    work.points.at = args->scratch;
    work.weights.at = work.points.at + work.points.n * work.points.each;
    work.results.at = work.weights.at + work.weights.n * work.weights.each;
    REQUIRE(sums || work.p->by_image || !args->after.run);
    if (sums && work.p->together)
        gradient_together(&work);
    else if (sums)
        gradient_apart(&work);
    else if (work.p->together)
        run_together(&work);
    else
        run_apart(&work);
}
