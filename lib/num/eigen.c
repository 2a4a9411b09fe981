#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "num/eigen.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/isa.h"
#include "util/mem.h"

#include "helpers.h"
#include "products.h"

/* BLOCK vectors are multiplied at a time.  A restart retains SPARE more vectors
 * than requested, so that the last ones converge faster.  After CYCLES restarts
 * LAPACK solves the problem.  CHECK blocks test for a missed eigenvector. */
enum { BLOCK = 8, SPARE = 16, CYCLES = 60, CHECK = 4 };

/* Rows and columns of A that are multiplied at a time. */
enum { DEEP = 32, WIDE = 1280 };

/* OpenBLAS includes LAPACK, but only with its Fortran names. */
void ssyevd_(const char *job, const char *half, const int *n, float *a,
             const int *lda, float *w, float *work, const int *lwork,
             int *iwork, const int *liwork, int *info, size_t, size_t);

/* Computes the k largest eigenpairs of a [n,n], which is destroyed; without
 * vectors if vector is NULL. */
static void
solve_dense(size_t n, size_t k, float *a, float *value, float *vector)
{
    const size_t most = 1 + 6 * n + 2 * n * n, whole = 3 + 5 * n;
    float *w = mem_array(n, sizeof *w), *work = mem_array(most, sizeof *work);
    int *iwork = mem_array(whole, sizeof *iwork), info;

    REQUIRE(n <= 30000); // LAPACK counts in int
    openblas_set_num_threads(omp_get_max_threads());
    ssyevd_(vector ? "V" : "N", "L", &(int){(int)n}, a, &(int){(int)n}, w, work,
            &(int){(int)most}, iwork, &(int){(int)whole}, &info, 1, 1);
    REQUIRE(!info);
    for (size_t i = 0; i < k; i++) {
        value[i] = w[n - 1 - i];
        if (vector)
            memcpy(vector + i * n, a + (n - 1 - i) * n, n * sizeof *a);
    }
    mem_free(w, work, iwork);
}

/*
 * The iteration maintains  A V = V H + Q R:  V is the first `used` rows of
 * basis, Q the next BLOCK rows.  Ritz pairs are the eigenpairs of H.
 */
struct lanczos {
    size_t n, k, keep, most, used;
    double norm; /* the longest row of H so far: at most |A|, and near it */
    const float *a;
    struct rng *rng;
    float *basis; /* [most + BLOCK, n] */
    float *h;     /* [most, most] */
    float r[BLOCK][BLOCK];
    float *part;      /* [most + BLOCK, BLOCK] scratch */
    float *small;     /* [most, most] scratch */
    float *theta, *s; /* [keep], [keep, used]: Ritz values, their vectors */
    float *ritz;      /* [keep, n] scratch */
};

static double
vector_length(size_t n, const float *x)
{
    return sqrt(num_dot(n, x, x));
}

static void
fill_with_noise(struct lanczos *l, float *x)
{
    for (size_t i = 0; i < l->n; i++)
        x[i] = (float)rng_range(l->rng, -1, 1);
}

/* Subtracts the projection of x on rows [from,to) of the basis; part gets the
 * coefficients. */
static void
subtract_rows(struct lanczos *l, size_t from, size_t to, float *x)
{
    const float *row = l->basis + from * l->n;

    if (from == to)
        return;
    num_gemm_nt(to - from, 1, l->n, 1, row, x, 0, l->part);
    num_gemm_tn(1, l->n, to - from, -1, l->part, row, 1, x);
}

/*
 * Makes row `at` of the basis a unit vector orthogonal to those before it; r
 * gets its coefficients of the rows of its own block.  Rows below `from` were
 * subtracted already; before that its length was `first`.  While a subtraction
 * removes much of it, rounding errors remain, and it is repeated.  If nothing
 * is left, a random vector replaces it, and r is zero.
 */
static void
orthonormalise_row(struct lanczos *l, size_t at, size_t from, double first,
                   float r[BLOCK])
{
    const size_t n = l->n;
    float *x = l->basis + at * n;
    double before = first, after = vector_length(n, x);
    int lost = 0;

    memset(r, 0, BLOCK * sizeof *r);
    do {
        if (after <= 1e-6 * first && !lost) {
            lost = 1;
            memset(r, 0, BLOCK * sizeof *r);
            fill_with_noise(l, x);
            after = vector_length(n, x);
            from = 0;
        }
        before = from ? before : after;
        subtract_rows(l, from, at, x);
        for (size_t j = l->used; j < at && !lost; j++)
            r[j - l->used] += l->part[j - from];
        after = vector_length(n, x);
        from = 0;
    } while (after < 0.5 * before);
    num_scale(n, (float)(1 / after), x);
    if (!lost)
        r[at - l->used] = (float)after;
}

/* Starts with a random block. */
static void
start_block(struct lanczos *l)
{
    for (size_t j = 0; j < BLOCK; j++) {
        float *x = l->basis + (l->used + j) * l->n;

        fill_with_noise(l, x);
        orthonormalise_row(l, l->used + j, 0, vector_length(l->n, x), l->r[j]);
    }
}

/* Computes columns [from,from+count) of y = q A, some rows of A at a time. */
static void
multiply_columns(const struct lanczos *l, size_t from, size_t count,
                 const float *q, float *y)
{
    const size_t n = l->n;
    float sum[BLOCK * WIDE];
    struct products_rows product = {.row = n,
                                    .step = 1,
                                    .ldb = n,
                                    .c = sum,
                                    .ldc = WIDE,
                                    .rows = BLOCK,
                                    .n = count};

    for (size_t k = 0; k < n; k += DEEP) {
        product.a = q + k;
        product.b = l->a + k * n + from;
        product.depth = num_least(DEEP, n - k);
        num_products()->rows(&product);
        for (size_t i = 0; i < BLOCK; i++) {
            float *to = y + i * n + from;

            if (!k)
                memset(to, 0, count * sizeof *to);
            num_axpy(count, 1, sum + i * WIDE, to);
        }
    }
}

/* y = q A, of BLOCK rows.  With AVX2 oneDNN reorders A before it multiplies:
 * 8 x 1,280 x 1,280 take .68 ms, this loop .48. */
static void
multiply_block(const struct lanczos *l, const float *q, float *y)
{
    const size_t n = l->n, whole = n / PRODUCTS_COLUMNS * PRODUCTS_COLUMNS;

    if (util_isa() != UTIL_ISA_V3) {
        num_gemm_nn(BLOCK, n, n, 1, q, l->a, 0, y);
        return;
    }
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < whole; from += WIDE)
        multiply_columns(l, from, whole - from < WIDE ? whole - from : WIDE, q,
                         y);
    for (size_t i = 0; i < BLOCK; i++) // A is symmetric
        for (size_t j = whole; j < n; j++)
            y[i * n + j] = (float)num_dot(n, q + i * n, l->a + j * n);
}

/* Appends Q to V; the part of A Q orthogonal to V becomes the next Q. */
static void
grow_basis(struct lanczos *l)
{
    const size_t n = l->n, from = l->used, to = from + BLOCK;
    float *q = l->basis + from * n, *next = q + BLOCK * n;
    double length[BLOCK];

    multiply_block(l, q, next);
    for (size_t j = 0; j < BLOCK; j++)
        length[j] = vector_length(n, next + j * n);
    num_gemm_nt(to, BLOCK, n, 1, l->basis, next, 0, l->part);
    num_gemm_tn(BLOCK, n, to, -1, l->part, l->basis, 1, next);
    for (size_t i = 0; i < to; i++)
        for (size_t j = 0; j < BLOCK; j++) {
            l->h[i * l->most + from + j] = l->part[i * BLOCK + j];
            l->h[(from + j) * l->most + i] = l->part[i * BLOCK + j];
        }
    l->used = to;
    for (size_t j = 0; j < BLOCK; j++)
        orthonormalise_row(l, to + j, to, length[j], l->r[j]);
}

/* Computes Ritz values, and vectors unless s is NULL. */
static void
solve_ritz(struct lanczos *l, float *s)
{
    const size_t used = l->used;

    for (size_t i = 0; i < used; i++) {
        memcpy(l->small + i * used, l->h + i * l->most,
               used * sizeof *l->small);
        l->norm = fmax(l->norm, vector_length(used, l->small + i * used));
    }
    solve_dense(used, l->keep, l->small, l->theta, s);
}

/* The largest residual of the first k: |A x - theta x| = |R' s|, with s the
 * last part of the Ritz vector. */
static double
largest_residual(const struct lanczos *l)
{
    const size_t used = l->used;
    double worst = 0;

    for (size_t i = 0; i < l->k; i++) {
        const float *s = l->s + (i + 1) * used - BLOCK;
        double sum = 0;

        for (size_t j = 0; j < BLOCK; j++) {
            double x = 0;

            for (size_t c = 0; c < BLOCK; c++)
                x += (double)l->r[c][j] * s[c];
            sum += x * x;
        }
        worst = fmax(worst, sqrt(sum));
    }
    return worst;
}

/* Replaces V by its first `keep` Ritz vectors; Q does not change. */
static void
restart_from_ritz(struct lanczos *l, size_t keep)
{
    const size_t n = l->n, most = l->most;

    num_gemm_nn(keep, n, l->used, 1, l->s, l->basis, 0, l->ritz);
    memmove(l->basis + keep * n, l->basis + l->used * n,
            BLOCK * n * sizeof *l->basis);
    memcpy(l->basis, l->ritz, keep * n * sizeof *l->basis);
    memset(l->h, 0, most * most * sizeof *l->h);
    for (size_t i = 0; i < keep; i++)
        l->h[i * most + i] = l->theta[i];
    l->used = keep;
}

/* Grows the basis and restarts until the residuals are small. */
static int
grow_until_converged(struct lanczos *l, double tol, int *cycles)
{
    for (; *cycles < CYCLES; ++*cycles) {
        while (l->used + BLOCK <= l->most)
            grow_basis(l);
        solve_ritz(l, l->s);
        if (largest_residual(l) <= tol * l->norm)
            return 1;
        restart_from_ritz(l, l->keep);
    }
    return 0;
}

/* One start finds at most BLOCK vectors of an eigenvalue of higher
 * multiplicity. So another start, orthogonal to all vectors found, searches for
 * an eigenvalue larger than the least of them. */
static int
missed_eigenvalue(struct lanczos *l, double tol, float *value)
{
    memcpy(value, l->theta, l->k * sizeof *value);
    restart_from_ritz(l, l->k);
    start_block(l);
    for (int i = 0; i < CHECK; i++)
        grow_basis(l);
    solve_ritz(l, NULL);
    for (size_t i = 0; i < l->k; i++)
        if (l->theta[i] - value[i] > tol * l->norm)
            return 1;
    return 0;
}

static int
run_lanczos(struct lanczos *l, double tol, float *value, float *vector)
{
    const size_t most = l->most, n = l->n;
    int cycles = 0, good;

    l->basis = mem_unset((most + BLOCK) * n, sizeof *l->basis);
    l->h = mem_array(most * most, sizeof *l->h);
    l->part = mem_array((most + BLOCK) * BLOCK, sizeof *l->part);
    l->small = mem_array(most * most, sizeof *l->small);
    l->theta = mem_array(l->keep, sizeof *l->theta);
    l->s = mem_array(l->keep * most, sizeof *l->s);
    l->ritz = mem_unset(l->keep * n, sizeof *l->ritz);
    start_block(l);
    do
        good = grow_until_converged(l, tol, &cycles);
    while (good && missed_eigenvalue(l, tol, value));
    if (good) // missed_eigenvalue() did not move them
        memcpy(vector, l->basis, l->k * l->n * sizeof *vector);
    mem_free(l->basis, l->h, l->part, l->small, l->theta, l->s, l->ritz);
    return good;
}

void
num_eigen(size_t n, size_t k, const float *a, double tol, struct rng *rng,
          float *value, float *vector)
{
    const size_t keep = k + SPARE, more = k > SPARE ? 2 * k - SPARE : SPARE;
    const size_t most = keep + (more + BLOCK - 1) / BLOCK * BLOCK;
    struct lanczos l = {.n = n, .k = k, .keep = keep, .most = most};
    float *copy;

    REQUIRE(k >= 1 && k <= n && tol > 0);
    l.a = a;
    l.rng = rng;
    if (2 * most < n && run_lanczos(&l, tol, value, vector))
        return;
    copy = mem_unset(n * n, sizeof *copy);
    memcpy(copy, a, n * n * sizeof *copy);
    solve_dense(n, k, copy, value, vector);
    free(copy);
}
