#include <string.h>

#include "eval/probe.h"
#include "t.h"
#include "util/rng.h"

enum { N = 50, D = 7, C = 4, COUNT = (D + 1) * C };

static float x[N * D];
static int64_t y[N];
static const struct eval_rows rows = {N, D, x, y};

static void
draw(uint64_t seed, struct eval_linear *linear)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < N * D; i++)
        x[i] = (float)rng_normal(&rng);
    for (int i = 0; i < N; i++)
        y[i] = (int64_t)rng_below(&rng, C);
    for (int i = 0; i < COUNT; i++)
        linear->w[i] = (float)rng_normal(&rng);
}

/* The equation of the header, naively. */
static double
naive(const struct eval_linear *linear, size_t *right)
{
    double loss = 0;

    *right = 0;
    for (int i = 0; i < N; i++) {
        double sum = 0, own = 0, logit[C];
        int above = 0;

        for (int c = 0; c < C; c++) {
            logit[c] = linear->b[c];
            for (int k = 0; k < D; k++)
                logit[c] += (double)linear->w[c * D + k] * x[i * D + k];
            sum += exp(logit[c]);
        }
        own = logit[y[i]];
        for (int c = 0; c < C; c++)
            above += logit[c] > own;
        loss += log(sum) - own;
        *right += !above;
    }
    return loss;
}

static void
no_weights_give_log_c(struct eval_linear *linear)
{
    float work[N * C];

    memset(linear->w, 0, COUNT * sizeof *linear->w);
    T_NEAR(eval_logistic_sum(linear, &rows, NULL, work), N * log(C), 1e-6,
           "all logits equal: L = n log c");
}

static void
agrees_with_naive(struct eval_linear *linear)
{
    float work[N * C];
    size_t want, count[C * C] = {0}, hits = 0;

    draw(1, linear);
    T_NEAR(eval_logistic_sum(linear, &rows, NULL, work), naive(linear, &want),
           1e-5, "naive rewrite");
    T_NEAR(eval_logistic_accuracy(linear, &rows, count), (double)want / N,
           1e-12, "accuracy");
    for (size_t c = 0; c < C; c++) {
        size_t own = 0, sum = 0;

        for (size_t i = 0; i < N; i++)
            own += (size_t)rows.y[i] == c;
        for (size_t k = 0; k < C; k++)
            sum += count[c * C + k];
        hits += count[c * C + c];
        T(sum == own, "each of %zu rows of class %zu gets a label", own, c);
    }
    T(hits == want, "the correct one as often");
}

static void
shifted_logits_change_nothing(struct eval_linear *linear)
{
    float work[N * C];
    double before;

    draw(2, linear);
    before = eval_logistic_sum(linear, &rows, NULL, work);
    for (int c = 0; c < C; c++)
        linear->b[c] += 90;
    T_NEAR(eval_logistic_sum(linear, &rows, NULL, work), before, 1e-4,
           "90 more on every logit");
}

static void
gradient_is_the_slope(struct eval_linear *linear)
{
    float work[N * C], grad[COUNT], start[COUNT];
    const double h = 1e-2;
    struct rng rng;

    draw(3, linear);
    rng_init(&rng, 4, RNG_TEST, 0, 0, 0);
    eval_logistic_sum(linear, &rows, grad, work);
    memcpy(start, linear->w, sizeof start);
    for (int trial = 0; trial < 4; trial++) {
        double side[2], dot = 0;
        float u[COUNT];

        for (int i = 0; i < COUNT; i++) {
            u[i] = (float)(rng_normal(&rng) / sqrt(COUNT));
            dot += (double)grad[i] * u[i];
        }
        for (int s = 0; s < 2; s++) {
            for (int i = 0; i < COUNT; i++)
                linear->w[i] = start[i] + (float)(s ? h : -h) * u[i];
            side[s] = eval_logistic_sum(linear, &rows, NULL, work);
        }
        T_NEAR((side[1] - side[0]) / (2 * h), dot, 2e-3, "slope %d", trial);
    }
}

static void
fit_is_stationary(struct eval_linear *linear)
{
    const double l2 = 0.01;
    float work[N * C], grad[COUNT];
    double loss, sum = 0, worst = 0;

    draw(5, linear);
    memset(linear->w, 0, COUNT * sizeof *linear->w);
    eval_logistic_fit(linear, &rows, l2, 500, 1e-7, NULL, &loss);
    sum = eval_logistic_sum(linear, &rows, grad, work) / N;
    for (int i = 0; i < COUNT; i++) {
        double g = grad[i] / N + (i < D * C ? l2 * linear->w[i] : 0);

        worst = fmax(worst, fabs(g));
        if (i < D * C)
            sum += l2 / 2 * linear->w[i] * linear->w[i];
    }
    T(worst < 1e-6, "the gradient is 0 at the end of the fit: %g", worst);
    T_NEAR(loss, sum, 1e-6, "its loss includes the penalty");
}

int
main(void)
{
    struct eval_linear linear;

    eval_linear_init(&linear, D, C);
    no_weights_give_log_c(&linear);
    agrees_with_naive(&linear);
    shifted_logits_change_nothing(&linear);
    gradient_is_the_slope(&linear);
    fit_is_stationary(&linear);
    eval_linear_release(&linear);
    return t_done();
}
