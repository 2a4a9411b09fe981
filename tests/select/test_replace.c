#include <string.h>

#include "select/strategies.h"
#include "t.h"

/* C(5,2) = 10 batches are equally likely. */
static void
every_batch_is_equally_likely(void)
{
    struct select_task task = {.seed = 2};
    enum { EPOCHS = 1000 };
    double count[5][5] = {{0}}, chi = 0, want;
    struct err err;

    T(!select_layout_make(5, 2, SELECT_DROP, &task.layout, &err), "layout");
    for (task.epoch = 0; task.epoch < EPOCHS; task.epoch++) {
        int64_t ids[4];

        select_strategy_replace.order(&task, ids);
        for (int i = 0; i < 4; i += 2) {
            int swap = ids[i] > ids[i + 1];

            count[ids[i + swap]][ids[i + 1 - swap]]++;
        }
    }
    want = EPOCHS * 2 / 10.;
    for (int i = 0; i < 5; i++)
        for (int j = i + 1; j < 5; j++)
            chi += pow(count[i][j] - want, 2) / want;
    T(chi < 27.9, "chi-square of 9 degrees, .001: %.1f < 27.9", chi);
}

/* A whole epoch is no permutation: with 10,000 draws of 10,000 samples the
 * share that never comes is (1 - 1/N)^N = 1/e. */
static void
some_never_come(void)
{
    static int64_t ids[10000];
    static int came[10000];
    struct select_task task = {.seed = 3};
    struct err err;
    int none = 0;

    T(!select_layout_make(10000, 10, SELECT_KEEP, &task.layout, &err),
      "layout");
    select_strategy_replace.order(&task, ids);
    for (int i = 0; i < 10000; i++)
        came[ids[i]] = 1;
    for (int i = 0; i < 10000; i++)
        none += !came[i];
    T_NEAR(none / 10000., exp(-1), 0.013, "1/e never come, four deviations");
}

/* Batches are keyed one by one: the first ones do not depend on how many
 * follow. */
static void
a_step_is_a_function_of_its_number(void)
{
    struct select_task task = {.seed = 4, .epoch = 7};
    int64_t all[40], some[30];
    struct err err;

    T(!select_layout_make(40, 10, SELECT_KEEP, &task.layout, &err), "layout");
    select_strategy_replace.order(&task, all);
    task.layout.steps = 3;
    select_strategy_replace.order(&task, some);
    T(!memcmp(all, some, sizeof some), "later steps change nothing");
}

int
main(void)
{
    every_batch_is_equally_likely();
    some_never_come();
    a_step_is_a_function_of_its_number();
    return t_done();
}
