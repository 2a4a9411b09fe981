#include <string.h>

#include "select/strategies.h"
#include "t.h"

enum { N = 23, B = 5 };

static struct select_task
task_of(enum select_remainder remainder, uint64_t epoch)
{
    struct select_task task = {.seed = 1, .epoch = epoch};
    struct err err;

    T(!select_layout_make(N, B, remainder, &task.layout, &err), "layout");
    return task;
}

/* How often each id comes in an epoch: between *low and *high times. */
static void
counts(const struct select_task *task, int *low, int *high)
{
    int64_t ids[2 * N];
    int count[N] = {0};

    select_shuffle(task, ids);
    for (size_t i = 0; i < select_layout_total(&task->layout); i++)
        count[ids[i]]++;
    *low = *high = count[0];
    for (int i = 1; i < N; i++) {
        *low = count[i] < *low ? count[i] : *low;
        *high = count[i] > *high ? count[i] : *high;
    }
}

static void
keep_is_a_permutation(void)
{
    struct select_task task = task_of(SELECT_KEEP, 0);
    int wrong = 0, low, high;

    for (task.epoch = 0; task.epoch < 50; task.epoch++) {
        counts(&task, &low, &high);
        wrong += low != 1 || high != 1;
    }
    T(!wrong, "keep: each sample exactly once in every epoch");
}

static void
others_say_what_they_do(void)
{
    struct select_task drop = task_of(SELECT_DROP, 0);
    struct select_task wrap = task_of(SELECT_WRAP, 0);
    int low, high;

    counts(&drop, &low, &high);
    T(low == 0 && high == 1, "drop: at most once");
    counts(&wrap, &low, &high);
    T(low == 1 && high == 2, "wrap: at least once, at most twice");
}

/* Under a uniform permutation each sample is equally often the first. */
static void
every_sample_comes_first(void)
{
    struct select_task task = task_of(SELECT_KEEP, 0);
    enum { EPOCHS = 4600 };
    double count[N] = {0}, chi = 0;

    for (task.epoch = 0; task.epoch < EPOCHS; task.epoch++) {
        int64_t ids[N];

        select_shuffle(&task, ids);
        count[ids[0]]++;
    }
    for (int i = 0; i < N; i++)
        chi += pow(count[i] - (double)EPOCHS / N, 2) / ((double)EPOCHS / N);
    T(chi < 48.3, "chi-square of 22 degrees, .001: %.1f < 48.3", chi);
}

static void
fixed_stays(void)
{
    struct select_task first = task_of(SELECT_KEEP, 0);
    struct select_task later = task_of(SELECT_KEEP, 7);
    int64_t a[N], b[N];

    select_shuffle(&first, a);
    select_strategy_fixed.order(&later, b);
    T(!memcmp(a, b, sizeof a), "fixed: epoch 7 is the shuffle of epoch 0");
    select_shuffle(&later, b);
    T(memcmp(a, b, sizeof a), "shuffle: epoch 7 is another order");
}

int
main(void)
{
    keep_is_a_permutation();
    others_say_what_they_do();
    every_sample_comes_first();
    fixed_stays();
    return t_done();
}
