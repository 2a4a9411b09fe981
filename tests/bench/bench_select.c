#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "num/assign.h"
#include "num/threads.h"
#include "select/score.h"
#include "select/strategy.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"

/*
 * bench_select plan U.npy V.npy BATCH TAU BLOCK THREADS STRATEGY [VARIANT]
 * bench_select assign COST.npy ROOM
 *
 * Seconds to plan an epoch, or to give the points of a cost matrix [n,k] to k
 * centres with ROOM for each: the median of five, after one that is not
 * counted.  Then the mean batch loss, or the total cost.
 */
enum { TIMES = 6 };

static struct data_npy
matrix(const char *path)
{
    struct data_npy npy;
    struct err err;

    if (data_npy_read(path, &npy, &err))
        die("%s", err.msg);
    if (npy.type != DTYPE_F4)
        die("'%s' is not float32", path);
    return npy;
}

static int
rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double
median(double *seconds)
{
    qsort(seconds + 1, TIMES - 1, sizeof *seconds, rising);
    return seconds[TIMES / 2];
}

static void
plan(char **argument, const char *variant)
{
    struct data_npy u = matrix(argument[0]), v = matrix(argument[1]);
    struct select_features f = {.d = u.shape[1], .u = u.data, .v = v.data};
    struct select_task task = {.seed = 1, .features = &f};
    const struct select_strategy *strategy;
    const struct param *own;
    double seconds[TIMES];
    int64_t *ids;
    struct err err;

    strategy = select_strategy_find(argument[6], &err);
    if (!strategy)
        die("%s", err.msg);
    param_defaults(strategy->params, task.value);
    task.value[SELECT_TAU] = strtod(argument[3], NULL);
    task.value[SELECT_BLOCK] = (double)strtoul(argument[4], NULL, 10);
    own = param_find(strategy->params, "variant");
    if (own)
        task.value[own - strategy->params] = opt_index(own->arg, variant);
    num_threads((int)strtol(argument[5], NULL, 10));
    if (select_layout_make(u.shape[0], strtoul(argument[2], NULL, 10),
                           SELECT_KEEP, &task.layout, &err) ||
        select_strategy_fit(strategy, &task.layout, task.value, &err))
        die("%s", err.msg);
    ids = mem_array(select_layout_total(&task.layout), sizeof *ids);
    for (int i = 0; i < TIMES; i++) {
        double start = clock_now();

        select_strategy_order(strategy, &task, ids);
        seconds[i] = clock_now() - start;
    }
    printf("%.6f %.6f\n", median(seconds),
           select_score(&f, task.value[SELECT_TAU], &task.layout, 0,
                        task.layout.steps, ids)
               .mean);
    free(ids);
    data_npy_release(&u);
    data_npy_release(&v);
}

static void
assign(const char *path, size_t room)
{
    struct data_npy cost = matrix(path);
    const size_t n = cost.shape[0], k = cost.shape[1];
    size_t *rooms = mem_array(k, sizeof *rooms);
    uint32_t *to = mem_array(n, sizeof *to);
    double seconds[TIMES], total = 0;

    for (size_t c = 0; c < k; c++)
        rooms[c] = room;
    if (n > k * room)
        die("%zu points have no room", n);
    for (int i = 0; i < TIMES; i++) {
        double start = clock_now();

        total = num_assign(n, k, cost.data, rooms, to);
        seconds[i] = clock_now() - start;
    }
    printf("%.6f %.9g\n", median(seconds), total);
    free(rooms);
    free(to);
    data_npy_release(&cost);
}

int
main(int argc, char **argv)
{
    if (argc >= 9 && !strcmp(argv[1], "plan"))
        plan(argv + 2, argc > 9 ? argv[9] : "njw");
    else if (argc == 4 && !strcmp(argv[1], "assign"))
        assign(argv[2], strtoul(argv[3], NULL, 10));
    else
        die("see the head of bench_select.c");
    close_stdout();
    return 0;
}
