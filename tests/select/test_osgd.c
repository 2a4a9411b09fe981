#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "select/score.h"
#include "select/strategies.h"
#include "t.h"

static const struct select_strategy *
strategy_of(const char *name)
{
    return strcmp(name, "osgd") ? &select_strategy_osgd_full
                                : &select_strategy_osgd;
}

static void
set(const struct select_strategy *strategy, size_t draws, size_t keep,
    int replace, double *value)
{
    param_defaults(strategy->params, value);
    value[OSGD_TOP] = (double)keep;
    value[OSGD_DRAWS] = (double)draws;
    value[OSGD_REPLACE] = replace;
}

/* A task of N samples in batches of B, fitted to a strategy. */
static struct select_task
task_of(const char *name, size_t size, size_t batch, size_t draws, size_t keep,
        int replace, const struct select_features *f)
{
    const struct select_strategy *strategy = strategy_of(name);
    struct select_task task = {.seed = 3, .features = f};
    struct err err;

    set(strategy, draws, keep, replace, task.value);
    T(!select_layout_make(size, batch, SELECT_KEEP, &task.layout, &err) &&
          !select_strategy_fit(strategy, &task.layout, task.value, &err),
      "%s: %zu samples in batches of %zu, %zu of %zu", name, size, batch, keep,
      draws);
    return task;
}

static double
loss_of(const struct select_task *task, const int64_t *ids)
{
    static float work[4096];
    size_t b = task->layout.batch;

    REQUIRE(select_batch_work(b, task->features->d) <= 4096);
    return select_batch_loss(task->features, task->value[SELECT_TAU], b, ids,
                             work);
}

/* The losses of the 6 pairs of 4 samples, falling. */
static void
ranks(const struct select_task *task, double loss[6])
{
    size_t n = 0;

    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = i + 1; j < 4; j++) {
            double new = loss_of(task, (int64_t[]){i, j});
            size_t at = n++;

            for (; at && loss[at - 1] < new; at--)
                loss[at] = loss[at - 1];
            loss[at] = new;
        }
}

static double
choose(int n, int k)
{
    double count = 1;

    if (k < 0 || k > n)
        return 0;
    for (int i = 1; i <= k; i++)
        count = count * (n - k + i) / i;
    return count;
}

/* gamma_j of the header. */
static double
gamma_of(int m, int k, int q, int j)
{
    double sum = 0;

    for (int l = 0; l < q; l++)
        sum += choose(j - 1, l) * choose(m - j, k - l - 1) / choose(m, k);
    return sum;
}

/* Draws of 3 of the 6 batches there are train the j-th hardest as often as
 * the formula says. */
static void
drawn_as_the_theory_says(int q)
{
    static const double by_hand[] = {.5, .3, .15, .05, 0, 0};
    enum { EPOCHS = 1500 };
    float *memory;
    struct select_features f = clusters(4, 8, 4, 1, &memory);
    struct select_task task = task_of("osgd", 4, 2, 3, (size_t)q, 1, &f);
    double loss[6], count[6] = {0}, chi = 0, total = 0;

    ranks(&task, loss);
    for (task.epoch = 0; task.epoch < EPOCHS; task.epoch++) {
        int64_t ids[4];

        select_strategy_osgd.order(&task, ids);
        for (int i = 0; i < 4; i += 2) {
            int j = 0;

            while (j < 5 && fabs(loss_of(&task, ids + i) - loss[j]) > 1e-9)
                j++;
            count[j]++;
            total++;
        }
    }
    for (int j = 0; j < 6; j++) {
        double want = gamma_of(6, 3, q, j + 1) * total / q;

        if (q == 1)
            T_NEAR(gamma_of(6, 3, 1, j + 1), by_hand[j], 1e-12,
                   "gamma_%d by hand", j + 1);
        if (want > 0)
            chi += pow(count[j] - want, 2) / want;
        else
            T(!count[j], "q = %d: rank %d is never trained", q, j + 1);
    }
    T(chi < 18.5, "q = %d: chi-square of 3 or 4 degrees, .001: %.1f", q, chi);
    free(memory);
}

/* Of each group of a partition the hardest ones, and each sample once at
 * most. */
static void
hardest_of_each_group(void)
{
    enum { N = 67, B = 4, DRAWS = 5, KEEP = 2, GROUPS = 4 };
    float *memory;
    struct select_features f = clusters(N, 8, 5, 1, &memory);
    struct select_task task = task_of("osgd", N, B, DRAWS, KEEP, 0, &f), all;
    int64_t ids[GROUPS * KEEP * B], partition[N];
    int wrong = 0, came[N] = {0};

    T(task.layout.steps == GROUPS * KEEP && task.layout.batch == B &&
          !task.layout.larger,
      "16 batches are 4 groups of 4: 8 steps");
    select_strategy_osgd.order(&task, ids);
    all = task;
    all.layout.steps = 16;
    select_shuffle(&all, partition);
    for (int g = 0; g < GROUPS; g++) {
        const int64_t *mine = ids + g * KEEP * B;
        double soft = loss_of(&task, mine), hard = loss_of(&task, mine + B);
        int below = 0;

        wrong += soft > hard;
        for (int i = 0; i < 4; i++)
            below += loss_of(&task, partition + (g * 4 + i) * B) < soft;
        wrong += below != 4 - KEEP;
    }
    for (int i = 0; i < GROUPS * KEEP * B; i++)
        wrong += came[ids[i]]++;
    T(!wrong, "the two hardest of each, rising, no sample twice");
    free(memory);
}

static void
hardest_of_all(void)
{
    float *memory;
    struct select_features f = clusters(8, 16, 3, 1, &memory);
    struct select_task task = task_of("osgd-full", 8, 3, 10, 2, 0, &f);
    int64_t ids[6];
    int above_first = 0, above_second = 0;

    T(task.layout.steps == 2, "an epoch of `keep` steps");
    select_strategy_osgd_full.order(&task, ids);
    for (int64_t i = 0; i < 8; i++)
        for (int64_t j = i + 1; j < 8; j++)
            for (int64_t k = j + 1; k < 8; k++) {
                double loss = loss_of(&task, (int64_t[]){i, j, k});

                above_first += loss > loss_of(&task, ids + 3);
                above_second += loss > loss_of(&task, ids);
            }
    T(above_first == 0 && above_second == 1, "the largest two of C(8,3)");
    free(memory);
}

/* A batch that holds a new sample is judged by the others, one of new samples
 * is trained first. */
static void
new_samples_are_not_forgotten(void)
{
    uint8_t known[9] = {1, 1, 1, 1, 1, 1, 0, 0, 0};
    float *memory;
    struct select_features f = clusters(9, 8, 3, 1, &memory);
    struct select_task task = task_of("osgd-full", 9, 3, 10, 1, 0, &f);
    int64_t ids[3];

    f.known = known;
    memory[8 * 8] = NAN; // of a sample that has no features
    select_strategy_osgd_full.order(&task, ids);
    T(ids[0] == 6 && ids[1] == 7 && ids[2] == 8, "all three new ones");
    free(memory);
}

static void
refuses(const char *name, size_t size, size_t batch, size_t draws, size_t keep,
        int replace, const char *why)
{
    const struct select_strategy *strategy = strategy_of(name);
    struct select_layout layout;
    double value[PARAM_MOST];
    struct err err;

    set(strategy, draws, keep, replace, value);
    select_layout_make(size, batch, SELECT_DROP, &layout, &err);
    T(select_strategy_fit(strategy, &layout, value, &err) &&
          strstr(err.msg, why),
      "%s: %s", name, err.msg);
}

int
main(void)
{
    drawn_as_the_theory_says(1);
    drawn_as_the_theory_says(2);
    hardest_of_each_group();
    hardest_of_all();
    new_samples_are_not_forgotten();
    refuses("osgd", 64, 8, 3, 4, 0, "top=4 of draws=3");
    refuses("osgd", 4, 2, 7, 1, 1, "only 6 different ones of 2");
    refuses("osgd-full", 64, 8, 10, 1, 0, "more different batches of 8");
    refuses("osgd-full", 50000, 256, 10, 1, 0, "than the 1048576");
    refuses("osgd-full", 4, 2, 10, 7, 0, "only 6 different ones of 2");
    return t_done();
}
