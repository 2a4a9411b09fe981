#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/metrics.h"
#include "top.h"
#include "util/mem.h"
#include "util/opt.h"

/* Seconds without a status after which a stage counts as gone. */
static const double silence_s = 4;

enum {
    MOST = 500,     // curves; finding one is O(n)
    QUEUE = 1000,   // messages
    TAIL = 16 << 20 // bytes read from the end of metrics.jsonl
};

/* The share of the newest step in a mean over the latest ones. */
static const double newest = 0.05;

static void
append_value(struct top *top, const char *name, double x)
{
    struct top_curve *c = top->curve, *end = c + top->curves;

    while (c < end && strcmp(c->name, name))
        c++;
    if (c == end && top->curves == MOST)
        return;
    if (c == end) {
        mem_grow(&top->curve, &top->curve_room, top->curves + 1, sizeof *c);
        c = &top->curve[top->curves++];
        *c = (struct top_curve){.last = x};
        memcpy(c->name, name, strlen(name) + 1);
    }
    c->last = x;
    spark_add(&c->spark, x);
}

static void
move_mean(double *mean, double x)
{
    *mean = *mean > 0 ? (1 - newest) * *mean + newest * x : x;
}

/* Metrics that give the position in the run, or are drawn first. */
static const char not_drawn[] =
    "total|epoch|step|images|time|seconds|slowest_rank|loss";

static void
add_step(struct top *top, const struct value *value, size_t n)
{
    const double total = value_find(value, n, "total"),
                 images = value_find(value, n, "images"),
                 waited = value_find(value, n, "waited"),
                 exchanged = value_find(value, n, "exchanged"),
                 excess = value_find(value, n, "rank_lag"),
                 took = value_find(value, n, "seconds") + waited;

    if (isnan(total) || total <= (double)top->total)
        return; // known already, from the file
    if (took > 0) {
        move_mean(&top->seconds, took);
        top->waited = (1 - newest) * top->waited + newest * waited;
        if (!isnan(exchanged))
            move_mean(&top->exchanged, exchanged);
        if (!isnan(excess)) {
            move_mean(&top->excess, excess);
            top->slowest = value_find(value, n, "slowest_rank");
        }
    }
    append_value(top, "loss", value_find(value, n, "loss"));
    if (top->images > 0 && took > 0)
        append_value(top, "images/s", (images - top->images) / took);
    top->total = (int64_t)total;
    top->epoch = (int64_t)value_find(value, n, "epoch");
    top->images = images;
    for (size_t i = 0; i < n; i++)
        if (opt_index(not_drawn, value[i].name) < 0)
            append_value(top, value[i].name, value[i].value);
}

/* Stores the sentence of a result, if it has one; releases it. */
static void
take_result(struct top *top, json_t *result)
{
    char text[RUN_RESULTS_TEXT];

    if (run_results_text(result, text))
        memcpy(top->result, text, sizeof text);
    json_decref(result);
}

void
top_open(struct top *top, struct stage *stage, const char *events)
{
    static const char *const kinds[RUN_LISTENERS] = {"metrics event status"};
    const char *run = stage->options->run;
    struct run_metrics step = {.n = 0};
    struct run_lines results = {0};
    json_t *result;
    struct err err;

    if (run_live_open(&top->live, stage->wire,
                      stage_endpoint(stage, events, "events"), kinds, QUEUE,
                      &err))
        die("%s", err.msg);
    if (!run)
        return;
    // after a skip the first line is incomplete and has no numbers
    run_lines_skip(&step.lines, run, RUN_METRICS, TAIL);
    while (run_metrics_next(&step, run))
        add_step(top, step.value, step.n);
    run_lines_release(&step.lines);
    while (run_results_next(&results, run, &result))
        take_result(top, result);
    run_lines_release(&results);
}

void
top_read(struct top *top)
{
    while (run_live_next(&top->live))
        if (wire_msg_kind(top->live.msg) == WIRE_METRICS)
            add_step(top, top->live.metrics.values, top->live.metrics.n);
        else if (wire_msg_kind(top->live.msg) == WIRE_EVENT)
            take_result(top, json_loads(top->live.event.line, 0, NULL));
}

void
top_close(struct top *top)
{
    run_live_close(&top->live);
    free(top->curve);
}

int
top_is_alive(const struct run_stage *stage, double now)
{
    return now - stage->received_at < silence_s;
}

const struct run_stage *
top_stage(const struct top *top, const char *name, double now)
{
    const struct run_stages *stages = &top->live.stages;

    for (size_t i = 0; i < stages->n; i++)
        if (!strcmp(stages->stage[i].status.stage, name) &&
            top_is_alive(&stages->stage[i], now))
            return &stages->stage[i];
    return NULL;
}
