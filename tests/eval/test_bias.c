#include "eval/bias.h"
#include "t.h"
#include "util/rng.h"

enum { R = 6, SIZE = 40 };

/* Estimates with a known mean, (1 + lean) g + off, and noise. */
struct drawn {
    float exact[SIZE], estimate[R * SIZE];
    double step[R], mean[SIZE];
};

static void
draw_estimates(struct drawn *d, uint64_t seed, double lean, double off,
               double noise)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < SIZE; i++) {
        d->exact[i] = i < SIZE / 2 ? 1 : -1;
        d->mean[i] = (1 + lean) * d->exact[i] + (i % 2 ? off : -off);
    }
    for (size_t r = 0; r < R; r++) {
        d->step[r] = 500 + (double)r;
        for (size_t i = 0; i < SIZE; i++)
            d->estimate[r * SIZE + i] =
                (float)(d->mean[i] + noise * rng_normal(&rng));
    }
}

/* Computes the figures by definition, from all estimates except one. */
static void
naive_figures(const struct drawn *d, size_t without, double out[4])
{
    double a = 0, c = 0, square = 0, step = 0;
    size_t pairs = 0, n = 0;

    for (size_t i = 0; i < SIZE; i++)
        square += d->exact[i] * d->exact[i];
    for (size_t r = 0; r < R; r++)
        for (size_t s = 0; s < R; s++)
            if (r != s && r != without && s != without) {
                for (size_t i = 0; i < SIZE; i++)
                    a += (double)d->estimate[r * SIZE + i] *
                         d->estimate[s * SIZE + i];
                pairs++;
            }
    a /= (double)pairs;
    for (size_t r = 0; r < R; r++)
        if (r != without) {
            for (size_t i = 0; i < SIZE; i++)
                c += (double)d->estimate[r * SIZE + i] * d->exact[i];
            step += d->step[r];
            n++;
        }
    c /= (double)n;
    out[0] = (a - 2 * c + square) / square;
    out[1] = c / sqrt(a * square);
    out[2] = c / square;
    out[3] = (step / (double)n - a) / square;
}

static void
agrees_with_the_definition(void)
{
    struct drawn d;
    struct eval_bias got;
    double all[4], one[R][4], t = eval_student(R - 1);

    draw_estimates(&d, 1, .1, .2, .3);
    got = eval_bias(R, SIZE, d.estimate, d.step, d.exact);
    naive_figures(&d, R, all);
    for (size_t r = 0; r < R; r++)
        naive_figures(&d, r, one[r]);
    for (int k = 0; k < 4; k++) {
        const struct eval_figure figure[] = {got.bias, got.cosine, got.scale,
                                             got.variance};
        double mean = 0, square = 0;

        for (size_t r = 0; r < R; r++)
            mean += one[r][k] / R;
        for (size_t r = 0; r < R; r++)
            square += (one[r][k] - mean) * (one[r][k] - mean);
        T_NEAR(figure[k].value, all[k], 1e-9, "figure %d", k);
        T_NEAR(figure[k].half, t * sqrt(square * (R - 1) / R), 1e-9,
               "its interval");
    }
    T_NEAR(got.square, SIZE, 1e-9, "the exact one");
}

/* Over many repetitions: the mean is the truth, and 95 % of the intervals
 * contain it. */
static void
has_no_bias_of_its_own(void)
{
    enum { TIMES = 400 };
    const double truth = .2 * .2 + .3 * .3; // (lean g + off)^2 / |g|^2
    double sum = 0;
    int covered = 0;

    for (uint64_t i = 0; i < TIMES; i++) {
        struct drawn d;
        struct eval_bias got;

        draw_estimates(&d, 100 + i, -.2, .3, .5);
        got = eval_bias(R, SIZE, d.estimate, d.step, d.exact);
        sum += got.bias.value / TIMES;
        covered += fabs(got.bias.value - truth) < got.bias.half;
    }
    T_NEAR(sum, truth, .004, "bias squared, of many");
    T(covered > TIMES * .9 && covered < TIMES, "%d of %d intervals contain it",
      covered, TIMES);
}

static void
follows_student(void)
{
    static const double x[] = {1, 2, 4, 5};
    const struct eval_figure mean = eval_mean(4, x);

    T(mean.value == 3, "a mean");
    T_NEAR(mean.half, eval_student(3) * sqrt(10. / 3 / 4), 1e-12,
           "with its interval");
    T_NEAR(eval_student(3), 3.182, .01, "3 degrees of freedom");
    T_NEAR(eval_student(7), 2.365, .003, "7");
    T_NEAR(eval_student(30), 2.042, .002, "30");
}

int
main(void)
{
    agrees_with_the_definition();
    has_no_bias_of_its_own();
    follows_student();
    return t_done();
}
