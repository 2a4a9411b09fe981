#include <stdlib.h>
#include <string.h>

#include "select/plan.h"
#include "select/windows.h"
#include "util/digest.h"
#include "util/mem.h"

#include "strategies.h"

struct select_plan {
    const struct select_strategy *strategy;
    struct select_task task;
    int64_t *batch; // with windows: ids of the last batch

    /* even epochs in the first, odd ones in the second */
    struct {
        int64_t *ids;
        uint64_t epoch;
        int filled;
        char name[DIGEST_HEX]; /* "": not computed yet */
    } cache[2];
};

struct select_plan *
select_plan_new(const struct select_strategy *strategy,
                const struct select_task *task)
{
    struct select_plan *plan = mem_array(1, sizeof *plan);
    const size_t total = task->windows ? 0 : select_layout_total(&task->layout);

    plan->strategy = strategy;
    plan->task = *task;
    plan->task.features = NULL;
    for (int i = 0; i < 2; i++)
        plan->cache[i].ids = mem_array(total, sizeof *plan->cache[i].ids);
    if (task->windows)
        plan->batch = mem_array(task->layout.batch + 1, sizeof *plan->batch);
    return plan;
}

void
select_plan_free(struct select_plan *plan)
{
    if (!plan)
        return;
    for (int i = 0; i < 2; i++)
        free(plan->cache[i].ids);
    mem_free(plan->batch, plan);
}

/* Assigns a cache entry to an epoch and returns its ids. */
static int64_t *
claim_entry(struct select_plan *plan, uint64_t epoch)
{
    plan->cache[epoch % 2].epoch = epoch;
    plan->cache[epoch % 2].filled = 1;
    plan->cache[epoch % 2].name[0] = '\0';
    return plan->cache[epoch % 2].ids;
}

static int
is_cached(const struct select_plan *plan, uint64_t epoch)
{
    return plan->cache[epoch % 2].filled &&
           plan->cache[epoch % 2].epoch == epoch;
}

int
select_plan_has(const struct select_plan *plan, uint64_t epoch)
{
    return plan->task.windows || is_cached(plan, epoch);
}

void
select_plan_put(struct select_plan *plan, uint64_t epoch, const int64_t *ids)
{
    memcpy(claim_entry(plan, epoch), ids,
           select_layout_total(&plan->task.layout) * sizeof *ids);
}

void
select_plan_clear(struct select_plan *plan)
{
    plan->cache[0].filled = plan->cache[1].filled = 0;
}

/* The strategy fixed has the order of epoch 0 in each. */
static uint64_t
epoch_of_order(const struct select_plan *plan, uint64_t epoch)
{
    return plan->strategy == &select_strategy_fixed ? 0 : epoch;
}

const int64_t *
select_plan_batch(struct select_plan *plan, uint64_t epoch, uint64_t step,
                  size_t *n)
{
    *n = select_layout_count(&plan->task.layout, step);
    if (plan->task.windows) {
        select_windows_ids(plan->task.windows, epoch_of_order(plan, epoch),
                           select_layout_start(&plan->task.layout, step), *n,
                           plan->batch);
        return plan->batch;
    }
    if (!is_cached(plan, epoch)) {
        plan->task.epoch = epoch;
        select_strategy_order(plan->strategy, &plan->task,
                              claim_entry(plan, epoch));
    }
    return plan->cache[epoch % 2].ids +
           select_layout_start(&plan->task.layout, step);
}

const char *
select_plan_name(struct select_plan *plan, uint64_t epoch)
{
    const struct select_layout *layout = &plan->task.layout;
    const uint64_t form[] = {layout->size, layout->steps, layout->batch,
                             layout->larger};
    char *name = plan->cache[epoch % 2].name;
    struct digest_stream *stream;
    const int64_t *ids = NULL;
    size_t n;

    if (!plan->task.windows)
        ids = select_plan_batch(plan, epoch, 0, &n);
    else if (!is_cached(plan, epoch))
        claim_entry(plan, epoch);
    if (*name)
        return name;
    stream = digest_new();
    digest_add(stream, form, sizeof form);
    if (ids)
        digest_add(stream, ids, select_layout_total(layout) * sizeof *ids);
    else
        select_windows_digest(plan->task.windows, epoch_of_order(plan, epoch),
                              stream);
    return digest_hex(digest_end(stream), name);
}
