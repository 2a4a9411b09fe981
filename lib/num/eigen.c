#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "num/eigen.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

/*
 * BLOCK vectors are multiplied at a time; a restart keeps SPARE more than are
 * wanted, which speeds up the last of them.  After CYCLES restarts LAPACK takes
 * over.  CHECK blocks show whether an eigenvector was missed.
 */
enum { BLOCK = 8, SPARE = 16, CYCLES = 60, CHECK = 4 };

/* OpenBLAS has LAPACK inside, but only under its Fortran names. */
void ssyevd_(const char *job, const char *half, const int *n, float *a,
             const int *lda, float *w, float *work, const int *lwork,
             int *iwork, const int *liwork, int *info, size_t, size_t);

/* The k largest eigenpairs of a [n,n], which is destroyed. */
static void
solve_dense(size_t n, size_t k, float *a, float *value, float *vector)
{
    const size_t most = 1 + 6 * n + 2 * n * n, whole = 3 + 5 * n;
    float *w = mem_array(n, sizeof *w), *work = mem_array(most, sizeof *work);
    int *iwork = mem_array(whole, sizeof *iwork), info;

    REQUIRE(n <= 30000); // LAPACK counts in int
    openblas_set_num_threads(omp_get_max_threads());
    ssyevd_("V", "L", &(int){(int)n}, a, &(int){(int)n}, w, work,
            &(int){(int)most}, iwork, &(int){(int)whole}, &info, 1, 1);
    REQUIRE(!info);
    for (size_t i = 0; i < k; i++) {
        value[i] = w[n - 1 - i];
        memcpy(vector + i * n, a + (n - 1 - i) * n, n * sizeof *a);
    }
    free(w);
    free(work);
    free(iwork);
}

/*
 * The iteration keeps  A V = V H + Q R:  V the first `used` rows of basis, Q
 * the BLOCK rows behind them.  Ritz pairs are the eigenpairs of H.
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

static void
init_lanczos(struct lanczos *l)
{
    const size_t most = l->most, n = l->n;

    l->basis = mem_unset((most + BLOCK) * n, sizeof *l->basis);
    l->h = mem_array(most * most, sizeof *l->h);
    l->part = mem_array((most + BLOCK) * BLOCK, sizeof *l->part);
    l->small = mem_array(most * most, sizeof *l->small);
    l->theta = mem_array(l->keep, sizeof *l->theta);
    l->s = mem_array(l->keep * most, sizeof *l->s);
    l->ritz = mem_unset(l->keep * n, sizeof *l->ritz);
}

static void
release_lanczos(struct lanczos *l)
{
    free(l->basis);
    free(l->h);
    free(l->part);
    free(l->small);
    free(l->theta);
    free(l->s);
    free(l->ritz);
}

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

/*
 * Makes row `at` of the basis a unit vector orthogonal to those before it; r
 * gets what it had of each row of its own block.  As long as much of it is
 * taken away, rounding errors are not, and it is done again.  When nothing is
 * left, any other vector serves, and r is zero.
 */
static void
orthonormalise_row(struct lanczos *l, size_t at, float r[BLOCK])
{
    const size_t n = l->n;
    float *x = l->basis + at * n;
    const double first = vector_length(n, x);
    double before, after = first;
    int lost = 0;

    memset(r, 0, BLOCK * sizeof *r);
    do {
        if (after <= 1e-6 * first && !lost) {
            lost = 1;
            memset(r, 0, BLOCK * sizeof *r);
            fill_with_noise(l, x);
            after = vector_length(n, x);
        }
        before = after;
        if (at) {
            num_gemm_nt(at, 1, n, 1, l->basis, x, 0, l->part);
            num_gemm_tn(1, n, at, -1, l->part, l->basis, 1, x);
        }
        for (size_t j = l->used; j < at && !lost; j++)
            r[j - l->used] += l->part[j];
        after = vector_length(n, x);
    } while (after < 0.5 * before);
    num_scale(n, (float)(1 / after), x);
    if (!lost)
        r[at - l->used] = (float)after;
}

/* A block that owes nothing to what came before. */
static void
start_block(struct lanczos *l)
{
    for (size_t j = 0; j < BLOCK; j++) {
        fill_with_noise(l, l->basis + (l->used + j) * l->n);
        orthonormalise_row(l, l->used + j, l->r[j]);
    }
}

/* Q joins V; what is new in A Q is the next Q. */
static void
grow_basis(struct lanczos *l)
{
    const size_t n = l->n, from = l->used, to = from + BLOCK;
    float *q = l->basis + from * n, *next = q + BLOCK * n;

    num_gemm_nn(BLOCK, n, n, 1, q, l->a, 0, next);
    num_gemm_nt(to, BLOCK, n, 1, l->basis, next, 0, l->part);
    num_gemm_tn(BLOCK, n, to, -1, l->part, l->basis, 1, next);
    for (size_t i = 0; i < to; i++)
        for (size_t j = 0; j < BLOCK; j++) {
            l->h[i * l->most + from + j] = l->part[i * BLOCK + j];
            l->h[(from + j) * l->most + i] = l->part[i * BLOCK + j];
        }
    l->used = to;
    for (size_t j = 0; j < BLOCK; j++)
        orthonormalise_row(l, to + j, l->r[j]);
}

/* Ritz values and vectors. */
static void
solve_ritz(struct lanczos *l)
{
    const size_t used = l->used;

    for (size_t i = 0; i < used; i++) {
        memcpy(l->small + i * used, l->h + i * l->most,
               used * sizeof *l->small);
        l->norm = fmax(l->norm, vector_length(used, l->small + i * used));
    }
    solve_dense(used, l->keep, l->small, l->theta, l->s);
}

/* The largest residual of the k wanted: |A x - theta x| = |R' s|, s being the
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

/* V becomes its first `keep` Ritz vectors, Q stays. */
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

/* Grow to the full size again and again until the residuals are small. */
static int
grow_until_converged(struct lanczos *l, double tol, int *cycles)
{
    for (; *cycles < CYCLES; ++*cycles) {
        while (l->used + BLOCK <= l->most)
            grow_basis(l);
        solve_ritz(l);
        if (largest_residual(l) <= tol * l->norm)
            return 1;
        restart_from_ritz(l, l->keep);
    }
    return 0;
}

/*
 * An eigenvalue that is there more than BLOCK times shows only BLOCK of its
 * vectors to one start.  So another start, orthogonal to all that was found,
 * has a look for what is larger than the least of them.
 */
static int
missed_eigenvalue(struct lanczos *l, double tol, float *value)
{
    memcpy(value, l->theta, l->k * sizeof *value);
    restart_from_ritz(l, l->k);
    start_block(l);
    for (int i = 0; i < CHECK; i++)
        grow_basis(l);
    solve_ritz(l);
    for (size_t i = 0; i < l->k; i++)
        if (l->theta[i] - value[i] > tol * l->norm)
            return 1;
    return 0;
}

static int
run_lanczos(struct lanczos *l, double tol, float *value, float *vector)
{
    int cycles = 0, good;

    init_lanczos(l);
    start_block(l);
    do
        good = grow_until_converged(l, tol, &cycles);
    while (good && missed_eigenvalue(l, tol, value));
    if (good) // the check has left them where they were
        memcpy(vector, l->basis, l->k * l->n * sizeof *vector);
    release_lanczos(l);
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
