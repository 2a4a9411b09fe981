#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "foil-select/select.h"
#include "t.h"
#include "util/mem.h"

enum { SIZE = 1 << 16, BATCH = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage; /* 1: it computes, 2: it may go on, 3: it has read all */
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

/* A strategy that takes its time, and then looks at every group. */
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

static struct planner *
open_planner(const int64_t *group)
{
    static const struct select_strategy strategy = {.name = "slow",
                                                    .order = slow};
    struct planner_config config = {
        .strategy = &strategy,
        .endpoint = "ipc://nobody",
        .hello = {.stage = "select", .version = WIRE_VERSION, .size = SIZE},
        .threads = 1};
    struct planner *planner;
    struct err err;

    if (select_layout_make(SIZE, BATCH, SELECT_KEEP, &config.task.layout, &err))
        exit(2);
    config.task.group = group;
    planner = planner_open(&config, &err);
    if (!planner || !planner_ask(planner, 0, -1))
        exit(3);
    return planner;
}

/* It is closed while it computes, and what was lent to it goes. */
static void
close_early(const void *arg)
{
    int64_t *group = mem_array(SIZE, sizeof *group);
    struct planner *planner;

    (void)arg;
    for (size_t i = 0; i < SIZE; i++)
        group[i] = 1;
    planner = open_planner(group);
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
    struct planned planned;
    struct planner *planner;

    (void)arg;
    reach(2);
    planner = open_planner(group);
    while (!planner_take(planner, &planned))
        sleep(0);
    free(planned.ids);
    if (planner_close(planner))
        exit(4);
    free(group);
}

int
main(void)
{
    char scratch[256];
    struct child c;

    child_scratch(scratch);
    c = child_run(close_early, NULL);
    T(c.code == 0, "a plan in the making has its own groups: %d %s", c.code,
      c.err);
    c = child_run(close_late, NULL);
    T(c.code == 0, "one at rest is released: %d %s", c.code, c.err);
    T(!chdir("/") && !rmdir(scratch), "tidied up");
    return t_done();
}
