#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "child.h"
#include "foil-select/select.h"
#include "t.h"
#include "util/mem.h"

enum { SIZE = 1 << 16, BATCH = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage; /* 1: it computes, 2: it may continue, 3: it has read all */
static int64_t sum;

static void
reach(int next)
{
    pthread_mutex_lock(&lock);
    stage = next > stage ? next : stage;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void
await(int want)
{
    pthread_mutex_lock(&lock);
    while (stage < want)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

/* A strategy that waits for stage 2, and then reads every group. */
static void
slow(const struct select_task *task, int64_t *ids)
{
    reach(1);
    await(2);
    for (size_t i = 0; i < task->layout.size; i++) {
        ids[i] = (int64_t)i;
        sum += task->group[i];
    }
    reach(3);
}

static int calls, priority;

/* A strategy that only waits for stage 2 in its first call. */
static void
first_waits(const struct select_task *task, int64_t *ids)
{
    int first;

    pthread_mutex_lock(&lock);
    first = !calls++;
    pthread_mutex_unlock(&lock);
    priority = getpriority(PRIO_PROCESS, 0); // of this thread
    if (first)
        await(2);
    for (size_t i = 0; i < task->layout.size; i++)
        ids[i] = (int64_t)i;
}

static const struct select_strategy slowly = {.name = "slow", .order = slow},
                                    waits = {.name = "waits",
                                             .order = first_waits};

static struct planner *
open_planner(const struct select_strategy *strategy, const int64_t *group)
{
    struct planner_config config = {
        .strategy = strategy,
        .endpoint = "ipc://nobody",
        .hello = {.stage = "select", .version = WIRE_VERSION, .size = SIZE},
        .threads = 1};
    struct planner *planner;
    struct err err;

    if (select_layout_make(SIZE, BATCH, SELECT_KEEP, &config.task.layout, &err))
        exit(2);
    config.task.group = group;
    planner = planner_open(&config, &err);
    if (!planner)
        exit(3);
    return planner;
}

/* Closes a planner while it computes, and frees the caller's groups. */
static void
close_early(const void *arg)
{
    int64_t *group = mem_array(SIZE, sizeof *group);
    struct planner *planner;

    (void)arg;
    for (size_t i = 0; i < SIZE; i++)
        group[i] = 1;
    planner = open_planner(&slowly, group);
    planner_ask(planner, 0, -1);
    await(1);
    if (planner_close(planner) != 1)
        _Exit(4);
    memset(group, 0, SIZE * sizeof *group);
    free(group);
    reach(2);
    await(3);
    _Exit(sum == SIZE ? 0 : 5);
}

static void
close_late(const void *arg)
{
    int64_t *group = mem_array(SIZE, sizeof *group);
    struct planner_plan planned;
    struct planner *planner;

    (void)arg;
    reach(2);
    planner = open_planner(&slowly, group);
    planner_ask(planner, 0, -1);
    while (!planner_take(planner, &planned))
        sleep(0);
    free(planned.ids);
    if (planner_close(planner))
        exit(4);
    free(group);
}

/* Makes the plan of an epoch; returns the priority of its thread. */
static int
made_at(struct planner *planner, int64_t epoch, int urgent)
{
    struct planner_plan planned;

    planner_set_urgent(planner, urgent);
    if (!planner_ask(planner, epoch, -1))
        exit(5);
    while (!planner_take(planner, &planned))
        sleep(0);
    if (planned.epoch != epoch)
        exit(6);
    free(planned.ids);
    return priority;
}

static void
plan_ahead(const void *arg)
{
    struct planner *planner = open_planner(&waits, NULL);

    (void)arg;
    reach(2);
    exit(made_at(planner, 0, 0));
}

static void
plan_urgently(const void *arg)
{
    struct planner *planner = open_planner(&waits, NULL);

    (void)arg;
    reach(2);
    exit(made_at(planner, 0, 1));
}

/* The low-priority thread makes no progress, as on a busy machine. */
static void
take_over(const void *arg)
{
    struct planner *planner = open_planner(&waits, NULL);
    struct planner_plan planned;

    (void)arg;
    planner_ask(planner, 0, -1);
    while (!calls)
        sleep(0);
    planner_set_urgent(planner, 1);
    while (!planner_take(planner, &planned))
        sleep(0);
    free(planned.ids);
    // still none: it does not get the next plan either
    if (made_at(planner, 1, 0) == 19 && getpriority(PRIO_PROCESS, 0) != 19)
        exit(4);
    if (planner_close(planner) != 1)
        exit(5);
    _Exit(0);
}

int
main(void)
{
    char scratch[256];
    struct child c;

    child_scratch(scratch);
    c = child_run(close_early, NULL);
    T(c.code == 0, "a running plan has its own groups: %d %s", c.code, c.err);
    c = child_run(close_late, NULL);
    T(c.code == 0, "an idle planner is released: %d %s", c.code, c.err);
    c = child_run(plan_ahead, NULL);
    T(c.code == 19, "the trainer does not wait: at the lowest priority: %d",
      c.code);
    c = child_run(plan_urgently, NULL);
    T(c.code == getpriority(PRIO_PROCESS, 0),
      "the trainer waits: at normal priority: %d", c.code);
    c = child_run(take_over, NULL);
    T(c.code == 0, "if that thread is too slow, the other makes it: %d",
      c.code);
    T(!chdir("/") && !rmdir(scratch), "tidied up");
    return t_done();
}
