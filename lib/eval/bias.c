#include <math.h>

#include "eval/bias.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

/* One and two degrees have a closed form, more degrees the expansion of Cornish
 * and Fisher around the normal distribution. */
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
    if (degrees == 1)
        return 12.706205;
    if (degrees == 2)
        return .95 * sqrt(2 / (1 - .95 * .95));
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
    const struct eval_bias_data *data;
    double *each;  /* [r,r] <G_r, G_s> */
    double *exact; /* [r] <G_r, g> */
    double square;
};

/* Computes the figures without estimate `left_out`; R: with all. */
static void
leave_one_out(const struct products *p, size_t left_out,
              double of[BIAS_FIGURES])
{
    const size_t r = p->data->r;
    const double n = (double)(r - (left_out < r)), g = p->square;
    double a = 0, c = 0, step = 0, images = 0;

    for (size_t i = 0; i < r; i++) {
        if (i == left_out)
            continue;
        c += p->exact[i] / n;
        step += p->data->step[i] / n;
        images += p->data->images[i] / n;
        for (size_t k = 0; k < r; k++)
            if (k != i && k != left_out)
                a += p->each[i * r + k] / (n * (n - 1));
    }
    of[BIAS_DIRECTION] = a > 0 ? 1 - c * c / (a * g) : 1;
    of[BIAS_COSINE] = a > 0 ? c / sqrt(a * g) : 0;
    of[BIAS_SCALE] = c / g;
    of[BIAS_SQUARE] = (a - 2 * c + g) / g;
    of[BIAS_VARIANCE] = (step - a) / g;
    of[BIAS_IMAGES] = a * (images - g) / (g * g);
    of[BIAS_NEGATIVES] = of[BIAS_VARIANCE] - of[BIAS_IMAGES];
    of[BIAS_NOISE] = a > 0 ? (double)p->data->batch * (step - a) / a : 0;
}

struct eval_bias
eval_bias(const struct eval_bias_data *data)
{
    const size_t r = data->r;
    struct products p = {.data = data};
    double all[BIAS_FIGURES], at[BIAS_FIGURES];
    double mean[BIAS_FIGURES] = {0}, square[BIAS_FIGURES] = {0};
    struct eval_bias out;

    REQUIRE(r >= EVAL_BIAS_LEAST && r <= EVAL_BIAS_MOST);
    p.each = mem_array(r * r, sizeof *p.each);
    p.exact = mem_array(r, sizeof *p.exact);
    p.square = num_dot(data->size, data->exact, data->exact);
    for (size_t i = 0; i < r; i++) {
        p.exact[i] =
            num_dot(data->size, data->estimate + i * data->size, data->exact);
        for (size_t k = 0; k <= i; k++)
            p.each[i * r + k] = p.each[k * r + i] =
                num_dot(data->size, data->estimate + i * data->size,
                        data->estimate + k * data->size);
    }
    REQUIRE(p.square > 0);
    leave_one_out(&p, r, all);
    for (size_t i = 0; i < r; i++) { // Welford's mean and sum of squares
        leave_one_out(&p, i, at);
        for (int k = 0; k < BIAS_FIGURES; k++) {
            const double off = at[k] - mean[k];

            mean[k] += off / (double)(i + 1);
            square[k] += off * (at[k] - mean[k]);
        }
    }
    for (int k = 0; k < BIAS_FIGURES; k++)
        out.of[k] = (struct eval_figure){
            all[k], eval_student(r - 1) *
                        sqrt(square[k] * (double)(r - 1) / (double)r)};
    out.square = p.square;
    mem_free(p.each, p.exact);
    return out;
}
