#include <omp.h>
#include <stdlib.h>

#include "loss/naive.h"
#include "loss/rows.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

enum { MANY_B = 300, MANY = 2 * MANY_B }; // for several threads and blocks
enum { B = NAIVE_B, N = NAIVE_N, D = NAIVE_D, EXTRA = 3, ROWS = N + EXTRA };

static const struct loss_views views = {B, 2, 2}, many = {MANY_B, 2, 2};

static void
example(float s[N * ROWS])
{
    double x[N * ROWS];

    naive_lcg(N * ROWS, 3, x);
    for (size_t i = 0; i < N * ROWS; i++)
        s[i] = (float)x[i];
}

static int
masked(size_t r, size_t c, enum loss_mask mask)
{
    return mask == LOSS_CROSS
               ? r / B == c / B
               : c == r || (mask == LOSS_NEGATIVES && c % B == r % B);
}

static void
agrees_with_naive(enum loss_mask mask, double beta)
{
    float s[N * ROWS], p[N * ROWS];
    double want = 0, off = 0, got;

    example(s);
    got = loss_partition(&views, ROWS, beta, mask, s, p);
    for (size_t r = 0; r < N; r++) {
        double sum = 0;

        for (size_t c = 0; c < N; c++)
            sum += masked(r, c, mask) ? 0 : exp(beta * s[r * ROWS + c]);
        want += log(sum) - beta * s[r * ROWS + loss_partner(B, r)];
        for (size_t c = 0; c < ROWS; c++) {
            int in = c < N && !masked(r, c, mask);
            double x = in ? exp(beta * s[r * ROWS + c]) / sum : 0;

            off = fmax(off, fabs(x - p[r * ROWS + c]));
        }
    }
    T_NEAR(got, want, 1e-6, "log-partition, mask %d, beta %g", mask, beta);
    T(off < 1e-6, "softmax, mask %d, beta %g", mask, beta);
    T_NEAR(loss_partition(&views, ROWS, beta, mask, s, NULL), got, 0,
           "the same without p");
    T_NEAR(loss_partition(&views, ROWS, beta, mask, s, s), got, 0,
           "the same in place");
}

/* The denominator without the partner: DCL, lib/algorithms.md 3.1. */
static void
agrees_with_the_reference(void)
{
    float z[N * D], v[N * D], s[N * N], w[N * N], dv[N * D];
    const float scale = 10.0f / N;
    double sum = 0;

    naive_rows(z);
    num_unit_rows(N, D, z, v, NULL);
    num_gemm_nt(N, N, D, 1, v, v, 0, s);
    T_NEAR(s[1], -0.511975, 1e-6, "the rows are those of the reference");
    T_NEAR(loss_partition(&views, N, 10, LOSS_NEGATIVES, s, w) / N,
           -0.695097025, 2e-6, "in-batch value");
    num_scale(N * N, scale, w);
    for (size_t r = 0; r < N; r++)
        w[r * N + loss_partner(B, r)] -= scale;
    loss_similarity_backward(N, N, N, D, w, v, dv);
    for (size_t i = 0; i < N * D; i++)
        sum += fabs(dv[i]);
    T_NEAR(sum, 33.254410154, 2e-6, "in-batch gradient");
    T_NEAR(dv[0], -0.113033264, 2e-6, "its first element");
    T_NEAR(dv[N * D - 1], 0.962717085, 2e-6, "its last element");
}

static void
adds_to_further_rows(void)
{
    float w[N * ROWS], v[ROWS * D], dv[ROWS * D], all[ROWS * ROWS];
    double x[ROWS * D], off = 0;

    example(w);
    naive_lcg(ROWS * D, 5, x);
    for (size_t i = 0; i < ROWS * D; i++)
        v[i] = (float)x[i];
    memcpy(all, w, sizeof w);
    all[N * ROWS] = NAN; // never read
    loss_similarity_backward(N, ROWS, ROWS, D, all, v, dv);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t k = 0; k < D; k++) {
            double want = 0;

            for (size_t c = 0; c < ROWS; c++)
                want += ((r < N ? w[r * ROWS + c] : 0) +
                         (c < N ? w[c * ROWS + r] : 0)) *
                        v[c * D + k];
            off = fmax(off, fabs(want - dv[r * D + k]));
        }
    T(off < 1e-6, "(W + W') v with further rows");
    for (size_t moved = N; moved < ROWS; moved++) {
        float some[ROWS * D];

        memcpy(all, w, sizeof w);
        some[moved * D] = 7;
        loss_similarity_backward(N, moved, ROWS, D, all, v, some);
        off = fmax(off, some[moved * D] == 7 ? 0 : 1);
        for (size_t i = 0; i < moved * D; i++)
            off = fmax(off, fabs(some[i] - dv[i]));
    }
    T(off < 1e-6, "constant rows change nothing, and get no gradient");
}

/* How far p is from a softmax in double, relative to 1e-6 and more. */
static double
softmax_error(const float *p, const float *s, double beta)
{
    double off = 0;

    for (size_t r = 0; r < MANY; r++, p += MANY, s += MANY) {
        double sum = 0;

        for (size_t c = 0; c < MANY; c++)
            sum += c == r ? 0 : exp(beta * s[c]);
        for (size_t c = 0; c < MANY; c++) {
            const double want = c == r ? 0 : exp(beta * s[c]) / sum;

            off = fmax(off, fabs(want - p[c]) / (want + 1e-6));
        }
    }
    return off;
}

static int
is_mirror_sum(const float *sum, const float *w)
{
    for (size_t r = 0; r < MANY; r++)
        for (size_t c = 0; c < MANY; c++)
            if (sum[r * MANY + c] != w[r * MANY + c] + w[c * MANY + r])
                return 0;
    return 1;
}

static void
many_rows_by_any_threads(void)
{
    const int threads = omp_get_max_threads();
    const size_t bytes = sizeof(float) * MANY * MANY;
    double *x = mem_array(MANY * MANY, sizeof *x), one, three;
    float *was = mem_array(MANY * MANY, sizeof *was);
    float *s = mem_array(MANY * MANY, sizeof *s);
    float *t = mem_array(MANY * MANY, sizeof *t);

    naive_lcg(MANY * MANY, 9, x);
    for (size_t i = 0; i < MANY * MANY; i++)
        was[i] = (float)x[i];
    memcpy(s, was, bytes);
    memcpy(t, was, bytes);
    omp_set_num_threads(1);
    one = loss_partition(&many, MANY, 20, LOSS_BATCH, s, s);
    loss_similarity_mirror(MANY, MANY, MANY, s);
    omp_set_num_threads(3);
    three = loss_partition(&many, MANY, 20, LOSS_BATCH, t, t);
    T(softmax_error(t, was, 20) < 1e-5, "a softmax of 600 x 600");
    T(is_mirror_sum(s, t), "W + W' of it");
    loss_similarity_mirror(MANY, MANY, MANY, t);
    omp_set_num_threads(threads);
    T(one == three && !memcmp(s, t, bytes), "three threads: the same bits");
    free(x);
    free(was);
    free(s);
    free(t);
}

static void
the_edge(void)
{
    float s[16] = {0, 9, 1, -1, 9, 0, -1, 1, 1, -1, 0, 9, -1, 1, 9, 0};
    const struct loss_views two = {2, 2, 2};
    float p[16];

    T_NEAR(loss_partition(&two, 4, 1e30, LOSS_NEGATIVES, s, p) / 1e30, 32, 1e-6,
           "huge beta: the largest score alone");
    T(p[1] == 1 && p[3] == 0 && p[0] == 0 && p[2] == 0,
      "huge beta: p is 1 at the largest score");
    T_NEAR(loss_partition(&two, 4, 1e-30, LOSS_BATCH, s, p), 4 * log(3), 1e-6,
           "tiny beta: all alike");
}

int
main(void)
{
    for (double beta = 0.1; beta < 200; beta *= 10) {
        agrees_with_naive(LOSS_BATCH, beta);
        agrees_with_naive(LOSS_NEGATIVES, beta);
        agrees_with_naive(LOSS_CROSS, beta);
    }
    agrees_with_the_reference();
    adds_to_further_rows();
    many_rows_by_any_threads();
    the_edge();
    return t_done();
}
