#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/chains.h"
#include "eval/column.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

static double
mean_of_states(size_t n, const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* R-hat of the halves of all chains. */
static double
split_rhat(size_t replicas, size_t states, const double *x)
{
    const size_t n = states / 2, halves = 2 * replicas;
    double within = 0, mean = 0, between = 0;

    for (size_t h = 0; h < halves; h++) {
        const double *half = x + h / 2 * states + h % 2 * (states - n);
        const double middle = mean_of_states(n, half);
        double square = 0;

        for (size_t i = 0; i < n; i++)
            square += (half[i] - middle) * (half[i] - middle);
        within += square / (double)(n - 1) / (double)halves;
        mean += middle / (double)halves;
    }
    for (size_t h = 0; h < halves; h++) {
        const double *half = x + h / 2 * states + h % 2 * (states - n);
        const double off = mean_of_states(n, half) - mean;

        between += off * off / (double)(halves - 1);
    }
    if (!(within > 0))
        return between > 0 ? INFINITY : 1;
    return sqrt((double)(n - 1) / (double)n + between / within);
}

/* The quantile p of the normal distribution, by Newton's method. */
static double
normal_quantile(double p)
{
    double x = 0;

    for (int i = 0; i < 30; i++) {
        const double density = exp(-x * x / 2) / sqrt(8 * atan(1));
        const double step = (erfc(-x / sqrt(2)) / 2 - p) / density;

        x -= fmax(-1, fmin(1, step));
        if (fabs(step) < 1e-12)
            break;
    }
    return x;
}

/* Returns R-hat of the normal quantiles of the ranks of x. */
static double
ranked_rhat(size_t replicas, size_t states, const double *x)
{
    const size_t n = replicas * states;
    double *z = eval_mean_ranks(n, x), rhat;

    for (size_t i = 0; i < n; i++)
        z[i] = normal_quantile((z[i] + .625) / ((double)n + .25));
    rhat = split_rhat(replicas, states, z);
    free(z);
    return rhat;
}

double
eval_chains_rhat(size_t replicas, size_t states, const double *x)
{
    const size_t n = replicas * states;
    double *far = mem_array(n, sizeof *far), middle, tail;

    REQUIRE(states >= 4 && replicas >= 1);
    memcpy(far, x, n * sizeof *x);
    eval_sort(n, far);
    middle = eval_quantile(n, far, .5);
    for (size_t i = 0; i < n; i++)
        far[i] = fabs(x[i] - middle);
    tail = ranked_rhat(replicas, states, far);
    free(far);
    return fmax(tail, ranked_rhat(replicas, states, x));
}

double
eval_chains_lagged(size_t replicas, size_t states, const double *x, size_t lag)
{
    const double mean = mean_of_states(replicas * states, x);
    double product = 0, square = 0;

    REQUIRE(lag < states);
    for (size_t r = 0; r < replicas; r++)
        for (size_t t = 0; t < states; t++) {
            const double *at = x + r * states + t;

            square += (*at - mean) * (*at - mean) / (double)states;
            if (t + lag < states)
                product +=
                    (*at - mean) * (at[lag] - mean) / (double)(states - lag);
        }
    return square > 0 ? product / square : 0;
}

double
eval_chains_distance(size_t n, const float *p, const float *q)
{
    const double sum_p = num_sum(n, p), sum_q = num_sum(n, q);
    double off = 0;

    REQUIRE(sum_p > 0 && sum_q > 0);
    for (size_t i = 0; i < n; i++)
        off += fabs(p[i] / sum_p - q[i] / sum_q);
    return off / 2;
}

double
eval_chains_noise(size_t n, const float *p, double draws)
{
    const double pi = 3.14159265358979323846, sum = num_sum(n, p);
    double noise = 0;

    for (size_t i = 0; i < n; i++) {
        const double share = p[i] / sum;

        noise += fmin(sqrt(2 * share / (pi * draws)), 2 * share);
    }
    return noise / 2;
}
