#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/probe.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

const double eval_probe_grid[EVAL_PROBE_GRID] = {1,    1e-1, 1e-2, 1e-3,
                                                 1e-4, 1e-5, 1e-6};

/* The gain in accuracy that makes a weaker penalty better, and the number of
 * penalties in a row that may fail before the search ends. */
static const double margin = 0.001;
enum { PATIENCE = 2 };

/* x <- (x - mean) scale */
struct standard {
    double *mean, *scale; /* [d] */
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

/* Returns a standardised copy of rows, in the order of ids unless it is NULL.
 * The caller frees x and y. */
static struct eval_rows
standardise_rows(const struct standard *standard, const struct eval_rows *rows,
                 const int64_t *ids)
{
    const size_t d = rows->d;
    float *copy = mem_array(rows->n * d, sizeof *copy);
    int64_t *y = mem_array(rows->n, sizeof *y);

    for (size_t i = 0; i < rows->n; i++) {
        const size_t from = ids ? (size_t)ids[i] : i;
        const float *x = rows->x + from * d;

        for (size_t j = 0; j < d; j++)
            copy[i * d + j] =
                (float)((x[j] - standard->mean[j]) * standard->scale[j]);
        y[i] = rows->y[from];
    }
    return (struct eval_rows){rows->n, d, copy, y};
}

static void
release_rows(struct eval_rows *rows)
{
    free((void *)rows->x);
    free((void *)rows->y);
}

/*
 * Chooses the penalty: fits the first rows, validates on the n_validation last
 * ones.  On return linear has the weights of the best fit.
 */
static void
choose_penalty(const struct eval_probe_spec *spec, const struct eval_rows *rows,
               size_t n_validation, struct eval_linear *linear,
               struct eval_probe *probe)
{
    size_t n_fit = rows->n - n_validation, d = rows->d, worse = 0;
    struct eval_rows fit = {n_fit, d, rows->x, rows->y};
    struct eval_rows validation = {n_validation, d, rows->x + n_fit * d,
                                   rows->y + n_fit};
    struct eval_linear trial;

    eval_linear_init(&trial, d, spec->classes);
    probe->held_out = -1; // below any accuracy
    for (size_t i = 0; i < EVAL_PROBE_GRID && worse < PATIENCE; i++) {
        double accuracy;

        eval_logistic_fit(&trial, &fit, eval_probe_grid[i], spec->iterations,
                          spec->tolerance, spec->watch, NULL);
        accuracy = eval_logistic_accuracy(&trial, &validation, NULL);
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
    size_t n_validation = (size_t)ceil(spec->share * (double)train->n);
    int64_t *order = mem_array(train->n, sizeof *order);
    struct eval_rows fit, tested;
    struct standard standard;
    struct eval_linear linear;
    struct rng rng;

    REQUIRE(train->n >= 2 && test->n >= 1 && train->d == test->d);
    if (n_validation >= train->n)
        n_validation = train->n - 1;
    for (size_t i = 0; i < train->n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, spec->seed, RNG_SPLIT, 0, 0, 0);
    rng_shuffle(&rng, train->n, order);
    standard_init(&standard, train);
    fit = standardise_rows(&standard, train, order);
    tested = standardise_rows(&standard, test, NULL);
    eval_linear_init(&linear, train->d, spec->classes);

    *probe = (struct eval_probe){.l2 = spec->l2};
    if (spec->l2 <= 0)
        choose_penalty(spec, &fit, n_validation, &linear, probe);
    probe->iterations =
        eval_logistic_fit(&linear, &fit, probe->l2, spec->iterations,
                          spec->tolerance, spec->watch, &probe->loss);
    probe->train = eval_logistic_accuracy(&linear, &fit, NULL);
    probe->accuracy = eval_logistic_accuracy(&linear, &tested, spec->count);

    eval_linear_release(&linear);
    release_rows(&tested);
    release_rows(&fit);
    free(standard.mean);
    free(order);
}

static const float momentum = 0.9f;

/*
 * EMC2 (Yau et al. 2024), iSogCLR (Qiu et al. 2023) and SogCLR (Yuan et al.
 * 2022), as their programs do it; isogclr-paper follows the text of that paper,
 * which differs from its program.  See lib/algorithms.md 8.
 */
static const struct eval_sgd protocols[] = {
    {"emc2", 1e-3, 1024, 100, 0, 0, EVAL_RATE_CONSTANT, 0, 0},
    {"isogclr", 30, 128, 100, 1, 1, EVAL_RATE_FIFTHS, 0, 0},
    {"isogclr-paper", 30, 256, 100, 1, 0, EVAL_RATE_FIFTHS, 0, 1},
    {"sogclr", 0.075 * 1024 / 256, 1024, 90, 1, 0, EVAL_RATE_COSINE, 0.01, 0},
};

/* One run: the classifier, its velocity, and room for a batch. */
struct run {
    const struct eval_sgd *sgd;
    const struct eval_rows *train;
    struct eval_linear linear;
    size_t count; /* of weights, b included */
    float *velocity, *grad, *work;
    int64_t *order; /* [train->n] */
    float *x;       /* [batch,d] */
    int64_t *y;     /* [batch] */
};

static const char *
name_protocol(size_t i)
{
    return i < sizeof protocols / sizeof *protocols ? protocols[i].name : NULL;
}

const struct eval_sgd *
eval_sgd_find(const char *name, struct err *err)
{
    for (size_t i = 0; i < sizeof protocols / sizeof *protocols; i++)
        if (!strcmp(protocols[i].name, name))
            return &protocols[i];
    err_name(err, "probe", name, strlen(name), name_protocol);
    return NULL;
}

static void
run_init(struct run *run, const struct eval_sgd *sgd, size_t classes,
         uint64_t seed, const struct eval_rows *train)
{
    size_t d = train->d, count = (d + 1) * classes;
    double bound = 1 / sqrt((double)d);
    struct rng rng;

    *run = (struct run){.sgd = sgd, .train = train, .count = count};
    eval_linear_init(&run->linear, d, classes);
    run->velocity = mem_array(count, sizeof *run->velocity);
    run->grad = mem_array(count, sizeof *run->grad);
    run->work = mem_array(sgd->batch * classes, sizeof *run->work);
    run->order = mem_array(train->n, sizeof *run->order);
    run->x = mem_array(sgd->batch * d, sizeof *run->x);
    run->y = mem_array(sgd->batch, sizeof *run->y);
    for (size_t i = 0; i < train->n; i++)
        run->order[i] = (int64_t)i;
    rng_init(&rng, seed, RNG_INIT, 0, 0, 0);
    for (size_t i = 0; i < count; i++)
        if (sgd->spread <= 0)
            run->linear.w[i] = (float)rng_range(&rng, -bound, bound);
        else if (i < d * classes)
            run->linear.w[i] = (float)(sgd->spread * rng_normal(&rng));
}

static void
run_release(struct run *run)
{
    eval_linear_release(&run->linear);
    free(run->velocity);
    free(run->grad);
    free(run->work);
    free(run->order);
    free(run->x);
    free(run->y);
}

static double
rate_at(const struct eval_sgd *sgd, size_t epoch)
{
    double done = (double)epoch / (double)sgd->epochs;
    const double pi = acos(-1);

    switch (sgd->schedule) {
    case EVAL_RATE_FIFTHS:
        return sgd->rate *
               pow(0.2, (done >= 0.4) + (done >= 0.6) + (done >= 0.8));
    case EVAL_RATE_COSINE:
        return sgd->rate * (1 + cos(pi * done)) / 2;
    default:
        return sgd->rate;
    }
}

/* Trains one epoch; returns the mean loss over its batches. */
static double
run_epoch(struct run *run, uint64_t seed, size_t epoch)
{
    size_t n = run->train->n, d = run->train->d;
    const double rate = rate_at(run->sgd, epoch);
    const double of_velocity =
        run->sgd->nesterov ? rate * (double)momentum : rate;
    double loss = 0;

    if (run->sgd->shuffle) {
        struct rng rng;

        rng_init(&rng, seed, RNG_EVAL, epoch, 0, 0);
        rng_shuffle(&rng, n, run->order);
    }
    for (size_t first = 0; first < n; first += run->sgd->batch) {
        size_t left = n - first;
        size_t rows = left < run->sgd->batch ? left : run->sgd->batch;
        struct eval_rows batch = {rows, d, run->x, run->y};

        for (size_t i = 0; i < rows; i++) {
            size_t from = (size_t)run->order[first + i];

            memcpy(run->x + i * d, run->train->x + from * d,
                   d * sizeof *run->x);
            run->y[i] = run->train->y[from];
        }
        loss += eval_logistic_sum(&run->linear, &batch, run->grad, run->work);
        num_scale(run->count, momentum, run->velocity);
        num_axpy(run->count, 1 / (float)rows, run->grad, run->velocity);
        if (run->sgd->nesterov) {
            num_axpy(run->count, (float)-rate / (float)rows, run->grad,
                     run->linear.w);
        }
        num_axpy(run->count, (float)-of_velocity, run->velocity, run->linear.w);
    }
    return loss / (double)n;
}

int
eval_probe_sgd(const struct eval_sgd *sgd, const struct eval_probe_spec *spec,
               const struct eval_rows *train, const struct eval_rows *test,
               struct eval_probe *probe, struct err *err)
{
    struct run run;
    int rc = 0;

    REQUIRE(train->n >= 1 && test->n >= 1 && train->d == test->d);
    *probe = (struct eval_probe){.iterations = sgd->epochs};
    run_init(&run, sgd, spec->classes, spec->seed, train);
    for (size_t epoch = 0; epoch < sgd->epochs; epoch++) {
        int last = epoch + 1 == sgd->epochs;

        probe->loss = run_epoch(&run, spec->seed, epoch);
        if (spec->watch)
            spec->watch->pass(spec->watch->self);
        if (!num_finite(run.count, run.linear.w)) {
            rc = err_set(err,
                         "the probe diverged in epoch %zu: its rate of %g is "
                         "too large for these features",
                         epoch + 1, sgd->rate);
            break;
        }
        if (sgd->best || last) {
            double accuracy = eval_logistic_accuracy(&run.linear, test, NULL);

            if (!sgd->best || !epoch || accuracy > probe->accuracy) {
                probe->accuracy = accuracy;
                probe->epoch = epoch + 1;
                if (spec->count) {
                    memset(spec->count, 0,
                           spec->classes * spec->classes * sizeof *spec->count);
                    eval_logistic_accuracy(&run.linear, test, spec->count);
                }
            }
        }
    }
    probe->train = eval_logistic_accuracy(&run.linear, train, NULL);
    run_release(&run);
    return rc;
}
