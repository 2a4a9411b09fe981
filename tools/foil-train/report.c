#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "train.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"

/* How much of the text are whole lines of steps up to `total`. */
static size_t
lines_up_to(const char *text, size_t len, int64_t total)
{
    size_t keep = 0;

    while (keep < len) {
        const char *line = text + keep, *end = memchr(line, '\n', len - keep);
        json_t *object;
        json_int_t step;

        if (!end)
            break;
        object = json_loadb(line, (size_t)(end - line), 0, NULL);
        step = json_integer_value(json_object_get(object, "total"));
        json_decref(object);
        if (step < 1 || step > total)
            break;
        keep += (size_t)(end - line) + 1;
    }
    return keep;
}

/* Opens metrics.jsonl and cuts off the lines of steps that will be done
 * again. */
static int
open_metrics(struct train *t, struct err *err)
{
    char *path = mem_format("%s/metrics.jsonl", t->options->run);
    char *text = NULL;
    size_t len = 0;
    int rc = -1;

    t->metrics = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (t->metrics < 0) {
        err_sys(err, "cannot open '%s'", path);
        goto out;
    }
    text = file_read(path, SIZE_MAX / 4, &len, err);
    if (!text)
        goto out;
    if (ftruncate(t->metrics, (off_t)lines_up_to(text, len, t->state.total)))
        err_sys(err, "cannot cut '%s'", path);
    else
        rc = 0;
out:
    free(text);
    free(path);
    return rc;
}

int
train_report_open(struct train *t, struct err *err)
{
    const struct wire_limits limits = {0};
    char *endpoint =
        wire_endpoint(t->options->events, t->options->run, "events");

    t->feed = wire_feed_open(t->wire, endpoint, &limits, err);
    free(endpoint);
    if (!t->feed)
        return -1;
    t->started = clock_now();
    t->first = t->state.total;
    t->first_images = t->state.images;
    return open_metrics(t, err);
}

void
train_report_say(struct train *t, const char *fmt, ...)
{
    struct err line;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line.msg, sizeof line.msg, fmt, ap);
    va_end(ap);
    progress_clear(&t->progress);
    say("%s", line.msg);
}

/* One line, one write: a reader never sees half of one. */
static void
write_line(struct train *t, json_t *object)
{
    char *line = json_line(object);
    size_t len = strlen(line);
    struct stat before;
    ssize_t wrote;

    if (fstat(t->metrics, &before))
        before.st_size = -1;
    wrote = write(t->metrics, line, len);
    if (wrote != (ssize_t)len) {
        struct err why;

        err_set(&why, "cannot write to metrics.jsonl: %s",
                wrote < 0 ? strerror(errno) : "disk full");
        if (tally_add(&t->unwritten, &why))
            train_report_say(t, "%s", why.msg);
        if (wrote > 0 && before.st_size >= 0 &&
            ftruncate(t->metrics, before.st_size))
            train_report_say(t, "metrics.jsonl holds a broken line");
    }
    free(line);
}

/* Adds a number to the line and to the message, where it is finite. */
static void
add(json_t *object, struct wire_metrics *metrics, const char *name, double x)
{
    struct wire_metric *m = metrics->values + metrics->n;

    json_object_set_new(object, name, json_real(x));
    snprintf(m->name, sizeof m->name, "%s", name);
    m->value = x;
    metrics->n++;
}

static void
add_count(json_t *object, struct wire_metrics *metrics, const char *name,
          int64_t x)
{
    add(object, metrics, name, (double)x);
    json_object_set_new(object, name, json_integer(x));
}

/* What the selector said of an epoch, with its first step. */
static void
add_plan(json_t *line, struct wire_metrics *metrics,
         const struct wire_plan *plan)
{
    json_t *object = json_object();

    json_object_set_new(object, "strategy", json_string(plan->strategy));
    for (size_t i = 0; i < plan->n; i++) {
        const struct wire_metric *from = plan->values + i;
        struct wire_metric *to = metrics->values + metrics->n++;

        json_object_set_new(object, from->name, json_real(from->value));
        snprintf(to->name, sizeof to->name, "plan.%.58s", from->name);
        to->value = from->value;
    }
    json_object_set_new(line, "plan", object);
}

void
train_report_begin(struct train *t, const struct wire_batch *b)
{
    progress_start(&t->progress, "steps", (double)t->first,
                   t->options->steps ? (double)t->options->steps
                                     : (double)(b->epochs * b->steps));
}

/* The loss of the objective, and InfoNCE where that is another number. */
static void
write_loss(const struct loss_report *loss, char text[64])
{
    char value[24], infonce[24];

    snprintf(value, sizeof value, "%.4f", loss->value);
    snprintf(infonce, sizeof infonce, "%.4f", loss->infonce);
    snprintf(text, 64, "loss %s", value);
    if (strcmp(value, infonce))
        snprintf(text, 64, "loss %s  infonce %s", value, infonce);
}

static void
show_progress(struct train *t)
{
    const struct train_state *s = &t->state;
    const double elapsed = clock_now() - t->progress.start;
    char loss[64], more[96];

    write_loss(&t->last, loss);
    snprintf(more, sizeof more, "%s  %.0f images/s", loss,
             (double)(s->images - t->first_images) / elapsed);
    progress_show(&t->progress, (double)s->total, more);
}

void
train_report_step(struct train *t, const struct train_batch *b,
                  const struct train_result *r)
{
    struct wire_metrics *metrics = mem_array(1, sizeof *metrics);
    const struct wire_plan *plan = train_features_plan(t, b->epoch);
    json_t *line = json_object();

    *metrics = (struct wire_metrics){.stage = "train", .step = t->state.total};
    add_count(line, metrics, "total", t->state.total);
    add_count(line, metrics, "epoch", b->epoch);
    add_count(line, metrics, "step", b->step);
    if (r->reason)
        json_object_set_new(line, "refused", json_string(r->reason));
    for (size_t i = 0; i < r->values.n; i++)
        if (r->values.value[i].whole)
            add_count(line, metrics, r->values.value[i].name,
                      (int64_t)r->values.value[i].value);
        else
            add(line, metrics, r->values.value[i].name,
                r->values.value[i].value);
    if (plan && b->step == 0)
        add_plan(line, metrics, plan);
    add_count(line, metrics, "images", t->state.images);
    add_count(line, metrics, "substituted", (int64_t)b->n_substituted);
    add(line, metrics, "seconds", r->seconds);
    add(line, metrics, "waited", t->waited);
    add(line, metrics, "time", (double)clock_wall() * 1e-9);
    t->waited = 0;
    write_line(t, line);
    wire_feed_metrics(t->feed, metrics);
    train_report_event(t, "step", "", "");
    if (t->state.step == 0)
        train_report_event(t, "epoch", "", "");
    show_progress(t);
    json_decref(line);
    free(metrics);
}

void
train_report_event(struct train *t, const char *what, const char *path,
                   const char *reason)
{
    struct wire_event event = {.epoch = t->state.epoch, .step = t->state.step};

    snprintf(event.what, sizeof event.what, "%s", what);
    snprintf(event.path, sizeof event.path, "%s", path);
    snprintf(event.reason, sizeof event.reason, "%s", reason);
    wire_feed_event(t->feed, &event);
}

void
train_report_end(struct train *t)
{
    const struct train_state *s = &t->state;
    const double seconds = clock_now() - t->started;
    const int64_t images = s->images - t->first_images;
    char loss[64];

    write_loss(&t->last, loss);
    progress_clear(&t->progress);
    say("%jd steps, %jd images in %.1f s (%.0f/s), %s; %jd images "
        "replaced, %jd steps skipped, %jd without their service; %s",
        (intmax_t)(s->total - t->first), (intmax_t)images, seconds,
        seconds > 0 ? (double)images / seconds : 0, loss,
        (intmax_t)s->substituted, (intmax_t)s->skipped, (intmax_t)s->alone,
        t->saved == s->total ? "saved" : "not saved");
}
