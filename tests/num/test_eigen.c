#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#include "num/eigen.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

/* All eigenvalues by Jacobi's rotations in double, largest first; a [n,n] is
 * destroyed. */
static void
rotate(size_t n, size_t p, size_t q, double *a)
{
    const double apq = a[p * n + q];
    const double x = (a[q * n + q] - a[p * n + p]) / (2 * apq);
    const double t = (x < 0 ? -1 : 1) / (fabs(x) + sqrt(1 + x * x));
    const double c = 1 / sqrt(1 + t * t), s = t * c;

    for (size_t i = 0; i < n; i++) {
        const double ip = a[i * n + p], iq = a[i * n + q];

        a[i * n + p] = c * ip - s * iq;
        a[i * n + q] = s * ip + c * iq;
    }
    for (size_t i = 0; i < n; i++) {
        const double pi = a[p * n + i], qi = a[q * n + i];

        a[p * n + i] = c * pi - s * qi;
        a[q * n + i] = s * pi + c * qi;
    }
}

static int
falling(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;

    return (a < b) - (a > b);
}

static void
jacobi(size_t n, double *a, double *value)
{
    double off = INFINITY, all = 0;

    for (size_t i = 0; i < n * n; i++)
        all += a[i] * a[i];
    while (off > 1e-24 * all) {
        off = 0;
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                off += a[p * n + q] * a[p * n + q];
                if (a[p * n + q] != 0)
                    rotate(n, p, q, a);
            }
    }
    for (size_t i = 0; i < n; i++)
        value[i] = a[i * n + i];
    qsort(value, n, sizeof *value, falling);
}

/* The largest |A x - l x| and |x_i.x_j - [i = j]|. */
static void
judge(size_t n, size_t k, const float *a, const float *value,
      const float *vector, double *residual, double *skew)
{
    *residual = *skew = 0;
    for (size_t i = 0; i < k; i++) {
        const float *x = vector + i * n;
        double sum = 0;

        for (size_t j = 0; j < n; j++)
            sum += pow(num_dot(n, a + j * n, x) - (double)value[i] * x[j], 2);
        *residual = fmax(*residual, sqrt(sum));
        for (size_t j = 0; j <= i; j++)
            *skew = fmax(*skew, fabs(num_dot(n, x, vector + j * n) - (i == j)));
    }
}

/* The k largest agree with all of Jacobi's; norm is |A|. */
static void
agrees(const char *what, size_t n, size_t k, double tol, const float *a)
{
    float *value = mem_array(k, sizeof *value);
    float *vector = mem_array(k * n, sizeof *vector);
    double *copy = mem_array(n * n, sizeof *copy), residual, skew, off = 0;
    double *want = mem_array(n, sizeof *want), norm;
    struct rng rng;

    for (size_t i = 0; i < n * n; i++)
        copy[i] = a[i];
    jacobi(n, copy, want);
    norm = fmax(fabs(want[0]), fabs(want[n - 1]));
    rng_init(&rng, 3, RNG_TEST, 0, 0, 0);
    num_eigen(n, k, a, tol, &rng, value, vector);
    judge(n, k, a, value, vector, &residual, &skew);
    for (size_t i = 0; i < k; i++)
        off = fmax(off, fabs(value[i] - want[i]));
    T(residual <= 2 * tol * norm && skew < 1e-5 && off <= 2 * tol * norm,
      "%s, %zu of %zu: residual %.1g, skew %.1g, error of values %.1g of %.3g",
      what, k, n, residual, skew, off, norm);
    free(value);
    free(vector);
    free(copy);
    free(want);
}

/* Symmetric noise. */
static float *
symmetric(size_t n, double spread)
{
    float *a = mem_array(n * n, sizeof *a);
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            a[i * n + j] = a[j * n + i] = (float)(spread * rng_normal(&rng));
    return a;
}

static void
random_matrices(void)
{
    const size_t sizes[][2] = {{1, 1},    {2, 2},   {7, 3},    {40, 40},
                               {130, 1},  {130, 5}, {150, 12}, {150, 149},
                               {180, 20}, {75, 1}};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        float *a = symmetric(sizes[i][0], 1);

        agrees("noise", sizes[i][0], sizes[i][1], 1e-5, a);
        free(a);
    }
}

/* Twenty cliques: the largest eigenvalue occurs twenty times, more than a block
 * of vectors can find. */
static void
multiplicity(double spread)
{
    enum { N = 200, CLIQUE = 10 };
    float *a = symmetric(N, spread);

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            if (i != j && i / CLIQUE == j / CLIQUE)
                a[i * N + j] += 1;
    agrees(spread > 0 ? "noisy cliques" : "cliques", N, 12, 1e-5, a);
    agrees(spread > 0 ? "noisy cliques" : "cliques", N, 20, 1e-5, a);
    free(a);
}

/* The largest eigenvalue once, the next ones many times, the rest spread. */
static void
hidden_multiplicity(void)
{
    enum { N = 160 };
    float *a = mem_array(N * N, sizeof *a);

    for (size_t i = 0; i < N; i++)
        a[i * N + i] = i == 7 ? 3 : i % 5 == 0 ? 2 : (float)i / N;
    agrees("diagonal", N, 14, 1e-5, a);
    for (size_t i = 0; i < N; i++)
        a[i * N + i] -= 4;
    agrees("negative", N, 14, 1e-5, a);
    free(a);
}

/* A hundred equal ones above many others, with a loose tolerance. */
static void
loose_multiplicity(void)
{
    enum { N = 600 };
    float *a = mem_array(N * N, sizeof *a);

    for (size_t i = 0; i < N; i++)
        a[i * N + i] = i % 6 == 0 ? 1 : 0.5f + (float)i / 3000;
    agrees("a hundred equal ones, loosely", N, 40, 1e-2, a);
    free(a);
}

static void
degenerate(void)
{
    enum { N = 160 };
    float *a = mem_array(N * N, sizeof *a);

    agrees("zero", N, 6, 1e-5, a);
    for (size_t i = 0; i < N; i++)
        a[i * N + i] = 1;
    agrees("identity", N, 20, 1e-5, a);
    for (size_t i = 0; i < N * N; i++)
        a[i] = 1;
    agrees("ones", N, 6, 1e-5, a);
    for (size_t i = 0; i < N * N; i++)
        a[i] = -1e-20f;
    agrees("small, no positive value", N, 6, 1e-5, a);
    for (size_t i = 0; i < N * N; i++)
        a[i] = 1e15f * (float)((i / N) % 3) * (float)((i % N) % 3);
    agrees("large, rank one", N, 6, 1e-5, a);
    free(a);
}

/* The path of n nodes has eigenvalues 2 cos(pi i / (n + 1)): dense at the
 * upper end, where Lanczos' method is slow. */
static void
closed_form(void)
{
    enum { N = 300, K = 10 };
    float *a = mem_array(N * N, sizeof *a), value[K];
    float *vector = mem_array(K * N, sizeof *vector);
    double off = 0;
    struct rng rng;

    for (size_t i = 0; i + 1 < N; i++)
        a[i * N + i + 1] = a[(i + 1) * N + i] = 1;
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    num_eigen(N, K, a, 1e-5, &rng, value, vector);
    for (int i = 0; i < K; i++)
        off = fmax(off, fabs(value[i] - 2 * cos(acos(-1) * (i + 1) / (N + 1))));
    T(off < 2e-5, "path: error %.1g", off);
    free(a);
    free(vector);
}

static void
repeats(void)
{
    enum { N = 200, K = 8 };
    float *a = symmetric(N, 1), value[2][K];
    float *vector = mem_array(2 * K * N, sizeof *vector);

    for (int i = 0; i < 2; i++) {
        struct rng rng;

        rng_init(&rng, 1, RNG_TEST, 5, 0, 0);
        num_eigen(N, K, a, 1e-3, &rng, value[i], vector + i * K * N);
    }
    T(!memcmp(value[0], value[1], sizeof value[0]) &&
          !memcmp(vector, vector + K * N, K * N * sizeof *vector),
      "the same stream, the same bits");
    free(a);
    free(vector);
}

static void
threads(void)
{
    enum { N = 12 };
    float *a = symmetric(N, 1), value[N], vector[N * N];
    struct rng rng;

    for (int n = 3; n >= 1; n--) {
        rng_init(&rng, 1, RNG_TEST, 5, 0, 0);
        num_threads(n);
        num_eigen(N, N, a, 1e-3, &rng, value, vector);
        T(openblas_get_num_threads() == n, "LAPACK has %d thread%s", n,
          n > 1 ? "s" : "");
    }
    free(a);
}

int
main(void)
{
    random_matrices();
    multiplicity(0);
    multiplicity(0.01);
    hidden_multiplicity();
    loose_multiplicity();
    degenerate();
    closed_form();
    repeats();
    threads();
    return t_done();
}
