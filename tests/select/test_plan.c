#include <string.h>

#include "select/plan.h"
#include "select/strategy.h"
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

/* The name of an epoch's order, of a plan of its own. */
static void
name_order(const struct select_task *task, uint64_t epoch, char name[64])
{
    struct err err;
    struct select_plan *plan =
        select_plan_new(select_strategy_find("shuffle", &err), task);

    snprintf(name, 64, "%s", select_plan_name(plan, epoch));
    select_plan_free(plan);
}

static void
orders_have_names(struct select_task task)
{
    char name[5][64];
    struct err err;

    name_order(&task, 3, name[0]);
    name_order(&task, 3, name[1]);
    name_order(&task, 4, name[2]);
    task.seed++;
    name_order(&task, 3, name[3]);
    task.seed--;
    select_layout_make(N, B + 1, SELECT_KEEP, &task.layout, &err);
    name_order(&task, 3, name[4]);
    T(strlen(name[0]) == 32 && !strcmp(name[0], name[1]),
      "the same order has the same name");
    T(strcmp(name[0], name[2]) && strcmp(name[0], name[3]) &&
          strcmp(name[0], name[4]),
      "that of another epoch, seed or batch has another");
}

int
main(void)
{
    struct select_task task = {.seed = 9};
    struct select_plan *plan;
    struct err err;
    int64_t own[N];
    char name[64];
    size_t count;

    T(!select_layout_make(N, B, SELECT_KEEP, &task.layout, &err), "layout");
    plan = select_plan_new(select_strategy_find("shuffle", &err), &task);

    steps_come_in_any_order(plan, &task);
    orders_have_names(task);

    T(select_plan_has(plan, 3) && !select_plan_has(plan, 1), "two are kept");
    for (int i = 0; i < N; i++)
        own[i] = N - 1 - i;
    snprintf(name, sizeof name, "%s", select_plan_name(plan, 5));
    select_plan_put(plan, 5, own);
    T(strcmp(name, select_plan_name(plan, 5)), "another order, another name");
    T(select_plan_has(plan, 5), "one that was made elsewhere");
    T(!memcmp(select_plan_batch(plan, 5, 1, &count), own + 4, 4 * sizeof *own),
      "a plan that was made elsewhere is handed out");
    select_plan_clear(plan);
    T(!select_plan_has(plan, 5), "forgotten");
    T(memcmp(select_plan_batch(plan, 5, 1, &count), own + 4, 4 * sizeof *own),
      "made anew");
    select_plan_free(plan);
    select_plan_free(NULL);
    return t_done();
}
