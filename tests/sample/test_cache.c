#include <stdlib.h>
#include <string.h>

#include "circle.h"
#include "sample/cache.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIZE = 7, MISSING = 4, QUERIES = 512, CALLS = 80 };

static const double cosine[SIZE] = {1, .9, .5, .2, .8, -.3, -1};
static const int64_t own[QUERIES]; // all 0
static const double beta = 2;

static void
bank_init(struct sample_bank *bank)
{
    circle_init(bank, SIZE, cosine);
    circle_forget(bank, MISSING);
}

static struct arena scratch;

/* QUERIES draws by sample 0. */
static void
draw_all(const struct sample_bank *bank, double b, uint64_t step,
         struct sample_draw *draw)
{
    const struct sample_cache_settings how = {.beta = b, .step = step};

    arena_begin(&scratch);
    sample_cache_draw(&how, bank, QUERIES, own, draw, &scratch);
}

static void
the_law_is_the_softmax(void)
{
    double target[SIZE], count[SIZE] = {0}, chi, off = 0;
    struct sample_draw draw[QUERIES];
    struct sample_bank bank;

    bank_init(&bank);
    softmax(SIZE, beta, cosine, MISSING, target);
    for (uint64_t step = 0; step < CALLS; step++) {
        draw_all(&bank, beta, step, draw);
        for (size_t q = 0; q < QUERIES; q++) {
            count[draw[q].id]++;
            off = fmax(off, fabs(draw[q].log_q - log(target[draw[q].id])));
        }
    }
    chi = chi_square(SIZE, count, target);
    T(chi < 18.5, "chi-square of 4 degrees, alpha .001: %.1f < 18.5", chi);
    T(!count[0] && !count[MISSING],
      "never the own sample, nor one without a row");
    T(off < 1e-6, "log q is that of the softmax: off by %.1e", off);
    sample_bank_release(&bank);
}

/* Noise of its own for each sample, naively: argmax beta s + Gumbel. */
static void
as_gumbel_max_draws(void)
{
    double count[SIZE] = {0}, target[SIZE] = {0}, chi = 0;
    static struct sample_draw draw[QUERIES];
    struct sample_bank bank;
    struct rng rng;

    bank_init(&bank);
    rng_init(&rng, 9, RNG_TEST, 0, 0, 0);
    for (uint64_t step = 0; step < CALLS; step++) {
        draw_all(&bank, beta, 100 + step, draw);
        for (size_t q = 0; q < QUERIES; q++) {
            double most = -INFINITY;
            size_t best = 0;

            for (size_t j = 1; j < SIZE; j++) {
                const double noise = -log(-log(1 - rng_unit(&rng)));

                if (j == MISSING || !(beta * cosine[j] + noise > most))
                    continue;
                best = j;
                most = beta * cosine[j] + noise;
            }
            count[draw[q].id]++;
            target[best]++;
        }
    }
    for (size_t j = 0; j < SIZE; j++)
        if (count[j] + target[j] > 0)
            chi += (count[j] - target[j]) * (count[j] - target[j]) /
                   (count[j] + target[j]);
    T(chi < 18.5, "two samples, chi-square of 4 degrees, alpha .001: %.1f",
      chi);
    sample_bank_release(&bank);
}

/* More samples than are looked at together, their scores 40 apart. */
static void
over_many_blocks(void)
{
    enum { MANY = 1300, BINS = 13 };
    double *c = mem_array(MANY, sizeof *c),
           *target = mem_array(MANY, sizeof *target);
    double bin[BINS] = {0}, count[BINS] = {0}, chi;
    static struct sample_draw draw[QUERIES];
    struct sample_bank bank;
    int known = 1;

    for (size_t j = 0; j < MANY; j++) // slowly up, and down at once
        c[j] = j ? -cos((double)j / 100) : 1;
    circle_init(&bank, MANY, c);
    circle_forget(&bank, 600);
    for (size_t j = 0; j < MANY; j++)
        c[j] = bank.rows[2 * j];
    softmax(MANY, 2, c, 600, target);
    for (size_t j = 0; j < MANY; j++)
        bin[j / 100] += target[j];
    for (uint64_t step = 0; step < CALLS; step++) {
        draw_all(&bank, 2, step, draw);
        for (size_t q = 0; q < QUERIES; q++) {
            count[draw[q].id / 100]++;
            known &= draw[q].id != 0 && draw[q].id != 600;
        }
    }
    chi = chi_square(BINS, count, bin);
    T(chi < 32.9, "chi-square of 12 degrees, alpha .001: %.1f < 32.9", chi);
    T(known, "never the own sample, nor one without a row");
    draw_all(&bank, 1e30, 0, draw);
    T(draw[0].id == 314 || draw[0].id == 942 || c[draw[0].id] > .9999,
      "beta 1e30: the nearest of all");
    draw_all(&bank, 0, 0, draw);
    T_NEAR(draw[0].log_q, -log(MANY - 2), 1e-6, "beta 0: any other");
    sample_bank_release(&bank);
    free(c);
    free(target);
}

/* What a query that has moved to cosine t with sample 0 makes of it. */
struct naive {
    double log_z, mean; /* over the negatives */
};

static double
score(const float query[2], size_t j)
{
    return query[0] * cosine[j] + query[1] * sqrt(1 - cosine[j] * cosine[j]);
}

static struct naive
naive_of(const float query[2], double b)
{
    double sum = 0, moment = 0;

    for (size_t j = 1; j < SIZE; j++)
        if (j != MISSING) {
            sum += exp(b * score(query, j));
            moment += exp(b * score(query, j)) * score(query, j);
        }
    return (struct naive){log(sum), moment / sum};
}

/* The slope of -log p_+ in beta, by central differences. */
static double
slope_of(const float *query, double plus)
{
    const double h = 1e-4;
    double slope = 0;

    for (int side = -1; side <= 1; side += 2) {
        const double b = beta + side * h;
        const double z = naive_of(query, b).log_z;

        slope += side * log1p(exp(z - b * plus)) / (2 * h);
    }
    return slope;
}

/* All queries are one that has moved since, of that positive score. */
static void
fill_queries(const float moved[2], double plus, float *query, float *positive)
{
    for (size_t q = 0; q < QUERIES; q++) {
        memcpy(query + 2 * q, moved, 2 * sizeof *moved);
        positive[q] = (float)plus;
    }
}

/* The mean over draws of (1 - p_+) p/q s_J and of (1 - p_+) s_+ is the slope
 * of -log p_+ in beta, for a query that has moved since. */
static void
the_mean_is_the_slope(void)
{
    const float moved[2] = {.6f, -.8f};
    const double plus = .4, slope = slope_of(moved, plus);
    const struct naive naive = naive_of(moved, beta);
    static float query[QUERIES * 2], scale[QUERIES * 2], positive[QUERIES];
    static struct sample_draw draw[QUERIES];
    double sum = 0, said = 0, squares = 0, off = 0, weight = 0;
    const double number = (double)QUERIES * CALLS;
    struct sample_bank bank;

    bank_init(&bank);
    fill_queries(moved, plus, query, positive);
    for (uint64_t step = 0; step < CALLS; step++) {
        draw_all(&bank, beta, step, draw);
        said = sample_cache_weigh(beta, INFINITY, &bank, QUERIES, own, query,
                                  positive, draw, scale, &scratch);
        for (size_t q = 0; q < QUERIES; q++) {
            const double s = score(moved, (size_t)draw[q].id);
            const double p = beta * s - naive.log_z;
            const double x = scale[2 * q + 1] * s - scale[2 * q] * plus;

            off = fmax(off, fabs(scale[2 * q + 1] / scale[2 * q] /
                                     exp(p - draw[q].log_q) -
                                 1));
            off = fmax(off, fabs(scale[2 * q] -
                                 1 / (1 + exp(beta * plus - naive.log_z))));
            sum += x / number;
            squares += x * x / number;
            weight += scale[2 * q + 1] / scale[2 * q] / number;
        }
    }
    T(off < 2e-6, "p_+ and p/q agree with the naive formula: off by %.1e", off);
    T(fabs(sum - slope) < 4 * sqrt((squares - sum * sum) / number),
      "mean gradient %.4f, slope %.4f: within four deviations, alpha 6e-5", sum,
      slope);
    T(fabs(weight - 1) < .02, "the importance is 1 in the mean: %.4f", weight);
    T(fabs(said - 1) < .2, "the reported importance is 1 in the mean: %.2f",
      said);
    sample_bank_release(&bank);
}

static void
weights_have_limits(void)
{
    const float query[] = {1, 0, -1, 0, 1, 0}, positive[] = {.5f, .5f, .5f};
    const struct sample_draw draw[] = {{1, -3}, {6, -30}, {-1, 0}};
    struct sample_bank bank;
    float scale[6];

    bank_init(&bank);
    sample_cache_weigh(beta, 5, &bank, 3, own, query, positive, draw, scale,
                       &scratch);
    T_NEAR(scale[3] / scale[2], 5, 1e-6, "the importance is cut");
    T(scale[4] == 0 && scale[5] == 0, "no draw, no gradient");
    sample_cache_weigh(1e30, INFINITY, &bank, 3, own, query, positive, draw,
                       scale, &scratch);
    T(isfinite(scale[0]) && isfinite(scale[1]) && scale[0] == 1,
      "beta 1e30: finite");
    sample_bank_release(&bank);
    sample_bank_init(&bank, SIZE, 1, 2);
    T(sample_cache_weigh(beta, 5, &bank, 3, own, query, positive, draw, scale,
                         &scratch) == 0 &&
          scale[0] == 0,
      "an empty bank: nothing");
    sample_bank_release(&bank);
}

static void
a_function_of_its_key(void)
{
    static struct sample_draw a[QUERIES], b[QUERIES];
    const struct sample_cache_settings how = {.beta = beta};
    const int64_t lost[1] = {MISSING};
    struct sample_bank bank;

    bank_init(&bank);
    draw_all(&bank, beta, 0, a);
    draw_all(&bank, beta, 0, b);
    T(!memcmp(a, b, sizeof a), "the same key, the same draws");
    draw_all(&bank, beta, 1, b);
    T(memcmp(a, b, sizeof a), "another step, other draws");
    sample_cache_draw(&how, &bank, 1, lost, a, &scratch);
    T(a[0].id == -1, "without a row of its own a sample draws nothing");
    sample_bank_release(&bank);
}

int
main(void)
{
    the_law_is_the_softmax();
    as_gumbel_max_draws();
    over_many_blocks();
    the_mean_is_the_slope();
    weights_have_limits();
    a_function_of_its_key();
    arena_release(&scratch);
    return t_done();
}
