/* Dense layers against the equation in double, of f32 and of bfloat16; the
 * products of the latter, by every method. */
#include <math.h>

#include "halves.h"
#include "maps.h"
#include "num/dense.h"
#include "num/dnn.h"
#include "num/half_product.h"
#include "num/threads.h"
#include "plain_dense.h"
#include "t.h"
#include "util/rng.h"

static const struct shape {
    size_t n, in, out;
    int transposed;
} shapes[] = {
    {1, 1, 1, 0},    {1, 1, 1, 1},      {3, 8, 3, 0},    {8, 3, 8, 1},
    {7, 5, 3, 0},    {7, 5, 3, 1},      {97, 33, 65, 0}, {97, 33, 65, 1},
    {13, 64, 64, 0}, {130, 128, 70, 1}, {600, 20, 9, 0}, {1025, 9, 20, 1},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* A layer in f32, the results of the equation in double, and the same layer of
 * bfloat16, of the same numbers. */
struct data {
    struct num_dense plain, half;
    float *w, *b, *x, *r, *dy; /* rounded: exact in both */
    float *y, *dx, *dw, *db;
    double *want[4]; /* y, dx, dw, db */
    size_t size[4];
};

static double *
doubles(size_t n, const float *x)
{
    double *y = mem_array(n, sizeof *y);

    for (size_t i = 0; x && i < n; i++)
        y[i] = x[i];
    return y;
}

/* W [out,in] of either layout. */
static double *
untransposed(const struct shape *s, const float *w)
{
    double *to = mem_array(s->in * s->out, sizeof *to);

    for (size_t o = 0; o < s->out; o++)
        for (size_t k = 0; k < s->in; k++)
            to[o * s->in + k] =
                w[s->transposed ? k * s->out + o : o * s->in + k];
    return to;
}

static void
equation(const struct shape *s, struct data *p)
{
    double *x = doubles(s->n * s->in, p->x), *w = untransposed(s, p->w);
    double *b = doubles(s->out, p->b), *r = doubles(s->n * s->out, p->r);
    double *dy = doubles(s->n * s->out, p->dy);

    for (int i = 0; i < 4; i++)
        p->want[i] = doubles(p->size[i], NULL);
    plain_dense_forward(s->n, s->in, s->out, x, w, b, r, p->want[0]);
    plain_dense_backward(s->n, s->in, s->out, x, w, dy, p->want[1], p->want[2],
                         p->want[3]);
    free(x);
    free(w);
    free(b);
    free(r);
    free(dy);
}

static struct data
data_of(const struct shape *s)
{
    const size_t in = s->n * s->in, out = s->n * s->out, w = s->in * s->out;
    struct data p = {.w = normal(w, 1),
                     .b = normal(s->out, 2),
                     .x = normal(in, 3),
                     .r = normal(out, 4),
                     .dy = normal(out, 5),
                     .y = mem_array(out, sizeof(float)),
                     .dx = mem_array(in, sizeof(float)),
                     .dw = normal(w, 6),
                     .db = normal(s->out, 7),
                     .size = {out, in, w, s->out}};

    free(halves_of(w, p.w));
    p.half = (struct num_dense){.n = s->n,
                                .in = s->in,
                                .out = s->out,
                                .transposed = s->transposed,
                                .bf16 = 1,
                                .w = p.w,
                                .b = p.b,
                                .x = halves_of(in, p.x),
                                .r = halves_of(out, p.r),
                                .y = mem_array(out, 2),
                                .dy = halves_of(out, p.dy),
                                .dx = mem_array(in, 2),
                                .dw = normal(w, 6),
                                .db = normal(s->out, 7)};
    p.half.scratch = mem_array(num_dense_scratch(&p.half), 1);
    p.plain = p.half;
    p.plain.bf16 = 0;
    p.plain.x = p.x;
    p.plain.r = p.r;
    p.plain.y = p.y;
    p.plain.dy = p.dy;
    p.plain.dx = p.dx;
    p.plain.dw = p.dw;
    p.plain.db = p.db;
    equation(s, &p);
    return p;
}

static void
data_release(struct data *p)
{
    void *all[] = {p->w,
                   p->b,
                   p->x,
                   p->r,
                   p->dy,
                   p->y,
                   p->dx,
                   p->dw,
                   p->db,
                   (void *)p->half.x,
                   (void *)p->half.r,
                   p->half.y,
                   (void *)p->half.dy,
                   p->half.dx,
                   p->half.dw,
                   p->half.db,
                   p->half.scratch,
                   p->want[0],
                   p->want[1],
                   p->want[2],
                   p->want[3]};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void
run(const struct num_dense *a)
{
    num_dense_forward(a);
    num_dense_back_params(a);
    num_dense_back_data(a);
}

/* The largest error, in units of the rms of the expected. */
static double
largest_error(size_t n, int bf16, const void *got, const double *want)
{
    float *is = mem_array(n, sizeof *is);
    double most = 0, square = 0;

    num_half_get(n, bf16, got, is);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(is[i] - want[i]));
        square += want[i] * want[i];
    }
    free(is);
    return most / sqrt(square / (double)n);
}

/* The same of W or W'. */
static double
weights_error(const struct shape *s, const float *got, const double *want)
{
    double *w = untransposed(s, got), error;
    float *is = mem_array(s->in * s->out, sizeof *is);

    for (size_t i = 0; i < s->in * s->out; i++)
        is[i] = (float)w[i];
    error = largest_error(s->in * s->out, 0, is, want);
    free(w);
    free(is);
    return error;
}

/* The largest error of bfloat16 beyond that of rounding the expected, which is
 * at most 2^-8 of it. */
static double
error_beyond(size_t n, const void *got, const double *want)
{
    float *is = mem_array(n, sizeof *is);
    double most = 0, square = 0;

    num_half_get(n, 1, got, is);
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(is[i] - want[i]) - 0x1p-8 * fabs(want[i]));
        square += want[i] * want[i];
    }
    free(is);
    return most / sqrt(square / (double)n);
}

static void
layers_agree_with_the_definition(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        struct data p = data_of(s);
        double plain, params, rows;

        run(&p.plain);
        run(&p.half);
        plain = fmax(largest_error(p.size[0], 0, p.y, p.want[0]),
                     largest_error(p.size[1], 0, p.dx, p.want[1]));
        plain = fmax(plain, largest_error(p.size[3], 0, p.db, p.want[3]));
        plain = fmax(plain, weights_error(s, p.dw, p.want[2]));
        params = fmax(largest_error(p.size[3], 0, p.half.db, p.want[3]),
                      weights_error(s, p.half.dw, p.want[2]));
        rows = fmax(error_beyond(p.size[0], p.half.y, p.want[0]),
                    error_beyond(p.size[1], p.half.dx, p.want[1]));
        T(plain < 2e-6, "%zu rows of %zu to %zu%s: f32, error %.1e", s->n,
          s->in, s->out, s->transposed ? ", transposed" : "", plain);
        T(params < 5e-6, "of bfloat16: dw and db, error %.1e", params);
        T(rows < 2e-6, "y and dx, error %.1e beyond their rounding", rows);
        data_release(&p);
    }
}

/* The layer is linear in x, in w and in b: a difference is the gradient. */
static void
gradient_of_the_definition_is_its_slope(void)
{
    enum { ROWS = 3, IN = 8, OUT = 5, W = IN * OUT };
    float *at = normal(ROWS * IN + W + OUT + ROWS * OUT, 1);
    float *to = normal(ROWS * IN + W + OUT, 2);
    double *x = doubles(ROWS * IN + W + OUT, at);
    double *u = doubles(ROWS * IN + W + OUT, to);
    double dy[ROWS * OUT], y[ROWS * OUT], dx[ROWS * IN], dw[W], db[OUT];
    double along = 0, change = 0;

    for (size_t i = 0; i < ROWS * OUT; i++)
        dy[i] = at[ROWS * IN + W + OUT + i];
    plain_dense_backward(ROWS, IN, OUT, x, x + ROWS * IN, dy, dx, dw, db);
    for (size_t i = 0; i < ROWS * IN; i++)
        along += dx[i] * u[i];
    for (size_t i = 0; i < W; i++)
        along += dw[i] * u[ROWS * IN + i];
    for (size_t i = 0; i < OUT; i++)
        along += db[i] * u[ROWS * IN + W + i];
    for (int side = -1; side <= 1; side += 2) {
        double *moved = doubles(ROWS * IN + W + OUT, at);

        for (size_t i = 0; i < ROWS * IN + W + OUT; i++)
            moved[i] += side * 1e-5 * u[i];
        plain_dense_forward(ROWS, IN, OUT, moved, moved + ROWS * IN,
                            moved + ROWS * IN + W, NULL, y);
        for (size_t i = 0; i < ROWS * OUT; i++)
            change += side * dy[i] * y[i] / 2e-5;
        free(moved);
    }
    T_NEAR(change, along, 1e-7, "dx, dw and db are central differences");
    free(at);
    free(to);
    free(x);
    free(u);
}

static void
threads_change_no_bit(void)
{
    const struct shape s = {700, 65, 131, 0};
    struct data one = data_of(&s), three = data_of(&s);

    run(&one.half);
    num_threads(3);
    run(&three.half);
    num_threads(1);
    T(!memcmp(one.half.y, three.half.y, one.size[0] * 2) &&
          !memcmp(one.half.dx, three.half.dx, one.size[1] * 2) &&
          !memcmp(one.half.dw, three.half.dw, one.size[2] * sizeof(float)) &&
          !memcmp(one.half.db, three.half.db, one.size[3] * sizeof(float)),
      "of bfloat16, one thread and three compute the same bits");
    data_release(&one);
    data_release(&three);
}

static void
gradients_are_added_and_results_overwritten(void)
{
    for (size_t i = 4; i < 8; i++) {
        const struct shape *s = &shapes[i];
        struct data once = data_of(s), more = data_of(s);
        float *start = normal(once.size[2], 6);
        double most = 0;

        more.half.add = 1; // to the numbers of data_of()
        run(&once.half);
        memcpy(more.half.y, more.half.r, 2 * more.size[0]);
        free((void *)more.half.r);
        more.half.r = more.half.y;
        run(&more.half);
        for (size_t k = 0; k < once.size[2]; k++)
            most =
                fmax(most, fabs(more.half.dw[k] - start[k] - once.half.dw[k]));
        T(most < 1e-5, "add = 1 adds to dw, error %.1e", most);
        T(!memcmp(once.half.y, more.half.y, 2 * once.size[0]),
          "y over the residual has the same bits");
        more.half.r = NULL;
        data_release(&once);
        data_release(&more);
        free(start);
    }
}

/* Words of random halves, of which some are 0, against sums in double. */
static void
product_is_the_sum(const struct half_kernel *kernel, size_t rows, size_t depth)
{
    const size_t words = depth * (rows + HALF_PANEL);
    float *numbers = normal(2 * words, 9);
    uint32_t *a = halves_of(2 * words, numbers), *b = a + rows * depth;
    const float *right = numbers + 2 * rows * depth;
    float c[HALF_ROWS_MOST * HALF_PANEL];
    double most = 0;

    kernel->product(&(struct half_product){.a = a,
                                           .row = depth,
                                           .step = 1,
                                           .b = b,
                                           .rows = rows,
                                           .depth = depth,
                                           .c = c});
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < HALF_PANEL; j++) {
            double sum = 0;

            for (size_t k = 0; k < 2 * depth; k++)
                sum += (double)numbers[2 * i * depth + k] *
                       right[(k / 2 * HALF_PANEL + j) * 2 + k % 2];
            most = fmax(most, fabs(sum - c[i * HALF_PANEL + j]));
        }
    T(most < 2e-6 * sqrt((double)depth) * 4,
      "%s, %zu rows, %zu words: error %.1e", kernel->name, rows, depth, most);
    free(numbers);
    free(a);
}

static void
products_are_sums(void)
{
    const struct half_kernel *kernels[] = {
        &num_half_vectors, num_half_kernel(),
        num_dnn_bf16_faster() ? &num_half_dot : &num_half_vectors};

    for (int k = 0; k < 3; k++) {
        const struct half_kernel *kernel = kernels[k];

        if (kernel->begin)
            kernel->begin();
        for (size_t rows = 1; rows <= kernel->rows; rows++)
            product_is_the_sum(kernel, rows, rows % 7 * rows + 1);
        if (kernel->end)
            kernel->end();
    }
}

int
main(void)
{
    num_threads(1);
    products_are_sums();
    gradient_of_the_definition_is_its_slope();
    layers_agree_with_the_definition();
    threads_change_no_bit();
    gradients_are_added_and_results_overwritten();
    return t_done();
}
