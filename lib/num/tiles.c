#include <omp.h>
#include <string.h>

#include "helpers.h"
#include "tiles.h"
#include "tiles_move.h"

enum {
    AT_A_TIME = 1 << 19,  /* bytes of the rows of a block */
    FOR_SUMS = 1 << 20,   /* bytes of both operands, for weight gradients */
    PARTS = 8,            /* of the sums of weight gradients */
    PARTS_MOST = 1 << 21, /* bytes of these; if larger there is one part */
    IMAGES_MOST = 32,     /* to fill the tiles of a line */
    LINES_MOST = 128,
    KERNEL_MOST = 16,
    PIXELS = 2 * TILE_SIDE, /* of a product */
};

int
num_tiles_init(struct num_tiles *t, const struct num_conv_spec *spec,
               const struct tile_kernel *kernel)
{
    if (!kernel || !spec->in.bf16 || spec->in.block != 16 ||
        spec->block != 16 || spec->kernel > KERNEL_MOST)
        return -1;
    *t = (struct num_tiles){.spec = *spec,
                            .out = num_conv_out(spec),
                            .kernel = kernel,
                            .threads = (size_t)omp_get_max_threads()};
    return 0;
}

/* A pass: its input and its output (for back_weights, x and dy). */
struct tiles_pass {
    const struct num_tiles *t;
    const struct num_map *read, *write;
    int back, sums;
    struct tiles_slots slots;     /* of a line that is read */
    size_t images, lines;         /* of a block, at most */
    size_t fill, shares;          /* images of a unit; shares of these units */
    size_t depth, panels, blocks; /* planes of 32 input and output channels */
    size_t parts; /* of back_weights: part k sums every parts-th block, in one
                     thread; with one part threads share a block */
    size_t room, more; /* words of the rows of a block, and of dy */
    uint32_t *weights, *rows;
    float *total; /* of back_weights: [part,panel,plane,tap] sums; with one
                     block those of each thread */
    size_t bytes;
};

/* A block: some output lines of some images, and the input lines that they
 * need. */
struct block {
    size_t image, now, live; /* now: live, made even for sums */
    size_t line, end, read, read_end;
    size_t slots, plane; /* words from a plane of rows to the next */
};

/* The layout of a line: backward reads one dy for each `stride` of dx, without
 * classes. */
static struct tiles_slots
slots_of(const struct num_conv_spec *s, const struct num_map *out, int back)
{
    const size_t beyond = s->kernel - 1 > s->pad ? s->kernel - 1 - s->pad : 0;
    const size_t low = beyond / s->stride;

    if (back)
        return (struct tiles_slots){
            1, 1, low, (s->in.w - 1 + s->pad) / s->stride + low + 1};
    return (struct tiles_slots){s->stride, num_least(s->stride, s->kernel),
                                s->pad, (out->w - 1) * s->stride + s->kernel};
}

/* The number of slots in the classes before one, and in all classes. */
static size_t
slots_before(const struct tiles_slots *s, size_t before)
{
    size_t at = 0;

    for (size_t k = 0; k < before && k < s->length; k++)
        at += num_divide_up(s->length - k, s->step);
    return at;
}

static size_t
count_slots(const struct tiles_slots *s)
{
    return slots_before(s, s->classes);
}

/* Maximum lines read for `lines` lines written. */
static size_t
count_reads(const struct tiles_pass *pass, size_t lines)
{
    const struct num_conv_spec *s = &pass->t->spec;
    const size_t most = pass->back ? (lines + s->kernel - 2) / s->stride + 2
                                   : (lines - 1) * s->stride + s->kernel;

    return num_least(most, pass->read->h);
}

static size_t
count_chunks(const struct tiles_pass *pass, size_t images)
{
    return num_divide_up(pass->write->w * images, TILE_DEPTH);
}

static void
set_room(struct tiles_pass *pass, size_t images, size_t lines)
{
    const size_t row = images * count_slots(&pass->slots) * TILE_SIDE;

    pass->images = images;
    pass->lines = lines;
    // a product reads whole tiles, beyond the last row
    pass->room =
        pass->depth * count_reads(pass, lines) * row + PIXELS * TILE_SIDE;
    if (pass->sums)
        pass->more = pass->write->c / TILE_SIDE * lines *
                     count_chunks(pass, images) * TILE_WORDS;
}

/* The smallest number of images that fills the tiles of a line best. */
static size_t
fill_tiles_of(const struct tiles_pass *pass)
{
    const size_t step = pass->sums ? 2 : 1, wide = pass->write->w;
    const size_t all = num_round_up(pass->read->n, step);
    const size_t most = num_least(IMAGES_MOST, all);
    const size_t width =
        pass->back ? num_divide_up(wide, pass->t->spec.stride) : wide;
    size_t best = step;

    for (size_t n = step; n <= most; n += step)
        if (num_divide_up(width * n, PIXELS) * best <
            num_divide_up(width * best, PIXELS) * n)
            best = n;
    return best;
}

/* The first image of share k; shares differ by at most `fill` images. */
static size_t
begin_images(const struct tiles_pass *pass, size_t k)
{
    const size_t n = pass->read->n, all = num_divide_up(n, pass->fill);

    return num_least(all * k / pass->shares * pass->fill, n);
}

/* Sets the shares: at most `images` images at a time, a multiple of `least`
 * shares if images are whole. */
static void
share_images(struct tiles_pass *pass, size_t images, size_t least)
{
    const size_t all = num_divide_up(pass->read->n, pass->fill);
    const size_t parts = num_divide_up(pass->write->h, pass->lines);
    size_t shares = num_divide_up(pass->read->n, images);

    if (parts == 1)
        shares = num_least(num_round_up(shares, least), all);
    pass->shares = shares;
    pass->blocks = shares * parts;
    set_room(pass, num_divide_up(all, shares) * pass->fill, pass->lines);
}

/* Small weights give too few tasks: threads would wait for each other at every
 * block.  So each part has its own blocks and sums; the number of parts does
 * not depend on that of threads. */
static void
choose_parts(struct tiles_pass *pass)
{
    const size_t taps = pass->t->spec.kernel * pass->t->spec.kernel;
    const size_t sums = pass->panels * pass->depth * taps * TILE_SUMS;

    pass->parts = 1;
    share_images(pass, pass->images, 1);
    if (sums * PARTS * sizeof(float) > PARTS_MOST)
        return;
    share_images(pass, pass->images, PARTS);
    if (pass->blocks > 1)
        pass->parts = num_least(PARTS, pass->blocks);
}

/* Sets the images and lines of a block: several whole images, one, or some
 * lines. */
static void
choose_block(struct tiles_pass *pass)
{
    const size_t most = (pass->sums ? FOR_SUMS : AT_A_TIME) / sizeof(uint32_t);
    const size_t fill = fill_tiles_of(pass), h = pass->write->h;
    size_t images = fill, lines = h;

    set_room(pass, images, lines);
    while ((pass->room + pass->more > most && lines > 1) ||
           lines > LINES_MOST) {
        lines = num_divide_up(lines, 2);
        set_room(pass, images, lines);
    }
    while (lines == h && images < pass->read->n) {
        set_room(pass, images + fill, lines);
        if (pass->room + pass->more > most)
            break;
        images += fill;
    }
    set_room(pass, images, lines);
    pass->fill = fill;
    if (pass->sums)
        choose_parts(pass);
    else
        share_images(pass, images, pass->t->threads);
}

/* Allocates words of scratch. */
static void *
take_words(struct tiles_pass *pass, void *scratch, size_t words)
{
    return num_take(&pass->bytes, scratch, words * sizeof(uint32_t));
}

static struct tiles_pass
pass_of(const struct num_tiles *t, enum num_conv_pass which, void *scratch)
{
    const struct num_conv_spec *spec = &t->spec;
    const int back = which == NUM_CONV_BACK_DATA;
    const int sums = which == NUM_CONV_BACK_WEIGHTS;
    const size_t taps = spec->kernel * spec->kernel;
    struct tiles_pass pass = {.t = t,
                              .read = back ? &t->out : &spec->in,
                              .write = back ? &spec->in : &t->out,
                              .back = back,
                              .sums = sums,
                              .slots = slots_of(spec, &t->out, back)};
    size_t room, tiles, holders;

    pass.depth = num_divide_up(pass.read->c, TILE_DEPTH);
    pass.panels = num_divide_up(pass.write->c, TILE_DEPTH);
    tiles = pass.panels * pass.depth * taps;
    choose_block(&pass);
    if (sums)
        pass.total = take_words(
            &pass, scratch,
            (pass.blocks > 1 ? pass.parts * tiles : t->threads * spec->kernel) *
                TILE_SUMS);
    else
        pass.weights = take_words(&pass, scratch, tiles * 2 * TILE_WORDS);
    room = num_round_up(pass.room, TILE_SIDE);
    pass.room = room;
    holders = sums && pass.parts == 1 ? 1 : t->threads;
    pass.rows = take_words(&pass, scratch, holders * (room + pass.more));
    return pass;
}

size_t
num_tiles_scratch(const struct num_tiles *t, enum num_conv_pass pass)
{
    return pass_of(t, pass, NULL).bytes;
}

static struct tiles_weights
shape_of(const struct tiles_pass *pass)
{
    const struct num_conv_spec *s = &pass->t->spec;

    return (struct tiles_weights){s->out, s->in.c, s->kernel * s->kernel,
                                  pass->back};
}

static struct block
block_of(const struct tiles_pass *pass, size_t at)
{
    const struct num_conv_spec *s = &pass->t->spec;
    const size_t parts = num_divide_up(pass->write->h, pass->lines);
    struct block b = {.image = begin_images(pass, at / parts),
                      .line = at % parts * pass->lines,
                      .slots = count_slots(&pass->slots)};
    size_t low, high;

    b.live = begin_images(pass, at / parts + 1) - b.image;
    b.now = pass->sums ? b.live + b.live % 2 : b.live;
    b.end = num_least(b.line + pass->lines, pass->write->h);
    if (pass->back) {
        low = b.line + s->pad + 1 > s->kernel
                  ? num_divide_up(b.line + s->pad + 1 - s->kernel, s->stride)
                  : 0;
        high = (b.end - 1 + s->pad) / s->stride + 1;
    } else {
        low = b.line * s->stride > s->pad ? b.line * s->stride - s->pad : 0;
        high = (b.end - 1) * s->stride + s->kernel;
        high = high > s->pad ? high - s->pad : 0;
    }
    b.read_end = num_least(high, pass->read->h);
    b.read = num_least(low, b.read_end);
    b.plane = (b.read_end - b.read) * b.slots * b.now * TILE_SIDE;
    return b;
}

/* The line that tap row r reads for an output line; returns 0 if there is none.
 */
static int
line_of_tap(const struct tiles_pass *pass, size_t line, size_t r, size_t *read)
{
    const struct num_conv_spec *s = &pass->t->spec;

    if (!pass->back) {
        *read = line * s->stride + r - s->pad; // wraps below 0
        return *read < pass->read->h;
    }
    *read = (line + s->pad - r) / s->stride;
    return line + s->pad >= r && (line + s->pad - r) % s->stride == 0 &&
           *read < pass->read->h;
}

/* The slot that tap column q reads for the first column of a class; returns 0
 * if there is none. */
static int
slot_of_tap(const struct tiles_pass *pass, size_t class, size_t q, size_t *slot)
{
    const struct num_conv_spec *s = &pass->t->spec;
    const size_t low = pass->slots.low * s->stride;

    if (!pass->back) {
        *slot = slots_before(&pass->slots, q % s->stride) + q / s->stride;
        return 1;
    }
    *slot = (class + s->pad + low - q) / s->stride;
    return class + s->pad + low >= q &&
           (class + s->pad + low - q) % s->stride == 0;
}

/* Lists the taps that contribute to a class of columns of a line. */
static size_t
list_taps(const struct tiles_pass *pass, const struct block *b, size_t line,
          size_t class, struct tile_term *terms)
{
    const size_t kernel = pass->t->spec.kernel;
    size_t n = 0, read, slot;

    for (size_t r = 0; r < kernel; r++) {
        if (!line_of_tap(pass, line, r, &read))
            continue;
        for (size_t q = 0; q < kernel; q++)
            if (slot_of_tap(pass, class, q, &slot))
                terms[n++] = (struct tile_term){
                    ((read - b->read) * b->slots + slot) * b->now * TILE_SIDE,
                    (r * kernel + q) * pass->depth * 2 * TILE_WORDS};
    }
    return n;
}

/* Computes a panel of a class of columns of a line. */
static void
make_columns(const struct tiles_pass *pass, const struct block *b, size_t line,
             size_t class, size_t panel, const uint32_t *rows,
             const struct tiles_sink *sink)
{
    const size_t step = pass->back ? pass->t->spec.stride : 1;
    const size_t all =
        pass->write->w > class ? num_divide_up(pass->write->w - class, step) *
                                     b->now
                               : 0;
    const size_t taps = pass->t->spec.kernel * pass->t->spec.kernel;
    struct tile_term terms[TILES_TAPS];
    float sums[TILE_SUMS];
    struct tile_product p = {
        .b = pass->weights + panel * taps * pass->depth * 2 * TILE_WORDS,
        .columns = num_least(2, pass->write->c / TILE_SIDE - 2 * panel),
        .a_next = TILE_WORDS,
        .b_next = TILE_WORDS,
        .terms = terms,
        .steps = pass->depth,
        .a_step = b->plane,
        .b_step = 2 * TILE_WORDS,
        .c = sums};

    p.n_terms = list_taps(pass, b, line, class, terms);
    for (size_t from = 0; from < all; from += PIXELS) {
        const size_t count = num_least(PIXELS, all - from);

        p.a = rows + from * TILE_SIDE;
        p.rows = num_divide_up(count, TILE_SIDE);
        pass->t->kernel->product(&p);
        num_tiles_store(sink,
                        &(struct tiles_place){b->image, b->now, panel, line,
                                              class, step, from, count},
                        sums);
    }
}

static struct tiles_lines
describe_lines(const struct tiles_pass *pass, const struct block *b,
               const void *data)
{
    return (struct tiles_lines){pass->read, data,   b->image,
                                b->live,    b->now, pass->slots};
}

static void
gather_block(const struct tiles_pass *pass, const struct block *b,
             const void *from, uint32_t *rows)
{
    const struct tiles_lines lines = describe_lines(pass, b, from);
    const size_t line = b->slots * b->now * TILE_SIDE;

    for (size_t plane = 0; plane < pass->depth; plane++)
        for (size_t y = b->read; y < b->read_end; y++)
            num_tiles_rows(&lines, plane, y,
                           rows + plane * b->plane + (y - b->read) * line);
}

/* Distributes blocks and panels over threads; each thread gathers the blocks
 * that it needs. */
static void
run_blocks(const struct tiles_pass *pass, const struct num_conv_args *args)
{
    const struct num_tiles *t = pass->t;
    const void *from = pass->back ? args->dy : args->x;
    const struct tiles_sink sink =
        pass->back ? (struct tiles_sink){.map = pass->write, .y = args->dx}
                   : (struct tiles_sink){pass->write, args->y, args->b,
                                         t->spec.add, t->spec.relu};
    const struct tiles_weights shape = shape_of(pass);
    const size_t each = shape.taps * pass->depth * 2 * TILE_WORDS;
    uint32_t *rows = pass->rows + (size_t)omp_get_thread_num() * pass->room;
    const size_t classes = pass->back ? t->spec.stride : 1;
    size_t held = pass->blocks;
    struct block b = {0};

#pragma omp for schedule(static)
    for (size_t panel = 0; panel < pass->panels; panel++)
        num_tiles_weights(&shape, args->w, panel, pass->weights + panel * each);
#pragma omp for schedule(static) collapse(2)
    for (size_t at = 0; at < pass->blocks; at++)
        for (size_t panel = 0; panel < pass->panels; panel++) {
            if (held != at) {
                held = at;
                b = block_of(pass, at);
                gather_block(pass, &b, from, rows);
            }
            for (size_t line = b.line; line < b.end; line++)
                for (size_t class = 0; class < classes; class ++)
                    make_columns(pass, &b, line, class, panel, rows, &sink);
        }
}

/* One of the threads that share a block: number `at` of `of`. */
struct worker {
    size_t at, of;
    uint32_t *rows; /* of the block: x in pairs, then dy transposed */
};

/* The first of a worker's share of `things`; with next = 1 its end. */
static size_t
begin_share(const struct worker *worker, size_t things, size_t next)
{
    return things * (worker->at + next) / worker->of;
}

/* Gathers both operands of a block. */
static void
gather_both(const struct tiles_pass *pass, const struct block *b,
            const struct num_conv_args *args, const struct worker *worker)
{
    const struct tiles_lines from = describe_lines(pass, b, args->x);
    const struct tiles_lines to = {pass->write, args->dy,
                                   b->image,    b->live,
                                   b->now,      {1, 1, 0, pass->write->w}};
    const size_t reads = b->read_end - b->read, lines = b->end - b->line;
    const size_t pairs = pass->read->c / TILE_SIDE * reads;
    const size_t all = pairs + pass->write->c / TILE_SIDE * lines;
    const size_t line = b->slots * b->now / 2 * TILE_SIDE;
    const size_t chunks = count_chunks(pass, b->now) * TILE_WORDS;

    for (size_t i = begin_share(worker, all, 0);
         i < begin_share(worker, all, 1); i++)
        if (i < pairs)
            num_tiles_pairs(&from, i / reads, b->read + i % reads,
                            worker->rows + i * line);
        else
            num_tiles_across(&to, (i - pairs) / lines,
                             b->line + (i - pairs) % lines,
                             worker->rows + pass->room + (i - pairs) * chunks);
    if (worker->at == 0)
        memset(worker->rows + pairs * line, 0,
               TILE_WORDS * sizeof *worker->rows); // a chunk reads beyond
}

/* A task: a row of taps, for 32 input and 32 output channels. */
struct tile_task {
    size_t panel, plane, row;
    float *sums; /* [kernel], TILE_SUMS each */
};

static size_t
count_tasks(const struct tiles_pass *pass)
{
    return pass->panels * pass->depth * pass->t->spec.kernel;
}

/* The task and its sums; with one block, sums are temporary. */
static struct tile_task
find_task(const struct tiles_pass *pass, size_t part, size_t at)
{
    const size_t kernel = pass->t->spec.kernel;
    const size_t place = pass->blocks > 1 ? part * count_tasks(pass) + at
                                          : (size_t)omp_get_thread_num();

    return (struct tile_task){.panel = at / kernel / pass->depth,
                              .plane = at / kernel % pass->depth,
                              .row = at % kernel,
                              .sums = pass->total + place * kernel * TILE_SUMS};
}

/* Adds a block to its sums, or starts them. */
static void
add_block(const struct tiles_pass *pass, const struct block *b,
          const struct tile_task *task, const uint32_t *rows, int add)
{
    const size_t kernel = pass->t->spec.kernel;
    const size_t chunks = count_chunks(pass, b->now);
    const size_t all = (b->end - b->line) * chunks * TILE_WORDS;
    struct tile_term terms[LINES_MOST];
    struct tile_product p = {
        .a = rows + pass->room + 2 * task->panel * all,
        .rows = num_least(2, pass->write->c / TILE_SIDE - 2 * task->panel),
        .columns = num_least(2, pass->read->c / TILE_SIDE - 2 * task->plane),
        .a_next = all,
        .b_next = b->plane / 2,
        .terms = terms,
        .steps = chunks,
        .a_step = TILE_WORDS,
        .b_step = TILE_WORDS,
        .add = add,
        .c = task->sums};
    size_t read, slot;

    for (size_t line = b->line; line < b->end; line++)
        if (line_of_tap(pass, line, task->row, &read))
            terms[p.n_terms++] = (struct tile_term){
                (line - b->line) * chunks * TILE_WORDS,
                (read - b->read) * b->slots * b->now / 2 * TILE_SIDE};
    for (size_t q = 0; q < kernel; q++, p.c += TILE_SUMS) {
        slot_of_tap(pass, 0, q, &slot);
        p.b = rows + task->plane * b->plane + slot * b->now / 2 * TILE_SIDE;
        pass->t->kernel->product(&p);
    }
}

/* Adds the parts of a task, in order, and writes the gradient. */
static void
finish_task(const struct tiles_pass *pass, const struct tile_task *task,
            const struct num_conv_args *to)
{
    const struct tiles_weights shape = shape_of(pass);
    const size_t kernel = pass->t->spec.kernel;
    const size_t each = count_tasks(pass) * kernel * TILE_SUMS;

    for (size_t part = 1; part < pass->parts; part++)
        for (size_t i = 0; i < kernel * TILE_SUMS; i++)
            task->sums[i] += task->sums[part * each + i];
    num_tiles_gradient(&shape, task->sums, task->panel, task->plane,
                       task->row * kernel, kernel, to->accumulate, to->dw);
}

/* All threads work on one block after the other. */
static void
share_blocks(const struct tiles_pass *pass, const struct num_conv_args *args)
{
    const struct worker worker = {(size_t)omp_get_thread_num(),
                                  (size_t)omp_get_num_threads(), pass->rows};

    for (size_t at = 0; at < pass->blocks; at++) {
        const struct block b = block_of(pass, at);

        gather_both(pass, &b, args, &worker);
#pragma omp barrier
#pragma omp for schedule(static)
        for (size_t i = 0; i < count_tasks(pass); i++) {
            const struct tile_task task = find_task(pass, 0, i);

            add_block(pass, &b, &task, worker.rows, at > 0);
            if (at + 1 == pass->blocks)
                finish_task(pass, &task, args);
        }
    }
}

/* Each thread works on its own blocks. */
static void
divide_blocks(const struct tiles_pass *pass, const struct num_conv_args *args)
{
    const size_t room = pass->room + pass->more;
    const struct worker worker = {
        0, 1, pass->rows + (size_t)omp_get_thread_num() * room};

#pragma omp for schedule(static)
    for (size_t part = 0; part < pass->parts; part++)
        for (size_t at = part; at < pass->blocks; at += pass->parts) {
            const struct block b = block_of(pass, at);

            gather_both(pass, &b, args, &worker);
            for (size_t i = 0; i < count_tasks(pass); i++) {
                const struct tile_task task = find_task(pass, part, i);

                add_block(pass, &b, &task, worker.rows, at > part);
            }
        }
#pragma omp for schedule(static)
    for (size_t i = 0; i < count_tasks(pass); i++) {
        const struct tile_task task = find_task(pass, 0, i);

        finish_task(pass, &task, args);
    }
}

void
num_tiles_run(const struct num_tiles *t, enum num_conv_pass which,
              const struct num_conv_args *args)
{
    const struct tiles_pass pass = pass_of(t, which, args->scratch);

#pragma omp parallel num_threads((int)t->threads)
    {
        t->kernel->begin();
        if (!pass.sums)
            run_blocks(&pass, args);
        else if (pass.parts > 1)
            divide_blocks(&pass, args);
        else
            share_blocks(&pass, args);
        t->kernel->end();
    }
}
