#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "num/threads.h"
#include "num/vec.h"
#include "select/score.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_growth N STRATEGY BLOCK THREADS: plan an epoch of N synthetic samples
 * (d = 128, classes of 100, tau 0.2) in batches of 32.  Prints the seconds that
 * it took, those of all processors together, peak memory in MB, that of the
 * features alone, and the mean loss of a thousand batches.
 */
enum { D = 128, B = 32, CLASS = 100, JUDGED = 1000 };

static const double tau = 0.2;

/* Rows i of u and v: the centre of a random class, and noise as long. */
static void
make_row(size_t i, size_t classes, float *u, float *v)
{
    double scale = 1 / sqrt((double)D);
    struct rng rng, class_rng;

    rng_init(&rng, 1, RNG_TEST, i, 0, 0);
    rng_init(&class_rng, 1, RNG_TEST, rng_below(&rng, classes), 1, 0);
    for (size_t k = 0; k < D; k++) {
        double at = rng_normal(&class_rng) + rng_normal(&rng);

        u[k] = (float)(scale * (at + rng_normal(&rng) / 2));
        v[k] = (float)(scale * (at + rng_normal(&rng) / 2));
    }
}

static struct select_features
make(size_t n)
{
    float *u = mem_array(n * D, sizeof *u), *v = mem_array(n * D, sizeof *v);

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        make_row(i, n / CLASS + 1, u + i * D, v + i * D);
    num_unit_rows(n, D, u, u, NULL);
    num_unit_rows(n, D, v, v, NULL);
    return (struct select_features){.d = D, .u = u, .v = v};
}

/* Seconds of processors that this process has used. */
static double
busy(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* The mean loss of batches that are spread over the epoch. */
static double
judge(const struct select_task *task, const int64_t *ids)
{
    size_t steps = task->layout.steps, n = steps < JUDGED ? steps : JUDGED;
    double sum = 0;

    for (size_t i = 0; i < n; i++) {
        size_t step = i * steps / n;

        sum += select_score(task->features, tau, &task->layout, step, step + 1,
                            ids)
                   .mean;
    }
    return sum / (double)n;
}

int
main(int argc, char **argv)
{
    struct select_task task = {.seed = 1, .param = select_param_default()};
    const struct select_strategy *strategy;
    struct select_features features;
    struct rusage usage;
    double start, seconds, work;
    int64_t *ids;
    struct err err;
    size_t n;

    if (argc != 5) {
        fprintf(stderr, "bench_growth: see its source\n");
        return 2;
    }
    n = strtoul(argv[1], NULL, 10);
    task.param.tau = tau;
    task.param.block = strtoul(argv[3], NULL, 10);
    num_threads((int)strtol(argv[4], NULL, 10));
    features = make(n);
    task.features = &features;
    strategy = select_strategy_find(argv[2], &err);
    if (!strategy ||
        select_layout_make(n, B, SELECT_KEEP, &task.layout, &err)) {
        fprintf(stderr, "bench_growth: %s\n", err.msg);
        return 1;
    }
    ids = mem_array(select_layout_total(&task.layout), sizeof *ids);
    start = clock_now();
    work = busy();
    select_strategy_order(strategy, &task, ids);
    seconds = clock_now() - start;
    work = busy() - work;
    getrusage(RUSAGE_SELF, &usage);
    printf("%.3f %.3f %.0f %.0f %.4f\n", seconds, work,
           (double)usage.ru_maxrss * 1024 / 1e6, 8e-6 * (double)(n * D),
           judge(&task, ids));
    free(ids);
    free((float *)features.u);
    free((float *)features.v);
    return 0;
}
