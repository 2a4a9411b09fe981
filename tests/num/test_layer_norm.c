#include <string.h>

#include "halves.h"
#include "maps.h"
#include "num/threads.h"
#include "num/tokens.h"
#include "plain_layer_norm.h"
#include "t.h"

static const double epsilon = 1e-5;

/* Numbers and results in double, and the same in f32. */
struct data {
    size_t n, d;
    double *x, *gamma, *beta, *dy, *y, *dx, *dgamma, *dbeta;
    struct num_layer_norm fast;
};

static double *
doubles(size_t n, const float *x)
{
    double *y = mem_array(n, sizeof *y);

    for (size_t i = 0; x && i < n; i++)
        y[i] = x[i];
    return y;
}

static struct data
data_of(size_t n, size_t d, float mean)
{
    float *x = normal(n * d, 1), *dy = normal(n * d, 2);
    float *gamma = normal(d, 3), *beta = normal(d, 4);
    struct data data = {.n = n, .d = d};

    for (size_t i = 0; i < n * d; i++)
        x[i] += mean;
    data.x = doubles(n * d, x);
    data.dy = doubles(n * d, dy);
    data.gamma = doubles(d, gamma);
    data.beta = doubles(d, beta);
    data.y = doubles(n * d, NULL);
    data.dx = doubles(n * d, NULL);
    data.dgamma = doubles(d, NULL);
    data.dbeta = doubles(d, NULL);
    data.fast = (struct num_layer_norm){
        .n = n,
        .d = d,
        .epsilon = epsilon,
        .x = x,
        .gamma = gamma,
        .beta = beta,
        .dy = dy,
        .y = mem_array(n * d, sizeof(float)),
        .dx = mem_array(n * d, sizeof(float)),
        .mean = mem_array(n, sizeof(float)),
        .rstd = mem_array(n, sizeof(float)),
        .dgamma = mem_array(d, sizeof(float)),
        .dbeta = mem_array(d, sizeof(float)),
    };
    return data;
}

static void
data_release(struct data *p)
{
    void *all[] = {p->x,
                   p->gamma,
                   p->beta,
                   p->dy,
                   p->y,
                   p->dx,
                   p->dgamma,
                   p->dbeta,
                   (void *)p->fast.x,
                   (void *)p->fast.gamma,
                   (void *)p->fast.beta,
                   (void *)p->fast.dy,
                   p->fast.y,
                   p->fast.dx,
                   p->fast.mean,
                   p->fast.rstd,
                   p->fast.dgamma,
                   p->fast.dbeta};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* The largest error, in units of the rms of the expected. */
static double
largest_error(size_t n, const float *got, const double *want)
{
    double most = 0, square = 0;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(got[i] - want[i]));
        square += want[i] * want[i];
    }
    return most / sqrt(square / (double)n);
}

/* sum dy y, whose gradient is what backward computes. */
static double
value(struct data *p)
{
    double sum = 0;

    plain_layer_norm_forward(p->n, p->d, epsilon, p->x, p->gamma, p->beta,
                             p->y);
    for (size_t i = 0; i < p->n * p->d; i++)
        sum += p->dy[i] * p->y[i];
    return sum;
}

/* The largest difference between central differences over n numbers and their
 * gradient. */
static double
slope_error(struct data *p, size_t n, double *x, const double *grad)
{
    const double step = 1e-5;
    double most = 0;

    for (size_t i = 0; i < n; i++) {
        double at = x[i], up, down;

        x[i] = at + step;
        up = value(p);
        x[i] = at - step;
        down = value(p);
        x[i] = at;
        most = fmax(most, fabs((up - down) / (2 * step) - grad[i]));
    }
    return most;
}

static void
gradient_of_the_definition_is_its_slope(void)
{
    static const size_t widths[] = {1, 3, 8};

    for (size_t i = 0; i < 3; i++) {
        struct data p = data_of(3, widths[i], 0);

        plain_layer_norm_backward(p.n, p.d, epsilon, p.x, p.gamma, p.dy, p.dx,
                                  p.dgamma, p.dbeta);
        T(slope_error(&p, p.n * p.d, p.x, p.dx) < 1e-7 &&
              slope_error(&p, p.d, p.gamma, p.dgamma) < 1e-7 &&
              slope_error(&p, p.d, p.beta, p.dbeta) < 1e-7,
          "rows of %zu: dx, dgamma and dbeta are central differences in double",
          widths[i]);
        data_release(&p);
    }
}

static void
rows_agree_with_the_definition(void)
{
    static const size_t widths[] = {1, 3, 8, 16, 17, 64, 65, 130, 512};

    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct data p = data_of(7, widths[i], 2);

        value(&p);
        plain_layer_norm_backward(p.n, p.d, epsilon, p.x, p.gamma, p.dy, p.dx,
                                  p.dgamma, p.dbeta);
        num_layer_norm_forward(&p.fast);
        num_layer_norm_backward(&p.fast);
        T(largest_error(p.n * p.d, p.fast.y, p.y) < 2e-6,
          "rows of %zu: y, error %.1e", p.d,
          largest_error(p.n * p.d, p.fast.y, p.y));
        if (p.d > 1) // of one number dx and dgamma are 0
            T(largest_error(p.n * p.d, p.fast.dx, p.dx) < 5e-6 &&
                  largest_error(p.d, p.fast.dgamma, p.dgamma) < 2e-6,
              "rows of %zu: dx and dgamma, error %.1e", p.d,
              largest_error(p.n * p.d, p.fast.dx, p.dx));
        T(largest_error(p.d, p.fast.dbeta, p.dbeta) < 2e-6,
          "rows of %zu: dbeta", p.d);
        data_release(&p);
    }
}

static void
results_may_overwrite_arguments(void)
{
    struct data p = data_of(5, 24, 0), q = data_of(5, 24, 0);

    num_layer_norm_forward(&p.fast);
    num_layer_norm_backward(&p.fast);
    num_layer_norm_forward(&q.fast);
    memcpy(q.fast.dx, q.fast.dy, 5 * 24 * sizeof(float));
    free((void *)q.fast.dy);
    q.fast.dy = q.fast.dx;
    num_layer_norm_backward(&q.fast);
    T(!memcmp(p.fast.dx, q.fast.dx, 5 * 24 * sizeof(float)) &&
          !memcmp(p.fast.dgamma, q.fast.dgamma, 24 * sizeof(float)),
      "dx over dy has the same bits, and so has dgamma");
    memcpy(q.fast.y, q.fast.x, 5 * 24 * sizeof(float));
    q.fast.dy = NULL;
    free((void *)q.fast.x);
    q.fast.x = q.fast.y;
    num_layer_norm_forward(&q.fast);
    T(!memcmp(p.fast.y, q.fast.y, 5 * 24 * sizeof(float)),
      "y over x has the same bits");
    q.fast.x = NULL;
    data_release(&p);
    data_release(&q);
}

static void
a_large_mean_costs_no_digits(void)
{
    struct data p = data_of(3, 64, 1000);

    value(&p);
    num_layer_norm_forward(&p.fast);
    T(largest_error(3 * 64, p.fast.y, p.y) < 1e-4, "mean 1000: y, error %.1e",
      largest_error(3 * 64, p.fast.y, p.y));
    data_release(&p);
}

static void
threads_change_no_bit_and_gradients_add_up(void)
{
    struct data a = data_of(9, 130, 0), b = data_of(9, 130, 0);
    int twice = 1;

    num_layer_norm_forward(&a.fast);
    num_layer_norm_backward(&a.fast);
    num_threads(3);
    num_layer_norm_forward(&b.fast);
    num_layer_norm_backward(&b.fast);
    num_threads(1);
    T(!memcmp(a.fast.y, b.fast.y, 9 * 130 * sizeof(float)) &&
          !memcmp(a.fast.dx, b.fast.dx, 9 * 130 * sizeof(float)) &&
          !memcmp(a.fast.dgamma, b.fast.dgamma, 130 * sizeof(float)),
      "one thread and three compute the same bits");
    b.fast.add = 1;
    free(b.fast.dx);
    b.fast.dx = NULL;
    num_layer_norm_backward(&b.fast);
    for (size_t j = 0; j < 130; j++)
        twice &= b.fast.dgamma[j] == 2 * a.fast.dgamma[j] &&
                 b.fast.dbeta[j] == 2 * a.fast.dbeta[j];
    T(twice, "add = 1 adds to dgamma and dbeta, and dx may be NULL");
    data_release(&a);
    data_release(&b);
}

/* The same numbers as bfloat16: the results of f32, rounded. */
static void
halves_are_f32_rounded(void)
{
    static const size_t widths[] = {1, 3, 8, 65, 512};

    for (size_t i = 0; i < 5; i++) {
        struct data p = data_of(7, widths[i], 2), q = data_of(7, widths[i], 2);
        const size_t n = 7 * widths[i];
        void *x = halves_of(n, (float *)p.fast.x), *y = mem_array(n, 2);
        void *dy = halves_of(n, (float *)p.fast.dy), *dx = mem_array(n, 2);
        struct num_layer_norm a = q.fast;

        a.bf16 = 1;
        a.x = x;
        a.y = y;
        a.dy = dy;
        a.dx = dx;
        num_layer_norm_forward(&p.fast);
        num_layer_norm_backward(&p.fast);
        num_layer_norm_forward(&a);
        num_layer_norm_backward(&a);
        T(halves_equal(n, y, p.fast.y) && halves_equal(n, dx, p.fast.dx) &&
              !memcmp(a.dgamma, p.fast.dgamma, p.d * sizeof(float)) &&
              !memcmp(a.dbeta, p.fast.dbeta, p.d * sizeof(float)),
          "rows of %zu: bfloat16 gives the same, rounded", p.d);
        free(x);
        free(y);
        free(dy);
        free(dx);
        data_release(&p);
        data_release(&q);
    }
}

int
main(void)
{
    num_threads(1);
    gradient_of_the_definition_is_its_slope();
    rows_agree_with_the_definition();
    results_may_overwrite_arguments();
    a_large_mean_costs_no_digits();
    threads_change_no_bit_and_gradients_add_up();
    halves_are_f32_rounded();
    return t_done();
}
