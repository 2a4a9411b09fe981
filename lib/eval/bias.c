#include <math.h>
#include <stdlib.h>

#include "eval/bias.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

/* The expansion of Cornish and Fisher, around the normal distribution. */
double
eval_student(size_t degrees)
{
    const double z = 1.959964, n = (double)degrees;
    const double a = (pow(z, 3) + z) / 4;
    const double b = (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / 96;
    const double c =
        (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / 384;
    const double d = (79 * pow(z, 9) + 776 * pow(z, 7) + 1482 * pow(z, 5) -
                      1920 * pow(z, 3) - 945 * z) /
                     92160;

    REQUIRE(degrees >= 1);
    return z + a / n + b / (n * n) + c / pow(n, 3) + d / pow(n, 4);
}

struct eval_figure
eval_mean(size_t n, const double *x)
{
    double mean = 0, square = 0;

    REQUIRE(n >= 2);
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean);
    return (struct eval_figure){
        mean,
        eval_student(n - 1) * sqrt(square / ((double)n * (double)(n - 1)))};
}

/* Products of all estimates with each other and with the exact gradient. */
struct products {
    size_t r;
    double *each;  /* [r,r] <G_r, G_s> */
    double *exact; /* [r] <G_r, g> */
    const double *step;
    double square;
};

/* The figures without estimate `left_out`; R: with all. */
struct figures {
    double of[4]; /* bias, cosine, scale, variance */
};

static struct figures
leave_one_out(const struct products *p, size_t left_out)
{
    const double n = (double)(p->r - (left_out < p->r));
    double a = 0, c = 0, step = 0;

    for (size_t i = 0; i < p->r; i++) {
        if (i == left_out)
            continue;
        c += p->exact[i] / n;
        step += p->step[i] / n;
        for (size_t k = 0; k < p->r; k++)
            if (k != i && k != left_out)
                a += p->each[i * p->r + k] / (n * (n - 1));
    }
    return (struct figures){{(a - 2 * c + p->square) / p->square,
                             a > 0 ? c / sqrt(a * p->square) : 0, c / p->square,
                             (step - a) / p->square}};
}

static void
take_products(struct products *p, size_t size, const float *estimate,
              const float *exact)
{
    p->square = num_dot(size, exact, exact);
    for (size_t i = 0; i < p->r; i++) {
        p->exact[i] = num_dot(size, estimate + i * size, exact);
        for (size_t k = 0; k <= i; k++)
            p->each[i * p->r + k] = p->each[k * p->r + i] =
                num_dot(size, estimate + i * size, estimate + k * size);
    }
}

struct eval_bias
eval_bias(size_t r, size_t size, const float *estimate, const double *step,
          const float *exact)
{
    struct products p = {.r = r, .step = step};
    struct figures all, mean = {{0}};
    double square[4] = {0};
    struct eval_figure out[4];

    REQUIRE(r >= EVAL_BIAS_LEAST && r <= EVAL_BIAS_MOST);
    p.each = mem_array(r * r, sizeof *p.each);
    p.exact = mem_array(r, sizeof *p.exact);
    take_products(&p, size, estimate, exact);
    REQUIRE(p.square > 0);
    all = leave_one_out(&p, r);
    for (size_t i = 0; i < r; i++) {
        const struct figures at = leave_one_out(&p, i);

        for (int k = 0; k < 4; k++)
            mean.of[k] += at.of[k] / (double)r;
    }
    for (size_t i = 0; i < r; i++) {
        const struct figures at = leave_one_out(&p, i);

        for (int k = 0; k < 4; k++)
            square[k] += pow(at.of[k] - mean.of[k], 2);
    }
    for (int k = 0; k < 4; k++)
        out[k] = (struct eval_figure){
            all.of[k], eval_student(r - 1) *
                           sqrt(square[k] * (double)(r - 1) / (double)r)};
    free(p.each);
    free(p.exact);
    return (struct eval_bias){out[0], out[1], out[2], out[3], p.square};
}
