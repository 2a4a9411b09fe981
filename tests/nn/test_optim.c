#include <stdlib.h>
#include <string.h>

#include "nn/optim.h"
#include "num/threads.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* A matrix, a running statistic that is in another block, and a bias. */
enum { ROWS = 3, COLUMNS = 11000, WEIGHTS = ROWS * COLUMNS, BIAS = 7 };
enum { COUNT = WEIGHTS + BIAS };

static const struct nn_tensor tensors[] = {
    {"w", 2, {ROWS, COLUMNS}, 0, WEIGHTS, 0, 1},
    {"running_mean", 1, {BIAS}, 0, BIAS, 1, 0},
    {"b", 1, {BIAS}, WEIGHTS, BIAS, 0, 0},
};

/* The equations of the header, in double, one element or tensor at a time. */
struct naive {
    double p[COUNT], m[COUNT], v[COUNT];
    int t;
};

static void
naive_sgd(struct naive *k, const struct nn_optim_spec *s, double lr,
          const float *g, size_t i)
{
    double d = g[i] + s->weight_decay * k->p[i];

    k->m[i] = s->momentum * k->m[i] + d;
    k->p[i] -= lr * (s->nesterov ? d + s->momentum * k->m[i] : k->m[i]);
}

static void
naive_adam(struct naive *k, const struct nn_optim_spec *s, double lr,
           const float *g, size_t i)
{
    const double b1 = s->beta1 > 0 ? s->beta1 : 0.9;
    const double b2 = s->beta2 > 0 ? s->beta2 : 0.999;
    const double eps = s->epsilon > 0 ? s->epsilon : 1e-8;
    double d = g[i] + s->weight_decay * k->p[i];

    if (!strcmp(s->name, "adamw")) {
        d = g[i];
        k->p[i] -= i < WEIGHTS ? lr * s->weight_decay * k->p[i] : 0;
    }
    k->m[i] = b1 * k->m[i] + (1 - b1) * d;
    k->v[i] = b2 * k->v[i] + (1 - b2) * d * d;
    k->p[i] -= lr / (1 - pow(b1, k->t)) * k->m[i] /
               (sqrt(k->v[i] / (1 - pow(b2, k->t))) + eps);
}

static double
norm(size_t from, size_t to, const double *x)
{
    double sum = 0;

    for (size_t i = from; i < to; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

static void
naive_lars(struct naive *k, const struct nn_optim_spec *s, double lr,
           const float *g, size_t from, size_t to)
{
    static double d[COUNT], plain[COUNT];
    const double wd = s->weight_decay, mu = s->momentum;
    int b = !strcmp(s->name, "lars-b"), matrix = from == 0;
    double q = 1, of_p;

    for (size_t i = from; i < to; i++) {
        plain[i] = g[i];
        d[i] = g[i] + (b || matrix ? wd * k->p[i] : 0);
    }
    of_p = norm(from, to, k->p);
    if (b && of_p * norm(from, to, plain) > 0)
        q = 0.001 * of_p / (norm(from, to, plain) + wd * of_p);
    if (!b && matrix && of_p * norm(from, to, d) > 0)
        q = 0.001 * of_p / norm(from, to, d);
    for (size_t i = from; i < to; i++) {
        if (b) {
            k->m[i] = k->t == 1 ? (1 + mu) * d[i] : mu * k->m[i] + d[i];
            k->p[i] -= q * lr * k->m[i];
        } else {
            k->m[i] = mu * k->m[i] + q * d[i];
            k->p[i] -= lr * k->m[i];
        }
    }
}

static void
naive_step(struct naive *k, const struct nn_optim_spec *s, double lr,
           const float *g)
{
    k->t++;
    if (!strncmp(s->name, "lars", 4)) {
        naive_lars(k, s, lr, g, 0, WEIGHTS);
        naive_lars(k, s, lr, g, WEIGHTS, COUNT);
        return;
    }
    for (size_t i = 0; i < COUNT; i++)
        if (!strcmp(s->name, "sgd"))
            naive_sgd(k, s, lr, g, i);
        else
            naive_adam(k, s, lr, g, i);
}

static void
noise(struct rng *rng, float scale, float *x)
{
    for (size_t i = 0; i < COUNT; i++)
        x[i] = scale * (float)rng_normal(rng);
}

static void
agrees_with_naive(const struct nn_optim_spec *spec)
{
    static struct naive naive;
    static float p[COUNT], g[COUNT];
    struct nn_optim *optim;
    struct rng rng;
    struct err err;
    double off = 0;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    memset(&naive, 0, sizeof naive);
    noise(&rng, 1, p);
    memset(p + WEIGHTS, 0, BIAS * sizeof *p); // biases start from 0
    for (size_t i = 0; i < COUNT; i++)
        naive.p[i] = p[i];
    optim = nn_optim_new(spec, tensors, 3, COUNT, &err);
    for (int t = 1; t <= 5; t++) {
        noise(&rng, 0.1f, g);
        nn_optim_step(optim, 0.05 * t, p, g);
        naive_step(&naive, spec, 0.05 * t, g);
    }
    for (size_t i = 0; i < COUNT; i++)
        off = fmax(off, fabs(p[i] - naive.p[i]));
    T(off < 2e-6, "%s, momentum %g%s, decay %g: error %.1e", spec->name,
      spec->momentum, spec->nesterov ? " Nesterov" : "", spec->weight_decay,
      off);
    T(*nn_optim_moments(optim).steps == 5, "counts its steps");
    nn_optim_free(optim);
}

/* Muon's O(X), by A = X X' in double, whatever the longer side is. */
static void
naive_orthogonalise(size_t rows, size_t cols, double *x)
{
    static double y[64], a[64], square[64];
    const double length = norm(0, rows * cols, x);

    for (size_t i = 0; i < rows * cols; i++)
        x[i] /= length + 1e-7;
    for (int step = 0; step < 5; step++) {
        for (size_t i = 0; i < rows * rows; i++) {
            a[i] = 0;
            for (size_t k = 0; k < cols; k++)
                a[i] += x[i / rows * cols + k] * x[i % rows * cols + k];
        }
        for (size_t i = 0; i < rows * rows; i++) {
            square[i] = 0;
            for (size_t k = 0; k < rows; k++)
                square[i] += a[i / rows * rows + k] * a[k * rows + i % rows];
        }
        memcpy(y, x, rows * cols * sizeof *x);
        for (size_t i = 0; i < rows * cols; i++) {
            x[i] = 3.4445 * y[i];
            for (size_t k = 0; k < rows; k++)
                x[i] += (-4.775 * a[i / cols * rows + k] +
                         2.0315 * square[i / cols * rows + k]) *
                        y[k * cols + i % cols];
        }
    }
}

/* Matrices with longer rows, longer columns, and a convolution; a bias and a
 * scalar. */
static void
muon_follows_its_equation(void)
{
    static const struct nn_tensor all[] = {
        {"wide", 2, {3, 8}, 0, 24, 0, 1},
        {"tall", 2, {8, 3}, 24, 24, 0, 1},
        {"conv", 4, {4, 2, 1, 3}, 48, 24, 0, 1},
        {"bias", 1, {4}, 72, 4, 0, 0},
        {"scale", 0, {0}, 76, 1, 0, 0},
    };
    const struct nn_optim_spec muon = {"muon", 0.9, 0, 0.1, 0, 0, 0, 0},
                               adamw = {"adamw", 0, 0, 0.1, 0, 0, 0, 0};
    static float p[77], q[77], g[77];
    static double want[72], m[72], x[72];
    struct err err;
    struct nn_optim *optim = nn_optim_new(&muon, all, 5, 77, &err);
    struct nn_optim *other = nn_optim_new(&adamw, all, 5, 77, &err);
    struct rng rng;
    double off = 0, within = 0;

    rng_init(&rng, 7, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < 77; i++)
        p[i] = q[i] = (float)rng_normal(&rng);
    for (size_t i = 0; i < 72; i++)
        want[i] = p[i];
    for (int t = 0; t < 3; t++) {
        for (size_t i = 0; i < 77; i++)
            g[i] = (float)rng_normal(&rng);
        nn_optim_step(optim, 0.1, p, g);
        nn_optim_step(other, 0.1, q, g);
        for (size_t k = 0; k < 3; k++) {
            const size_t rows = all[k].shape[0], at = all[k].offset;

            for (size_t i = at; i < at + 24; i++) {
                m[i] = 0.9 * m[i] + g[i];
                x[i] = g[i] + 0.9 * m[i];
            }
            naive_orthogonalise(rows, 24 / rows, x + at);
            for (size_t i = at; i < at + 24; i++)
                want[i] -=
                    0.1 * (0.2 * sqrt(k < 2 ? 8 : 6) * x[i] + 0.1 * want[i]);
            within = fmax(within, fabs(norm(at, at + 24, x) /
                                           sqrt(rows < 5 ? (double)rows : 3) -
                                       1));
        }
    }
    for (size_t i = 0; i < 72; i++)
        off = fmax(off, fabs(p[i] - want[i]));
    T(off < 2e-6, "muon: error %.1e", off);
    T(within < 0.3, "its steps are nearly orthogonal: %.2f", within);
    T(!memcmp(p + 72, q + 72, 5 * sizeof *p),
      "it steps a bias and a scalar as adamw does");
    nn_optim_free(optim);
    nn_optim_free(other);
}

/* Two steps on a fixed matrix, worked out in double. */
static void
lars_takes_known_steps(const char *name, const double want[2][4])
{
    static const struct nn_tensor matrix = {"p", 2, {2, 2}, 0, 4, 0, 1};
    const struct nn_optim_spec spec = {name, 0.9, 0, 1e-4, 0, 0, 0, 0};
    const float g[4] = {0.1f, -0.2f, 0.3f, 0.05f};
    float p[4] = {1, 2, 3, 4};
    struct err err;
    struct nn_optim *optim = nn_optim_new(&spec, &matrix, 1, 4, &err);

    for (int t = 0; t < 2; t++) {
        nn_optim_step(optim, 0.8, p, g);
        for (int i = 0; i < 4; i++)
            T_NEAR(p[i], want[t][i], 5e-7, "%s, step %d, element %d", name,
                   t + 1, i);
    }
    nn_optim_free(optim);
}

/* A matrix without decay is treated like a bias. */
static void
decay_follows_the_table(const char *name)
{
    const struct nn_tensor matrix = {"p", 2, {2, 2}, 0, 4, 0, 0};
    const struct nn_tensor vector = {"p", 1, {4}, 0, 4, 0, 0};
    const struct nn_tensor decaying = {"p", 2, {2, 2}, 0, 4, 0, 1};
    const struct nn_tensor *const all[] = {&matrix, &vector, &decaying};
    const struct nn_optim_spec spec = {name, 0.9, 0, 0.1, 0, 0, 0, 0};
    const float g[4] = {0.1f, -0.2f, 0.3f, 0.05f};
    float p[3][4];
    struct err err;

    for (int k = 0; k < 3; k++) {
        struct nn_optim *optim = nn_optim_new(&spec, all[k], 1, 4, &err);

        for (int i = 0; i < 4; i++)
            p[k][i] = 1;
        nn_optim_step(optim, 0.1, p[k], g);
        nn_optim_free(optim);
    }
    T(!memcmp(p[0], p[1], sizeof p[0]) && memcmp(p[0], p[2], sizeof p[0]),
      "%s: a matrix without decay takes the step of a vector", name);
}

static void
independent_of_threads(const char *name)
{
    static float p[2][COUNT], g[COUNT];
    const struct nn_optim_spec spec = {name, 0.9, 0, 1e-4, 0, 0, 0, 0};
    struct err err;

    for (int k = 0; k < 2; k++) {
        struct nn_optim *optim = nn_optim_new(&spec, tensors, 3, COUNT, &err);
        struct rng rng;

        num_threads(k ? 3 : 1);
        rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
        noise(&rng, 1, p[k]);
        for (int t = 0; t < 3; t++) {
            noise(&rng, 1, g);
            nn_optim_step(optim, 0.1, p[k], g);
        }
        nn_optim_free(optim);
    }
    num_threads(1);
    T(!memcmp(p[0], p[1], sizeof p[0]), "%s: one thread or three, same bits",
      name);
}

/* Moments copied into another optimiser are its whole state. */
static void
moments_are_the_whole_state(const char *name, long accumulate)
{
    static float p[COUNT], q[COUNT], g[COUNT];
    const struct nn_optim_spec spec = {name, 0.9, 0, 1e-2, accumulate, 0, 0, 0};
    struct err err;
    struct nn_optim *a = nn_optim_new(&spec, tensors, 3, COUNT, &err);
    struct nn_optim *b = nn_optim_new(&spec, tensors, 3, COUNT, &err);
    struct nn_moments from = nn_optim_moments(a), to = nn_optim_moments(b);
    struct rng rng;

    rng_init(&rng, 3, RNG_TEST, 0, 0, 0);
    noise(&rng, 1, p);
    noise(&rng, 1, g);
    nn_optim_step(a, 0.1, p, g);
    memcpy(q, p, sizeof p);
    for (size_t i = 0; i < from.n; i++)
        memcpy(to.block[i], from.block[i], sizeof p);
    *to.steps = *from.steps;
    if (accumulate)
        *to.pending = *from.pending;
    noise(&rng, 1, g);
    nn_optim_step(a, 0.1, p, g);
    nn_optim_step(b, 0.1, q, g);
    T(!memcmp(p, q, sizeof p), "%s: continues from its moments", name);
    nn_optim_free(a);
    nn_optim_free(b);
}

/* Three gradients, one step by their mean; and again. */
static void
gradients_accumulate(const char *name)
{
    static float p[COUNT], q[COUNT], g[COUNT], mean[COUNT];
    const struct nn_optim_spec one = {name, 0.9, 0, 1e-2, 1, 0, 0, 0};
    const struct nn_optim_spec three = {name, 0.9, 0, 1e-2, 3, 0, 0, 0};
    struct err err;
    struct nn_optim *a = nn_optim_new(&one, tensors, 3, COUNT, &err);
    struct nn_optim *b = nn_optim_new(&three, tensors, 3, COUNT, &err);
    struct rng rng;
    double off = 0;

    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    noise(&rng, 1, p);
    memcpy(q, p, sizeof p);
    for (int k = 0; k < 6; k++) {
        if (k % 3 == 0)
            memset(mean, 0, sizeof mean);
        noise(&rng, 1, g);
        for (size_t i = 0; i < COUNT; i++)
            mean[i] += g[i] / 3;
        T(nn_optim_step(b, 0.1, q, g) == (k % 3 == 2),
          "%s: a step for three gradients", name);
        if (k % 3 == 2)
            nn_optim_step(a, 0.1, p, mean);
        for (size_t i = 0; i < COUNT; i++)
            off = fmax(off, fabs(p[i] - q[i]));
    }
    T(off < 1e-5, "%s: by their mean, error %.1e", name, off);
    T(*nn_optim_moments(b).steps == 2, "%s: two steps", name);
    nn_optim_free(a);
    nn_optim_free(b);
}

static void
norm_of_a_gradient(void)
{
    static float g[COUNT];
    const struct nn_optim_spec spec = {"sgd", 0, 0, 0, 0, 0, 0, 0};
    struct err err;
    struct nn_optim *optim = nn_optim_new(&spec, tensors, 3, COUNT, &err);
    struct rng rng;
    double sum = 0;

    rng_init(&rng, 4, RNG_TEST, 0, 0, 0);
    noise(&rng, 1, g);
    for (size_t i = 0; i < COUNT; i++)
        sum += (double)g[i] * g[i];
    T_NEAR(nn_optim_norm(optim, g), sqrt(sum), 1e-12, "norm of a gradient");
    g[COUNT - 1] = 1e38f;
    T(isfinite(nn_optim_norm(optim, g)), "large numbers do not overflow");
    g[COUNT - 1] = INFINITY;
    T(!isfinite(nn_optim_norm(optim, g)), "infinity shows");
    g[COUNT - 1] = NAN;
    T(!isfinite(nn_optim_norm(optim, g)), "NaN shows");
    nn_optim_free(optim);
}

static void
invalid_values_are_refused(void)
{
    static const struct nn_optim_spec bad[] = {
        {"sgdd", 0.9, 0, 0, 0, 0, 0, 0},   {"sgd", 1, 0, 0, 0, 0, 0, 0},
        {"sgd", -0.1, 0, 0, 0, 0, 0, 0},   {"sgd", NAN, 0, 0, 0, 0, 0, 0},
        {"sgd", 0, 1, 0, 0, 0, 0, 0},      {"adam", 0.9, 1, 0, 0, 0, 0, 0},
        {"sgd", 0.9, 0, -1, 0, 0, 0, 0},   {"sgd", 0.9, 0, NAN, 0, 0, 0, 0},
        {"adam", 0, 0, 0, 0, 1, 0, 0},     {"adamw", 0, 0, 0, 0, -.1, 0, 0},
        {"adam", 0, 0, 0, 0, 0, 1, 0},     {"adam", 0, 0, 0, 0, 0, NAN, 0},
        {"adam", 0, 0, 0, 0, 0, 0, -1e-8},
    };
    struct err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        T(!nn_optim_new(bad + i, tensors, 3, COUNT, &err), "%s", err.msg);
}

int
main(void)
{
    static const struct nn_optim_spec specs[] = {
        {"sgd", 0, 0, 0, 0, 0, 0, 0},
        {"sgd", 0.9, 0, 1e-2, 0, 0, 0, 0},
        {"sgd", 0.9, 1, 1e-2, 0, 0, 0, 0},
        {"adam", 0, 0, 0, 0, 0, 0, 0},
        {"adam", 0, 0, 1e-1, 0, 0, 0, 0},
        {"adamw", 0, 0, 1e-1, 0, 0, 0, 0},
        {"adamw", 0, 0, 1e-1, 0, .8, .98, 1e-6},
        {"adam", 0, 0, 1e-2, 0, .5, .9, .1},
        {"lars-a", 0.9, 0, 0, 0, 0, 0, 0},
        {"lars-a", 0.9, 0, 1e-2, 0, 0, 0, 0},
        {"lars-b", 0.9, 0, 0, 0, 0, 0, 0},
        {"lars-b", 0.9, 0, 1e-2, 0, 0, 0, 0},
    };
    static const double a[2][4] = {{.998839, 2.002318, 2.996516, 3.999415},
                                   {.996633, 2.006721, 2.989898, 3.998305}};
    static const double b[2][4] = {{.997796, 2.0044, 2.993387, 3.99889},
                                   {.994653, 2.010672, 2.983959, 3.997308}};

    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        agrees_with_naive(specs + i);
    muon_follows_its_equation();
    lars_takes_known_steps("lars-a", a);
    lars_takes_known_steps("lars-b", b);
    decay_follows_the_table("adamw");
    decay_follows_the_table("lars-a");
    independent_of_threads("sgd");
    independent_of_threads("adam");
    independent_of_threads("lars-a");
    moments_are_the_whole_state("sgd", 0);
    moments_are_the_whole_state("sgd", 2);
    moments_are_the_whole_state("adamw", 2);
    moments_are_the_whole_state("lars-b", 0);
    moments_are_the_whole_state("muon", 2);
    gradients_accumulate("sgd");
    gradients_accumulate("lars-a");
    norm_of_a_gradient();
    invalid_values_are_refused();
    return t_done();
}
