#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/probe.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

const double eval_probe_grid[EVAL_PROBE_GRID] = {1,    1e-1, 1e-2, 1e-3,
                                                 1e-4, 1e-5, 1e-6};

/* By how much a weaker penalty must be better to count as better, and how many
 * may disappoint in a row before the search ends. */
static const double margin = 0.001;
enum { PATIENCE = 2 };

/* x <- (x - mean) scale */
struct standard {
    double *mean, *scale; /* [d] */
};

/* Rows of our own, standardised. */
struct copy {
    struct eval_rows rows;
    float *x;
    int64_t *y;
};

static void
standard_init(struct standard *standard, const struct eval_rows *rows)
{
    size_t n = rows->n, d = rows->d;

    standard->mean = mem_array(2 * d, sizeof *standard->mean);
    standard->scale = standard->mean + d;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++)
            standard->mean[j] += rows->x[i * d + j] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < d; j++) {
            double off = rows->x[i * d + j] - standard->mean[j];

            standard->scale[j] += off * off / (double)n;
        }
    for (size_t j = 0; j < d; j++) {
        double least = 1e-12 * fabs(standard->mean[j]), *s = standard->scale;

        s[j] = sqrt(s[j]) > least ? 1 / sqrt(s[j]) : 0;
    }
}

static void
standard_release(struct standard *standard)
{
    free(standard->mean);
    *standard = (struct standard){0};
}

/* Copies rows, in the order of ids when that is given. */
static void
copy_init(struct copy *copy, const struct standard *standard,
          const struct eval_rows *rows, const int64_t *ids)
{
    size_t d = rows->d;

    copy->x = mem_array(rows->n * d, sizeof *copy->x);
    copy->y = mem_array(rows->n, sizeof *copy->y);
    for (size_t i = 0; i < rows->n; i++) {
        size_t from = ids ? (size_t)ids[i] : i;
        const float *x = rows->x + from * d;

        for (size_t j = 0; j < d; j++)
            copy->x[i * d + j] =
                (float)((x[j] - standard->mean[j]) * standard->scale[j]);
        copy->y[i] = rows->y[from];
    }
    copy->rows = (struct eval_rows){rows->n, d, copy->x, copy->y};
}

static void
copy_release(struct copy *copy)
{
    free(copy->x);
    free(copy->y);
    *copy = (struct copy){0};
}

/*
 * Chooses the penalty: fits the first rows, judges on the `held` last ones.
 * linear holds the weights of the best fit on return.
 */
static void
choose_penalty(const struct eval_probe_spec *spec, const struct eval_rows *rows,
               size_t held, struct eval_linear *linear,
               struct eval_probe *probe)
{
    size_t kept = rows->n - held, d = rows->d, worse = 0;
    struct eval_rows fit = {kept, d, rows->x, rows->y};
    struct eval_rows judge = {held, d, rows->x + kept * d, rows->y + kept};
    struct eval_linear trial;

    eval_linear_init(&trial, d, spec->classes);
    probe->held_out = -1; // so that the first one is better
    for (size_t i = 0; i < EVAL_PROBE_GRID && worse < PATIENCE; i++) {
        double accuracy;

        eval_logistic_fit(&trial, &fit, eval_probe_grid[i], spec->iterations,
                          spec->tolerance, spec->watch, NULL);
        accuracy = eval_logistic_accuracy(&trial, &judge);
        worse++;
        if (accuracy < probe->held_out + margin)
            continue;
        worse = 0;
        probe->held_out = accuracy;
        probe->l2 = eval_probe_grid[i];
        memcpy(linear->w, trial.w, (d + 1) * spec->classes * sizeof *trial.w);
    }
    eval_linear_release(&trial);
}

void
eval_probe_logistic(const struct eval_probe_spec *spec,
                    const struct eval_rows *train, const struct eval_rows *test,
                    struct eval_probe *probe)
{
    size_t held = (size_t)ceil(spec->share * (double)train->n);
    int64_t *order = mem_array(train->n, sizeof *order);
    struct copy fit, judge;
    struct standard standard;
    struct eval_linear linear;
    struct rng rng;

    REQUIRE(train->n >= 2 && test->n >= 1 && train->d == test->d);
    if (held >= train->n)
        held = train->n - 1;
    for (size_t i = 0; i < train->n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, spec->seed, RNG_SPLIT, 0, 0, 0);
    rng_shuffle(&rng, train->n, order);
    standard_init(&standard, train);
    copy_init(&fit, &standard, train, order);
    copy_init(&judge, &standard, test, NULL);
    eval_linear_init(&linear, train->d, spec->classes);

    *probe = (struct eval_probe){.l2 = spec->l2};
    if (spec->l2 <= 0)
        choose_penalty(spec, &fit.rows, held, &linear, probe);
    probe->iterations =
        eval_logistic_fit(&linear, &fit.rows, probe->l2, spec->iterations,
                          spec->tolerance, spec->watch, &probe->loss);
    probe->train = eval_logistic_accuracy(&linear, &fit.rows);
    probe->accuracy = eval_logistic_accuracy(&linear, &judge.rows);
    if (spec->count)
        eval_logistic_count(&linear, &judge.rows, spec->count);

    eval_linear_release(&linear);
    copy_release(&judge);
    copy_release(&fit);
    standard_release(&standard);
    free(order);
}
