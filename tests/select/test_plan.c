#include <string.h>

#include "select/plan.h"
#include "select/shuffle.h"
#include "t.h"

enum { N = 22, B = 4, STEPS = 6, EPOCHS = 5 };

/* Epochs in no order, steps backwards: still what the strategy says. */
static void
steps_come_in_any_order(struct select_plan *plan, struct select_task *task)
{
    static const int asked[] = {4, 0, 3, 1, 2, 4, 0, 1, 0, 3};
    int same = 1;

    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        int64_t ids[N];

        task->epoch = (uint64_t)asked[i];
        select_shuffle(task, ids);
        for (size_t step = STEPS; step--;) {
            size_t n, at = select_layout_start(&task->layout, step);
            const int64_t *batch =
                select_plan_batch(plan, task->epoch, step, &n);

            same &= n == (step < 4 ? 4 : 3);
            same &= !memcmp(batch, ids + at, n * sizeof *ids);
        }
    }
    T(same, "any step of any epoch, in any order");
}

int
main(void)
{
    struct select_task task = {.seed = 9};
    struct select_plan *plan;
    struct err err;
    int64_t own[N];
    size_t count;

    T(!select_layout_make(N, B, SELECT_KEEP, &task.layout, &err), "layout");
    plan = select_plan_new(select_strategy_find("shuffle", &err), &task);

    steps_come_in_any_order(plan, &task);

    T(select_plan_has(plan, 3) && !select_plan_has(plan, 1), "two are kept");
    for (int i = 0; i < N; i++)
        own[i] = N - 1 - i;
    select_plan_put(plan, 5, own);
    T(select_plan_has(plan, 5), "one that was made elsewhere");
    T(!memcmp(select_plan_batch(plan, 5, 1, &count), own + 4, 4 * sizeof *own),
      "is handed out");
    select_plan_clear(plan);
    T(!select_plan_has(plan, 5), "forgotten");
    T(memcmp(select_plan_batch(plan, 5, 1, &count), own + 4, 4 * sizeof *own),
      "made anew");
    select_plan_free(plan);
    select_plan_free(NULL);
    return t_done();
}
