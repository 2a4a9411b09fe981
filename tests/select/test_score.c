#include <stdlib.h>

#include "num/exp.h"
#include "num/vec.h"
#include "select/score.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* Rows of numbers between -.5 and .5, as the reference vectors are made. */
static void
lcg(size_t count, uint64_t s, double *x)
{
    for (size_t i = 0; i < count; i++) {
        s = (1103515245 * s + 12345) % 2147483648;
        x[i] = (double)s / 2147483648 - 0.5;
    }
}

static void
unit(size_t n, size_t d, double *x)
{
    for (size_t i = 0; i < n; i++) {
        double sum = 0;

        for (size_t k = 0; k < d; k++)
            sum += x[i * d + k] * x[i * d + k];
        for (size_t k = 0; k < d; k++)
            x[i * d + k] /= sqrt(sum);
    }
}

static void
single(size_t count, const double *x, float *y)
{
    for (size_t i = 0; i < count; i++)
        y[i] = (float)x[i];
}

/* Random unit rows; v near u where `apart` is small. */
static struct select_features
features(size_t n, size_t d, double apart, float **memory)
{
    float *u = mem_array(2 * n * d, sizeof *u), *v = u + n * d;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n * d; i++) {
        u[i] = (float)rng_normal(&rng);
        v[i] = u[i] + (float)(apart * rng_normal(&rng));
    }
    num_unit_rows(2 * n, d, u, u, NULL);
    *memory = u;
    return (struct select_features){.d = d, .u = u, .v = v};
}

static double
z_of(const struct select_features *f, double tau, size_t i, size_t j)
{
    return num_dot(f->d, f->u + i * f->d, f->v + j * f->d) / tau;
}

/* log(1 + c e^x) */
static double
s_of(double c, double x)
{
    const double y = x + log(c);

    return fmax(y, 0) + log1p(exp(-fabs(y)));
}

/* w, naively. */
static double
w_of(const struct select_features *f, double tau, size_t batch, size_t k,
     size_t l)
{
    const double c = (double)batch - 1;
    const double kl = z_of(f, tau, k, l), lk = z_of(f, tau, l, k);
    const double kk = z_of(f, tau, k, k), ll = z_of(f, tau, l, l);

    return s_of(c, kl - kk) + s_of(c, lk - kk) + s_of(c, lk - ll) +
           s_of(c, kl - ll);
}

/* One direction of the loss, naively; across: of v against u. */
static double
loss_of(const struct select_features *f, double tau, size_t b,
        const int64_t *ids, int across)
{
    double loss = 0;

    for (size_t i = 0; i < b; i++) {
        const size_t me = (size_t)ids[i];
        const double own = z_of(f, tau, me, me);
        double sum = 0;

        for (size_t j = 0; j < b; j++) {
            const size_t other = (size_t)ids[j];

            sum += exp(
                (across ? z_of(f, tau, other, me) : z_of(f, tau, me, other)) -
                own);
        }
        loss += log(sum) / (double)b;
    }
    return loss;
}

static void
functions_agree_with_libm(void)
{
    double off_exp = 0, off_log = 0;

    for (double x = -87; x <= 88; x += 0.0037) {
        const double want = exp((float)x);

        off_exp = fmax(off_exp, fabs(num_exp((float)x) - want) / want);
    }
    for (double x = 1e-20; x < 1e38; x *= 1.0007) {
        const double want = log1p((float)x);

        off_log = fmax(off_log, fabs(num_log1p((float)x) - want) / want);
    }
    T(off_exp < 2e-7, "exp: off by %.2g of its value", off_exp);
    T(off_log < 3e-7, "log1p: off by %.2g of its value", off_log);
    T(num_exp(0) == 1 && num_log1p(0) == 0, "exp 0, log 1");
    T(num_exp(-1000) < 3e-38 && num_exp(1000) > 1e38, "far out");
}

/* Numbers of a reference implementation. */
static void
document(void)
{
    double u[32], v[32], more[32], z1[20], z2[20], other[20];
    float uf[32], vf[32], w[64], work[64];
    const int64_t ids[] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct select_features f = {.d = 4, .u = uf, .v = vf};

    lcg(32, 1, u);
    unit(8, 4, u);
    lcg(32, 2, more);
    unit(8, 4, more);
    for (size_t i = 0; i < 32; i++)
        v[i] = 0.7 * u[i] + 0.5 * more[i];
    unit(8, 4, v);
    single(32, u, uf);
    single(32, v, vf);
    select_affinity(&f, 0.5, 2, 8, ids, w);
    T_NEAR(w[0 * 8 + 1], .499140899, 1e-6, "w(0,1)");
    T_NEAR(w[0 * 8 + 2], 2.978103761, 1e-6, "w(0,2)");
    T_NEAR(w[5 * 8 + 3], 1.248167061, 1e-6, "w(3,5)");

    lcg(20, 11, z1);
    lcg(20, 22, other);
    for (size_t i = 0; i < 20; i++)
        z2[i] = 0.6 * z1[i] + 0.4 * other[i];
    unit(4, 5, z1);
    unit(4, 5, z2);
    single(20, z1, uf);
    single(20, z2, vf);
    f.d = 5;
    T_NEAR(select_batch_loss(&f, 0.5, 4, ids, work), 1.529527959, 1e-6,
           "batch loss");
}

static void
affinity_agrees_with_naive(size_t n, size_t batch, double tau, double apart)
{
    float *memory, *w = mem_array(n * n, sizeof *w);
    const struct select_features f = features(n, 12, apart, &memory);
    int64_t *ids = mem_array(n, sizeof *ids);
    double off = 0, largest = 0;
    int uneven = 0;

    for (size_t i = 0; i < n; i++)
        ids[i] = (int64_t)(n - 1 - i);
    select_affinity(&f, tau, batch, n, ids, w);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double want =
                i == j ? 0 : w_of(&f, tau, batch, n - 1 - i, n - 1 - j);

            off = fmax(off, fabs(w[i * n + j] - want));
            largest = fmax(largest, want);
            uneven += !(w[i * n + j] == w[j * n + i]);
        }
    T(off <= 1e-6 * largest && !uneven,
      "n = %zu, b = %zu, tau = %g: w off by %.2g of %.3g, symmetric", n, batch,
      tau, off, largest);
    free(ids);
    free(memory);
    free(w);
}

static void
loss_agrees_with_naive(size_t b, double tau)
{
    float *memory, *work = mem_array(select_batch_work(b, 12), sizeof *work);
    const struct select_features f = features(b + 3, 12, 0.5, &memory);
    int64_t *ids = mem_array(b, sizeof *ids);
    double want, weight = 0;

    for (size_t i = 0; i < b; i++)
        ids[i] = (int64_t)((i * 5 + 2) % (b + 3));
    want = loss_of(&f, tau, b, ids, 0) + loss_of(&f, tau, b, ids, 1);
    T_NEAR(select_batch_loss(&f, tau, b, ids, work), want, 2e-6,
           "loss of %zu, tau = %g", b, tau);
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < i; j++)
            weight += w_of(&f, tau, 7, (size_t)ids[i], (size_t)ids[j]);
    T_NEAR(select_batch_weight(&f, tau, 7, b, ids, work), weight, 2e-6,
           "weight of %zu, tau = %g", b, tau);
    if (b > 1)
        T(want >= (1 - 1e-5) * select_batch_weight(&f, tau, b, b, ids, work) /
                      (double)(b * (b - 1)),
          "the weight bounds the loss from below");
    free(ids);
    free(work);
    free(memory);
}

/* Equal rows: every softmax is uniform. */
static void
identical_rows(void)
{
    float u[4 * 2] = {1, 0, 1, 0, 1, 0, 1, 0}, work[32], w[16];
    const struct select_features f = {.d = 2, .u = u, .v = u};
    const int64_t ids[] = {0, 1, 2, 3};

    T_NEAR(select_batch_loss(&f, 0.1, 4, ids, work), 2 * log(4), 1e-6,
           "loss of equal rows is 2 log b");
    select_affinity(&f, 0.1, 4, 4, ids, w);
    T_NEAR(w[1], 4 * log(4), 1e-6, "their weight is 4 log b");
    T(w[0] == 0, "zero diagonal");
    T_NEAR(select_batch_loss(&f, 0.1, 1, ids, work), 0, 1e-7,
           "a sample alone has no loss");
}

static void
score_sums_up(void)
{
    enum { N = 23 };
    float *memory, *work;
    const struct select_features f = features(N, 12, 0.5, &memory);
    struct select_layout layout;
    struct select_score score;
    int64_t ids[N];
    struct err err;
    double mean = 0, low = INFINITY, high = 0, weight = 0;

    T(!select_layout_make(N, 5, SELECT_KEEP, &layout, &err), "layout");
    work = mem_array(select_batch_work(5, 12), sizeof *work);
    for (int i = 0; i < N; i++)
        ids[i] = i * 7 % N;
    for (size_t step = 1; step < layout.steps; step++) {
        const size_t b = select_layout_count(&layout, step);
        const int64_t *mine = ids + select_layout_start(&layout, step);
        const double loss = select_batch_loss(&f, 0.3, b, mine, work);

        mean += loss / (double)(layout.steps - 1);
        low = fmin(low, loss);
        high = fmax(high, loss);
        weight += select_batch_weight(&f, 0.3, 5, b, mine, work);
    }
    score = select_score(&f, 0.3, &layout, 1, layout.steps, ids);
    T_NEAR(score.mean, mean, 1e-12, "mean");
    T(score.least == low && score.largest == high, "least, largest");
    T_NEAR(score.weight, weight, 1e-12, "weight");
    free(work);
    free(memory);
}

int
main(void)
{
    functions_agree_with_libm();
    document();
    affinity_agrees_with_naive(33, 8, 1, 0.5);
    affinity_agrees_with_naive(70, 32, 0.1, 0.5);
    affinity_agrees_with_naive(64, 2, 0.5, 1);
    affinity_agrees_with_naive(40, 32, 0.005, 2); // e^w would be e^1600
    affinity_agrees_with_naive(2, 32, 0.5, 1);
    loss_agrees_with_naive(1, 0.5);
    loss_agrees_with_naive(2, 0.1);
    loss_agrees_with_naive(32, 0.1);
    loss_agrees_with_naive(77, 0.005);
    identical_rows();
    score_sums_up();
    return t_done();
}
