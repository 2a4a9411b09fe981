#ifndef TESTS_LOSS_NAIVE_OBJECTIVES_H
#define TESTS_LOSS_NAIVE_OBJECTIVES_H

/*
 * Every objective as its header states it, in double and from raw rows, so that
 * central differences can be taken.  What is held constant in the gradient
 * (running means, temperatures, SimCo's weights) is computed from z0.
 */
#include "loss/naive.h"
#include "loss/objective.h"
#include "loss/rows.h"

enum { NAIVE_ROWS = 48, NAIVE_WIDTH = 32 };

struct naive {
    size_t b, rows, d;
    const struct loss_objective *objective;
    const struct loss_settings *set;
    const float *weights; /* [2b,rows] */
    const float *scale;   /* [2b,2] */
    const float *state;   /* [b,columns], before the step; with sides [2b,..] */
    const double *z0;     /* [rows,d] */
};

/* What a parameter of the objective is set to. */
static inline double
naive_param(const struct naive *k, const char *name)
{
    const struct param *params = k->objective->params;

    return k->set->value[param_find(params, name) - params];
}

typedef double naive_matrix[NAIVE_ROWS][NAIVE_ROWS];

static inline void
naive_scores(const struct naive *k, size_t width, const double *z,
             naive_matrix s)
{
    for (size_t r = 0; r < 2 * k->b; r++)
        for (size_t c = 0; c < k->rows; c++)
            s[r][c] = naive_cosine(width, z + r * k->d, z + c * k->d);
}

static inline int
naive_meets(size_t b, size_t r, size_t c, enum loss_mask mask)
{
    const int other = (r < b) != (c < b), kin = c % b == r % b;

    if (c >= 2 * b || c == r)
        return 0;
    return mask == LOSS_BATCH       ? 1
           : mask == LOSS_NEGATIVES ? !kin
           : mask == LOSS_CROSS     ? other
                                    : other && !kin;
}

/* log sum_c exp(beta s_c) */
static inline double
naive_log_sum(size_t b, size_t r, double beta, enum loss_mask mask,
              const double *s)
{
    double sum = 0;

    for (size_t c = 0; c < 2 * b; c++)
        sum += naive_meets(b, r, c, mask) ? exp(beta * s[c]) : 0;
    return log(sum);
}

static inline double
naive_decoupled(const struct naive *k, const double *z, enum loss_mask mask)
{
    const double beta = 1 / k->set->value[LOSS_TAU];
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t r = 0; r < 2 * k->b; r++)
        loss += naive_log_sum(k->b, r, beta, mask, s[r]) -
                beta * s[r][loss_partner(k->b, r)];
    return loss / (double)(2 * k->b);
}

static inline double
naive_infonce(const struct naive *k, const double *z)
{
    return naive_decoupled(k, z, LOSS_BATCH);
}

static inline double
naive_infonce_across(const struct naive *k, const double *z)
{
    return 2 * naive_decoupled(k, z, LOSS_CROSS);
}

static inline double
naive_simclr(const struct naive *k, const double *z)
{
    return naive_infonce(k, z) *
           (k->set->reference ? k->set->value[LOSS_TAU] / 0.07 : 1);
}

static inline double
naive_dcl(const struct naive *k, const double *z)
{
    return naive_decoupled(k, z, LOSS_NEGATIVES);
}

static inline double
naive_hcl(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b;
    const double tau = k->set->value[LOSS_TAU], beta = naive_param(k, "beta");
    const double plus = naive_param(k, "tau-plus"), m = (double)(n - 2);
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t r = 0; r < n; r++) {
        const double pos = exp(s[r][loss_partner(b, r)] / tau);
        double up = 0, down = 0, ng;

        for (size_t c = 0; c < n; c++) {
            const double neg = exp(s[r][c] / tau);

            if (!naive_meets(b, r, c, LOSS_NEGATIVES))
                continue;
            up += pow(neg, beta) * neg;
            down += pow(neg, beta) / m;
        }
        ng = (up / down - plus * m * pos) / (1 - plus);
        ng = fmax(ng, m * exp(-1 / tau));
        loss -= log(pos / (pos + ng));
    }
    return loss / (double)n;
}

/* The running mean of a row's sums g. */
static inline double
naive_running(const struct naive *k, const float *state, double g)
{
    const double gamma = naive_param(k, "gamma");

    if (!state[1])
        return k->set->reference ? gamma * g : g;
    return (1 - gamma) * exp(state[0]) + gamma * g;
}

static inline double
naive_running_rows(const struct naive *k, const double *z, size_t columns)
{
    const size_t b = k->b, n = 2 * b;
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < n; r++) {
        const float *state = k->state + r % b * columns;
        const double tau =
            columns == 4 && state[1] ? state[3] : k->set->value[LOSS_TAU];
        const double m = (double)(n - 2);
        const double g =
            exp(naive_log_sum(b, r, 1 / tau, LOSS_NEGATIVES, s0[r]));
        const double u = naive_running(k, state, g / m);

        for (size_t c = 0; c < n; c++)
            if (naive_meets(b, r, c, LOSS_NEGATIVES))
                loss += exp(s0[r][c] / tau) / (m * u) * s[r][c];
        loss -= s[r][loss_partner(b, r)];
    }
    return loss / (double)b;
}

static inline double
naive_sogclr(const struct naive *k, const double *z)
{
    return naive_running_rows(k, z, 2);
}

static inline double
naive_isogclr(const struct naive *k, const double *z)
{
    return naive_running_rows(k, z, 4);
}

static inline double
naive_isogclr_sqh(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b;
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < n; r++) {
        const size_t p = loss_partner(b, r);
        const float *state = k->state + r % b * 4;
        double e[NAIVE_ROWS], l[NAIVE_ROWS], g = 0, u;

        for (size_t c = 0; c < n; c++) {
            const float *whose =
                k->state + (k->set->reference ? c % b : r % b) * 4;
            const double tau = whose[1] ? whose[3] : k->set->value[LOSS_TAU];

            l[c] = pow(fmax(0, s[r][c] - s[r][p] + 0.8), 2);
            e[c] = exp(pow(fmax(0, s0[r][c] - s0[r][p] + 0.8), 2) / tau);
            g += c == r ? 0 : e[c] / (double)(n - 1);
        }
        u = naive_running(k, state, g);
        for (size_t c = 0; c < n; c++)
            loss += c == r ? 0 : e[c] / ((double)(n - 1) * u) * l[c];
    }
    return loss / (double)b;
}

/* -log p of the partner among the other view's rows, and 1 - p. */
static inline double
naive_surprise(size_t b, size_t r, double beta, const double *s, double *mass)
{
    const double own = exp(beta * s[loss_partner(b, r)]);
    const double others =
        exp(naive_log_sum(b, r, beta, LOSS_CROSS_NEGATIVES, s));

    *mass = others / (own + others);
    return log(1 + others / own);
}

static inline double
naive_simco(const struct naive *k, const double *z)
{
    const size_t b = k->b, rows = k->set->reference ? b : 2 * b;
    const double beta = k->set->reference ? 1 : 1 / k->set->value[LOSS_TAU];
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < rows; r++) {
        double far, near, none;

        naive_surprise(b, r, 1 / naive_param(k, "tau-inter"), s0[r], &far);
        naive_surprise(b, r, 1 / k->set->value[LOSS_TAU], s0[r], &near);
        loss += far / near * naive_surprise(b, r, beta, s[r], &none);
    }
    return loss / (double)rows;
}

static inline double
naive_tau_simclr(const struct naive *k, const double *z)
{
    const size_t b = k->b, n = 2 * b;
    double loss = 0, t[NAIVE_ROWS];
    naive_matrix s;

    naive_scores(k, k->d - 1, z, s);
    for (size_t r = 0; r < n; r++)
        t[r] = 1 / (1 + exp(-z[(r + 1) * k->d - 1])) / k->set->value[LOSS_TAU];
    for (size_t r = 0; r < n; r++) {
        const double sum = exp(naive_log_sum(b, r, t[r], LOSS_NEGATIVES, s[r]));

        loss += log(sum + (k->set->reference ? 1e-6 : 0)) -
                t[k->set->reference ? r % b : r] * s[r][loss_partner(b, r)];
    }
    return loss / (double)n;
}

static inline double
naive_spectral_cl(const struct naive *k, const double *z)
{
    const size_t b = k->b, d = k->d;
    const double mu = naive_param(k, "mu");
    double loss = 0, x[NAIVE_ROWS * NAIVE_WIDTH];

    for (size_t r = 0; r < 2 * b; r++) {
        double square = 0;

        for (size_t i = 0; i < d; i++)
            square += z[r * d + i] * z[r * d + i];
        for (size_t i = 0; i < d; i++)
            x[r * d + i] = z[r * d + i] * fmin(1, sqrt(mu / square));
    }
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            double t = 0;

            for (size_t l = 0; l < d; l++)
                t += x[i * d + l] * x[(b + j) * d + l];
            loss += i == j ? -2 * t / (double)b : t * t / (double)(b * (b - 1));
        }
    return loss / mu;
}

/* Mean and sum of squares about it of column k. */
static inline double
naive_column(size_t b, size_t d, size_t k, const double *z, double *mean)
{
    double squares = 0;

    *mean = 0;
    for (size_t i = 0; i < b; i++)
        *mean += z[i * d + k] / (double)b;
    for (size_t i = 0; i < b; i++)
        squares += pow(z[i * d + k] - *mean, 2);
    return squares;
}

/* sum_i (x_ik - mean)(y_il - mean) */
static inline double
naive_product(size_t b, size_t d, size_t k, size_t l, const double *x,
              const double *y)
{
    double one, two, sum = 0;

    naive_column(b, d, k, x, &one);
    naive_column(b, d, l, y, &two);
    for (size_t i = 0; i < b; i++)
        sum += (x[i * d + k] - one) * (y[i * d + l] - two);
    return sum;
}

static inline double
naive_barlow_twins(const struct naive *k, const double *z)
{
    const size_t b = k->b, d = k->d;
    double loss = 0, mean;

    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            const double *y = z + b * d;
            const double one = naive_column(b, d, i, z, &mean) / (double)b;
            const double two = naive_column(b, d, j, y, &mean) / (double)b;
            const double c = naive_product(b, d, i, j, z, y) / (double)b /
                             sqrt((one + 1e-5) * (two + 1e-5));

            loss += i == j ? pow(c - 1, 2) : naive_param(k, "lambda") * c * c;
        }
    return loss;
}

static inline double
naive_vicreg(const struct naive *k, const double *z)
{
    const size_t b = k->b, d = k->d;
    const double count = (double)(b - 1), width = (double)d;
    double loss = 0, mean;

    for (size_t i = 0; i < b * d; i++)
        loss += naive_param(k, "invariance") * pow(z[i] - z[b * d + i], 2) /
                ((double)b * width);
    for (const double *x = z; x <= z + b * d; x += b * d)
        for (size_t i = 0; i < d; i++) {
            const double var = naive_column(b, d, i, x, &mean) / count;

            loss += naive_param(k, "variance") / 2 *
                    fmax(0, 1 - sqrt(var + 1e-4)) / width;
            for (size_t j = 0; j < d; j++)
                loss +=
                    i == j
                        ? 0
                        : naive_param(k, "covariance") / width *
                              pow(naive_product(b, d, i, j, x, x) / count, 2);
        }
    return loss;
}

/* Negatives of a service, with its factors. */
static inline double
naive_sampled(const struct naive *k, const double *z)
{
    const size_t n = 2 * k->b;
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < k->rows; c++)
            loss += k->scale[2 * r + 1] * k->weights[r * k->rows + c] *
                    s[r][c] / k->set->value[LOSS_TAU];
        loss -= k->scale[2 * r] * s[r][loss_partner(k->b, r)] /
                k->set->value[LOSS_TAU];
    }
    return loss / (double)n;
}

static inline double
naive_clip(const struct naive *k, const double *z)
{
    return naive_decoupled(k, z, LOSS_CROSS);
}

static inline double
naive_cyclip(const struct naive *k, const double *z)
{
    const size_t b = k->b;
    double within = 0, across = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            within += pow(s[i][j] - s[b + i][b + j], 2) / (double)b;
            across += pow(s[i][b + j] - s[j][b + i], 2) / (double)b;
        }
    return naive_clip(k, z) + naive_param(k, "within") * within +
           naive_param(k, "across") * across;
}

static inline double
naive_siglip(const struct naive *k, const double *z)
{
    double loss = 0;
    naive_matrix s;

    naive_scores(k, k->d, z, s);
    for (size_t i = 0; i < k->b; i++)
        for (size_t j = 0; j < k->b; j++) {
            const double x = s[i][k->b + j] / k->set->value[LOSS_TAU] +
                             naive_param(k, "bias");

            loss += log1p(exp(i == j ? -x : x)) / (double)k->b;
        }
    return loss;
}

static inline double
naive_bimodal(const struct naive *k, const double *z)
{
    const size_t b = k->b, columns = k->objective->columns;
    const enum loss_mask mask =
        k->set->reference ? LOSS_CROSS : LOSS_CROSS_NEGATIVES;
    double loss = 0;
    naive_matrix s, s0;

    naive_scores(k, k->d, z, s);
    naive_scores(k, k->d, k->z0, s0);
    for (size_t r = 0; r < 2 * b; r++) {
        const size_t p = loss_partner(b, r);
        const float *state = k->state + r * columns;
        const double tau =
            columns == 4 && state[1] ? state[3] : k->set->value[LOSS_TAU];
        double e[NAIVE_ROWS] = {0}, g = 0;

        for (size_t c = 0; c < 2 * b; c++)
            if (naive_meets(b, r, c, mask)) {
                e[c] = exp((s0[r][c] - s0[r][p]) / tau) / (double)(b - 1);
                g += e[c];
            }
        for (size_t c = 0; c < 2 * b; c++)
            loss += e[c] / naive_running(k, state, g) * (s[r][c] - s[r][p]);
    }
    return loss / (double)b;
}

/* value is what is reported, where that is not what is differentiated. */
static const struct {
    const char *name;
    double (*loss)(const struct naive *k, const double *z);
    double (*value)(const struct naive *k, const double *z);
} naive_objectives[] = {
    {"simclr", naive_simclr, NULL},
    {"dcl", naive_dcl, NULL},
    {"infonce", naive_infonce_across, NULL},
    {"flatclr", naive_dcl, naive_infonce},
    {"hcl", naive_hcl, NULL},
    {"sogclr", naive_sogclr, NULL},
    {"isogclr", naive_isogclr, NULL},
    {"isogclr_sqh", naive_isogclr_sqh, NULL},
    {"simco", naive_simco, NULL},
    {"tau_simclr", naive_tau_simclr, NULL},
    {"spectral_cl", naive_spectral_cl, NULL},
    {"barlow_twins", naive_barlow_twins, NULL},
    {"vicreg", naive_vicreg, NULL},
    {"clip", naive_clip, NULL},
    {"cyclip", naive_cyclip, NULL},
    {"siglip", naive_siglip, NULL},
    {"sogclr_bimodal", naive_bimodal, NULL},
    {"isogclr_bimodal", naive_bimodal, NULL},
    {"emc2_bimodal", naive_sampled, NULL},
    {"emc2", naive_sampled, NULL},
    {"cache", naive_sampled, NULL},
};

#endif
