#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/metrics.h"
#include "run/results.h"
#include "run/settings.h"
#include "runs.h"
#include "train/shards.h"
#include "util/lock.h"
#include "util/opt.h"

/* The number after the last occurrence of a key in a line, which foil wrote; 0
 * if there is none.  run_metrics_next(), which parses the line, takes 17 times
 * as long. */
static double
number_of(const char *line, const char *key)
{
    const char *last = NULL;

    for (const char *at = line; (at = strstr(at, key)); at += strlen(key))
        last = at;
    return last ? strtod(last + strlen(key), NULL) : 0;
}

/* The same by a metric's name, in a line of an older version by its old name.
 */
static double
metric_of(const char *line, const char *name)
{
    const char *old = run_metrics_old_name(name);
    char key[VALUE_NAME + 8];

    snprintf(key, sizeof key, ",\"%s\":", name);
    if (old && !strstr(line, key))
        snprintf(key, sizeof key, ",\"%s\":", old);
    return number_of(line, key);
}

/* Adds the rank that delayed the others most.
 *   excess  [TRAIN_SHARDS_MOST] the sum over the steps in which a rank was
 *           slowest of its time above the mean, in seconds */
static void
put_slowest(json_t *object, const double *excess)
{
    size_t slowest = 0;

    for (size_t r = 1; r < TRAIN_SHARDS_MOST; r++)
        if (excess[r] > excess[slowest])
            slowest = r;
    if (excess[slowest] > 0) {
        json_object_set_new(object, "slowest_rank",
                            json_integer((json_int_t)slowest));
        json_object_set_new(object, "rank_lag", json_real(excess[slowest]));
    }
}

/* Adds the number of steps, their time, and the last loss. */
static void
add_metrics(json_t *object, const char *run)
{
    struct run_lines lines = {0};
    double seconds = 0, exchanged = 0, excess[TRAIN_SHARDS_MOST] = {0};
    json_t *step, *loss;
    const char *line;

    while (run_lines_next(&lines, run, RUN_METRICS, &line))
        if (line) {
            seconds += number_of(line, ",\"seconds\":") +
                       number_of(line, ",\"waited\":");
            if (strstr(line, ",\"exchanged\":")) { // of several ranks
                const size_t rank = (size_t)metric_of(line, "slowest_rank");
                const double lag = metric_of(line, "rank_lag");

                exchanged += number_of(line, ",\"exchanged\":");
                if (lag > 0 && rank < TRAIN_SHARDS_MOST)
                    excess[rank] += lag;
            }
        }
    step = lines.len ? json_loads(lines.last, 0, NULL) : NULL;
    loss = json_object_get(step, "loss");
    if (lines.len) {
        json_object_set(object, "step", json_object_get(step, "total"));
        json_object_set_new(object, "seconds", json_real(seconds));
        if (exchanged > 0)
            json_object_set_new(object, "exchanged", json_real(exchanged));
    }
    put_slowest(object, excess);
    if (loss)
        json_object_set(object, "loss", loss);
    json_decref(step);
    run_lines_release(&lines);
}

static void
add_results(json_t *object, const char *run)
{
    struct err err;
    json_t *all = run_results_read(run, &err), *newest = json_object(), *one;
    char label[64];
    double figure;
    size_t i;

    if (!all)
        log_message("%s", err.msg);
    json_array_foreach(all, i, one)
    {
        const json_t *is;

        if (!runs_label(one, label, &figure))
            continue;
        is = json_object_get(newest, label);
        if (json_integer_value(json_object_get(one, "step")) >=
            json_integer_value(json_object_get(is, "step")))
            json_object_set(newest, label, one);
    }
    json_object_set_new(object, "results", newest);
    json_decref(all);
}

int
runs_label(const json_t *result, char label[64], double *figure)
{
    const char *measure = json_string_value(json_object_get(result, "measure"));
    const json_t *value = json_object_get(result, "accuracy");
    const json_t *k = json_object_get(result, "k");
    const char *rule = json_string_value(json_object_get(result, "rule"));

    if (!measure || (rule && strcmp(rule, "equal")))
        return 0; // of retrieval, use the rule that equal captions are one
    if (!value)
        value = json_object_get(json_object_get(result, "forward"), "r1");
    if (!value)
        value = json_object_get(result, "r_mean");
    if (!value && !strcmp(measure, "loss"))
        value = json_object_get(result, "loss");
    if (!json_is_number(value))
        return 0;
    if (k)
        snprintf(label, 64, "%.30s %jd", measure,
                 (intmax_t)json_integer_value(k));
    else
        snprintf(label, 64, "%.30s", measure);
    *figure = json_number_value(value);
    return 1;
}

json_t *
runs_gather(const char *run)
{
    struct err ignored;
    json_t *object = json_object(), *config = run_config_newest(run, &ignored);
    const json_t *state = json_object_get(config, "state");

    json_object_set_new(object, "run", json_name(run));
    json_object_set_new(object, "state",
                        json_string(lock_held(run)            ? "training"
                                    : run_config_done(config) ? "done"
                                                              : "stopped"));
    add_metrics(object, run);
    json_object_set(object, "epoch", json_object_get(state, "epoch"));
    json_object_set(object, "epochs", json_object_get(state, "epochs"));
    json_object_set_new(object, "options", run_settings_read(run, config));
    add_results(object, run);
    json_decref(config);
    return object;
}
