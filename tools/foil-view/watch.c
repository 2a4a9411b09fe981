#define _XOPEN_SOURCE 700 // realpath()
#include "watch.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json_number.h"
#include "run/settings.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum {
    LOG = 200,     /* lines */
    RESULTS = 500, /* evaluations */
    POINTS = 4000, /* of a curve */
    STAGES = 3     /* a run has at least: select, augment, train */
};

static const int64_t any_size = (int64_t)1 << 48; // of a data set
/* The least seconds between two published batches and between two lines of
 * metrics; and for how long watch_poll() reads messages. */
static const double batch_s = 1, metrics_s = .05, read_s = .05;
/* How long to wait for the first top_negatives, and for later ones. */
static const double first_top_s = .6, next_top_s = 2;

/* Rare messages have a queue of their own: the messages of each step may fill
 * the other one. */
static const char *const kinds[RUN_LISTENERS] = {
    "event status", "metrics features top_negatives"};
enum { QUEUE = 64 }; // messages

/* A member of the newest checkpoint's config; {} where there is none yet. */
static json_t *
read_config(const char *run, const char *member)
{
    struct err ignored;
    json_t *config = run_config_newest(run, &ignored);
    json_t *found = json_incref(json_object_get(config, member));

    json_decref(config);
    return found ? found : json_object();
}

/* Returns the steps of the whole run, from the trainer's status or else from
 * the newest checkpoint. */
static json_int_t
count_steps(const struct watch *watch)
{
    const struct run_stage *train =
        run_stages_find(&watch->live.stages, "train", 1);
    const double planned = train ? run_stage_value(train, "steps") : 0;
    json_t *state = read_config(watch->where.stage.run, "state");
    const double saved = json_number_value(json_object_get(state, "steps")) *
                         json_number_value(json_object_get(state, "epochs"));

    json_decref(state);
    return (json_int_t)(planned > 0 ? planned : saved);
}

static void
read_log(struct watch *watch)
{
    const int living = lock_held(watch->where.stage.run);

    history_read(&watch->history, watch->where.stage.run);
    json_decref(watch->log);
    watch->log = run_log_read(watch->where.stage.run, &watch->history, living,
                              count_steps(watch), LOG);
}

void
watch_open(struct watch *watch, const struct watch_where *where)
{
    const char *run = where->stage.run;
    struct err err;

    *watch = (struct watch){
        .where = *where, .hub = hub_open(), .results = json_array()};
    stage_open(&watch->stage, &where->stage);
    if (run_live_open(&watch->live, watch->stage.wire,
                      stage_endpoint(&watch->stage, where->events, "events"),
                      kinds, QUEUE, &err))
        die("%s", err.msg);
    watch->maps = map_frames_open(watch->hub, where->points);
    watch->pictures.views = run_views_open(run, where->data);
    history_read(&watch->history, run);
    watch->live.past = !lock_held(run);
    if (watch->live.past)
        run_stages_load(&watch->live.stages, run,
                        history_total(&watch->history));
    for (size_t i = 0; i < where->n_compare; i++)
        history_read(&watch->compared[i], where->compare[i]);
    read_log(watch);
}

void
watch_close(struct watch *watch)
{
    run_live_close(&watch->live);
    stage_close(&watch->stage);
    run_views_close(watch->pictures.views);
    history_release(&watch->history);
    map_frames_close(watch->maps);
    run_lines_release(&watch->results_at);
    json_decref(watch->results);
    samples_release(&watch->samples);
    for (size_t i = 0; i < watch->where.n_compare; i++)
        history_release(&watch->compared[i]);
    chain_trail_release(&watch->trail);
    wire_top_negatives_release(&watch->top);
    json_decref(watch->log);
    batch_view_release(&watch->newest);
    batch_view_release(&watch->stored);
    batch_cache_release(&watch->cache);
    hub_close(watch->hub);
}

static json_t *
show_values(const struct value *value, size_t n)
{
    json_t *values = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(values, value[i].name,
                            json_number_show(value[i].value));
    return values;
}

static int
has_plan(const struct wire_metrics *m)
{
    return !isnan(value_find(m->values, m->n, "plan.mean"));
}

/* Holds the newest metrics for publish_metrics(), or older ones with figures of
 * a plan, which come once an epoch. */
static void
take_metrics(struct watch *watch)
{
    const struct wire_metrics *m = &watch->live.metrics;
    const double tau = value_find(m->values, m->n, "tau");

    watch->tau = isnan(tau) ? watch->tau : tau;
    if (watch->is_pending && has_plan(&watch->pending) && !has_plan(m))
        return;
    watch->pending = *m;
    watch->is_pending = 1;
}

static void
publish_metrics(struct watch *watch, double now)
{
    const struct wire_metrics *m = &watch->pending;
    double total;

    if (!watch->is_pending || now - watch->sent_at < metrics_s)
        return;
    total = value_find(m->values, m->n, "total");
    hub_publish(watch->hub, "metrics",
                json_pack("{s:I s:o}", "total",
                          (json_int_t)(total > 0 ? total : 0), "values",
                          show_values(m->values, m->n)));
    watch->is_pending = 0;
    watch->sent_at = now;
}

static json_t *
show_stage(const struct wire_status *status)
{
    return json_pack("{s:s s:I s:o}", "stage", status->stage, "number",
                     (json_int_t)status->number, "values",
                     show_values(status->values, status->n));
}

static const char *
find_name(const json_t *line)
{
    const char *path = json_string_value(json_object_get(line, "path"));
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path ? path : "";
}

/* Returns 1 if two lines of the log are about the same epoch or the same
 * checkpoint, which may have different paths to it. */
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

/* Adds a line.  A line that was read from the directory is replaced. */
static void
add_to_log(struct watch *watch, json_t *line)
{
    for (size_t i = json_array_size(watch->log); i--;)
        if (is_same_line(json_array_get(watch->log, i), line))
            json_array_remove(watch->log, i);
    json_array_append(watch->log, line);
    if (json_array_size(watch->log) > LOG)
        json_array_remove(watch->log, 0);
}

static void
take_event(struct watch *watch)
{
    const struct wire_event *event = &watch->live.event;
    json_t *line;

    if (!strcmp(event->what, "step") ||
        !strcmp(event->what, "result")) // read from files
        return;
    line = json_pack("{s:I s:s s:I s:I s:s s:s}", "time",
                     (json_int_t)time(NULL), "what", event->what, "epoch",
                     (json_int_t)event->epoch, "step", (json_int_t)event->step,
                     "path", event->path, "reason", event->reason);
    add_to_log(watch, line);
    hub_publish(watch->hub, "event", line);
    if (!strcmp(event->what, "epoch"))
        map_frames_epoch(watch->maps, event->epoch);
}

/* Holds top_negatives until the embeddings of its step come. */
static void
take_top(struct watch *watch, struct wire_msg *msg, double now)
{
    struct wire_top_negatives d;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, NULL);

    if (wire_top_negatives_get(&d, msg, any_size, &ignored))
        return;
    watch->top_at = now;
    wire_top_negatives_release(&watch->top);
    watch->top = d;
    chain_trail_add(&watch->trail, &d, set ? data_size(set) : 0);
}

/* Moves top_negatives of the same step into a batch. */
static void
join_top(struct watch *watch, struct batch_view *b)
{
    struct wire_top_negatives *d = &watch->top;

    if (d->batch.epoch != b->epoch || d->batch.step != b->step ||
        d->batch.b != b->n || d->batch.v != b->views)
        return;
    b->top = *d;
    *d = (struct wire_top_negatives){0};
}

/* Returns 1 while the first or the next top_negatives is expected. */
static int
is_sampled(const struct watch *watch, double now)
{
    return watch->top_at > 0 ? now - watch->top_at < next_top_s
                             : now - watch->first_at < first_top_s;
}

/* Shows a batch and takes ownership of it.  In a run with a sampler, batches
 * without top_negatives are skipped. */
static void
show_newer(struct watch *watch, struct batch_view *b, double now)
{
    if (!b->top.heaviest.k && is_sampled(watch, now) &&
        (watch->newest.n || watch->cache.n)) {
        batch_view_release(b);
        return;
    }
    batch_view_release(&watch->newest);
    watch->newest = *b;
    if (now - watch->published_at >= batch_s && hub_pages(watch->hub)) {
        watch->published_at = now;
        hub_publish(watch->hub, "batch",
                    watch_show_batch(
                        watch, batch_cache_add(&watch->cache, &watch->newest)));
    }
}

static void
take_features(struct watch *watch, struct wire_msg *msg, double now)
{
    struct wire_features features;
    const struct batch *f = &features.batch;
    struct batch_view b;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, NULL);

    if (wire_features_get(&features, msg,
                          set ? (int64_t)data_size(set) : any_size, &ignored))
        return;
    if (f->z && f->b && !features.id) {
        if (watch->first_at <= 0)
            watch->first_at = now;
        b = (struct batch_view){
            .epoch = f->epoch,
            .step = f->step,
            .n = f->b,
            .views = f->v,
            .d = f->dim,
            .ids = mem_array(f->b, sizeof *b.ids),
            .z = mem_array(f->v * f->b * f->dim, sizeof *b.z)};
        memcpy(b.ids, f->ids, f->b * sizeof *b.ids);
        memcpy(b.z, f->z, f->v * f->b * f->dim * sizeof *b.z);
        b.texts = set && f->v == 2 && run_views_texts(watch->pictures.views);
        join_top(watch, &b);
        map_frames_take(watch->maps, &b, set ? data_size(set) : 0);
        show_newer(watch, &b, now);
    }
    wire_features_release(&features);
}

/* At the first message, reads the log again, for events that were published
 * before we were connected. */
static void
note_connection(struct watch *watch)
{
    if (watch->connected)
        return;
    watch->connected = 1;
    read_log(watch);
    hub_publish(watch->hub, "reload", json_object());
}

static void
take_message(struct watch *watch, int was_past)
{
    const double now = clock_now();
    struct run_live *live = &watch->live;

    switch (wire_msg_kind(live->msg)) {
    case WIRE_FEATURES:
        take_features(watch, live->msg, now);
        break;
    case WIRE_TOP_NEGATIVES:
        take_top(watch, live->msg, now);
        break;
    case WIRE_METRICS:
        take_metrics(watch);
        break;
    case WIRE_STATUS:
        note_connection(watch);
        if (was_past) // the run was resumed
            hub_publish(watch->hub, "reload", json_object());
        hub_publish(watch->hub, "status", show_stage(&live->status));
        break;
    case WIRE_EVENT:
        note_connection(watch);
        take_event(watch);
        break;
    default:
        break;
    }
}

static void
publish_results(struct watch *watch)
{
    json_t *result;

    while (
        run_results_next(&watch->results_at, watch->where.stage.run, &result)) {
        if (!result) {
            json_array_clear(watch->results);
            continue;
        }
        json_array_append(watch->results, result);
        if (json_array_size(watch->results) > RESULTS)
            json_array_remove(watch->results, 0);
        hub_publish(watch->hub, "result", result);
    }
}

/* Reads new steps of the other runs and publishes the last step of each; 1 if
 * the metrics of one were cut. */
static int
read_compared(struct watch *watch)
{
    int cut = 0;

    for (size_t i = 0; i < watch->where.n_compare; i++) {
        struct history *history = &watch->compared[i];
        const int64_t before = history_total(history);

        cut |= history_read(history, watch->where.compare[i]);
        if (history_total(history) > before)
            hub_publish(watch->hub, "compared",
                        json_pack("{s:I s:o}", "run", (json_int_t)i, "step",
                                  history_last(history)));
    }
    return cut;
}

/* Reads new lines of the run directories.  If metrics were cut, pages reload
 * all data. */
static void
read_folder(struct watch *watch)
{
    int cut = history_read(&watch->history, watch->where.stage.run);

    watch->read_at = clock_now();
    publish_results(watch);
    cut |= read_compared(watch);
    if (cut)
        hub_publish(watch->hub, "reload", json_object());
    if (samples_read(&watch->samples, watch->where.stage.run, &watch->pictures))
        hub_publish(watch->hub, "samples", samples_show(&watch->samples));
}

void
watch_poll(struct watch *watch)
{
    const double end = clock_now() + read_s;

    while (clock_now() < end) {
        const int was_past = watch->live.past;

        if (!run_live_next(&watch->live))
            break;
        take_message(watch, was_past);
    }
    publish_metrics(watch, clock_now());
    if (clock_now() - watch->read_at >= batch_s)
        read_folder(watch);
    map_frames_poll(watch->maps);
}

const struct batch_view *
watch_batch(struct watch *watch, int64_t epoch, int64_t step)
{
    const struct batch_view *cached =
        batch_cache_find(&watch->cache, epoch, step);
    struct batch_view *stored = &watch->stored;

    if (cached)
        return cached;
    if (stored->n && stored->epoch == epoch && stored->step == step)
        return stored;
    batch_view_release(stored);
    if (epoch < 0 || step < 0 ||
        picture_step(&watch->pictures, epoch, step, stored))
        return NULL;
    return stored;
}

json_t *
watch_show_batch(struct watch *watch, const struct batch_view *b)
{
    json_t *batch = batch_view_show(b, pictures_set(&watch->pictures, NULL));

    if (b->texts)
        json_object_set_new(batch, "texts", picture_texts(&watch->pictures, b));
    return batch;
}

/* Returns the trainer's latest temperature, which may be learnt; else that of
 * the checkpoint. */
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
    const struct data_set *set = pictures_set(&watch->pictures, NULL);

    return json_pack(
        "{s:o s:o}", "drawn", batch_view_negatives(b, set, row), "trail",
        chain_trail_show(&watch->trail, b->ids[row % b->n], row / b->n, set));
}

int
watch_is_incomplete(const struct watch *watch)
{
    const double now = clock_now();

    return lock_held(watch->where.stage.run) &&
           (!watch->newest.n || watch->live.stages.n < STAGES ||
            (!watch->newest.top.heaviest.k && is_sampled(watch, now)));
}

/* Returns the stages with the seconds since the last status of each. */
static json_t *
show_status(const struct watch *watch)
{
    const struct run_stages *stages = &watch->live.stages;
    json_t *all = json_object();

    for (size_t i = 0; i < stages->n; i++) {
        const struct run_stage *s = &stages->stage[i];
        char *name =
            mem_format("%s %jd", s->status.stage, (intmax_t)s->status.number);
        json_t *stage = show_stage(&s->status);

        json_object_set_new(stage, "age",
                            json_real(clock_now() - s->received_at));
        json_object_set_new(all, name, stage);
        free(name);
    }
    return all;
}

/* The trainer's last batch, or else that of the run directory. */
const struct batch_view *
watch_newest(struct watch *watch)
{
    const double now = clock_now();

    if (!watch->newest.n && !watch->cache.n)
        picture_step(&watch->pictures, -1, 0, &watch->newest);
    // a page that reloads often must not replace the batches of other pages
    if (watch->newest.n &&
        (!watch->cache.n || now - watch->answered_at >= batch_s)) {
        watch->answered_at = now;
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

static json_t *
show_compared(const struct watch *watch)
{
    json_t *list = json_array();

    for (size_t i = 0; i < watch->where.n_compare; i++) {
        const char *run = watch->where.compare[i];

        json_array_append_new(
            list, json_pack("{s:o s:b s:o}", "run", json_name(run), "living",
                            lock_held(run), "metrics",
                            history_show(&watch->compared[i], POINTS)));
    }
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
    const struct data_set *set = pictures_set(&watch->pictures, NULL);

    read_folder(watch);
    all = json_pack(
        "{s:s s:s s:b s:I s:o s:o s:I s:o s:o s:O s:O s:o s:o s:o s:o}", "run",
        basename(copy), "folder", folder ? folder : run, "living",
        lock_held(run), "size", (json_int_t)(set ? data_size(set) : 0),
        "classes", show_classes(set), "options", read_config(run, "options"),
        "steps", count_steps(watch), "metrics",
        history_show(&watch->history, POINTS), "status", show_status(watch),
        "log", watch->log, "results", watch->results, "map",
        map_frames_show(watch->maps), "samples", samples_show(&watch->samples),
        "compared", show_compared(watch), "batch", batch);
    free(copy);
    free(folder);
    return all;
}
