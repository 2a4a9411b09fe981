#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/probe.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

enum { PAIRS = 10, TRIES = 30 };

/* A point with its value and gradient. */
struct point {
    double *w, *g, f;
};

/* The last steps s and their changes y of the gradient; a ring. */
struct memory {
    double *s[PAIRS], *y[PAIRS], rho[PAIRS];
    size_t count; /* of pairs so far */
};

static void
add_scaled(size_t n, double alpha, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] += alpha * x[i];
}

static double
largest_magnitude(size_t n, const double *x)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* direction = -H g by the two-loop recursion (algorithm 7.4). */
static void
compute_direction(size_t n, const struct memory *memory, const double *g,
                  double *direction)
{
    size_t count = memory->count, n_pairs = count < PAIRS ? count : PAIRS;
    double alpha[PAIRS];

    for (size_t i = 0; i < n; i++)
        direction[i] = -g[i];
    for (size_t j = 1; j <= n_pairs; j++) {
        size_t at = (count - j) % PAIRS;

        alpha[at] =
            memory->rho[at] * num_dot_doubles(n, memory->s[at], direction);
        add_scaled(n, -alpha[at], memory->y[at], direction);
    }
    if (n_pairs) {
        size_t at = (count - 1) % PAIRS;
        double scale = 1 / (memory->rho[at] *
                            num_dot_doubles(n, memory->y[at], memory->y[at]));

        for (size_t i = 0; i < n; i++)
            direction[i] *= scale;
    }
    for (size_t j = n_pairs; j >= 1; j--) {
        size_t at = (count - j) % PAIRS;
        double beta =
            memory->rho[at] * num_dot_doubles(n, memory->y[at], direction);

        add_scaled(n, alpha[at] - beta, memory->s[at], direction);
    }
}

/* Adds the pair of a step, unless its curvature is lost in rounding. */
static void
add_pair(size_t n, struct memory *memory, const struct point *from,
         const struct point *to)
{
    size_t at = memory->count % PAIRS;
    double curvature;

    for (size_t i = 0; i < n; i++) {
        memory->s[at][i] = to->w[i] - from->w[i];
        memory->y[at][i] = to->g[i] - from->g[i];
    }
    curvature = num_dot_doubles(n, memory->s[at], memory->y[at]);
    if (curvature <= 1e-14 * num_dot_doubles(n, memory->y[at], memory->y[at]))
        return;
    memory->rho[at] = 1 / curvature;
    memory->count++;
}

/* Searches the direction, first at `length` times it, for a point with
 * sufficient decrease and a smaller slope.  Returns 1 if it found one. */
static int
search_line(size_t n, eval_function *f, void *self, const struct point *from,
            const double *direction, double length, struct point *to)
{
    const double slope = num_dot_doubles(n, from->g, direction);
    double low = 0, high = INFINITY;

    if (!(slope < 0))
        return 0;
    for (int tries = 0; tries < TRIES; tries++) {
        memcpy(to->w, from->w, n * sizeof *to->w);
        add_scaled(n, length, direction, to->w);
        to->f = f(self, to->w, to->g);
        if (!(to->f <= from->f + 1e-4 * length * slope))
            high = length;
        else if (num_dot_doubles(n, to->g, direction) < 0.9 * slope)
            low = length;
        else
            return 1;
        length = isinf(high) ? 2 * low : (low + high) / 2;
    }
    return to->f < from->f;
}

size_t
eval_lbfgs(size_t n, eval_function *f, void *self, size_t most,
           double tolerance, double *w, double *loss)
{
    double *block = mem_array((2 * PAIRS + 4) * n, sizeof *block);
    double *direction = block + 3 * n;
    struct point here = {w, block, 0}, next = {block + n, block + 2 * n, 0};
    struct memory memory = {.count = 0};
    size_t iterations = 0;

    for (size_t j = 0; j < PAIRS; j++) {
        memory.s[j] = block + (4 + 2 * j) * n;
        memory.y[j] = memory.s[j] + n;
    }
    here.f = f(self, here.w, here.g);
    while (iterations < most && largest_magnitude(n, here.g) > tolerance) {
        double first = 1, before = here.f;

        compute_direction(n, &memory, here.g, direction);
        if (!memory.count)
            first = fmin(1, 1 / sqrt(num_dot_doubles(n, here.g, here.g)));
        if (!search_line(n, f, self, &here, direction, first, &next))
            break;
        iterations++;
        add_pair(n, &memory, &here, &next);
        memcpy(here.w, next.w, n * sizeof *here.w);
        memcpy(here.g, next.g, n * sizeof *here.g);
        here.f = next.f;
        if (before - here.f <= 1e-10 * fmax(1, fabs(before)))
            break;
    }
    if (loss)
        *loss = here.f;
    free(block);
    return iterations;
}

enum { BLOCK = 1024 }; // rows at a time, so that they stay in the cache

/* What eval_lbfgs() minimises. */
struct problem {
    struct eval_linear *linear;
    const struct eval_rows *rows;
    double l2;
    const struct eval_watch *watch;
    float *grad; /* as the classifier */
    float *work; /* [BLOCK,classes] */
};

void
eval_linear_init(struct eval_linear *linear, size_t d, size_t classes)
{
    *linear = (struct eval_linear){d, classes, NULL, NULL};
    linear->w = mem_array((d + 1) * classes, sizeof *linear->w);
    linear->b = linear->w + d * classes;
}

void
eval_linear_release(struct eval_linear *linear)
{
    free(linear->w);
    *linear = (struct eval_linear){0};
}

/* Returns rows first .. first + BLOCK, or fewer at the end. */
static struct eval_rows
block_of(const struct eval_rows *rows, size_t first)
{
    size_t left = rows->n - first;

    return (struct eval_rows){left < BLOCK ? left : BLOCK, rows->d,
                              rows->x + first * rows->d, rows->y + first};
}

/* Adds b to the logits of a row, and returns the index of the first largest. */
static size_t
find_top(size_t classes, float *logit, const float *b)
{
    size_t top = 0;

    for (size_t c = 0; c < classes; c++) {
        logit[c] += b[c];
        if (logit[c] > logit[top])
            top = c;
    }
    return top;
}

/* Turns the logits of one row, without b, into dL/dlogit = p - [c = y] and
 * returns -log p_y. */
static double
softmax_gradient(size_t classes, float *logit, const float *b, size_t y)
{
    const float most = logit[find_top(classes, logit, b)];
    const double own = logit[y] - most;
    double sum = 0;

    for (size_t c = 0; c < classes; c++) {
        double odds = exp((double)logit[c] - most);

        sum += odds;
        logit[c] = (float)odds;
    }
    for (size_t c = 0; c < classes; c++)
        logit[c] = (float)(logit[c] / sum);
    logit[y] -= 1;
    return log(sum) - own;
}

double
eval_logistic_sum(const struct eval_linear *linear,
                  const struct eval_rows *rows, float *grad, float *work)
{
    size_t n = rows->n, d = linear->d, classes = linear->classes;
    double loss = 0;

    num_gemm_nt(n, classes, d, 1, rows->x, linear->w, 0, work);
    for (size_t i = 0; i < n; i++)
        loss += softmax_gradient(classes, work + i * classes, linear->b,
                                 (size_t)rows->y[i]);
    if (!grad)
        return loss;
    num_gemm_tn(classes, d, n, 1, work, rows->x, 0, grad);
    for (size_t c = 0; c < classes; c++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += work[i * classes + c];
        grad[d * classes + c] = (float)sum;
    }
    return loss;
}

double
eval_logistic_accuracy(const struct eval_linear *linear,
                       const struct eval_rows *rows, size_t *count)
{
    const size_t classes = linear->classes;
    float *work = mem_array(BLOCK * classes, sizeof *work);
    size_t right = 0;

    for (size_t first = 0; first < rows->n; first += BLOCK) {
        const struct eval_rows block = block_of(rows, first);

        num_gemm_nt(block.n, classes, block.d, 1, block.x, linear->w, 0, work);
        for (size_t i = 0; i < block.n; i++) {
            const size_t y = (size_t)block.y[i];
            const size_t top = find_top(classes, work + i * classes, linear->b);

            right += top == y;
            if (count)
                count[y * classes + top]++;
        }
    }
    free(work);
    return (double)right / (double)rows->n;
}

/* The function that is minimised: loss and gradient at w, in double. */
static double
penalised_loss(void *self, const double *w, double *g)
{
    const struct problem *problem = self;
    const struct eval_linear *linear = problem->linear;
    size_t weights = linear->d * linear->classes;
    size_t count = weights + linear->classes;
    double loss = 0, scale = 1 / (double)problem->rows->n;

    for (size_t i = 0; i < count; i++) {
        linear->w[i] = (float)w[i];
        g[i] = i < weights ? problem->l2 * w[i] : 0;
        loss += w[i] * g[i] / 2;
    }
    for (size_t first = 0; first < problem->rows->n; first += BLOCK) {
        struct eval_rows block = block_of(problem->rows, first);

        loss += scale *
                eval_logistic_sum(linear, &block, problem->grad, problem->work);
        for (size_t i = 0; i < count; i++)
            g[i] += scale * problem->grad[i];
    }
    if (problem->watch)
        problem->watch->pass(problem->watch->self);
    return loss;
}

size_t
eval_logistic_fit(struct eval_linear *linear, const struct eval_rows *rows,
                  double l2, size_t most, double tolerance,
                  const struct eval_watch *watch, double *loss)
{
    size_t count = (linear->d + 1) * linear->classes, iterations;
    struct problem problem = {linear, rows, l2, watch, NULL, NULL};
    double *w = mem_array(count, sizeof *w);

    problem.grad = mem_array(count, sizeof *problem.grad);
    problem.work = mem_array(BLOCK * linear->classes, sizeof *problem.work);
    for (size_t i = 0; i < count; i++)
        w[i] = linear->w[i];
    iterations =
        eval_lbfgs(count, penalised_loss, &problem, most, tolerance, w, loss);
    for (size_t i = 0; i < count; i++)
        linear->w[i] = (float)w[i];
    mem_free(problem.work, problem.grad, w);
    return iterations;
}

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
    mem_free((void *)rows->x, (void *)rows->y);
}

/* Chooses the penalty: fits the first rows, validates on the n_validation last
 * ones.  On return linear has the weights of the best fit. */
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
    mem_free(standard.mean, order);
}

static const float momentum = 0.9f;

/* EMC2 (Yau et al. 2024), iSogCLR (Qiu et al. 2023) and SogCLR (Yuan et al.
 * 2022), as their programs do it; isogclr-paper follows the text of that paper,
 * which differs from its program.  See lib/algorithms.md 8. */
const struct eval_sgd eval_sgd_protocols[4] = {
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
    eval_linear_release(&run.linear);
    mem_free(run.velocity, run.grad, run.work, run.order, run.x, run.y);
    return rc;
}
