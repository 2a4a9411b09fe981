#include <omp.h>
#include <string.h>

#include "lanes.h"
#include "taps.h"

enum {
    APART = 16,          /* padding against cache conflicts, in floats */
    AT_A_TIME = 1 << 19, /* floats of the images of a group */
    ROWS_LEAST = 48,     /* of a product, if there are as many */
    TAPS_MOST = 256
};

static size_t
larger_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t
panel_width(const struct num_taps *t)
{
    return 2 * t->isa->lanes;
}

static size_t
count_pixels(const struct num_map *map)
{
    return map->h * map->w;
}

static size_t
count_taps(const struct num_taps *t)
{
    return t->spec.kernel * t->spec.kernel;
}

/* Images of a group: as many as fit, but enough for a product. */
static size_t
group_of(const struct num_taps *t, const struct num_map *read,
         const struct num_map *written)
{
    const size_t fit = AT_A_TIME / (count_pixels(read) * (read->c + APART));
    const size_t lines = num_divide_up(ROWS_LEAST * t->spec.stride, written->w);

    return num_least(read->n, larger_of(larger_of(fit, lines), 1));
}

int
num_taps_init(struct num_taps *t, const struct num_conv_spec *spec,
              const struct winograd_isa *isa)
{
    if ((spec->in.block != isa->lanes && spec->in.block != 1) ||
        spec->block != isa->lanes || spec->kernel * spec->kernel > TAPS_MOST)
        return -1;
    *t = (struct num_taps){.spec = *spec,
                           .out = num_conv_out(spec),
                           .isa = isa,
                           .threads = (size_t)omp_get_max_threads()};
    t->group[NUM_CONV_FORWARD] = group_of(t, &spec->in, &t->out);
    t->group[NUM_CONV_BACK_DATA] = group_of(t, &t->out, &spec->in);
    t->group[NUM_CONV_BACK_WEIGHTS] = group_of(t, &spec->in, &t->out);
    return 0;
}

int
num_taps_does(const struct num_taps *t, enum num_conv_pass pass)
{
    return pass != NUM_CONV_BACK_DATA || t->spec.in.block == t->isa->lanes;
}

/* A pass: its input and output, and its scratch. */
struct work {
    const struct num_taps *t;
    const struct num_map *read, *write;
    int back;
    size_t panels, now;                   /* panels of the output; images */
    struct taps_map from, to;             /* an image of both, as rows */
    float *weights, *rows, *more, *lines; /* more: dy, of back_weights */
    size_t bytes;
    unsigned char overlaps[TAPS_MOST];
};

/* The pixels of a row that a tap connects: `count` outputs from y_at on with as
 * many inputs from x_at on. */
struct run {
    size_t x_at, y_at, count;
};

/* The slot of pixel x of a line; slots are ordered by x modulo stride. */
static size_t
slot_of_pixel(size_t w, size_t stride, size_t x)
{
    size_t at = x / stride;

    for (size_t before = 0; before < x % stride; before++)
        at += (w - before + stride - 1) / stride;
    return at;
}

static struct run
run_of(const struct num_taps *t, size_t tap, size_t p)
{
    const struct num_conv_spec *s = &t->spec;
    const size_t r = tap / s->kernel, q = tap % s->kernel;
    const size_t low = q < s->pad ? num_divide_up(s->pad - q, s->stride) : 0;
    const size_t y = p * s->stride + r - s->pad;
    size_t high;

    if (p * s->stride + r < s->pad || y >= s->in.h || s->in.w + s->pad <= q)
        return (struct run){0};
    high = num_least(t->out.w, (s->in.w - 1 + s->pad - q) / s->stride + 1);
    if (high <= low)
        return (struct run){0};
    return (struct run){
        .x_at = y * s->in.w +
                slot_of_pixel(s->in.w, s->stride, low * s->stride + q - s->pad),
        .y_at = p * t->out.w + low,
        .count = high - low};
}

static struct taps_map
rows_of_map(const struct work *work, const struct num_map *map, size_t stride)
{
    const size_t wide = work->t->isa->lanes;

    return (struct taps_map){.h = map->h,
                             .w = map->w,
                             .groups = map->c / wide,
                             .stride = stride,
                             .bf16 = map->bf16,
                             .step = work->now * (map->c + APART),
                             .side = map->c / wide};
}

/* Sets the size of the current group. */
static void
set_group(struct work *work, size_t images)
{
    const size_t stride = work->t->spec.stride;
    struct taps_map rows =
        rows_of_map(work, work->write, work->back ? stride : 1);

    work->now = images;
    work->from = rows_of_map(work, work->read, work->back ? 1 : stride);
    // the same in panels, [panel,pixel,image,width]
    rows.step = work->now * panel_width(work->t);
    rows.side = 2;
    rows.plane = count_pixels(work->write) * rows.step + APART;
    work->to = rows;
}

/* Allocates floats of scratch. */
static float *
take_room(struct work *work, void *scratch, size_t floats)
{
    return num_take(&work->bytes, scratch, floats * sizeof(float));
}

static struct work
work_of(const struct num_taps *t, enum num_conv_pass pass, void *scratch)
{
    const struct num_conv_spec *spec = &t->spec;
    const int back = pass == NUM_CONV_BACK_DATA;
    struct work work = {.t = t,
                        .read = back ? &t->out : &spec->in,
                        .write = back ? &spec->in : &t->out,
                        .back = back};

    work.panels = num_divide_up(work.write->c, panel_width(t));
    set_group(&work, t->group[pass]);
    work.weights =
        take_room(&work, scratch,
                  work.panels * count_taps(t) * work.read->c * panel_width(t));
    work.rows =
        take_room(&work, scratch, count_pixels(work.read) * work.from.step);
    if (pass == NUM_CONV_BACK_WEIGHTS)
        work.more = take_room(&work, scratch, work.panels * work.to.plane);
    else
        work.lines = take_room(&work, scratch,
                               t->threads * work.write->w * work.to.step);
    for (size_t k = 0; k < count_taps(t) * t->out.h; k++)
        work.overlaps[k % count_taps(t)] |=
            run_of(t, k % count_taps(t), k / count_taps(t)).count > 0;
    return work;
}

size_t
num_taps_scratch(const struct num_taps *t, enum num_conv_pass pass)
{
    return work_of(t, pass, NULL).bytes;
}

/* One tap's weights, or their gradient, of a panel: [c,width]. */
static float *
weights_at(const struct work *work, size_t panel, size_t tap)
{
    return work->weights + (panel * count_taps(work->t) + tap) * work->read->c *
                               panel_width(work->t);
}

static struct taps_weights
weights_of(const struct work *work)
{
    const struct num_conv_spec *spec = &work->t->spec;

    return (struct taps_weights){spec->out, spec->in.c, count_taps(work->t),
                                 work->back, work->overlaps};
}

static size_t
columns_of_panel(const struct work *work, size_t panel)
{
    const size_t width = panel_width(work->t);

    return num_least(width, work->write->c - panel * width);
}

/* Converts an image in plain layout to rows. */
static void
gather_plain(const struct num_map *map, const struct taps_map *rows,
             const void *x, float *to)
{
    for (size_t y = 0; y < rows->h; y++)
        for (size_t first = 0; first < rows->stride; first++)
            for (size_t i = first; i < rows->w; i += rows->stride) {
                for (size_t k = 0; k < map->c; k++)
                    to[k] = number_at(
                        x, k * count_pixels(map) + y * rows->w + i, map->bf16);
                to += rows->step;
            }
}

/* Converts the images from `first` on to rows, with all threads. */
static void
gather_images(const struct work *work, const struct num_map *map,
              const struct taps_map *rows, const void *data, size_t first,
              float *to)
{
    const size_t row = rows->step / work->now;
    const size_t image = num_map_bytes(map) / map->n;

#pragma omp for schedule(static)
    for (size_t i = 0; i < work->now; i++) {
        const char *from = (const char *)data + (first + i) * image;

        if (map->block == 1)
            gather_plain(map, rows, from, to + i * row);
        else
            work->t->isa->gather(rows, from, to + i * row);
    }
}

/* Computes one line of a panel for all images of a group: the sum over taps. */
static void
make_line(const struct work *work, size_t line, size_t panel, float *to)
{
    const struct num_taps *t = work->t;
    const size_t stride = t->spec.stride, pad = t->spec.pad;
    const int back = work->back;

    memset(to, 0, work->write->w * work->to.step * sizeof *to);
    for (size_t tap = 0; tap < count_taps(t); tap++) {
        const size_t r = tap / t->spec.kernel, at = line + pad - r;
        struct run run;

        if (back && (line + pad < r || at % stride || at / stride >= t->out.h))
            continue;
        run = run_of(t, tap, back ? at / stride : line);
        if (!run.count)
            continue;
        t->isa->products->rows(&(struct products_rows){
            .a = work->rows + (back ? run.y_at : run.x_at) * work->from.step,
            .row = work->from.step / work->now,
            .step = 1,
            .b = weights_at(work, panel, tap),
            .ldb = panel_width(t),
            .c = to + ((back ? run.x_at : run.y_at) - line * work->write->w) *
                          work->to.step,
            .ldc = panel_width(t),
            .rows = run.count * work->now,
            .depth = work->read->c,
            .n = columns_of_panel(work, panel),
            .add = 1});
    }
}

static void
make_lines(const struct work *work, size_t first,
           const struct winograd_sink *sink)
{
    float *to = work->lines +
                (size_t)omp_get_thread_num() * work->write->w * work->to.step;

#pragma omp for collapse(2) schedule(dynamic)
    for (size_t line = 0; line < work->write->h; line++)
        for (size_t panel = 0; panel < work->panels; panel++) {
            make_line(work, line, panel, to);
            for (size_t i = 0; i < work->now; i++)
                work->t->isa->scatter(&work->to, first + i, panel, line,
                                      to + i * panel_width(work->t), sink);
        }
}

/* Forward and back_data. */
static void
run_pass(const struct work *all, const struct num_conv_args *args)
{
    const struct num_taps *t = all->t;
    const struct num_conv_spec *spec = &t->spec;
    const void *from = all->back ? args->dy : args->x;
    struct winograd_sink sink = {.y = args->dx};
    const struct taps_weights weights = weights_of(all);
    const size_t images = all->read->n, group = all->now;

    if (!all->back)
        sink = (struct winograd_sink){args->y, args->b, spec->add, spec->relu};
#pragma omp parallel num_threads((int)t->threads)
    {
        struct work work = *all;

#pragma omp for schedule(dynamic)
        for (size_t panel = 0; panel < work.panels; panel++)
            t->isa->taps_in(&weights, args->w, panel,
                            weights_at(all, panel, 0));
        for (size_t i = 0; i < images; i += group) {
            set_group(&work, num_least(group, images - i));
            gather_images(&work, work.read, &work.from, from, i, work.rows);
            make_lines(&work, i, &sink);
        }
    }
}

/* Adds a group of images to the sums of a tap and panel. */
static void
add_group(const struct work *work, size_t panel, size_t tap, int add)
{
    const struct num_taps *t = work->t;

    for (size_t p = 0; p < t->out.h; p++) {
        const struct run run = run_of(t, tap, p);

        if (!run.count)
            continue;
        t->isa->products->rows(&(struct products_rows){
            .a = work->rows + run.x_at * work->from.step,
            .row = 1,
            .step = work->from.step / work->now,
            .b = work->more + panel * work->to.plane + run.y_at * work->to.step,
            .ldb = panel_width(t),
            .c = weights_at(work, panel, tap),
            .ldc = panel_width(t),
            .rows = work->read->c,
            .depth = run.count * work->now,
            .n = columns_of_panel(work, panel),
            .add = add});
        add = 1;
    }
}

static void
write_gradient(const struct work *all, const struct num_conv_args *args)
{
    const struct num_taps *t = all->t;
    const struct taps_weights weights = weights_of(all);
    const size_t images = t->spec.in.n, group = all->now;

#pragma omp parallel num_threads((int)t->threads)
    {
        struct work work = *all;

        for (size_t i = 0; i < images; i += group) {
            set_group(&work, num_least(group, images - i));
            gather_images(&work, work.read, &work.from, args->x, i, work.rows);
            gather_images(&work, work.write, &work.to, args->dy, i, work.more);
#pragma omp for collapse(2) schedule(dynamic)
            for (size_t panel = 0; panel < work.panels; panel++)
                for (size_t tap = 0; tap < count_taps(t); tap++)
                    add_group(&work, panel, tap, i > 0);
        }
#pragma omp for schedule(dynamic)
        for (size_t panel = 0; panel < work.panels; panel++)
            t->isa->taps_out(&weights, weights_at(&work, panel, 0), panel,
                             args->accumulate, args->dw);
    }
}

void
num_taps_run(const struct num_taps *t, enum num_conv_pass pass,
             const struct num_conv_args *args)
{
    const struct work work = work_of(t, pass, args->scratch);

    if (pass == NUM_CONV_BACK_WEIGHTS)
        write_gradient(&work, args);
    else
        run_pass(&work, args);
}
