#include <string.h>

#include "num/dense.h"
#include "num/half.h"
#include "num/tokens.h"
#include "util/clones.h"

#include "half_product.h"
#include "lanes.h"
#include "panels.h"
#include "products.h"
#include "whole.h"

/*
 * A product c [m,n] of a [m,k] and b [k,n] goes strip by strip of rows, panel
 * by panel: b is packed into panels first, and of bfloat16 all that is summed
 * over rows.  Other rows are read where they lie; those of bfloat16 are copied
 * where k is odd.  Words are floats, or of bfloat16 two numbers each.
 */
enum {
    STRIP = 224,      /* rows of c that a thread takes at a time, at most */
    CHUNK = 256,      /* rows of x and dy that are packed at a time, of f32 */
    HALF_CHUNK = 512, /* and of bfloat16 */
    TILE = 32,        /* rows that tiles multiply at once */
    LINES = 16        /* lines that are packed at a time */
};

/* Where a product goes: c plus b plus r, as f32 or bfloat16; or c, added. */
struct dense_sink {
    size_t columns;
    const float *b;
    const void *r;
    void *y;
    int bf16, add;
};

struct dense_product {
    int bf16;
    size_t m, n, depth, panel; /* panel: columns of one */
    const void *a;
    size_t row, step, block; /* words: see address_of() */
    const void *b;           /* panels */
    struct dense_sink sink;
    const struct half_kernel *kernel; /* of bfloat16 */
};

static size_t
depth_of(size_t k, int bf16)
{
    return bf16 ? num_half_depth(k) : k;
}

static size_t
columns_of(int bf16)
{
    return bf16 ? HALF_PANEL : NUM_PANEL;
}

static size_t
panel_words(size_t k, int bf16)
{
    return depth_of(k, bf16) * columns_of(bf16);
}

static size_t
words_of(size_t k, size_t columns, int bf16)
{
    return num_divide_up(columns, columns_of(bf16)) * panel_words(k, bf16);
}

/* Rows that are packed at a time, of n: nearly as many each time; of bfloat16
 * whole tiles. */
static size_t
chunk_of(size_t n, int bf16)
{
    const size_t most = bf16 ? HALF_CHUNK : CHUNK;
    const size_t each = num_divide_up(n, num_divide_up(n, most));

    return bf16 ? num_divide_up(each, TILE) * TILE : each;
}

size_t
num_dense_scratch(const struct num_dense *a)
{
    const size_t rows = num_least(a->n, chunk_of(a->n, a->bf16));
    size_t forward = words_of(a->in, a->out, a->bf16);
    size_t data = words_of(a->out, a->in, a->bf16);
    size_t most = words_of(rows, a->across ? a->out : a->in, a->bf16);

    if (a->bf16) {
        most += words_of(rows, a->across ? a->in : a->out, 1);
        forward += a->in % 2 * a->n * num_half_depth(a->in);
        data += a->out % 2 * a->n * num_half_depth(a->out);
    }
    most = most < forward ? forward : most;
    most = most < data ? data : most;
    return most * sizeof(uint32_t);
}

const char *
num_dense_name(int bf16)
{
    return bf16 ? num_half_kernel()->name : "f32";
}

/* `rows` rows of c, `line` apart, become `wide` columns of y from `from` on. */
LANES_INLINE void
deliver_of(const struct dense_sink *sink, size_t i, size_t rows, size_t from,
           size_t wide, const float *c, size_t line, int bf16)
{
    for (; rows > 0; rows--, i++, c += line) {
        const size_t at = i * sink->columns + from;
        float sum[HALF_PANEL];

        for (size_t j = 0; j < wide; j++)
            sum[j] = c[j] + (sink->b ? sink->b[from + j] : 0);
        for (size_t j = 0; sink->r && j < wide; j++)
            sum[j] += number_at(sink->r, at + j, bf16);
        for (size_t j = 0; sink->add && j < wide; j++)
            sum[j] += number_at(sink->y, at + j, bf16);
        for (size_t j = 0; j < wide; j++)
            number_to(sink->y, at + j, sum[j], bf16);
    }
}

static UTIL_CLONES(void, deliver_rows,
                   (const struct dense_sink *sink, size_t i, size_t rows,
                    size_t from, size_t wide, const float *c, size_t line),
                   (sink, i, rows, from, wide, c, line))
{
    if (sink->bf16)
        deliver_of(sink, i, rows, from, wide, c, line, 1);
    else
        deliver_of(sink, i, rows, from, wide, c, line, 0);
}

/* Asks for what deliver_rows() will read and write, while the product is being
 * made. */
static void
ask_rows(const struct dense_sink *sink, size_t i, size_t rows, size_t from,
         size_t wide)
{
    const size_t bytes = num_half_bytes(wide, sink->bf16);

    for (; rows > 0; rows--, i++) {
        const size_t at = i * sink->columns + from;

        lanes_ask(num_half_at(sink->y, at, sink->bf16), bytes);
        if (sink->r)
            lanes_ask(num_half_at(sink->r, at, sink->bf16), bytes);
    }
}

static void *
word_at(const void *words, size_t i)
{
    return (char *)words + i * sizeof(uint32_t);
}

/* Row i of a: in a panel of its own, or where it lies. */
static const void *
address_of(const struct dense_product *p, size_t i)
{
    if (p->block)
        return word_at(p->a, i / HALF_PANEL * p->block + i % HALF_PANEL);
    return word_at(p->a, i * p->row);
}

/* c = a b, of rows from i on and a panel. */
static void
multiply_rows(const struct dense_product *p, size_t i, size_t rows,
              size_t panel, size_t wide, float *c)
{
    const void *a = address_of(p, i);
    const void *b = word_at(p->b, panel * p->depth * p->panel);

    if (p->bf16)
        p->kernel->product(&(struct half_product){.a = a,
                                                  .row = p->row,
                                                  .step = p->step,
                                                  .b = b,
                                                  .rows = rows,
                                                  .depth = p->depth,
                                                  .c = c});
    else
        num_products()->rows(&(struct products_rows){
            .a = a,
            .ai = p->row,
            .ak = p->step,
            .b = b,
            .ldb = NUM_PANEL,
            .c = c,
            .ldc = NUM_PANEL,
            .rows = rows,
            .n = num_divide_up(wide, PRODUCTS_COLUMNS) * PRODUCTS_COLUMNS,
            .to = p->depth,
            .ask = (const float *)p->sink.y + i * p->n + panel * NUM_PANEL,
            .ld_ask = p->n});
}

static size_t
rows_at_once(const struct dense_product *p)
{
    return p->bf16 ? p->kernel->rows : num_products()->rows_best;
}

static void
multiply_strip(const struct dense_product *p, size_t panel, size_t from,
               size_t to)
{
    const size_t first = panel * p->panel, most = rows_at_once(p);
    const size_t wide = num_least(p->n - first, p->panel);
    float c[HALF_ROWS_MOST * HALF_PANEL];
    size_t rows;

    if (p->bf16 && p->kernel->begin)
        p->kernel->begin();
    for (size_t i = from; i < to; i += rows) {
        // to the end of the strip, or of a panel of a
        rows = num_least(to - i, most);
        if (p->block)
            rows = num_least(rows, HALF_PANEL - i % HALF_PANEL);
        if (p->bf16 || p->sink.r)
            ask_rows(&p->sink, i, rows, first, wide);
        multiply_rows(p, i, rows, panel, wide, c);
        deliver_rows(&p->sink, i, rows, first, wide, c, p->panel);
    }
    if (p->bf16 && p->kernel->end)
        p->kernel->end();
}

/* A strip stays in the second cache for all panels. */
static void
multiply_panels(struct dense_product p)
{
    size_t strip, panels;

    p.panel = columns_of(p.bf16);
    p.kernel = num_half_kernel();
    strip = STRIP / rows_at_once(&p) * rows_at_once(&p);
    panels = num_divide_up(p.n, p.panel);
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t from = 0; from < p.m; from += strip)
        for (size_t panel = 0; panel < panels; panel++)
            multiply_strip(&p, panel, from, num_least(p.m, from + strip));
}

/* Packs a matrix [k,columns], or where it lies across, [columns,k], of bfloat16
 * or f32, for products of bfloat16. */
static void
pack_halves(size_t k, size_t columns, size_t row, int across, int bf16,
            const void *x, uint32_t *to)
{
    const size_t panels = num_half_panels(columns);

#pragma omp parallel for schedule(static)
    for (size_t panel = 0; panel < panels; panel++)
        (across ? num_half_pack_across : num_half_pack_down)(
            k, columns, row, bf16, x, panel, to + panel * panel_words(k, 1));
}

/* The same of f32: by rows where they become rows of panels. */
static void
pack_floats(size_t k, size_t columns, size_t row, int across, const float *x,
            float *to)
{
    const size_t all = across ? num_divide_up(columns, NUM_PANEL) : k;
    const size_t each = across ? 1 : LINES;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < all; at += each)
        if (across)
            num_panel_across(k, columns, row, x, at, to);
        else
            num_panels_down(k, columns, row, x, at, num_least(all, at + each),
                            to);
}

static void
pack_matrix(size_t k, size_t columns, size_t row, int across, int bf16,
            const void *x, void *to, int halves)
{
    if (halves)
        pack_halves(k, columns, row, across, bf16, x, to);
    else
        pack_floats(k, columns, row, across, x, to);
}

/* Rows of k numbers as words: where they lie, or copied to `room`. */
static const uint32_t *
rows_as_words(size_t n, size_t k, const void *x, uint32_t *room)
{
    const uint16_t *from = x;
    uint16_t *to = (uint16_t *)room;

    for (size_t i = 0; i < n; i++, to += k + 1, from += k) {
        memcpy(to, from, k * sizeof *to);
        to[k] = 0;
    }
    return room;
}

/* sink = x w, of n rows of k; `across` says how w lies. */
static void
times_weights(const struct num_dense *a, size_t k, size_t columns, int across,
              const void *x, struct dense_sink sink)
{
    uint32_t *panels = a->scratch;
    uint32_t *room = panels + words_of(k, columns, a->bf16);
    const int odd = a->bf16 && k % 2;

    sink.columns = columns;
    sink.bf16 = a->bf16;
    pack_matrix(k, columns, across ? k : columns, across, 0, a->w, panels,
                a->bf16);
    multiply_panels((struct dense_product){
        .bf16 = a->bf16,
        .m = a->n,
        .n = columns,
        .depth = depth_of(k, a->bf16),
        .a = odd ? rows_as_words(a->n, k, x, room) : x,
        .row = depth_of(k, a->bf16),
        .step = 1,
        .b = panels,
        .sink = sink,
    });
}

/* The left one, the transpose of k rows of m numbers: where it lies, or of
 * bfloat16 in panels, or as lines, as the kernel wants it. */
static void
set_left(struct dense_product *p, size_t k, const void *one, uint32_t *to)
{
    const int lines = p->bf16 && num_half_kernel()->lines;

    p->a = p->bf16 ? to : one;
    p->row = lines ? num_half_depth(k) : 1;
    p->step = lines ? 1 : p->bf16 ? HALF_PANEL : p->m;
    p->block = p->bf16 && !lines ? panel_words(k, 1) : 0;
    if (p->block)
        pack_matrix(k, p->m, p->m, 0, 1, one, to, 1);
    if (!lines)
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < p->m; i += LINES)
        num_half_pack_lines(k, p->m, one, i, num_least(p->m, i + LINES), to);
}

/* dw (+)= one' two, rows of m and n numbers. */
static void
times_rows(const struct num_dense *a, size_t m, const void *one, size_t n,
           const void *two)
{
    const size_t chunk = chunk_of(a->n, a->bf16);
    uint32_t *right = a->scratch;

    for (size_t from = 0; from < a->n; from += chunk) {
        const size_t k = num_least(a->n - from, chunk);
        struct dense_product p = {
            .bf16 = a->bf16,
            .m = m,
            .n = n,
            .depth = depth_of(k, a->bf16),
            .b = right,
            .sink = {.columns = n, .y = a->dw, .add = a->add || from > 0},
        };

        set_left(&p, k, num_half_at(one, from * m, a->bf16),
                 right + words_of(k, n, a->bf16));
        pack_matrix(k, n, n, 0, a->bf16, num_half_at(two, from * n, a->bf16),
                    right, a->bf16);
        multiply_panels(p);
    }
}

void
num_dense_forward(const struct num_dense *a)
{
    times_weights(a, a->in, a->out, !a->across, a->x,
                  (struct dense_sink){.b = a->b, .r = a->r, .y = a->y});
}

void
num_dense_back_params(const struct num_dense *a)
{
    if (a->across)
        times_rows(a, a->in, a->x, a->out, a->dy);
    else
        times_rows(a, a->out, a->dy, a->in, a->x);
    if (a->db)
        num_column_sums(a->n, a->out, a->bf16, a->dy, a->add, a->db);
}

void
num_dense_back_data(const struct num_dense *a)
{
    times_weights(a, a->out, a->in, a->across, a->dy,
                  (struct dense_sink){.y = a->dx});
}
