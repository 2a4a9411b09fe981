#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/live.h"
#include "t.h"

/* A status with one value. */
static struct wire_status
status_of(const char *stage, int64_t number, const char *name, double value)
{
    struct wire_status status = {.number = number, .n = 1};

    snprintf(status.stage, sizeof status.stage, "%s", stage);
    snprintf(status.values[0].name, sizeof status.values->name, "%s", name);
    status.values[0].value = value;
    return status;
}

static void
put(struct run_stages *stages, const char *stage, int64_t number, double made,
    double now)
{
    const struct wire_status status = status_of(stage, number, "made", made);

    run_stages_put(stages, &status, now);
}

static void
the_last_status_counts(void)
{
    struct run_stages stages = {0};
    const struct run_stage *one;

    put(&stages, "augment", 1, 10, 100);
    put(&stages, "augment", 2, 0, 100);
    put(&stages, "augment", 1, 30, 104);
    one = run_stages_find(&stages, "augment", 1);
    T(stages.n == 2 && one == stages.stage && one->received_at == 104 &&
          run_stage_value(one, "made") == 30 &&
          isnan(run_stage_value(one, "room")),
      "a stage has its last status");
    T(one->rate == 5 && isnan(stages.stage[1].rate),
      "a rate needs two statuses");
    T(!run_stages_find(&stages, "augment", 3) &&
          !run_stages_find(&stages, "train", 1),
      "other stages are not found");
    for (int i = 0; i < RUN_STAGES_MAX + 5; i++)
        put(&stages, "augment", 10 + i, 0, 1);
    T(stages.n == RUN_STAGES_MAX, "their number is limited");
    run_stages_release(&stages);
}

static void
a_file_stores_them(void)
{
    struct run_stages stages = {0}, again = {0};

    put(&stages, "train", 1, 2.5, 7);
    put(&stages, "augment", 4, 3, 7);
    run_stages_save(&stages, ".", 12);
    run_stages_load(&again, ".", 13);
    run_stages_load(&again, "none", 12);
    T(!again.n, "stages of another step or run are not loaded");
    run_stages_load(&again, ".", 12);
    T(again.n == 2 &&
          !memcmp(&again.stage[1].status, &stages.stage[1].status,
                  sizeof stages.stage->status) &&
          run_stage_value(again.stage, "made") == 2.5,
      "stages of the step are restored");
    T(again.stage[0].received_at == 0, "without a time of receipt");
    run_stages_release(&stages);
    run_stages_release(&again);
    unlink("stages.json");
}

int
main(void)
{
    char folder[] = "/tmp/stages-XXXXXX";

    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    the_last_status_counts();
    a_file_stores_them();
    if (!chdir("/"))
        rmdir(folder);
    return t_done();
}
