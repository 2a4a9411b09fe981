#include <stdlib.h>
#include <string.h>

#include "nn/safetensors.h"
#include "run/metrics.h"
#include "run/results.h"
#include "runs.h"
#include "util/board.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static double
find_number(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

/* Makes the folder of a run below DIR and returns its path, which has the
 * parts of the run's path except "." and "..". */
static char *
make_folder(const char *dir, const char *run)
{
    char *folder = mem_text(dir);
    struct err err;

    while (!file_mkdir(folder, 0777, &err)) {
        const size_t n = strcspn(run += strspn(run, "/"), "/");

        if (!n)
            return folder;
        if (strncmp(run, ".", n) && strncmp(run, "..", n))
            mem_append(&folder, "/%.*s", (int)n, run);
        run += n;
    }
    die("%s", err.msg);
}

/* Returns the place and time of the last step. */
static struct board_when
add_steps(struct board *board, const char *run)
{
    struct board_when when = {0};
    struct run_metrics step = {.n = 0};

    while (run_metrics_next(&step, run)) {
        if (step.n)
            when = (struct board_when){
                (int64_t)value_find(step.value, step.n, "total"),
                value_find(step.value, step.n, "time")};
        for (size_t i = 0; i < step.n; i++) {
            const char *name = step.value[i].name;

            // not those of position and time, nor of the plan
            if (opt_index("epoch|step|total|time", name) >= 0 ||
                strchr(name, '.'))
                continue;
            board_number(board, &when, mem_temp("train/%s", name),
                         step.value[i].value);
        }
    }
    run_lines_release(&step.lines);
    return when;
}

static void
add_results(struct board *board, const char *run)
{
    struct err err;
    json_t *all = run_results_read(run, &err), *one;
    char label[64];
    double figure;
    size_t i;

    or_die(!all, &err);
    json_array_foreach(all, i, one)
    {
        const struct board_when when = {(int64_t)find_number(one, "step"),
                                        find_number(one, "time")};

        if (runs_label(one, label, &figure))
            board_number(board, &when, mem_temp("eval/%s", label), figure);
    }
    json_decref(all);
}

static void
add_samples(struct board *board, const char *run, const struct board_when *when)
{
    const char *path = mem_temp("%s/latest/samples.safetensors", run);
    struct nn_array *array = NULL;
    struct err err;
    size_t n = 0;

    if (file_exists(path) && nn_arrays_read(path, &array, &n, NULL, &err))
        die("%s", err.msg);
    for (size_t i = 0; i < n; i++)
        if (!strcmp(array[i].dtype, "F32") && !strchr(array[i].name, '.'))
            board_histogram(board, when, mem_temp("sample/%s", array[i].name),
                            array[i].data, array[i].count);
    if (array)
        nn_arrays_free(array, n);
}

void
runs_write_events(const char *dir, const char *run)
{
    char *folder = make_folder(dir, run);
    const char *name = mem_temp("%s/events.out.tfevents.foil-runs", folder);
    struct file_draft draft;
    struct board_when last;
    struct board *board;
    struct err err;

    or_die(file_draft_open(&draft, name, &err), &err);
    board = board_open(draft.file, name, (double)clock_wall() / 1e9);
    last = add_steps(board, run);
    add_results(board, run);
    add_samples(board, run, &last);
    if (board_close(board, &err)) {
        file_draft_drop(&draft);
        die("%s", err.msg);
    }
    or_die(file_draft_keep(&draft, &err), &err);
    free(folder);
}
