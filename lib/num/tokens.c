#include <math.h>
#include <string.h>

#include "num/exp.h"
#include "num/half.h"
#include "num/tokens.h"
#include "util/err.h"

#include "lanes.h"

/* Columns that are summed, and numbers of a GELU, at a time. */
enum { COLUMNS = 64, CHUNK = 256, ROWS_AHEAD = 8 };

/* Prefetches numbers from .. from + count of a row after row i of n. */
LANES_INLINE void
prefetch_row(size_t n, size_t d, int bf16, const void *x, size_t i, size_t from,
             size_t count)
{
    if (i + ROWS_AHEAD < n)
        lanes_prefetch(num_half_at(x, (i + ROWS_AHEAD) * d + from, bf16),
                       num_half_bytes(count, bf16));
}

void
num_embed(size_t n, size_t d, int bf16, const int32_t *ids, const float *table,
          void *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        num_half_put(d, bf16, table + (size_t)ids[i] * d,
                     num_half_at(y, i * d, bf16));
}

size_t
num_embed_scratch(size_t n, size_t rows)
{
    return n + rows + 1;
}

/* Sorts rows by id; first [rows] is the index of the first row of each id. */
static void
sort_by_id(size_t n, size_t rows, const int32_t *ids, uint32_t *first,
           uint32_t *sorted)
{
    memset(first, 0, (rows + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(ids[i] >= 0 && (size_t)ids[i] < rows);
        first[ids[i] + 1]++;
    }
    for (size_t r = 0; r < rows; r++)
        first[r + 1] += first[r];
    for (size_t i = 0; i < n; i++) // afterwards first[id] is the end of id
        sorted[first[ids[i]]++] = (uint32_t)i;
    for (size_t r = rows; r > 0; r--)
        first[r] = first[r - 1];
    first[0] = 0;
}

void
num_embed_back(size_t n, size_t d, int bf16, size_t rows, const int32_t *ids,
               const void *dy, int add, float *dtable, uint32_t *order)
{
    uint32_t *first = order, *sorted = order + rows + 1;

    sort_by_id(n, rows, ids, first, sorted);
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        float *to = dtable + r * d;

        if (!add)
            memset(to, 0, d * sizeof *to);
        for (uint32_t k = first[r]; k < first[r + 1]; k++)
            num_half_axpy(d, bf16, 1, num_half_at(dy, sorted[k] * d, bf16), to);
    }
}

static NUM_CLONES(add_row,
                  (size_t d, const float *row, const void *x, void *y,
                   int bf16),
                  d, row, x, y)
{
    for (size_t c = 0; c < d; c++)
        number_to(y, c, number_at(x, c, bf16) + row[c], bf16);
}

void
num_position(size_t n, const size_t *offsets, size_t d, int bf16,
             const float *p, const void *x, void *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            add_row(d, p + (t - offsets[i]) * d, num_half_at(x, t * d, bf16),
                    num_half_at(y, t * d, bf16), bf16);
}

void
num_position_back(size_t n, const size_t *offsets, size_t longest, size_t d,
                  int bf16, const void *dy, int add, float *dp)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t place = 0; place < longest; place++) {
        float *to = dp + place * d;

        if (!add)
            memset(to, 0, d * sizeof *to);
        for (size_t i = 0; i < n; i++)
            if (place < offsets[i + 1] - offsets[i])
                num_half_axpy(d, bf16, 1,
                              num_half_at(dy, (offsets[i] + place) * d, bf16),
                              to);
    }
}

/* Sums at most COLUMNS columns from `from` on. */
static NUM_CLONES(sum_columns,
                  (size_t n, size_t d, size_t from, const void *x, int add,
                   float *sum, int bf16),
                  n, d, from, x, add, sum)
{
    const size_t wide = num_least(COLUMNS, d - from);
    double all[COLUMNS] = {0};

    for (size_t i = 0; i < n; i++) {
        prefetch_row(n, d, bf16, x, i, from, wide);
        for (size_t j = 0; j < wide; j++)
            all[j] += number_at(x, i * d + from + j, bf16);
    }
    for (size_t j = 0; j < wide; j++)
        sum[from + j] = (add ? sum[from + j] : 0) + (float)all[j];
}

void
num_column_sums(size_t n, size_t d, int bf16, const void *x, int add,
                float *sum)
{
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < d; from += COLUMNS)
        sum_columns(n, d, from, x, add, sum, bf16);
}

static NUM_CLONES(norm_row,
                  (const struct num_layer_norm *a, size_t i, int bf16), a, i)
{
    const size_t d = a->d, even = d - d % LANES;
    const void *x = num_half_at(a->x, i * d, bf16);
    double sum[LANES] = {0}, square[LANES] = {0}, mean;
    void *y = num_half_at(a->y, i * d, bf16);
    float m, r;

    for (size_t at = 0; at < even; at += LANES)
        for (size_t j = 0; j < LANES; j++)
            sum[j] += number_at(x, at + j, bf16);
    for (size_t at = even; at < d; at++)
        sum[at - even] += number_at(x, at, bf16);
    mean = lanes_total(sum) / (double)d;
    for (size_t at = 0; at < even; at += LANES)
        for (size_t j = 0; j < LANES; j++)
            square[j] += (number_at(x, at + j, bf16) - mean) *
                         (number_at(x, at + j, bf16) - mean);
    for (size_t at = even; at < d; at++)
        square[at - even] +=
            (number_at(x, at, bf16) - mean) * (number_at(x, at, bf16) - mean);
    m = a->mean[i] = (float)mean;
    r = a->rstd[i] =
        (float)(1 / sqrt(lanes_total(square) / (double)d + a->epsilon));
    for (size_t j = 0; j < d; j++)
        number_to(y, j,
                  a->gamma[j] * ((number_at(x, j, bf16) - m) * r) + a->beta[j],
                  bf16);
}

void
num_layer_norm_forward(const struct num_layer_norm *a)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++) {
        prefetch_row(a->n, a->d, a->bf16, a->x, i, 0, a->d);
        norm_row(a, i, a->bf16);
    }
}

static NUM_CLONES(norm_row_back,
                  (const struct num_layer_norm *a, size_t i, int bf16), a, i)
{
    const size_t d = a->d, even = d - d % LANES;
    const void *x = num_half_at(a->x, i * d, bf16);
    const void *dy = num_half_at(a->dy, i * d, bf16);
    const float *gamma = a->gamma;
    const float m = a->mean[i], r = a->rstd[i];
    double level[LANES] = {0}, along[LANES] = {0};
    void *dx = num_half_at(a->dx, i * d, bf16);
    float mean, slope;

    for (size_t at = 0; at < even; at += LANES)
        for (size_t j = 0; j < LANES; j++) {
            float g = gamma[at + j] * number_at(dy, at + j, bf16);

            level[j] += g;
            along[j] += (double)g * ((number_at(x, at + j, bf16) - m) * r);
        }
    for (size_t at = even; at < d; at++) {
        float g = gamma[at] * number_at(dy, at, bf16);

        level[at - even] += g;
        along[at - even] += (double)g * ((number_at(x, at, bf16) - m) * r);
    }
    mean = (float)(lanes_total(level) / (double)d);
    slope = (float)(lanes_total(along) / (double)d);
    for (size_t j = 0; j < d; j++)
        number_to(dx, j,
                  r * (gamma[j] * number_at(dy, j, bf16) - mean -
                       (number_at(x, j, bf16) - m) * r * slope),
                  bf16);
}

/* Computes dgamma and dbeta of at most COLUMNS columns from `from` on. */
static NUM_CLONES(norm_columns_back,
                  (const struct num_layer_norm *a, size_t from, int bf16), a,
                  from)
{
    const size_t n = num_least(COLUMNS, a->d - from);
    double along[COLUMNS] = {0}, level[COLUMNS] = {0};

    for (size_t i = 0; i < a->n; i++) {
        const void *x = num_half_at(a->x, i * a->d + from, bf16);
        const void *dy = num_half_at(a->dy, i * a->d + from, bf16);
        const float m = a->mean[i], r = a->rstd[i];

        prefetch_row(a->n, a->d, a->bf16, a->x, i, from, n);
        prefetch_row(a->n, a->d, a->bf16, a->dy, i, from, n);
        for (size_t j = 0; j < n; j++) {
            along[j] += (double)number_at(dy, j, bf16) *
                        ((number_at(x, j, bf16) - m) * r);
            level[j] += number_at(dy, j, bf16);
        }
    }
    for (size_t j = 0; j < n; j++) {
        float *dgamma = a->dgamma + from + j, *dbeta = a->dbeta + from + j;

        *dgamma = (a->add ? *dgamma : 0) + (float)along[j];
        *dbeta = (a->add ? *dbeta : 0) + (float)level[j];
    }
}

void
num_layer_norm_backward(const struct num_layer_norm *a)
{
    // columns first: dx may overwrite dy
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < a->d; from += COLUMNS)
        norm_columns_back(a, from, a->bf16);
    if (!a->dx)
        return;
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < a->n; i++) {
        prefetch_row(a->n, a->d, a->bf16, a->x, i, 0, a->d);
        prefetch_row(a->n, a->d, a->bf16, a->dy, i, 0, a->d);
        norm_row_back(a, i, a->bf16);
    }
}

/* F(x) and F'(x). */
struct gate {
    float f, slope;
};

/* erf by Abramowitz and Stegun 1964, 7.1.26: to 1.5e-7. */
static inline struct gate
gate_erf(float x)
{
    const float t = 1 / (1 + 0.3275911f * 0.707106781f * fabsf(x));
    const float bell = num_exp(-0.5f * x * x);
    const float tail =
        0.5f * bell * t *
        (0.254829592f +
         t * (-0.284496736f +
              t * (1.421413741f + t * (-1.453152027f + t * 1.061405429f))));

    return (struct gate){num_choose(x < 0, tail, 1 - tail),
                         0.398942280f * bell};
}

/* 1 / (1 + e^-a); a' is `slope`. */
static inline struct gate
gate_sigmoid(float a, float slope)
{
    const float f = 1 / (1 + num_exp(-a));

    return (struct gate){f, f * (1 - f) * slope};
}

static inline struct gate
gate_tanh(float x)
{
    const float scale = 1.59576912f, cubic = 0.044715f; // 2 sqrt(2 / pi)

    return gate_sigmoid(scale * (x + cubic * x * x * x),
                        scale * (1 + 3 * cubic * x * x));
}

static inline struct gate
gate_quick(float x)
{
    return gate_sigmoid(1.702f * x, 1.702f);
}

/* y = x F(x), or with dy the gradient.  Each constant `gate_of` has a loop of
 * its own, which is vectorised. */
LANES_INLINE void
loop_of(struct gate (*gate_of)(float x), size_t n, const void *x,
        const void *dy, void *to, int bf16)
{
    for (size_t i = 0; i < n; i++) {
        const float v = number_at(x, i, bf16);
        const struct gate g = gate_of(v);

        number_to(to, i,
                  dy ? number_at(dy, i, bf16) * (g.f + v * g.slope) : v * g.f,
                  bf16);
    }
}

LANES_INLINE void
loop_by_form(enum num_gelu form, size_t n, const void *x, const void *dy,
             void *to, int bf16)
{
    switch (form) {
    case NUM_GELU_ERF:
        loop_of(gate_erf, n, x, dy, to, bf16);
        break;
    case NUM_GELU_TANH:
        loop_of(gate_tanh, n, x, dy, to, bf16);
        break;
    case NUM_GELU_QUICK:
        loop_of(gate_quick, n, x, dy, to, bf16);
        break;
    }
}

static NUM_CLONES(run_chunk,
                  (enum num_gelu form, size_t n, const void *x, const void *dy,
                   void *to, int bf16),
                  form, n, x, dy, to)
{
    if (dy)
        loop_by_form(form, n, x, dy, to, bf16);
    else
        loop_by_form(form, n, x, NULL, to, bf16);
}

/* Prefetches the next chunk. */
static void
prefetch_chunk(size_t n, size_t at, int bf16, const void *x)
{
    if (at + 2 * CHUNK <= n)
        lanes_prefetch(num_half_at(x, at + CHUNK, bf16),
                       num_half_bytes(CHUNK, bf16));
}

static void
run_chunks(enum num_gelu form, size_t n, int bf16, const void *x,
           const void *dy, void *to)
{
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < n; at += CHUNK) {
        prefetch_chunk(n, at, bf16, x);
        prefetch_chunk(n, at, bf16, dy ? dy : to);
        run_chunk(form, num_least(CHUNK, n - at), num_half_at(x, at, bf16),
                  dy ? num_half_at(dy, at, bf16) : NULL,
                  num_half_at(to, at, bf16), bf16);
    }
}

void
num_gelu_forward(enum num_gelu form, size_t n, int bf16, const void *x, void *y)
{
    run_chunks(form, n, bf16, x, NULL, y);
}

void
num_gelu_backward(enum num_gelu form, size_t n, int bf16, const void *x,
                  const void *dy, void *dx)
{
    run_chunks(form, n, bf16, x, dy, dx);
}
