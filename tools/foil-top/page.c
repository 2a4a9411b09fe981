#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "top.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/terminal.h"

/* Seconds without a message after which a trainer is reported as silent. */
static const double silent_s = 3;

/* Lines of text, of up to `columns` characters each. */
struct page {
    size_t columns, rows, lines; /* rows 0: any number */
    char *text;
    size_t len, room;
};

__attribute__((format(printf, 2, 3))) static void
put_line(struct page *page, const char *fmt, ...)
{
    char line[SPARK_TEXT + 256];
    size_t n = 0, left = page->columns; // bytes that fit; characters
    va_list ap;

    if (page->rows && page->lines == page->rows)
        return;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    defuse(line);
    for (; line[n] && (left || (line[n] & 0xc0) == 0x80); n++)
        left -= (line[n] & 0xc0) != 0x80;
    mem_grow(&page->text, &page->room, page->len + n + 2, 1);
    memcpy(page->text + page->len, line, n);
    memcpy(page->text + page->len + n, "\n", 2);
    page->len += n + 1;
    page->lines++;
}

/* Appends a field to the first line, if there is room for it. */
__attribute__((format(printf, 3, 4))) static void
join_field(char line[256], size_t columns, const char *fmt, ...)
{
    const size_t len = strlen(line);
    char field[128];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(field, sizeof field, fmt, ap);
    va_end(ap);
    if (len + 2 + strlen(field) <= columns && len + 2 + strlen(field) < 256)
        snprintf(line + len, 256 - len, "%s%s", len ? "  " : "", field);
}

static void
put_head(struct page *page, const struct top *top,
         const struct run_stage *train)
{
    const double steps = train ? run_stage_value(train, "steps") : 0,
                 epochs = train ? run_stage_value(train, "epochs") : 0;
    char line[256] = "", left[24];

    join_field(line, page->columns, "%.100s", top->name);
    if (epochs > 0)
        join_field(line, page->columns, "epoch %jd/%.0f",
                   (intmax_t)top->epoch + 1, epochs);
    else if (top->total)
        join_field(line, page->columns, "epoch %jd", (intmax_t)top->epoch + 1);
    if (steps > 0)
        join_field(line, page->columns, "step %jd/%.0f", (intmax_t)top->total,
                   steps);
    else if (top->total)
        join_field(line, page->columns, "step %jd", (intmax_t)top->total);
    if (steps > 0)
        join_field(line, page->columns, "%.0f%%",
                   100 * (double)top->total / steps);
    if (steps > (double)top->total && top->seconds > 0) {
        clock_span((steps - (double)top->total) * top->seconds, left);
        join_field(line, page->columns, "%s left", left);
    }
    put_line(page, "%s", line);
}

/* Adds a sentence: what the run does or waits for. */
static void
put_sentence(struct page *page, const struct top *top,
             const struct run_stage *train, double now)
{
    const double waits = train ? run_stage_value(train, "waits") : 0;
    char span[24];

    clock_span(top->live.received_at > 0 ? now - top->live.received_at : 0,
               span);
    if (top->live.over)
        put_line(page, "the trainer has stopped: %s", top->live.reason);
    else if (top->live.received_at <= 0 && top->trainer)
        put_line(page,
                 "process %ld trains here, and has not sent anything yet: a "
                 "long step",
                 top->trainer);
    else if (top->live.received_at <= 0)
        put_line(page, "no trainer sends messages");
    else if (now - top->live.received_at > silent_s)
        put_line(page,
                 "no message from the trainer for %s: a long step, or it is "
                 "gone",
                 span);
    else if (waits > silent_s)
        put_line(page, "the trainer waits for %s, %.0f s by now",
                 top_stage(top, "augment", now) ? "a batch" : "an augmenter",
                 waits);
    else if (top->seconds > 0 && top->exchanged > 0)
        put_line(
            page,
            "%.3g steps/s; waits for batches take %.0f%%, other ranks %.0f%%",
            1 / top->seconds, 100 * top->waited / top->seconds,
            100 * top->exchanged / top->seconds);
    else if (top->seconds > 0)
        put_line(page, "%.3g steps/s; waits for batches take %.0f%%",
                 1 / top->seconds, 100 * top->waited / top->seconds);
    else
        put_line(page, "no step is done yet");
}

/* An idle augmenter waits for the trainer if its window is full of batches,
 * else for the stage that hands out items. */
static const char *
state_of_augment(const struct run_stage *s, const struct run_stage *train)
{
    const int full = train && run_stage_value(train, "held") + 1 >=
                                  run_stage_value(train, "window");

    if (isnan(run_stage_value(s, "room")))
        return "sends no state";
    if (!run_stage_value(s, "source"))
        return "waits for a selector";
    if (run_stage_value(s, "ready") > 0)
        return "waits for the trainer";
    if (run_stage_value(s, "items") > 0)
        return full ? "waits for the trainer" : "makes batches";
    return full ? "waits for the trainer" : "waits for items";
}

static const char *
state_of(const struct top *top, const struct run_stage *s, double now)
{
    const char *stage = s->status.stage;

    if (!strcmp(stage, "train") && top->live.over)
        return "has stopped";
    if (!strcmp(stage, "train"))
        return run_stage_value(s, "waits") > 0 ? "waits for augmenters"
                                               : "trains";
    if (!top_is_alive(s, now))
        return "sends no status any more";
    if (!isnan(run_stage_value(s, "augmenters")))
        return "hands out items";
    if (!strcmp(stage, "negatives"))
        return run_stage_value(s, "joined") > 0 ? "weighs negatives"
                                                : "is missing: waited for";
    return state_of_augment(s, top_stage(top, "train", now));
}

static void
queue_of(const struct run_stage *s, char text[48])
{
    const double window = run_stage_value(s, "window"),
                 room = run_stage_value(s, "room"),
                 augmenters = run_stage_value(s, "augmenters");

    if (window > 0)
        snprintf(text, 48, "%.0f of %.0f held", run_stage_value(s, "held"),
                 window);
    else if (room > 0 && run_stage_value(s, "ready") > 0)
        snprintf(text, 48, "%.0f of %.0f, %.0f made",
                 run_stage_value(s, "items") + run_stage_value(s, "ready"),
                 room, run_stage_value(s, "ready"));
    else if (room > 0)
        snprintf(text, 48, "%.0f of %.0f", run_stage_value(s, "items"), room);
    else if (augmenters > 0)
        snprintf(text, 48, "%.0f augmenter%s", augmenters,
                 plural((size_t)augmenters));
    else
        *text = 0;
}

static void
put_stage(struct page *page, const struct top *top, const struct run_stage *s,
          double now)
{
    char name[48], rate[24] = "", queue[48];
    const double per_second = !strcmp(s->status.stage, "train")
                                  ? (top->seconds > 0 ? 1 / top->seconds : NAN)
                                  : s->rate;

    if (!strcmp(s->status.stage, "augment"))
        snprintf(name, sizeof name, "augment %jd", (intmax_t)s->status.number);
    else
        snprintf(name, sizeof name, "%.31s", s->status.stage);
    if (isfinite(per_second))
        snprintf(rate, sizeof rate, "%.3g/s", per_second);
    queue_of(s, queue);
    put_line(page, "%-12.12s%9s  %-14s  %s", name, rate, queue,
             state_of(top, s, now));
}

char *
top_page(const struct top *top, double now, size_t columns, size_t rows,
         int blocks)
{
    struct page page = {.columns = columns, .rows = rows};
    const struct run_stage *train = top_stage(top, "train", now);
    const size_t before = 24; // columns of a curve's name and value
    char curve[SPARK_TEXT];

    put_head(&page, top, train);
    put_sentence(&page, top, train, now);
    if (*top->result)
        put_line(&page, "%s", top->result);
    if (top->excess > 0 && !top->live.over)
        put_line(&page,
                 "rank %.0f computes longest, %.0f%% of a step above the mean",
                 top->slowest, 100 * top->excess / top->seconds);
    if (top->live.stages.n) {
        put_line(&page, "%s", "");
        put_line(&page, "%-12s%9s  %-14s  %s", "stage", "rate", "queue",
                 "state");
    }
    for (size_t i = 0; i < top->live.stages.n; i++)
        put_stage(&page, top, &top->live.stages.stage[i], now);
    if (top->curves)
        put_line(&page, "%s", "");
    for (size_t i = 0; i < top->curves; i++) {
        const struct top_curve *c = &top->curve[i];

        spark_draw(&c->spark, columns > before ? columns - before : 0, blocks,
                   curve);
        put_line(&page, "%-12.12s %9.4g  %s", c->name, c->last, curve);
    }
    return page.text;
}
