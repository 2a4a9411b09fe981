#include "eval/bias.h"
#include "t.h"
#include "util/rng.h"

enum { R = 6, SIZE = 40, BATCH = 7 };

/* Estimates with a known mean, (1 + lean) g + off, and noise. */
struct drawn {
    float exact[SIZE], estimate[R * SIZE];
    double step[R], images[R], mean[SIZE];
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
        d->images[r] = 300 - 2 * (double)(r % 3);
        for (size_t i = 0; i < SIZE; i++)
            d->estimate[r * SIZE + i] =
                (float)(d->mean[i] + noise * rng_normal(&rng));
    }
}

static struct eval_bias
measure(const struct drawn *d)
{
    return eval_bias(&(struct eval_bias_data){R, SIZE, BATCH, d->estimate,
                                              d->step, d->images, d->exact});
}

/* Computes the figures by definition, from all estimates except one. */
static void
naive_figures(const struct drawn *d, size_t without, double out[BIAS_FIGURES])
{
    double a = 0, c = 0, square = 0, step = 0, images = 0;
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
            images += d->images[r];
            n++;
        }
    c /= (double)n;
    step /= (double)n;
    out[BIAS_SQUARE] = (a - 2 * c + square) / square;
    out[BIAS_COSINE] = c / sqrt(a * square);
    out[BIAS_DIRECTION] = 1 - out[BIAS_COSINE] * out[BIAS_COSINE];
    out[BIAS_SCALE] = c / square;
    out[BIAS_VARIANCE] = (step - a) / square;
    // the noise of the images alone, for a gradient as long as E G
    out[BIAS_IMAGES] = (images / (double)n / square - 1) * a / square;
    out[BIAS_NEGATIVES] = out[BIAS_VARIANCE] - out[BIAS_IMAGES];
    out[BIAS_NOISE] = BATCH * out[BIAS_VARIANCE] * square / a;
}

static void
agrees_with_the_definition(void)
{
    struct drawn d;
    struct eval_bias got;
    double all[BIAS_FIGURES], one[R][BIAS_FIGURES];
    const double t = eval_student(R - 1);

    draw_estimates(&d, 1, .1, .2, .3);
    got = measure(&d);
    naive_figures(&d, R, all);
    for (size_t r = 0; r < R; r++)
        naive_figures(&d, r, one[r]);
    for (int k = 0; k < BIAS_FIGURES; k++) {
        double mean = 0, square = 0;

        for (size_t r = 0; r < R; r++)
            mean += one[r][k] / R;
        for (size_t r = 0; r < R; r++)
            square += (one[r][k] - mean) * (one[r][k] - mean);
        T_NEAR(got.of[k].value / all[k], 1, 1e-9, "figure %d", k);
        T_NEAR(got.of[k].half / t, sqrt(square * (R - 1) / R),
               1e-9 * fabs(all[k]), "its interval");
    }
    T_NEAR(got.square, SIZE, 1e-9, "the exact one");
}

static void
follows_student(void)
{
    static const double x[] = {1, 2, 4, 5};
    const struct eval_figure mean = eval_mean(4, x);

    T(mean.value == 3, "a mean");
    T_NEAR(mean.half, eval_student(3) * sqrt(10. / 3 / 4), 1e-12,
           "with its interval");
    T_NEAR(eval_student(1), tan(.475 * acos(-1)), 1e-5, "1 degree of freedom");
    T_NEAR(eval_student(2), 4.30265, 1e-4, "2");
    T_NEAR(eval_student(3), 3.182, .01, "3");
    T_NEAR(eval_student(7), 2.365, .003, "7");
    T_NEAR(eval_student(30), 2.042, .002, "30");
}

int
main(void)
{
    agrees_with_the_definition();
    follows_student();
    return t_done();
}
