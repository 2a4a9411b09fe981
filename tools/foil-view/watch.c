#define _XOPEN_SOURCE 700 // realpath()
#include "watch.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json_number.h"
#include "past.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum { LOG = 200, POINTS = 4000, STAGES = 3 /* a run has, or more */ };

static const int64_t any_size = (int64_t)1 << 48; // of a data set
/* Seconds from one batch to the next, and from one line of metrics; and how
 * long messages are read before pages are answered. */
static const double batch_s = 1, metrics_s = .05, read_s = .05;
/* How long to wait for the first `drawn`, and for later ones. */
static const double first_drawn_s = .6, next_drawn_s = 2;

/* What is rare has a queue of its own: what comes with each step may fill the
 * other one. */
static const char *const kinds[WATCH_LISTENERS] = {"event status",
                                                   "metrics features drawn"};

/* A member of the newest checkpoint's config.json; {} where there is none yet.
 */
static json_t *
read_config(const char *run, const char *member)
{
    char *path = mem_format("%s/latest/config.json", run);
    json_t *config = json_load_file(path, 0, NULL);
    json_t *found = json_incref(json_object_get(config, member));

    json_decref(config);
    free(path);
    return found ? found : json_object();
}

/* Steps of the whole run: as the trainer says, or as its last checkpoint does.
 */
static json_int_t
count_steps(const struct watch *watch)
{
    const json_t *train = json_object_get(watch->status, "train 1");
    const double said = json_number_value(
        json_object_get(json_object_get(train, "values"), "steps"));
    json_t *state = read_config(watch->where.stage.run, "state");
    const double known = json_number_value(json_object_get(state, "steps")) *
                         json_number_value(json_object_get(state, "epochs"));

    json_decref(state);
    return (json_int_t)(said > 0 ? said : known);
}

/* What happened so far, as the folder has it. */
static void
read_log(struct watch *watch)
{
    const int living = lock_held(watch->where.stage.run);

    history_read(&watch->history, watch->where.stage.run);
    json_decref(watch->log);
    watch->log = past_log(watch->where.stage.run, &watch->history, living,
                          count_steps(watch), LOG);
}

void
watch_open(struct watch *watch, const struct watch_where *where,
           struct hub *hub)
{
    *watch = (struct watch){.where = *where, .hub = hub};
    stage_open(&watch->stage, &where->stage);
    watch->maps = map_frames_open(hub, where->points);
    watch->pictures.views = train_views_open(where->stage.run, where->data);
    history_read(&watch->history, where->stage.run);
    watch->is_past = !lock_held(where->stage.run);
    watch->status = watch->is_past
                        ? past_stages(where->stage.run, &watch->history)
                        : json_object();
    compare_open(&watch->compare, where->compare, where->n_compare);
    for (size_t i = 0; i < WATCH_LISTENERS; i++)
        watch->listener[i] =
            stage_listen(&watch->stage, where->events, kinds[i], 64);
    read_log(watch);
}

void
watch_close(struct watch *watch)
{
    for (size_t i = 0; i < WATCH_LISTENERS; i++)
        wire_listener_close(watch->listener[i]);
    stage_close(&watch->stage);
    train_views_close(watch->pictures.views);
    history_release(&watch->history);
    map_frames_close(watch->maps);
    results_release(&watch->results);
    samples_release(&watch->samples);
    compare_release(&watch->compare);
    chain_trail_release(&watch->trail);
    wire_drawn_release(&watch->drawn);
    json_decref(watch->status);
    json_decref(watch->log);
    free(watch->pending_metrics);
    batch_view_release(&watch->newest);
    batch_view_release(&watch->linked);
    batch_cache_release(&watch->cache);
}

static json_t *
show_values(const struct wire_metric *value, size_t n)
{
    json_t *values = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(values, value[i].name,
                            json_number_show(value[i].value));
    return values;
}

/* NULL: there is none. */
static int
has_plan(const struct wire_metrics *m)
{
    return m && !isnan(wire_metrics_find(m->values, m->n, "plan.mean"));
}

/* The newest line waits, or one with figures of a plan, which an epoch has
 * once: pages are told of one every so often. */
static void
take_metrics(struct watch *watch, const struct wire_msg *msg)
{
    struct wire_metrics *m = mem_array(1, sizeof *m),
                        *old = watch->pending_metrics;
    double tau;
    struct err ignored;

    if (!wire_metrics_get(m, msg, &ignored) && !strcmp(m->stage, "train")) {
        tau = wire_metrics_find(m->values, m->n, "tau");
        watch->tau = isnan(tau) ? watch->tau : tau;
        if (!has_plan(old) || has_plan(m)) {
            watch->pending_metrics = m;
            m = old;
        }
    }
    free(m);
}

static void
tell_metrics(struct watch *watch, double now)
{
    const struct wire_metrics *m = watch->pending_metrics;
    double total;

    if (!m || now - watch->sent_at < metrics_s)
        return;
    total = wire_metrics_find(m->values, m->n, "total");
    hub_publish(watch->hub, "metrics",
                json_pack("{s:I s:o}", "total",
                          (json_int_t)(total > 0 ? total : 0), "values",
                          show_values(m->values, m->n)));
    free(watch->pending_metrics);
    watch->pending_metrics = NULL;
    watch->sent_at = now;
}

static void
take_status(struct watch *watch, const struct wire_msg *msg, double now)
{
    struct wire_status status;
    struct err ignored;
    json_t *values, *told;
    char *name;

    if (wire_status_get(&status, msg, &ignored))
        return;
    if (watch->is_past) { // the run goes on: these are others
        watch->is_past = 0;
        json_object_clear(watch->status);
        hub_publish(watch->hub, "again", json_object());
    }
    name = mem_format("%s %jd", status.stage, (intmax_t)status.number);
    values = show_values(status.values, status.n);
    told = json_pack("{s:s s:I s:O}", "stage", status.stage, "number",
                     (json_int_t)status.number, "values", values);
    json_object_set_new(watch->status, name,
                        json_pack("{s:s s:I s:o s:f}", "stage", status.stage,
                                  "number", (json_int_t)status.number, "values",
                                  values, "heard", now));
    hub_publish(watch->hub, "status", told);
    free(name);
}

static const char *
find_name(const json_t *line)
{
    const char *path = json_string_value(json_object_get(line, "path"));
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
}

/* Whether two lines of the log are of one epoch, or of one checkpoint, whose
 * path may be written in two ways. */
static int
is_same_line(const json_t *a, const json_t *b)
{
    const char *what = json_string_value(json_object_get(a, "what"));

    if (!json_equal(json_object_get(a, "what"), json_object_get(b, "what")))
        return 0;
    return strcmp(what, "epoch") ? !strcmp(what, "checkpoint") &&
                                       !strcmp(find_name(a), find_name(b))
                                 : json_equal(json_object_get(a, "epoch"),
                                              json_object_get(b, "epoch"));
}

/* Adds a line, which may be in the log from the folder already. */
static void
log_line(struct watch *watch, json_t *line)
{
    for (size_t i = json_array_size(watch->log); i--;)
        if (is_same_line(json_array_get(watch->log, i), line))
            json_array_remove(watch->log, i);
    json_array_append(watch->log, line);
    if (json_array_size(watch->log) > LOG)
        json_array_remove(watch->log, 0);
}

static void
take_event(struct watch *watch, const struct wire_msg *msg)
{
    struct wire_event event;
    struct err ignored;
    json_t *line;

    if (wire_event_get(&event, msg, &ignored) || !strcmp(event.what, "step") ||
        !strcmp(event.what, "result")) // of which the folder has all
        return;
    line = json_pack("{s:I s:s s:I s:I s:s s:s}", "time",
                     (json_int_t)time(NULL), "what", event.what, "epoch",
                     (json_int_t)event.epoch, "step", (json_int_t)event.step,
                     "path", event.path, "reason", event.reason);
    log_line(watch, line);
    hub_publish(watch->hub, "event", line);
    if (!strcmp(event.what, "epoch"))
        map_frames_epoch(watch->maps, event.epoch);
}

/* It comes before the embeddings of its step, and waits for them. */
static void
take_drawn(struct watch *watch, struct wire_msg *msg, double now)
{
    struct wire_drawn d;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);

    if (wire_drawn_get(&d, msg, any_size, &ignored))
        return;
    watch->drawn_at = now;
    wire_drawn_release(&watch->drawn);
    watch->drawn = d;
    chain_trail_add(&watch->trail, &d, set ? data_size(set) : 0);
}

/* Gives a batch what was drawn in its step. */
static void
join_drawn(struct watch *watch, struct batch_view *b)
{
    struct wire_drawn *d = &watch->drawn;

    if (d->epoch != b->epoch || d->step != b->step || d->n != b->n ||
        d->n_views != b->views)
        return;
    b->drawn = *d;
    *d = (struct wire_drawn){0};
}

/* Whether a step is to come soon of which it is known what was drawn. */
static int
is_sampled(const struct watch *watch, double now)
{
    return watch->drawn_at > 0 ? now - watch->drawn_at < next_drawn_s
                               : now - watch->heard_at < first_drawn_s;
}

/* Takes over a batch.  Of a run with a sampler, those of which it is known what
 * was drawn are shown. */
static void
show_newer(struct watch *watch, struct batch_view *b, double now)
{
    if (!b->drawn.k && is_sampled(watch, now) &&
        (watch->newest.n || watch->cache.n)) {
        batch_view_release(b);
        return;
    }
    batch_view_release(&watch->newest);
    watch->newest = *b;
    if (now - watch->cached_at >= batch_s && hub_pages(watch->hub)) {
        watch->cached_at = now;
        hub_publish(watch->hub, "batch",
                    watch_show_batch(
                        watch, batch_cache_add(&watch->cache, &watch->newest)));
    }
}

static void
take_features(struct watch *watch, struct wire_msg *msg, double now)
{
    struct wire_features f;
    struct batch_view b;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);

    if (wire_features_get(&f, msg, set ? (int64_t)data_size(set) : any_size,
                          &ignored))
        return;
    if (f.z && f.n && !f.id) {
        if (watch->heard_at <= 0)
            watch->heard_at = now;
        b = (struct batch_view){
            .epoch = f.epoch,
            .step = f.step,
            .n = f.n,
            .views = f.n_views,
            .d = f.dim,
            .ids = mem_array(f.n, sizeof *b.ids),
            .z = mem_array(f.n_views * f.n * f.dim, sizeof *b.z)};
        memcpy(b.ids, f.ids, f.n * sizeof *b.ids);
        memcpy(b.z, f.z, f.n_views * f.n * f.dim * sizeof *b.z);
        b.texts =
            set && f.n_views == 2 && train_views_texts(watch->pictures.views);
        join_drawn(watch, &b);
        map_frames_take(watch->maps, &b, set ? data_size(set) : 0);
        show_newer(watch, &b, now);
    }
    wire_features_release(&f);
}

/* With the first message, nothing is lost from now on; what happened until now
 * is in the folder, and may have been published before we were connected. */
static void
note_connection(struct watch *watch)
{
    if (watch->connected)
        return;
    watch->connected = 1;
    read_log(watch);
    hub_publish(watch->hub, "again", json_object());
}

/* Takes over the message. */
static void
take_message(struct watch *watch, struct wire_msg *msg)
{
    const double now = clock_now();

    if (wire_msg_kind(msg) == WIRE_STATUS || wire_msg_kind(msg) == WIRE_EVENT)
        note_connection(watch);
    switch (wire_msg_kind(msg)) {
    case WIRE_FEATURES:
        take_features(watch, msg, now);
        break;
    case WIRE_DRAWN:
        take_drawn(watch, msg, now);
        break;
    case WIRE_METRICS:
        take_metrics(watch, msg);
        break;
    case WIRE_STATUS:
        take_status(watch, msg, now);
        break;
    case WIRE_EVENT:
        take_event(watch, msg);
        break;
    default:
        break;
    }
    wire_msg_free(msg);
}

static void
hear_until(struct watch *watch, struct wire_listener *listener, double end)
{
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc;

    while (clock_now() < end &&
           (rc = wire_listener_next(listener, &msg, &missed, &err)))
        if (rc > 0) // of one that is refused the next one says how it is
            take_message(watch, msg);
}

/* Pages that show steps which are not true any more read all again. */
static void
read_folder(struct watch *watch)
{
    int again = history_read(&watch->history, watch->where.stage.run);

    watch->looked_at = clock_now();
    results_read(&watch->results, watch->where.stage.run, watch->hub);
    again |= compare_read(&watch->compare, watch->hub);
    if (again)
        hub_publish(watch->hub, "again", json_object());
    if (samples_read(&watch->samples, watch->where.stage.run, &watch->pictures))
        hub_publish(watch->hub, "samples", samples_show(&watch->samples));
}

void
watch_hear(struct watch *watch)
{
    const double end = clock_now() + read_s;

    for (size_t i = 0; i < WATCH_LISTENERS; i++)
        hear_until(watch, watch->listener[i], end);
    tell_metrics(watch, clock_now());
    if (clock_now() - watch->looked_at >= batch_s)
        read_folder(watch);
    map_frames_poll(watch->maps);
}

const struct batch_view *
watch_batch(struct watch *watch, int64_t epoch, int64_t step)
{
    const struct batch_view *cached =
        batch_cache_find(&watch->cache, epoch, step);
    struct batch_view *linked = &watch->linked;

    if (cached)
        return cached;
    if (linked->n && linked->epoch == epoch && linked->step == step)
        return linked;
    batch_view_release(linked);
    if (epoch < 0 || step < 0 ||
        picture_step(&watch->pictures, epoch, step, linked))
        return NULL;
    return linked;
}

json_t *
watch_show_batch(struct watch *watch, const struct batch_view *b)
{
    struct err ignored;
    json_t *batch =
        batch_view_show(b, pictures_set(&watch->pictures, &ignored));

    if (b->texts)
        json_object_set_new(batch, "texts", picture_texts(&watch->pictures, b));
    return batch;
}

/* As the trainer says it, which may learn it, else as the checkpoint has it. */
static double
find_tau(const struct watch *watch)
{
    json_t *options = read_config(watch->where.stage.run, "options");
    const double saved = json_number_value(json_object_get(options, "tau"));

    json_decref(options);
    return watch->tau > 0 ? watch->tau : saved > 0 ? saved : .5;
}

json_t *
watch_embeddings(struct watch *watch, const struct batch_view *batch)
{
    return batch_view_embeddings(batch, 1 / find_tau(watch));
}

json_t *
watch_anchor(struct watch *watch, const struct batch_view *b, size_t row)
{
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);

    return json_pack(
        "{s:o s:o}", "drawn", batch_view_drawn(b, set, row), "trail",
        chain_trail_show(&watch->trail, b->ids[row % b->n], row / b->n, set));
}

int
watch_waits(const struct watch *watch)
{
    const double now = clock_now();

    return lock_held(watch->where.stage.run) &&
           (!watch->newest.n || json_object_size(watch->status) < STAGES ||
            (!watch->newest.drawn.k && is_sampled(watch, now)));
}

/* Stages with the seconds since each was heard. */
static json_t *
show_status(const struct watch *watch)
{
    json_t *all = json_deep_copy(watch->status), *stage;
    const char *name;

    json_object_foreach(all, name, stage)
    {
        const double heard = json_number_value(json_object_get(stage, "heard"));

        json_object_set_new(stage, "heard", json_real(clock_now() - heard));
    }
    return all;
}

/* As its trainer said it, else as the folder has it. */
const struct batch_view *
watch_newest(struct watch *watch)
{
    const double now = clock_now();

    if (!watch->newest.n && !watch->cache.n)
        picture_step(&watch->pictures, -1, 0, &watch->newest);
    // pages that ask again and again leave others what those ask about
    if (watch->newest.n &&
        (!watch->cache.n || now - watch->shown_at >= batch_s)) {
        watch->shown_at = now;
        batch_cache_add(&watch->cache, &watch->newest);
    }
    return batch_cache_newest(&watch->cache);
}

static json_t *
show_classes(const struct data_set *set)
{
    json_t *list = json_array();

    for (size_t i = 0; set && i < data_classes(set); i++)
        json_array_append_new(list, json_name(data_class_name(set, i)));
    return list;
}

json_t *
watch_show(struct watch *watch)
{
    const char *run = watch->where.stage.run;
    char *folder = realpath(run, NULL), *copy = mem_text(folder ? folder : run);
    const struct batch_view *newest = watch_newest(watch);
    json_t *batch = newest ? watch_show_batch(watch, newest) : json_null();
    json_t *all;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);

    read_folder(watch);
    all = json_pack(
        "{s:s s:s s:b s:I s:o s:o s:I s:o s:o s:O s:o s:o s:o s:o s:o}", "run",
        basename(copy), "folder", folder ? folder : run, "living",
        lock_held(run), "size", (json_int_t)(set ? data_size(set) : 0),
        "classes", show_classes(set), "options", read_config(run, "options"),
        "steps", count_steps(watch), "metrics",
        history_show(&watch->history, POINTS), "status", show_status(watch),
        "log", watch->log, "results", results_show(&watch->results), "map",
        map_frames_show(watch->maps), "samples", samples_show(&watch->samples),
        "beside", compare_show(&watch->compare, POINTS), "batch", batch);
    free(copy);
    free(folder);
    return all;
}
