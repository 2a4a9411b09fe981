#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/optim.h"
#include "num/gemm.h"
#include "util/clones.h"
#include "util/mem.h"

/* Elements of a unit of parallel work: a part of one tensor. */
enum { CHUNK = 16384 };

enum update { SGD, ADAM, ADAMW, LARS_A, LARS_B, MUON };

static const char *const names[] = {"sgd",    "adam",   "adamw",
                                    "lars-a", "lars-b", "muon"};

_Static_assert(sizeof names / sizeof *names == MUON + 1, "one for each");

static const double trust = 0.001;

struct chunk {
    size_t tensor, offset, count;
};

struct nn_optim {
    struct nn_optim_spec spec;
    enum update kind;
    const struct nn_tensor *tensors;
    size_t n, chunks;
    struct chunk *chunk;
    double *ratio;    /* [n] LARS: q of each tensor */
    double *part;     /* [chunks] of a norm */
    float *moment[2]; /* [count]; the second only for Adam */
    float *sum;       /* [count] of gradients, or NULL */
    float *work;      /* Muon: of the largest tensor */
    long steps, pending;
};

/* Returns 1 if a tensor is a matrix of Muon. */
static int
is_matrix(const struct nn_optim *optim, const struct nn_tensor *t)
{
    return optim->kind == MUON && t->decays && !t->statistic;
}

/* One step's constants for one tensor. */
struct rule {
    float lr, momentum, nesterov; /* nesterov: mu, or 0 without */
    float gain;                   /* m = mu m + gain d */
    float decay;                  /* d = g + decay p */
    float shrink;                 /* p *= shrink first */
    float unbias;                 /* 1 / sqrt(1 - b2^t) */
    float b1, c1, b2, c2, eps;    /* c = 1 - b */
};

static UTIL_CLONES(void, step_sgd,
                   (size_t n, const struct rule *rule, const float *restrict g,
                    float *restrict p, float *restrict m),
                   (n, rule, g, p, m))
{
    const struct rule k = *rule;

    for (size_t i = 0; i < n; i++) {
        float d = k.gain * (g[i] + k.decay * p[i]);

        m[i] = k.momentum * m[i] + d;
        p[i] -= k.lr * (k.nesterov > 0 ? d + k.nesterov * m[i] : m[i]);
    }
}

static UTIL_CLONES(void, step_adam,
                   (size_t n, const struct rule *rule, const float *restrict g,
                    float *restrict p, float *restrict m, float *restrict v),
                   (n, rule, g, p, m, v))
{
    const struct rule k = *rule;

    for (size_t i = 0; i < n; i++) {
        float d = g[i] + k.decay * p[i];

        m[i] = k.b1 * m[i] + k.c1 * d;
        v[i] = k.b2 * v[i] + k.c2 * d * d;
        p[i] = k.shrink * p[i] - k.lr * m[i] / (k.unbias * sqrtf(v[i]) + k.eps);
    }
}

/* |g|^2, summed in eight lanes of double in a fixed order. */
static UTIL_CLONES(double, sum_squares, (size_t n, const float *g), (n, g))
{
    double sum[8] = {0};
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += (double)g[i + j] * g[i + j];
    for (; i < n; i++)
        sum[0] += (double)g[i] * g[i];
    for (size_t j = 1; j < 8; j++)
        sum[0] += sum[j];
    return sum[0];
}

/* |p| and |g + decay p|, summed in eight lanes of double in a fixed order. */
static UTIL_CLONES(void, compute_norms,
                   (size_t n, float decay, const float *p, const float *g,
                    double *of_p, double *of_d),
                   (n, decay, p, g, of_p, of_d))
{
    double pp[8] = {0}, dd[8] = {0};
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        for (size_t j = 0; j < 8; j++) {
            double x = p[i + j], d = g[i + j] + (double)decay * x;

            pp[j] += x * x;
            dd[j] += d * d;
        }
    for (; i < n; i++) {
        double x = p[i], d = g[i] + (double)decay * x;

        pp[0] += x * x;
        dd[0] += d * d;
    }
    for (size_t j = 1; j < 8; j++) {
        pp[0] += pp[j];
        dd[0] += dd[j];
    }
    *of_p = sqrt(pp[0]);
    *of_d = sqrt(dd[0]);
}

static double
lars_ratio(const struct nn_optim *optim, const struct nn_tensor *t,
           const float *params, const float *grads)
{
    const double decay = optim->spec.weight_decay;
    const float *p = params + t->offset, *g = grads + t->offset;
    double of_p, of_d;

    if (optim->kind == LARS_A) {
        if (!t->decays)
            return 1;
        compute_norms(t->count, (float)decay, p, g, &of_p, &of_d);
        return of_p > 0 && of_d > 0 ? trust * of_p / of_d : 1;
    }
    compute_norms(t->count, 0, p, g, &of_p, &of_d);
    return of_p > 0 && of_d > 0 ? trust * of_p / (of_d + decay * of_p) : 1;
}

static struct rule
rule_for(const struct nn_optim *optim, const struct nn_tensor *t, double lr)
{
    const double decay = optim->spec.weight_decay, mu = optim->spec.momentum;
    const double b1 = optim->spec.beta1, b2 = optim->spec.beta2;
    const double t_now = (double)optim->steps,
                 q = optim->ratio[t - optim->tensors];
    struct rule rule = {.lr = (float)lr,
                        .momentum = (float)mu,
                        .nesterov = optim->spec.nesterov ? (float)mu : 0,
                        .gain = 1,
                        .decay = (float)decay,
                        .shrink = 1};

    switch (optim->kind) {
    case SGD:
        break;
    case MUON:
    case ADAMW:
        rule.decay = 0;
        if (t->decays)
            rule.shrink = (float)(1 - lr * decay);
        // fall through
    case ADAM:
        rule.lr = (float)(lr / (1 - pow(b1, t_now)));
        rule.unbias = (float)(1 / sqrt(1 - pow(b2, t_now)));
        rule.b1 = (float)b1;
        rule.c1 = (float)(1 - b1);
        rule.b2 = (float)b2;
        rule.c2 = (float)(1 - b2);
        rule.eps = (float)optim->spec.epsilon;
        break;
    case LARS_A:
        rule.gain = (float)q;
        if (!t->decays)
            rule.decay = 0;
        break;
    case LARS_B:
        rule.lr = (float)(lr * q);
        rule.gain = optim->steps == 1 ? (float)(1 + mu) : 1;
        break;
    }
    return rule;
}

/* m = mu m + g;  x = g + mu m */
static UTIL_CLONES(void, add_momentum,
                   (size_t n, float mu, const float *restrict g,
                    float *restrict m, float *restrict x),
                   (n, mu, g, m, x))
{
    for (size_t i = 0; i < n; i++) {
        m[i] = mu * m[i] + g[i];
        x[i] = g[i] + mu * m[i];
    }
}

/* p = shrink p - rate x */
static UTIL_CLONES(void, subtract_scaled,
                   (size_t n, float shrink, float rate, const float *restrict x,
                    float *restrict p),
                   (n, shrink, rate, x, p))
{
    for (size_t i = 0; i < n; i++)
        p[i] = shrink * p[i] - rate * x[i];
}

/*
 * Replaces X [rows,cols] by an approximation of U V' of its singular value
 * decomposition U S V': five steps of X = a X + (b A + c A A) X, A = X X', from
 * X / |X|; of the transposed X if it has more rows than columns.
 *   work  rows cols + 2 min(rows, cols)^2 floats
 */
static void
make_orthogonal(size_t rows, size_t cols, float *x, float *work)
{
    static const float a = 3.4445f, b = -4.775f, c = 2.0315f;
    const size_t n = rows * cols, small = rows < cols ? rows : cols;
    float *y = work, *gram = work + n, *poly = gram + small * small;
    const float scale = (float)(1 / (sqrt(sum_squares(n, x)) + 1e-7));

    for (size_t i = 0; i < n; i++)
        x[i] *= scale;
    for (int step = 0; step < 5; step++) {
        if (rows <= cols)
            num_gemm_nt(rows, rows, cols, 1, x, x, 0, gram);
        else
            num_gemm_tn(cols, cols, rows, 1, x, x, 0, gram);
        memcpy(poly, gram, small * small * sizeof *poly);
        num_gemm_nn(small, small, small, c, gram, gram, b, poly);
        memcpy(y, x, n * sizeof *y);
        if (rows <= cols)
            num_gemm_nn(rows, cols, rows, 1, poly, y, a, x);
        else
            num_gemm_nn(rows, cols, cols, 1, y, poly, a, x);
    }
}

/* A step of Muon for each matrix, one after the other: products use all
 * threads. */
static void
step_matrices(struct nn_optim *optim, double lr, float *params,
              const float *grads)
{
    for (size_t i = 0; i < optim->n; i++) {
        const struct nn_tensor *t = optim->tensors + i;
        size_t rows, cols;
        double longer;

        if (!is_matrix(optim, t))
            continue;
        rows = t->shape[0];
        cols = t->count / rows;
        longer = (double)(rows > cols ? rows : cols);
        add_momentum(t->count, (float)optim->spec.momentum, grads + t->offset,
                     optim->moment[0] + t->offset, optim->work);
        make_orthogonal(rows, cols, optim->work, optim->work + t->count);
        subtract_scaled(t->count, (float)(1 - lr * optim->spec.weight_decay),
                        (float)(lr * 0.2 * sqrt(longer)), optim->work,
                        params + t->offset);
    }
}

/* Floats of work for the largest matrix. */
static size_t
count_work(const struct nn_optim *optim)
{
    size_t most = 0;

    for (size_t i = 0; i < optim->n; i++) {
        const struct nn_tensor *t = optim->tensors + i;
        size_t rows, cols, small, own;

        if (!is_matrix(optim, t))
            continue;
        rows = t->shape[0];
        cols = t->count / rows;
        small = rows < cols ? rows : cols;
        own = 2 * (t->count + small * small);
        if (own > most)
            most = own;
    }
    return most;
}

/* Cuts the parameters into chunks, tensor by tensor. */
static void
cut_into_chunks(struct nn_optim *optim)
{
    size_t room = 0;

    for (size_t i = 0; i < optim->n; i++) {
        const struct nn_tensor *t = optim->tensors + i;

        for (size_t at = 0; !t->statistic && at < t->count; at += CHUNK) {
            size_t left = t->count - at;

            mem_grow(&optim->chunk, &room, optim->chunks + 1,
                     sizeof *optim->chunk);
            optim->chunk[optim->chunks++] =
                (struct chunk){i, t->offset + at, left < CHUNK ? left : CHUNK};
        }
    }
}

static int
check_spec(const struct nn_optim_spec *spec, enum update kind, struct err *err)
{
    if (!(spec->momentum >= 0 && spec->momentum < 1) ||
        !(spec->weight_decay >= 0 && isfinite(spec->weight_decay)))
        return err_set(err,
                       "momentum %g, weight decay %g: want 0 <= momentum < 1, "
                       "weight decay >= 0",
                       spec->momentum, spec->weight_decay);
    if (spec->nesterov && (kind != SGD || spec->momentum == 0))
        return err_set(err, "Nesterov's step needs sgd with momentum");
    return 0;
}

/* Sets Adam's defaults and checks its constants. */
static int
settle_adam(struct nn_optim_spec *spec, struct err *err)
{
    spec->beta1 = spec->beta1 != 0 ? spec->beta1 : 0.9;
    spec->beta2 = spec->beta2 != 0 ? spec->beta2 : 0.999;
    spec->epsilon = spec->epsilon != 0 ? spec->epsilon : 1e-8;
    if (spec->beta1 > 0 && spec->beta1 < 1 && spec->beta2 > 0 &&
        spec->beta2 < 1 && spec->epsilon > 0 && isfinite(spec->epsilon))
        return 0;
    return err_set(err,
                   "beta1 %g, beta2 %g, epsilon %g: want betas between 0 and "
                   "1, epsilon above 0",
                   spec->beta1, spec->beta2, spec->epsilon);
}

static const char *
name_optim(size_t i)
{
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

struct nn_optim *
nn_optim_new(const struct nn_optim_spec *spec, const struct nn_tensor *tensors,
             size_t n, size_t count, struct err *err)
{
    struct nn_optim_spec own = *spec;
    struct nn_optim *optim;
    size_t kind = 0;

    while (kind < sizeof names / sizeof *names &&
           strcmp(names[kind], spec->name))
        kind++;
    if (kind == sizeof names / sizeof *names) {
        err_name(err, "optimiser", spec->name, strlen(spec->name), name_optim);
        return NULL;
    }
    if (check_spec(spec, (enum update)kind, err) || settle_adam(&own, err))
        return NULL;
    optim = mem_array(1, sizeof *optim);
    *optim = (struct nn_optim){
        .spec = own, .kind = (enum update)kind, .tensors = tensors, .n = n};
    optim->spec.name = names[kind];
    optim->ratio = mem_array(n, sizeof *optim->ratio);
    optim->moment[0] = mem_aligned(count, sizeof(float));
    if (kind == ADAM || kind == ADAMW || kind == MUON)
        optim->moment[1] = mem_aligned(count, sizeof(float));
    optim->work = mem_aligned(count_work(optim), sizeof(float));
    if (spec->accumulate > 1)
        optim->sum = mem_aligned(count, sizeof(float));
    cut_into_chunks(optim);
    optim->part = mem_array(optim->chunks, sizeof *optim->part);
    return optim;
}

void
nn_optim_free(struct nn_optim *optim)
{
    if (!optim)
        return;
    mem_free(optim->chunk, optim->ratio, optim->part, optim->moment[0],
             optim->moment[1], optim->sum, optim->work, optim);
}

/* sum = scale (sum + x), or scale x if it begins. */
static UTIL_CLONES(void, add_gradient,
                   (size_t n, int begins, float scale, const float *restrict x,
                    float *restrict sum),
                   (n, begins, scale, x, sum))
{
    for (size_t i = 0; i < n; i++)
        sum[i] = scale * (begins ? x[i] : sum[i] + x[i]);
}

/* Adds a gradient to the sum.  At the last one, turns the sum into the mean and
 * returns 1. */
static int
accumulate_gradient(struct nn_optim *optim, const float *grads)
{
    const int begins = optim->pending == 0;
    const int full = ++optim->pending >= optim->spec.accumulate;
    const float scale = full ? 1 / (float)optim->pending : 1;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < optim->chunks; i++) {
        const struct chunk *c = optim->chunk + i;

        add_gradient(c->count, begins, scale, grads + c->offset,
                     optim->sum + c->offset);
    }
    if (full)
        optim->pending = 0;
    return full;
}

int
nn_optim_step(struct nn_optim *optim, double lr, float *params,
              const float *grads)
{
    REQUIRE(params && grads);
    if (optim->sum) {
        if (!accumulate_gradient(optim, grads))
            return 0;
        grads = optim->sum;
    }
    optim->steps++;
    if (optim->kind == LARS_A || optim->kind == LARS_B) {
#pragma omp parallel for schedule(dynamic)
        for (size_t i = 0; i < optim->n; i++)
            if (!optim->tensors[i].statistic)
                optim->ratio[i] =
                    lars_ratio(optim, optim->tensors + i, params, grads);
    }
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < optim->chunks; i++) {
        const struct chunk *c = optim->chunk + i;
        const struct rule rule =
            rule_for(optim, optim->tensors + c->tensor, lr);
        float *p = params + c->offset, *m = optim->moment[0] + c->offset;

        if (is_matrix(optim, optim->tensors + c->tensor))
            continue;
        if (optim->moment[1])
            step_adam(c->count, &rule, grads + c->offset, p, m,
                      optim->moment[1] + c->offset);
        else
            step_sgd(c->count, &rule, grads + c->offset, p, m);
    }
    step_matrices(optim, lr, params, grads);
    return 1;
}

double
nn_optim_norm(const struct nn_optim *optim, const float *grads)
{
    double sum = 0;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < optim->chunks; i++) {
        const struct chunk *c = optim->chunk + i;

        optim->part[i] = sum_squares(c->count, grads + c->offset);
    }
    for (size_t i = 0; i < optim->chunks; i++)
        sum += optim->part[i];
    return sqrt(sum);
}

struct nn_moments
nn_optim_moments(struct nn_optim *optim)
{
    const int two = optim->moment[1] != NULL;
    struct nn_moments m = {
        .n = two ? 2 : 1,
        .name = {two ? "mean" : "momentum", "square"},
        .block = {optim->moment[0], optim->moment[1]},
        .steps = &optim->steps,
    };

    if (optim->sum) {
        m.name[m.n] = "sum";
        m.block[m.n++] = optim->sum;
        m.pending = &optim->pending;
    }
    return m;
}
