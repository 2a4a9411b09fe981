/* Attention over packed texts: against the equation in double, whose gradient
 * is compared with central differences. */
#include <string.h>

#include "halves.h"
#include "maps.h"
#include "num/attention.h"
#include "num/threads.h"
#include "plain_attention.h"
#include "t.h"

enum { TEXTS = 6, TOKENS = 1 + 3 + 8 + 17 + 16 + 33, LONGEST = 40 };

static const size_t offsets[TEXTS + 1] = {0, 1, 4, 12, 29, 45, 78};

static const struct shape {
    size_t heads, d;
    int causal, packed; /* packed: queries, keys and values in one array */
} shapes[] = {
    {1, 16, 0, 1}, {2, 8, 1, 1}, {3, 5, 0, 0},
    {2, 64, 1, 1}, {1, 1, 1, 0}, {8, 48, 0, 1},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* The arguments with their memory: queries, keys and values, in one array or
 * three. */
struct data {
    struct num_attention a;
    size_t width, all; /* of a token; floats of q, k and v */
    float *x, *dx, *y;
    const float *v;
};

static struct data
data_of(const struct shape *s)
{
    const size_t width = s->heads * s->d;
    struct data p = {.width = width, .all = 3 * TOKENS * width};
    const size_t next = s->packed ? width : TOKENS * width;

    p.x = normal(p.all, 1);
    p.dx = mem_array(p.all, sizeof *p.dx);
    p.a = (struct num_attention){
        .n = TEXTS,
        .offsets = offsets,
        .longest = LONGEST,
        .heads = s->heads,
        .d = s->d,
        .causal = s->causal,
        .stride = s->packed ? 3 * width : width,
        .q = p.x,
        .k = p.x + next,
        .v = p.x + 2 * next,
        .y = mem_array(TOKENS * width, sizeof(float)),
        .top = mem_array(TOKENS * s->heads, sizeof(float)),
        .share = mem_array(TOKENS * s->heads, sizeof(float)),
        .dy = normal(TOKENS * width, 2),
        .dq = p.dx,
        .dk = p.dx + next,
        .dv = p.dx + 2 * next,
        .scratch =
            mem_array(num_attention_scratch(LONGEST, s->d), sizeof(float)),
    };
    p.y = p.a.y;
    p.v = p.a.v;
    return p;
}

static void
data_release(struct data *p)
{
    void *all[] = {p->x,       p->dx,           p->a.y,      p->a.top,
                   p->a.share, (void *)p->a.dy, p->a.scratch};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void
run(const struct data *p)
{
    num_attention_forward(&p->a);
    num_attention_backward(&p->a);
}

/* A text and a head of an array, as doubles; or zeros. */
static double *
slice(const float *x, size_t stride, size_t text, size_t head, size_t d)
{
    const size_t from = offsets[text], len = offsets[text + 1] - from;
    double *to = mem_array(len * d, sizeof *to);

    for (size_t i = 0; x && i < len * d; i++)
        to[i] = x[(from + i / d) * stride + head * d + i % d];
    return to;
}

/* The largest difference from the expected of a text and a head. */
static double
largest_error(const float *got, size_t stride, size_t text, size_t head,
              size_t d, const double *want)
{
    const size_t len = offsets[text + 1] - offsets[text];
    double *is = slice(got, stride, text, head, d), most = 0;

    for (size_t i = 0; i < len * d; i++)
        most = fmax(most, fabs(is[i] - want[i]));
    free(is);
    return most;
}

/* The largest differences of forward and backward, of a text and a head. */
static void
compare(const struct data *p, size_t text, size_t head, double *forward,
        double *backward)
{
    const struct num_attention *a = &p->a;
    const size_t len = offsets[text + 1] - offsets[text], d = a->d;
    double *q = slice(a->q, a->stride, text, head, d);
    double *k = slice(a->k, a->stride, text, head, d);
    double *v = slice(a->v, a->stride, text, head, d);
    double *dy = slice(a->dy, p->width, text, head, d);
    double *out[4], *weights = mem_array(len * len, sizeof *weights);

    for (int i = 0; i < 4; i++)
        out[i] = slice(NULL, 0, text, head, d);
    plain_attention_forward(len, d, a->causal, q, k, v, out[0], weights);
    plain_attention_backward(len, d, q, k, v, weights, dy, out[1], out[2],
                             out[3]);
    *forward =
        fmax(*forward, largest_error(a->y, p->width, text, head, d, out[0]));
    *backward =
        fmax(*backward, largest_error(a->dq, a->stride, text, head, d, out[1]));
    *backward =
        fmax(*backward, largest_error(a->dk, a->stride, text, head, d, out[2]));
    *backward =
        fmax(*backward, largest_error(a->dv, a->stride, text, head, d, out[3]));
    for (int i = 0; i < 4; i++)
        free(out[i]);
    free(q);
    free(k);
    free(v);
    free(dy);
    free(weights);
}

static void
each_text_follows_the_equation(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        struct data p = data_of(s);
        double forward = 0, backward = 0;

        run(&p);
        for (size_t text = 0; text < TEXTS; text++)
            for (size_t head = 0; head < s->heads; head++)
                compare(&p, text, head, &forward, &backward);
        T(forward < 2e-6, "%zu heads of %zu%s: outputs, error %.1e", s->heads,
          s->d, s->causal ? ", causal" : "", forward);
        T(backward < 1e-5, "%zu heads of %zu%s: gradients, error %.1e",
          s->heads, s->d, s->causal ? ", causal" : "", backward);
        data_release(&p);
    }
}

/* sum dy y of the equation, in double: x is q, k and v. */
static double
value(size_t len, size_t d, int causal, const double *x, const double *dy)
{
    double y[8 * 3], p[8 * 8], sum = 0;

    plain_attention_forward(len, d, causal, x, x + len * d, x + 2 * len * d, y,
                            p);
    for (size_t i = 0; i < len * d; i++)
        sum += dy[i] * y[i];
    return sum;
}

static void
gradient_is_the_slope(void)
{
    enum { LEN = 8, D = 3, SIZE = LEN * D };

    for (int causal = 0; causal < 2; causal++) {
        const double step = 1e-5;
        double x[3 * SIZE], dx[3 * SIZE], dy[SIZE], y[SIZE], p[LEN * LEN];
        float *from = normal(4 * SIZE, 3);
        double most = 0;

        for (size_t i = 0; i < 3 * SIZE; i++)
            x[i] = from[i];
        for (size_t i = 0; i < SIZE; i++)
            dy[i] = from[3 * SIZE + i];
        plain_attention_forward(LEN, D, causal, x, x + SIZE, x + 2 * SIZE, y,
                                p);
        plain_attention_backward(LEN, D, x, x + SIZE, x + 2 * SIZE, p, dy, dx,
                                 dx + SIZE, dx + 2 * SIZE);
        for (size_t i = 0; i < 3 * SIZE; i++) {
            const double at = x[i];
            double up, down;

            x[i] = at + step;
            up = value(LEN, D, causal, x, dy);
            x[i] = at - step;
            down = value(LEN, D, causal, x, dy);
            x[i] = at;
            most = fmax(most, fabs((up - down) / (2 * step) - dx[i]));
        }
        T(most < 1e-8, "the gradient%s is the slope, error %.1e",
          causal ? ", causal," : "", most);
        free(from);
    }
}

static void
closed_forms(void)
{
    const struct shape s = {2, 8, 0, 1};
    struct data p = data_of(&s);
    const size_t last = offsets[TEXTS - 1], len = TOKENS - last;
    double most = 0;
    int same = 1;

    for (size_t t = 0; t < TOKENS; t++) // equal keys: equal weights
        memcpy(p.x + t * 3 * p.width + p.width, p.x + p.width,
               p.width * sizeof *p.x);
    run(&p);
    for (size_t c = 0; c < p.width; c++) {
        double mean = 0;

        for (size_t t = last; t < TOKENS; t++)
            mean += p.v[t * p.a.stride + c] / (double)len;
        for (size_t t = last; t < TOKENS; t++)
            most = fmax(most, fabs(p.y[t * p.width + c] - mean));
    }
    T(most < 1e-6, "equal keys give the mean of the values, error %.1e", most);
    p.a.causal = 1;
    run(&p);
    for (size_t i = 0; i < TEXTS; i++)
        for (size_t c = 0; c < p.width; c++)
            same &= p.y[offsets[i] * p.width + c] ==
                    p.v[offsets[i] * p.a.stride + c];
    T(same, "causal: the first token of each text gives its own value");
    data_release(&p);
}

static void
tokens_ignore_later_ones(void)
{
    const struct shape s = {2, 8, 1, 1};
    struct data p = data_of(&s);
    const size_t from = offsets[3] + 6, row = p.width;
    float *want = mem_array(TOKENS * row, sizeof *want);

    run(&p);
    memcpy(want, p.a.y, TOKENS * row * sizeof *want);
    for (size_t i = from * 3 * row; i < offsets[4] * 3 * row; i++)
        p.x[i] += 1;
    run(&p);
    T(!memcmp(want, p.a.y, from * row * sizeof *want) &&
          !memcmp(want + offsets[4] * row, p.y + offsets[4] * row,
                  (TOKENS - offsets[4]) * row * sizeof *want),
      "the end of a text does not change its beginning or other texts");
    T(memcmp(want + from * row, p.y + from * row, row * sizeof *want),
      "the end of a text changes its own outputs");
    free(want);
    data_release(&p);
}

/* Texts 2 to 4 alone, and all with another number of threads. */
static void
bits_depend_only_on_the_text(void)
{
    const struct shape s = {2, 8, 1, 1};
    struct data p = data_of(&s), part = data_of(&s);
    const size_t from = offsets[2] * p.width, n = offsets[5] * p.width - from;

    run(&p);
    part.a.n = 3;
    part.a.offsets = offsets + 2;
    run(&part);
    T(!memcmp(p.y + from, part.y + from, n * sizeof *p.dx) &&
          !memcmp(p.dx + 3 * from, part.dx + 3 * from, 3 * n * sizeof *p.dx),
      "a text has the same bits in any batch");
    data_release(&part);
    num_threads(3);
    part = data_of(&s);
    run(&part);
    num_threads(1);
    T(!memcmp(p.a.y, part.a.y, TOKENS * p.width * sizeof *p.dx) &&
          !memcmp(p.dx, part.dx, p.all * sizeof *p.dx),
      "three threads give the same bits");
    data_release(&part);
    data_release(&p);
}

static void
large_scores_are_finite(void)
{
    const struct shape s = {2, 8, 0, 0};
    struct data p = data_of(&s);
    int finite = 1;

    for (size_t i = 0; i < 2 * TOKENS * p.width; i++)
        p.x[i] *= 1e4f;
    run(&p);
    for (size_t i = 0; i < TOKENS * p.width; i++)
        finite &= isfinite(p.y[i]) && isfinite(p.dx[i]);
    T(finite, "scores of a hundred million overflow nothing");
    data_release(&p);
}

/* The same numbers as bfloat16: the results of f32, rounded. */
static void
halves_are_f32_rounded(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        const struct shape *s = &shapes[i];
        struct data p = data_of(s);
        struct num_attention a = p.a;
        const size_t rows = TOKENS * p.width;
        void *x = halves_of(p.all, p.x), *dx = mem_array(p.all, 2);
        void *dy = halves_of(rows, (float *)p.a.dy), *y = mem_array(rows, 2);
        const size_t next = s->packed ? p.width : rows;

        a.bf16 = 1;
        a.q = x;
        a.k = num_half_at(x, next, 1);
        a.v = num_half_at(x, 2 * next, 1);
        a.y = y;
        a.dy = dy;
        a.dq = dx;
        a.dk = num_half_at(dx, next, 1);
        a.dv = num_half_at(dx, 2 * next, 1);
        run(&p);
        num_attention_forward(&a);
        num_attention_backward(&a);
        T(halves_equal(rows, y, p.y) && halves_equal(p.all, dx, p.dx),
          "%zu heads of %zu: bfloat16 gives the same, rounded", s->heads, s->d);
        free(x);
        free(dx);
        free(dy);
        free(y);
        data_release(&p);
    }
}

int
main(void)
{
    num_threads(1);
    each_text_follows_the_equation();
    gradient_is_the_slope();
    closed_forms();
    tokens_ignore_later_ones();
    bits_depend_only_on_the_text();
    large_scores_are_finite();
    halves_are_f32_rounded();
    return t_done();
}
