#include <string.h>

#include "num/dense.h"
#include "num/gemm.h"
#include "num/half.h"
#include "num/tokens.h"

#include "half_product.h"
#include "lanes.h"

/*
 * A product c [m,n] of bfloat16 matrices a [m,k] and b [k,n] is computed panel
 * by panel.  Weights, and operands that are summed over rows, are packed into
 * panels first; other rows are used in place as words, or copied if k is odd.
 */
enum {
    STRIP = 16 * HALF_ROWS, /* rows of c of a unit of parallel work */
    CHUNK = 512,            /* rows of x and dy that are packed at a time */
    LINES = 16              /* lines that are packed at a time */
};

/* The output of a product c: y = c + b + r, as f32 or bfloat16; or y += c. */
struct dense_sink {
    size_t columns;
    const float *b;
    const void *r;
    void *y;
    int bf16, add;
};

struct dense_product {
    size_t m, n, depth;
    const uint32_t *a;
    size_t row, step, block; /* words; see address_of() */
    const uint32_t *b;       /* panels */
    struct dense_sink sink;
    const struct half_kernel *kernel;
};

static size_t
panel_words(size_t k)
{
    return num_half_depth(k) * HALF_PANEL;
}

static size_t
words_of(size_t k, size_t columns)
{
    return num_half_panels(columns) * panel_words(k);
}

size_t
num_dense_scratch(const struct num_dense *a)
{
    const size_t rows = num_least(CHUNK, a->n);
    size_t forward = words_of(a->in, a->out), data = words_of(a->out, a->in);
    size_t params = words_of(rows, a->in) + words_of(rows, a->out);
    size_t most = params;

    if (!a->bf16)
        return 0;
    forward += a->in % 2 * a->n * num_half_depth(a->in);
    data += a->out % 2 * a->n * num_half_depth(a->out);
    most = most < forward ? forward : most;
    most = most < data ? data : most;
    return most * sizeof(uint32_t);
}

const char *
num_dense_name(int bf16)
{
    return bf16 ? num_half_kernel()->name : "sgemm";
}

/* Stores `rows` rows of a panel of c, [rows,HALF_PANEL], from row i on. */
static NUM_CLONES(store_rows,
                  (const struct dense_sink *sink, size_t i, size_t rows,
                   size_t panel, const float *c, int bf16),
                  sink, i, rows, panel, c)
{
    const size_t from = panel * HALF_PANEL;
    const size_t wide = num_least(HALF_PANEL, sink->columns - from);

    for (; rows > 0; rows--, i++, c += HALF_PANEL) {
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

/* Prefetches the operands of store_rows() during the product. */
static void
prefetch_rows(const struct dense_sink *sink, size_t i, size_t rows,
              size_t panel)
{
    const size_t from = panel * HALF_PANEL;
    const size_t wide = num_least(HALF_PANEL, sink->columns - from);
    const size_t bytes = num_half_bytes(wide, sink->bf16);

    for (; rows > 0; rows--, i++) {
        const size_t at = i * sink->columns + from;

        lanes_prefetch(num_half_at(sink->y, at, sink->bf16), bytes);
        if (sink->r)
            lanes_prefetch(num_half_at(sink->r, at, sink->bf16), bytes);
    }
}

/* The address of row i of a, which is packed or in place. */
static const uint32_t *
address_of(const struct dense_product *p, size_t i)
{
    if (p->block)
        return p->a + i / HALF_PANEL * p->block + i % HALF_PANEL;
    return p->a + i * p->row;
}

static void
multiply_strip(const struct dense_product *p, size_t panel, size_t from,
               size_t to)
{
    const struct half_kernel *kernel = p->kernel;
    float c[HALF_ROWS_MOST * HALF_PANEL];
    size_t rows;

    if (kernel->begin)
        kernel->begin();
    for (size_t i = from; i < to; i += rows) {
        // to the end of the strip, or of a panel of a
        rows = num_least(kernel->rows, to - i);
        if (p->block)
            rows = num_least(rows, HALF_PANEL - i % HALF_PANEL);
        prefetch_rows(&p->sink, i, rows, panel);
        kernel->product(&(struct half_product){
            .a = address_of(p, i),
            .row = p->row,
            .step = p->step,
            .b = p->b + panel * p->depth * HALF_PANEL,
            .rows = rows,
            .depth = p->depth,
            .c = c,
        });
        store_rows(&p->sink, i, rows, panel, c, p->sink.bf16);
    }
    if (kernel->end)
        kernel->end();
}

static void
multiply_panels(struct dense_product p)
{
    const size_t panels = num_half_panels(p.n);

    p.kernel = num_half_kernel();
#pragma omp parallel for collapse(2) schedule(static)
    for (size_t panel = 0; panel < panels; panel++)
        for (size_t from = 0; from < p.m; from += STRIP)
            multiply_strip(&p, panel, from, num_least(p.m, from + STRIP));
}

/* Packs a matrix [k,columns], which with `transposed` is stored as [columns,k].
 */
static void
pack_matrix(size_t k, size_t columns, size_t row, int transposed, int bf16,
            const void *x, uint32_t *to)
{
    const size_t panels = num_half_panels(columns);

#pragma omp parallel for schedule(static)
    for (size_t panel = 0; panel < panels; panel++)
        (transposed ? num_half_pack_across : num_half_pack_down)(
            k, columns, row, x, panel, to + panel * panel_words(k), bf16);
}

/* Rows of k numbers as words: in place, or copied to `room`. */
static const uint32_t *
rows_as_words(size_t n, size_t k, const void *x, uint32_t *room)
{
    const uint16_t *from = x;
    uint16_t *to = (uint16_t *)room;

    if (k % 2 == 0)
        return x;
    for (size_t i = 0; i < n; i++, to += k + 1, from += k) {
        memcpy(to, from, k * sizeof *to);
        to[k] = 0;
    }
    return room;
}

/* sink = x w, for n rows of k numbers. */
static void
times_weights(const struct num_dense *a, size_t k, size_t columns,
              int transposed, const void *x, struct dense_sink sink)
{
    uint32_t *panels = a->scratch;
    uint32_t *room = panels + words_of(k, columns);

    pack_matrix(k, columns, transposed ? k : columns, transposed, 0, a->w,
                panels);
    multiply_panels((struct dense_product){
        .m = a->n,
        .n = columns,
        .depth = num_half_depth(k),
        .a = rows_as_words(a->n, k, x, room),
        .row = num_half_depth(k),
        .step = 1,
        .b = panels,
        .sink = sink,
    });
}

/* Packs the left operand, the transpose of k rows of m numbers: as panels or
 * lines, depending on the kernel. */
static void
pack_left(const struct half_kernel *kernel, size_t k, size_t m,
          const uint16_t *one, uint32_t *to)
{
    if (!kernel->lines) {
        pack_matrix(k, m, m, 0, 1, one, to);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < m; i += LINES)
        num_half_pack_lines(k, m, one, i, num_least(m, i + LINES), to);
}

/* dw (+)= one' two, rows of m and n numbers. */
static void
times_rows(const struct num_dense *a, size_t m, const void *one, size_t n,
           const void *two)
{
    const struct half_kernel *kernel = num_half_kernel();
    uint32_t *left = a->scratch;

    for (size_t from = 0; from < a->n; from += CHUNK) {
        const size_t k = num_least(CHUNK, a->n - from);
        uint32_t *right = left + words_of(k, m);

        pack_left(kernel, k, m, num_half_at(one, from * m, 1), left);
        pack_matrix(k, n, n, 0, 1, num_half_at(two, from * n, 1), right);
        multiply_panels((struct dense_product){
            .m = m,
            .n = n,
            .depth = num_half_depth(k),
            .a = left,
            .row = kernel->lines ? num_half_depth(k) : 1,
            .step = kernel->lines ? 1 : HALF_PANEL,
            .block = kernel->lines ? 0 : panel_words(k),
            .b = right,
            .sink = {.columns = n, .y = a->dw, .add = a->add || from > 0},
        });
    }
}

/* Initialises y with the bias, the residual, or both. */
static void
begin_output(const struct num_dense *a)
{
    const size_t d = a->out;
    const float *r = a->r, *b = a->b;
    float *y = a->y;

    if (!r && !b)
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++) {
        const float *row = r ? r + i * d : b;
        float *to = y + i * d;

        for (size_t j = 0; r && b && j < d; j++)
            to[j] = row[j] + b[j];
        if (row && row != to && !(r && b))
            memcpy(to, row, d * sizeof *to);
    }
}

void
num_dense_forward(const struct num_dense *a)
{
    const float beta = a->b || a->r ? 1 : 0;

    if (a->bf16) {
        times_weights(
            a, a->in, a->out, !a->transposed, a->x,
            (struct dense_sink){
                .columns = a->out, .b = a->b, .r = a->r, .y = a->y, .bf16 = 1});
        return;
    }
    begin_output(a);
    if (a->transposed)
        num_gemm_nn(a->n, a->out, a->in, 1, a->x, a->w, beta, a->y);
    else
        num_gemm_nt(a->n, a->out, a->in, 1, a->x, a->w, beta, a->y);
}

void
num_dense_back_params(const struct num_dense *a)
{
    const float beta = a->add ? 1 : 0;

    if (a->bf16 && a->transposed)
        times_rows(a, a->in, a->x, a->out, a->dy);
    else if (a->bf16)
        times_rows(a, a->out, a->dy, a->in, a->x);
    else if (a->transposed)
        num_gemm_tn(a->in, a->out, a->n, 1, a->x, a->dy, beta, a->dw);
    else
        num_gemm_tn(a->out, a->in, a->n, 1, a->dy, a->x, beta, a->dw);
    if (a->db)
        num_column_sums(a->n, a->out, a->bf16, a->dy, a->add, a->db);
}

void
num_dense_back_data(const struct num_dense *a)
{
    if (a->bf16)
        times_weights(
            a, a->out, a->in, a->transposed, a->dy,
            (struct dense_sink){.columns = a->in, .y = a->dx, .bf16 = 1});
    else if (a->transposed)
        num_gemm_nt(a->n, a->in, a->out, 1, a->dy, a->w, 0, a->dx);
    else
        num_gemm_nn(a->n, a->in, a->out, 1, a->dy, a->w, 0, a->dx);
}
