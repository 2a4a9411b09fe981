#include <stdlib.h>
#include <string.h>

#include "eval/bias.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * How often the intervals of eval/bias.h contain the truth, by simulation: .95
 * is the aim, .93 to .97 within the noise of TIMES repetitions.
 */
enum { TIMES = 2000 };

static int
contains(struct eval_figure figure, double truth)
{
    return fabs(figure.value - truth) <= figure.half;
}

static void
means(size_t n)
{
    int hits = 0;

    for (uint64_t i = 0; i < TIMES; i++) {
        double x[32];
        struct rng rng;

        rng_init(&rng, i, RNG_TEST, n, 0, 0);
        for (size_t k = 0; k < n; k++)
            x[k] = 3 + 2 * rng_normal(&rng);
        hits += contains(eval_mean(n, x), 3);
    }
    T(hits > .93 * TIMES && hits < .97 * TIMES,
      "a mean of %zu: %d of %d intervals contain it", n, hits, TIMES);
}

/*
 * Epochs of `steps` steps each: step gradients are m + noise, in `size`
 * dimensions, with m = (1 + a) g + c h, where h is orthogonal to g and as long.
 * The exact gradients of their images are g + half of that noise.
 */
struct regime {
    size_t r, size, steps;
    double a, c, noise; /* mean square of a step's noise, in |g|^2 */
};

static void
figures(const struct regime *of)
{
    const double scale = 1 + of->a, length = scale * scale + of->c * of->c;
    const double truth[BIAS_FIGURES] = {
        [BIAS_DIRECTION] = 1 - scale * scale / length,
        [BIAS_COSINE] = scale / sqrt(length),
        [BIAS_SCALE] = scale,
        [BIAS_SQUARE] = of->a * of->a + of->c * of->c,
        [BIAS_VARIANCE] = of->noise,
        [BIAS_IMAGES] = of->noise / 4 * length,
        [BIAS_NEGATIVES] = of->noise - of->noise / 4 * length,
        [BIAS_NOISE] = 10 * of->noise / length};
    const double deviation = sqrt(of->noise / (double)of->size);
    float *estimate = mem_array(of->r * of->size, sizeof *estimate);
    float *exact = mem_array(of->size, sizeof *exact);
    double *step = mem_array(of->r, sizeof *step);
    double *images = mem_array(of->r, sizeof *images);
    double mean[BIAS_FIGURES] = {0}, half[BIAS_FIGURES] = {0};
    int hits[BIAS_FIGURES] = {0};

    exact[0] = 1;
    for (uint64_t i = 0; i < TIMES; i++) {
        struct eval_bias got;
        struct rng rng;

        rng_init(&rng, i, RNG_TEST, of->size, of->r, of->steps);
        for (size_t r = 0; r < of->r; r++) {
            float *g = estimate + r * of->size;

            memset(g, 0, of->size * sizeof *g);
            step[r] = images[r] = 0;
            for (size_t s = 0; s < of->steps; s++)
                for (size_t k = 0; k < of->size; k++) {
                    const double m = k == 0 ? scale : k == 1 ? of->c : 0;
                    const double x = deviation * rng_normal(&rng);
                    const double image = (k == 0) + x / 2;

                    g[k] += (float)((m + x) / (double)of->steps);
                    step[r] += (m + x) * (m + x) / (double)of->steps;
                    images[r] += image * image / (double)of->steps;
                }
        }
        got = eval_bias(&(struct eval_bias_data){of->r, of->size, 10, estimate,
                                                 step, images, exact});
        for (int k = 0; k < BIAS_FIGURES; k++) {
            hits[k] += contains(got.of[k], truth[k]);
            mean[k] += got.of[k].value / TIMES;
            half[k] += got.of[k].half / TIMES;
        }
    }
    for (int k = 0; k < BIAS_FIGURES; k++) {
        T(hits[k] > .92 * TIMES,
          "figure %d of %zu epochs of %zu steps, %zu numbers: %.3f of "
          "intervals contain %.4g; mean %.4g, half %.3g",
          k, of->r, of->steps, of->size, hits[k] / (double)TIMES, truth[k],
          mean[k], half[k]);
        T_NEAR(mean[k], truth[k], half[k] / 4, "without bias");
    }
    free(estimate);
    free(exact);
    free(step);
    free(images);
}

int
main(void)
{
    static const size_t numbers[] = {2, 3, 8, 32};
    static const struct regime regimes[] = {
        {8, 100, 4, 0, 0, 1},
        {8, 100, 4, -.2, .3, 1},
        {32, 20, 4, .5, .1, 4},
        {3, 100, 4, 0, .1, .4},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        means(numbers[i]);
    for (size_t i = 0; i < sizeof regimes / sizeof *regimes; i++)
        figures(&regimes[i]);
    return t_done();
}
