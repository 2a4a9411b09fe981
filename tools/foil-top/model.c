#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"
#include "util/mem.h"

/* Seconds after which a stage that is not heard of is not there. */
static const double silence = 4;

/* Names that a run may have: each is compared with all. */
enum { MOST = 500 };

/* The share of the newest step in a mean over the latest ones. */
static const double newest = 0.05;

void
top_release(struct top *top)
{
    free(top->stage);
    free(top->curve);
}

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

/* Numbers that say where the run is, and are no curves. */
static int
is_position(const char *name)
{
    static const char *const names[] = {"total", "epoch",   "step",   "images",
                                        "time",  "seconds", "slowest"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return 1;
    return 0;
}

void
top_step(struct top *top, const struct value *value, size_t n)
{
    const double total = value_find(value, n, "total"),
                 images = value_find(value, n, "images"),
                 waited = value_find(value, n, "waited"),
                 exchanged = value_find(value, n, "exchanged"),
                 behind = value_find(value, n, "behind"),
                 took = value_find(value, n, "seconds") + waited;

    if (isnan(total) || total <= (double)top->total)
        return; // read before it was heard
    if (took > 0) {
        move_mean(&top->seconds, took);
        top->waited = (1 - newest) * top->waited + newest * waited;
        if (!isnan(exchanged))
            move_mean(&top->exchanged, exchanged);
        if (!isnan(behind)) {
            move_mean(&top->behind, behind);
            top->slowest = value_find(value, n, "slowest");
        }
    }
    append_value(top, "loss", value_find(value, n, "loss"));
    if (top->images > 0 && took > 0)
        append_value(top, "images/s", (images - top->images) / took);
    top->total = (int64_t)total;
    top->epoch = (int64_t)value_find(value, n, "epoch");
    top->images = images;
    for (size_t i = 0; i < n; i++)
        if (!is_position(value[i].name) && strcmp(value[i].name, "loss"))
            append_value(top, value[i].name, value[i].value);
}

/* Batches a second, over some seconds. */
static void
count_batches(struct top_stage *stage, double now)
{
    const double made = top_value(stage, "made");

    if (stage->since > 0 && made >= stage->made && now > stage->since) {
        const double rate = (made - stage->made) / (now - stage->since);

        stage->rate =
            isnan(stage->rate) ? rate : 0.7 * stage->rate + 0.3 * rate;
    }
    stage->made = made;
    stage->since = now;
}

void
top_status(struct top *top, const struct wire_status *status, double now)
{
    struct top_stage *s = top->stage, *end = s + top->stages;

    while (s < end && (strcmp(s->status.stage, status->stage) ||
                       s->status.number != status->number))
        s++;
    if (s == end && top->stages == MOST)
        return;
    if (s == end) {
        mem_grow(&top->stage, &top->stage_room, top->stages + 1, sizeof *s);
        s = &top->stage[top->stages++];
        *s = (struct top_stage){.rate = NAN};
    }
    s->status = *status;
    s->heard = now;
    count_batches(s, now);
}

int
top_is_there(const struct top_stage *stage, double now)
{
    return now - stage->heard < silence;
}

const struct top_stage *
top_stage(const struct top *top, const char *name, double now)
{
    for (size_t i = 0; i < top->stages; i++)
        if (!strcmp(top->stage[i].status.stage, name) &&
            top_is_there(&top->stage[i], now))
            return &top->stage[i];
    return NULL;
}

double
top_value(const struct top_stage *stage, const char *name)
{
    return value_find(stage->status.values, stage->status.n, name);
}
