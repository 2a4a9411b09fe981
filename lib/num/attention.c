#include <math.h>
#include <omp.h>
#include <string.h>

#include "lanes.h"
#include "num/attention.h"
#include "num/exp.h"
#include "num/half.h"
#include "num/vec.h"
#include "products.h"
#include "util/clones.h"
#include "util/err.h"

/*
 * One text and one head at a time: products of a few dozen rows, too small for
 * those of num/gemm.h.  Rows of scores, and rows of d numbers, are padded with
 * zeros to whole vectors.
 *
 * Causal rows are processed in blocks of four: scores after the last token of a
 * block are neither computed nor read.  Other rows are processed all at once.
 */
enum { ROWS = 4 };

/* Rows of d numbers, `stride` floats from one to the next. */
struct rows {
    const float *at;
    size_t stride;
};

/* The same in an array of the caller, f32 or bfloat16. */
struct array {
    void *at;
    size_t stride;
};

/* The output of a product; if `to` is set, its rows are copied there. */
struct sink {
    float *at;
    size_t stride;
    struct array to;
};

/* A text and a head. */
struct task {
    size_t len, d, wide, deep; /* wide, deep: padded len, d */
    int causal, bf16;
    float scale;
    struct array q, k, v, dy;
    float *top, *share; /* of the first token */
    size_t heads;       /* from a token to the next in these */
    float *s, *g;       /* [len,wide] */
    float *kt, *vt;     /* [d,wide]: keys and values, transposed */
    float *room[4];     /* [len,deep] each */
};

/* Floats of scratch for a task. */
static size_t
task_size(size_t len, size_t d)
{
    return 2 * len * num_round_up(len, LANES) +
           2 * d * num_round_up(len, LANES) + 4 * len * num_round_up(d, LANES);
}

size_t
num_attention_scratch(size_t longest, size_t d)
{
    return (size_t)omp_get_max_threads() * task_size(longest, d);
}

/* The end of the tokens that rows from i on attend to. */
static size_t
tokens_seen(const struct task *t, size_t i, size_t rows)
{
    return t->causal ? i + rows : t->len;
}

static size_t
rows_at(const struct task *t, size_t i)
{
    const size_t left = t->len - i;

    return t->causal && left > ROWS ? ROWS : left;
}

/* s = x y'; yt is the transpose of y. */
static void
multiply_scores(const struct task *t, struct rows x, const float *yt, float *s)
{
    for (size_t i = 0; i < t->len; i += rows_at(t, i)) {
        const size_t rows = rows_at(t, i);
        const struct products_rows p = {
            .a = x.at + i * x.stride,
            .row = x.stride,
            .step = 1,
            .b = yt,
            .ldb = t->wide,
            .c = s + i * t->wide,
            .ldc = t->wide,
            .rows = rows,
            .n = num_round_up(tokens_seen(t, i, rows), LANES),
            .depth = t->d,
        };

        num_products()->rows(&p);
    }
}

/* out = p x, or with `back` p' x, with p [len,wide] zero for tokens not
 * attended to. */
static void
mix_rows(const struct task *t, int back, const float *p, struct rows x,
         struct sink out)
{
    for (size_t i = 0; i < t->len; i += rows_at(t, i)) {
        const size_t rows = rows_at(t, i);
        const size_t from = back && t->causal ? i : 0;
        const size_t to = back ? t->len : tokens_seen(t, i, rows);
        const struct products_rows product = {
            .a = p + (back ? from * t->wide + i : i * t->wide),
            .row = back ? 1 : t->wide,
            .step = back ? t->wide : 1,
            .b = x.at + from * x.stride,
            .ldb = x.stride,
            .c = out.at + i * out.stride,
            .ldc = out.stride,
            .rows = rows,
            .depth = to - from,
            .n = t->deep,
        };

        num_products()->rows(&product);
    }
    for (size_t i = 0; out.to.at && i < t->len; i++)
        num_half_put(t->d, t->bf16, out.at + i * out.stride,
                     num_half_at(out.to.at, i * out.to.stride, t->bf16));
}

/* Row i of s becomes e^(s - top) share, zero from `seen` up to n. */
static UTIL_CLONES(void, exp_row,
                   (float *s, size_t seen, size_t n, float scale, float top,
                    float share),
                   (s, seen, n, scale, top, share))
{
    for (size_t j = 0; j < n; j++)
        s[j] = num_exp(s[j] * scale - top) * share;
    for (size_t j = seen; j < n; j++)
        s[j] = 0;
}

static UTIL_CLONES(double, sum_row, (const float *s, size_t n), (s, n))
{
    double part[LANES] = {0};

    for (size_t at = 0; at < n; at += LANES)
        for (size_t j = 0; j < LANES; j++)
            part[j] += s[at + j];
    return lanes_total(part);
}

/* Replaces scores by weights; stores their tops and shares. */
static void
softmax_rows(const struct task *t)
{
    for (size_t i = 0; i < t->len; i++) {
        const size_t first = i - i % ROWS, rows = rows_at(t, first);
        const size_t n = num_round_up(tokens_seen(t, first, rows), LANES);
        const size_t seen = t->causal ? i + 1 : t->len;
        float *s = t->s + i * t->wide;
        const float top = num_max(seen, s) * t->scale;
        float share;

        exp_row(s, seen, n, t->scale, top, 1);
        share = (float)(1 / sum_row(s, n));
        for (size_t j = 0; j < n; j++)
            s[j] *= share;
        t->top[i * t->heads] = top;
        t->share[i * t->heads] = share;
    }
}

/* Recomputes the weights from tops and shares. */
static void
recompute_softmax(const struct task *t)
{
    for (size_t i = 0; i < t->len; i++) {
        const size_t first = i - i % ROWS, rows = rows_at(t, first);

        exp_row(t->s + i * t->wide, t->causal ? i + 1 : t->len,
                num_round_up(tokens_seen(t, first, rows), LANES), t->scale,
                t->top[i * t->heads], t->share[i * t->heads]);
    }
}

/* g = p (g - sum p g) scale, of a row of n. */
static UTIL_CLONES(void, softmax_back_row,
                   (const float *p, size_t n, float scale, float *g),
                   (p, n, scale, g))
{
    double part[LANES] = {0};
    float mean;

    for (size_t at = 0; at < n; at += LANES)
        for (size_t j = 0; j < LANES; j++)
            part[j] += (double)p[at + j] * g[at + j];
    mean = (float)lanes_total(part);
    for (size_t j = 0; j < n; j++)
        g[j] = p[j] * (g[j] - mean) * scale;
}

static void
softmax_back(const struct task *t)
{
    for (size_t i = 0; i < t->len; i++) {
        const size_t first = i - i % ROWS, rows = rows_at(t, first);

        softmax_back_row(t->s + i * t->wide,
                         num_round_up(tokens_seen(t, first, rows), LANES),
                         t->scale, t->g + i * t->wide);
    }
}

/* Transposes [len,d] to [d,wide], zero beyond len. */
LANES_INLINE void
transpose_of(const struct task *t, struct array x, float *to, int bf16)
{
    for (size_t c = 0; c < t->d; c++) {
        for (size_t i = 0; i < t->len; i++)
            to[c * t->wide + i] = number_at(x.at, i * x.stride + c, bf16);
        for (size_t i = t->len; i < t->wide; i++)
            to[c * t->wide + i] = 0;
    }
}

static void
transpose_rows(const struct task *t, struct array x, float *to)
{
    NUM_BY_TYPE(t->bf16, transpose_of, t, x, to);
}

/* Whether the arrays can be used in place, as whole f32 vectors. */
static int
is_whole(const struct task *t)
{
    return !t->bf16 && t->d == t->deep;
}

/* Rows of whole f32 vectors: in place, or a copy. */
static struct rows
whole_rows(const struct task *t, struct array x, float *room)
{
    if (is_whole(t))
        return (struct rows){x.at, x.stride};
    for (size_t i = 0; i < t->len; i++) {
        num_half_get(t->d, t->bf16, num_half_at(x.at, i * x.stride, t->bf16),
                     room + i * t->deep);
        memset(room + i * t->deep + t->d, 0, (t->deep - t->d) * sizeof *room);
    }
    return (struct rows){room, t->deep};
}

/* A sink of whole vectors: in place, or a buffer that is copied. */
static struct sink
sink_of(const struct task *t, struct array to, float *room)
{
    if (is_whole(t))
        return (struct sink){.at = to.at, .stride = to.stride};
    return (struct sink){room, t->deep, to};
}

/* The array of the caller from element `at` on. */
static struct array
array_at(const struct num_attention *a, const void *x, size_t at, size_t stride)
{
    return (struct array){x ? num_half_at(x, at, a->bf16) : NULL, stride};
}

static struct task
task_of(const struct num_attention *a, size_t text, size_t head)
{
    const size_t token = a->offsets[text], at = token * a->stride + head * a->d;
    const size_t packed = a->heads * a->d, here = token * packed + head * a->d;
    const size_t room = task_size(a->longest, a->d);
    struct task t = {
        .len = a->offsets[text + 1] - token,
        .d = a->d,
        .deep = num_round_up(a->d, LANES),
        .causal = a->causal,
        .bf16 = a->bf16,
        .scale = (float)(1 / sqrt((double)a->d)),
        .q = array_at(a, a->q, at, a->stride),
        .k = array_at(a, a->k, at, a->stride),
        .v = array_at(a, a->v, at, a->stride),
        .dy = array_at(a, a->dy, here, packed),
        .top = a->top + token * a->heads + head,
        .share = a->share + token * a->heads + head,
        .heads = a->heads,
        .s = a->scratch + (size_t)omp_get_thread_num() * room,
    };

    REQUIRE(t.len >= 1 && t.len <= a->longest);
    t.wide = num_round_up(t.len, LANES);
    t.g = t.s + t.len * t.wide;
    t.kt = t.g + t.len * t.wide;
    t.vt = t.kt + t.d * t.wide;
    t.room[0] = t.vt + t.d * t.wide;
    for (size_t i = 1; i < 4; i++)
        t.room[i] = t.room[i - 1] + t.len * t.deep;
    return t;
}

void
num_attention_forward(const struct num_attention *a)
{
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (size_t text = 0; text < a->n; text++)
        for (size_t head = 0; head < a->heads; head++) {
            const struct task t = task_of(a, text, head);
            const size_t packed = a->heads * a->d;
            const size_t here = a->offsets[text] * packed + head * a->d;

            transpose_rows(&t, t.k, t.kt);
            multiply_scores(&t, whole_rows(&t, t.q, t.room[0]), t.kt, t.s);
            softmax_rows(&t);
            mix_rows(&t, 0, t.s, whole_rows(&t, t.v, t.room[1]),
                     sink_of(&t, array_at(a, a->y, here, packed), t.room[2]));
        }
}

void
num_attention_backward(const struct num_attention *a)
{
#pragma omp parallel for collapse(2) schedule(dynamic)
    for (size_t text = 0; text < a->n; text++)
        for (size_t head = 0; head < a->heads; head++) {
            const struct task t = task_of(a, text, head);
            const size_t at = a->offsets[text] * a->stride + head * a->d;
            const struct rows q = whole_rows(&t, t.q, t.room[0]);
            const struct rows dy = whole_rows(&t, t.dy, t.room[1]);

            transpose_rows(&t, t.k, t.kt);
            transpose_rows(&t, t.v, t.vt);
            multiply_scores(&t, q, t.kt, t.s);
            recompute_softmax(&t);
            mix_rows(&t, 1, t.s, dy,
                     sink_of(&t, array_at(a, a->dv, at, a->stride), t.room[3]));
            multiply_scores(&t, dy, t.vt, t.g);
            softmax_back(&t);
            mix_rows(&t, 0, t.g, whole_rows(&t, t.k, t.room[2]),
                     sink_of(&t, array_at(a, a->dq, at, a->stride), t.room[3]));
            mix_rows(&t, 1, t.g, q,
                     sink_of(&t, array_at(a, a->dk, at, a->stride), t.room[3]));
        }
}
