#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nn/checkpoint.h"
#include "run/metrics.h"
#include "run/results.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/terminal.h"

int
run_results_manifest(const char *run, long step, char hex[33], struct err *err)
{
    return nn_checkpoint_digest(mem_temp("%s/step-%08ld", run, step), hex, err);
}

/* The step of the checkpoint that has this manifest, or -1. */
static long
find_step_of_manifest(const char *run, const char *manifest)
{
    char hex[DIGEST_HEX];
    struct err ignored;
    long found = -1;
    size_t n;
    long *steps = nn_checkpoint_steps(run, &n, &ignored);

    for (size_t i = n; steps && i-- && found < 0;)
        if (!run_results_manifest(run, steps[i], hex, &ignored) &&
            !strcmp(hex, manifest))
            found = steps[i];
    free(steps);
    return found;
}

int
run_results_origin(const json_t *about, char **run, long *step, struct err *err)
{
    const char *folder =
        json_string_value(json_object_get(about, "checkpoint"));
    const char *manifest =
        json_string_value(json_object_get(about, "manifest"));
    char *copy;
    int rc = 0;

    if (!folder || !manifest ||
        json_is_true(json_object_get(about, "untrained")))
        return 0;
    copy = mem_text(folder);
    *run = mem_text(dirname(copy));
    if (file_exists(mem_temp("%s/%s", *run, RUN_METRICS))) {
        *step = find_step_of_manifest(*run, manifest);
        rc = *step >= 0
                 ? 1
                 : err_set(err, "'%s' no longer has that checkpoint", *run);
    }
    if (rc <= 0)
        free(*run);
    free(copy);
    return rc;
}

int
run_results_add(const char *run, long step, const char *manifest,
                const json_t *result, struct err *err)
{
    json_t *object =
        json_pack("{s:O? s:I s:s s:f}", "measure",
                  json_object_get(result, "measure"), "step", (json_int_t)step,
                  "manifest", manifest, "time", (double)clock_wall() * 1e-9);
    int rc;

    json_object_update_missing(object, (json_t *)result);
    rc = run_lines_append(run, RUN_RESULTS, object, err);
    json_decref(object);
    return rc;
}

int
run_results_next(struct run_lines *lines, const char *run, json_t **result)
{
    const char *line;

    while (run_lines_next(lines, run, RUN_RESULTS, &line)) {
        *result = line ? json_loads(line, 0, NULL) : NULL;
        if (!line || (json_is_string(json_object_get(*result, "measure")) &&
                      json_is_integer(json_object_get(*result, "step"))))
            return 1;
        json_decref(*result);
    }
    return 0;
}

int
run_results_text(const json_t *result, char text[RUN_RESULTS_TEXT])
{
    const json_t *epoch = json_object_get(result, "epoch");
    const char *says = json_string_value(json_object_get(result, "text"));

    if (!json_is_integer(epoch) || !says)
        return 0;
    snprintf(text, RUN_RESULTS_TEXT, "epoch %jd: %s",
             (intmax_t)json_integer_value(epoch), says);
    defuse(text);
    return 1;
}

json_t *
run_results_read(const char *run, struct err *err)
{
    const char *path = mem_temp("%s/%s", run, RUN_RESULTS);
    struct run_lines lines = {0};
    json_t *all = NULL, *one;

    if (access(path, R_OK) && errno != ENOENT && errno != ENOTDIR)
        err_sys(err, "cannot open '%s'", path);
    else
        all = json_array();
    while (all && run_results_next(&lines, run, &one))
        json_array_append_new(all, one);
    run_lines_release(&lines);
    return all;
}
