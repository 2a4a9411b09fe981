#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/pca.h"
#include "num/eigen.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

/* Computes eigenvectors of C, of any length, from the smaller of X X' / n and
 * X' X / n: if u is an eigenvector of the first, X' u is one of the second. */
static void
solve_eigenvectors(size_t n, size_t d, const float *x, size_t k, float *e)
{
    const size_t m = n < d ? n : d;
    float *c = mem_array(m * m, sizeof *c);
    float *u = n < d ? mem_array(k * n, sizeof *u) : NULL;
    float *value = mem_array(k, sizeof *value);
    struct rng rng;

    rng_init(&rng, 0, RNG_EVAL, 0, 0, 0);
    if (n < d)
        num_gemm_nt(n, n, d, 1 / (float)n, x, x, 0, c);
    else
        num_gemm_tn(d, d, n, 1 / (float)n, x, x, 0, c);
    num_eigen(m, k, c, 1e-6, &rng, value, n < d ? u : e);
    if (n < d)
        num_gemm_nn(k, d, n, 1, u, x, 0, e);
    mem_free(value, u, c);
}

/* Scales a direction to length s, with a positive largest element; 0 stays
 * 0. */
static void
scale_direction(size_t d, double s, float *e)
{
    const double length = sqrt(num_dot(d, e, e));
    float largest = 0;

    for (size_t j = 0; j < d; j++)
        if (fabsf(e[j]) > fabsf(largest))
            largest = e[j];
    if (length > 0)
        num_scale(d, (float)(largest < 0 ? -s / length : s / length), e);
}

struct eval_pca
eval_pca(size_t n, size_t d, const float *x, size_t k, float *basis)
{
    float *centred = mem_array(n * d, sizeof *centred), *mean = basis + k * d;
    double *variance = mem_array(k, sizeof *variance);
    double *sum = mem_array(d, sizeof *sum);
    double all, explained = 0, deviations = 0;
    struct eval_pca pca = {0};
    float *y = mem_array(n * k, sizeof *y);

    REQUIRE(n >= 2 && k >= 1 && k <= n && k <= d);
    for (size_t i = 0; i < n * d; i++)
        sum[i % d] += x[i];
    for (size_t j = 0; j < d; j++)
        mean[j] = (float)(sum[j] / (double)n);
    for (size_t i = 0; i < n * d; i++)
        centred[i] = x[i] - mean[i % d];
    all = num_dot(n * d, centred, centred) / (double)n;
    solve_eigenvectors(n, d, centred, k, basis);
    for (size_t i = 0; i < k; i++)
        scale_direction(d, 1, basis + i * d);
    // computes the variances of the rows along directions of unit length; more
    // precise than eigenvalues of a product in single precision
    num_gemm_nt(n, k, d, 1, centred, basis, 0, y);
    for (size_t i = 0; i < n * k; i++)
        variance[i % k] += (double)y[i] * y[i] / (double)n;
    free(y);
    for (size_t i = 0; i < k; i++) {
        explained += variance[i];
        deviations += sqrt(variance[i]);
    }
    if (all > 0 && deviations > 0)
        pca = (struct eval_pca){(double)k / deviations, explained / all,
                                sqrt(variance[0]), sqrt(variance[k - 1])};
    for (size_t i = 0; i < k; i++)
        scale_direction(d, pca.scale, basis + i * d);
    mem_free(sum, variance, centred);
    return pca;
}

/* One side, in its principal directions. */
struct whitened {
    size_t n, d, p;
    float *basis;  /* [p+1,d] of length 1, then the mean */
    float *y;      /* [n,p] coordinates; whiten_coordinates() scales them */
    double *scale; /* [p] 1 / sqrt(variance + ridge); 0 without variance */
};

static struct whitened
project_rows(size_t n, size_t d, const float *x, size_t p)
{
    struct whitened s = {n,
                         d,
                         p,
                         mem_array((p + 1) * d, sizeof *s.basis),
                         mem_array(n * p, sizeof *s.y),
                         mem_array(p, sizeof *s.scale)};
    const struct eval_pca pca = eval_pca(n, d, x, p, s.basis);
    const struct eval_map map = {d, p, s.basis};

    if (pca.scale > 0)
        num_scale(p * d, (float)(1 / pca.scale), s.basis);
    eval_map_apply(&map, n, x, s.y);
    return s;
}

static void
side_release(struct whitened *s)
{
    mem_free(s->basis, s->y, s->scale);
}

/* Divides each coordinate by its deviation, with the ridge. */
static void
whiten_coordinates(struct whitened *s, double ridge)
{
    double trace = 0;

    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->p; j++)
            s->scale[j] +=
                (double)s->y[i * s->p + j] * s->y[i * s->p + j] / (double)s->n;
    for (size_t j = 0; j < s->p; j++)
        trace += s->scale[j];
    for (size_t j = 0; j < s->p; j++) {
        const double variance = s->scale[j] + ridge * trace / (double)s->p;

        // rounding errors of the largest are no variance
        s->scale[j] = variance > 1e-10 * trace ? 1 / sqrt(variance) : 0;
    }
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->p; j++)
            s->y[i * s->p + j] *= (float)s->scale[j];
}

/* Returns the map to w' diag(scale) basis, w [k,p]. */
static struct eval_map
map_of(const struct whitened *s, size_t k, const float *w)
{
    struct eval_map map = {s->d, k,
                           mem_array((k + 1) * s->d, sizeof *map.basis)};
    float *scaled = mem_array(k * s->p, sizeof *scaled);

    for (size_t i = 0; i < k * s->p; i++)
        scaled[i] = w[i] * (float)s->scale[i % s->p];
    num_gemm_nn(k, s->d, s->p, 1, scaled, s->basis, 0, map.basis);
    memcpy(map.basis + k * s->d, s->basis + s->p * s->d,
           s->d * sizeof *map.basis);
    free(scaled);
    return map;
}

void
eval_cca(size_t n, size_t dx, const float *x, size_t dy, const float *y,
         const struct eval_cca_settings *settings, struct eval_map *a,
         struct eval_map *b, float *correlation)
{
    const size_t p = settings->p, q = settings->q, k = settings->k;
    struct whitened left = project_rows(n, dx, x, p),
                    right = project_rows(n, dy, y, q);
    float *m = mem_array(p * q, sizeof *m), *u = mem_array(k * p, sizeof *u);
    float *v = mem_array(k * q, sizeof *v);
    float *square = mem_array(p * p, sizeof *square);
    struct rng rng;

    REQUIRE(k >= 1 && k <= p && k <= q && settings->ridge >= 0);
    whiten_coordinates(&left, settings->ridge);
    whiten_coordinates(&right, settings->ridge);
    num_gemm_tn(p, q, n, 1 / (float)n, left.y, right.y, 0, m);
    // computes the k largest singular values s of m [p,q], s u [k,p] and s v
    // [k,q]: u are eigenvectors of m m', and s v = m' u
    rng_init(&rng, 0, RNG_EVAL, 0, 0, 0);
    num_gemm_nt(p, p, q, 1, m, m, 0, square);
    num_eigen(p, k, square, 1e-6, &rng, correlation, u);
    num_gemm_nn(k, q, p, 1, u, m, 0, v);
    for (size_t i = 0; i < k; i++) {
        correlation[i] = (float)sqrt(num_dot(q, v + i * q, v + i * q));
        num_scale(p, correlation[i], u + i * p);
    }
    free(square);
    *a = map_of(&left, k, u);
    *b = map_of(&right, k, v);
    side_release(&left);
    side_release(&right);
    mem_free(m, u, v);
}

void
eval_map_apply(const struct eval_map *map, size_t n, const float *x, float *out)
{
    float *centred = mem_array(n * map->d, sizeof *centred);
    const float *mean = map->basis + map->k * map->d;

    for (size_t i = 0; i < n * map->d; i++)
        centred[i] = x[i] - mean[i % map->d];
    num_gemm_nt(n, map->k, map->d, 1, centred, map->basis, 0, out);
    free(centred);
}
