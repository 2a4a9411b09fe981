#define _XOPEN_SOURCE 700 // realpath()
#include "watch.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "json_number.h"
#include "nn/checkpoint.h"
#include "run/settings.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum {
    RESULTS = 500, /* evaluations */
    STAGES = 3     /* a run has at least: select, augment, train */
};

static const int64_t any_size = (int64_t)1 << 48; // of a data set
/* The least seconds between two published batches; and for how long
 * watch_poll() reads messages. */
static const double batch_s = 1, read_s = .05;
/* How long to wait for the first top_negatives, and for later ones. */
static const double first_top_s = .6, next_top_s = 2;

/* Rare messages have a queue of their own: the messages of each step may fill
 * the other one. */
static const char *const kinds[RUN_LISTENERS] = {"event status",
                                                 "features top_negatives"};
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
    watch->over = watch->live.past = !lock_held(run);
    watch->maps = map_frames_open(watch->hub, (size_t)where->points);
    watch->pictures.views = run_views_open(run, where->data);
    history_read(&watch->history, run, NULL);
    if (watch->live.past)
        run_stages_load(&watch->live.stages, run,
                        history_total(&watch->history));
    for (size_t i = 0; i < where->compare.n; i++)
        history_read(&watch->compared[i], where->compare.item[i], NULL);
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
    for (size_t i = 0; i < watch->where.compare.n; i++)
        history_release(&watch->compared[i]);
    chain_trail_release(&watch->trail);
    wire_top_negatives_release(&watch->top);
    batch_view_release(&watch->newest);
    batch_view_release(&watch->stored);
    embedding_close(&watch->embedding);
    batch_view_release(&watch->embedded);
    batch_cache_release(&watch->cache);
    hub_close(watch->hub);
}

static json_t *
stage_json(const struct wire_status *status)
{
    return json_pack("{s:s s:I s:o}", "stage", status->stage, "number",
                     (json_int_t)status->number, "values",
                     history_show_values(status->values, status->n));
}

static void
take_event(struct watch *watch)
{
    const struct wire_event *event = &watch->live.event;

    if (!strcmp(event->what, "step") ||
        !strcmp(event->what, "result")) // read from files
        return;
    hub_publish(watch->hub, "event",
                json_pack("{s:I s:s s:I s:I s:s s:s}", "time",
                          (json_int_t)time(NULL), "what", event->what, "epoch",
                          (json_int_t)event->epoch, "step",
                          (json_int_t)event->step, "path", event->path,
                          "reason", event->reason));
    if (!strcmp(event->what, "epoch"))
        map_frames_epoch(watch->maps, event->epoch, 0);
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
publish_newer(struct watch *watch, struct batch_view *b, double now)
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
                    watch_batch_json(
                        watch, batch_cache_add(&watch->cache, &watch->newest)));
    }
}

static void
take_features(struct watch *watch, struct wire_msg *msg, double now)
{
    struct wire_features features;
    const struct batch *f = &features.batch, *top = &watch->top.batch;
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
        if (top->epoch == b.epoch && top->step == b.step && top->b == b.n &&
            top->v == b.views) {
            b.top = watch->top;
            watch->top = (struct wire_top_negatives){0};
        }
        map_frames_take(watch->maps, &b, set ? data_size(set) : 0);
        publish_newer(watch, &b, now);
    }
    wire_features_release(&features);
}

/* At the first message, pages reload what happened before we were connected. */
static void
note_connection(struct watch *watch)
{
    if (!watch->connected)
        hub_publish(watch->hub, "reload", json_object());
    watch->connected = 1;
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
    case WIRE_STATUS:
        note_connection(watch);
        if (was_past) // the run was resumed
            hub_publish(watch->hub, "reload", json_object());
        hub_publish(watch->hub, "status", stage_json(&live->status));
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

/* Reads new steps of a run and publishes them; 1 if the metrics were cut.
 *   number  of another run; -1: ours */
static int
read_steps(struct watch *watch, struct history *history, const char *run,
           int number)
{
    json_t *steps = json_array();
    const int cut = history_read(history, run, steps);

    if (json_array_size(steps))
        hub_publish(watch->hub, "metrics",
                    json_pack("{s:i s:O}", "run", number, "steps", steps));
    json_decref(steps);
    return cut;
}

/* Returns 1 if the run was compared since the last call. */
static int
is_compared(struct watch *watch)
{
    const char *path = mem_temp("%s/table.json", watch->where.stage.run);
    struct stat file;
    const time_t before = watch->table_at;

    watch->table_at = stat(path, &file) ? 0 : file.st_mtime;
    return watch->table_at > before;
}

/* Reads new lines of the run directories.  If metrics were cut, pages reload
 * all data. */
static void
read_folder(struct watch *watch)
{
    int cut = read_steps(watch, &watch->history, watch->where.stage.run, -1);

    watch->read_at = clock_now();
    if (watch->over != !lock_held(watch->where.stage.run)) {
        watch->over = !watch->over;
        *watch->why.msg = '\0';
    }
    publish_results(watch);
    for (size_t i = 0; i < watch->where.compare.n; i++)
        cut |= read_steps(watch, &watch->compared[i],
                          watch->where.compare.item[i], (int)i);
    if (cut || is_compared(watch))
        hub_publish(watch->hub, "reload", json_object());
    if (samples_read(&watch->samples, watch->where.stage.run, &watch->pictures))
        hub_publish(watch->hub, "samples", samples_json(&watch->samples));
}

/* ---- embeddings that no trainer publishes ---- */

static void
start_embedding(struct watch *watch, const struct batch_view *b, size_t rows,
                struct picture_name *name)
{
    batch_view_release(&watch->embedded);
    watch->embedded = *b;
    watch->embedded.z = NULL;
    watch->embedded.top = (struct wire_top_negatives){0};
    watch->embedded.ids = mem_array(b->n, sizeof *b->ids);
    memcpy(watch->embedded.ids, b->ids, b->n * sizeof *b->ids);
    embedding_start(&watch->embedding, watch->where.stage.run,
                    watch->over ? 0 : 1, watch->pictures.views, rows, name,
                    b->texts ? b->n : 0);
    free(name);
}

void
watch_make(struct watch *watch, const struct batch_view *b)
{
    if (!watch->embedding.child && !b->z && b->n &&
        (watch->over || b == &watch->stored) &&
        pictures_set(&watch->pictures, NULL))
        start_embedding(watch, b, b->views * b->n,
                        picture_rows(&watch->pictures, b));
}

/* Starts the embeddings of the images of a map, spread evenly. */
static void
make_points(struct watch *watch)
{
    const struct data_set *set = pictures_set(&watch->pictures, NULL);
    const size_t size = set ? data_size(set) : 0;
    const size_t most = (size_t)watch->where.points,
                 n = size < most ? size : most;
    struct batch_view points = {.n = n};
    struct picture_name *name;

    watch->map_begun = 1;
    if (n < MAP_FRAMES_POINTS_LEAST)
        return;
    name = mem_array(n, sizeof *name);
    points.ids = mem_array(n, sizeof *points.ids);
    for (size_t i = 0; i < n; i++) {
        points.ids[i] = (int64_t)(i * size / n);
        name[i] = (struct picture_name){points.ids[i], 0, -1};
    }
    start_embedding(watch, &points, n, name);
    free(points.ids);
}

/* Starts the map of the newest checkpoint from the embeddings of its points. */
static void
map_points(struct watch *watch, float *z, size_t d)
{
    json_t *state = read_config(watch->where.stage.run, "state");
    const int within = json_number_value(json_object_get(state, "step")) > 0;
    struct batch_view points = watch->embedded;

    points.views = 1;
    points.z = z;
    points.d = d;
    points.epoch = json_integer_value(json_object_get(state, "epoch")) + within;
    map_frames_take(watch->maps, &points,
                    data_size(pictures_set(&watch->pictures, NULL)));
    map_frames_epoch(watch->maps, points.epoch, within);
    json_decref(state);
}

/* Returns a batch of the cache, or the one that was read last; or NULL. */
static struct batch_view *
find_batch(struct watch *watch, int64_t epoch, int64_t step)
{
    struct batch_view *stored = &watch->stored;
    struct batch_view *cached = batch_cache_find(&watch->cache, epoch, step);

    if (cached)
        return cached;
    return stored->n && stored->epoch == epoch && stored->step == step ? stored
                                                                       : NULL;
}

/* Takes embeddings that are done, and starts the next ones of a run that is
 * over: of its last batch, then of the map. */
static void
make_embeddings(struct watch *watch)
{
    const struct batch_view *b = &watch->embedded, *newest;
    struct batch_view *batch;
    float *z = NULL;
    size_t d;
    const int rc = embedding_poll(&watch->embedding, &z, &d, &watch->why);

    if (rc > 0 && !b->views)
        map_points(watch, z, d);
    batch = rc && b->views ? find_batch(watch, b->epoch, b->step) : NULL;
    if (rc > 0 && batch && !batch->z) {
        batch->z = z;
        batch->d = d;
        batch->made = 1;
        z = NULL;
    }
    free(z);
    if (batch)
        hub_publish(watch->hub, "embedded", watch_batch_json(watch, batch));
    if (watch->embedding.child || *watch->why.msg ||
        !pictures_set(&watch->pictures, NULL))
        return;
    newest = watch->over ? watch_newest(watch) : NULL;
    if (newest && !newest->z)
        watch_make(watch, newest);
    else if (!watch->map_begun && (watch->over || watch->where.whole) &&
             !map_frames_any(watch->maps))
        make_points(watch);
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
    if (clock_now() - watch->read_at >= batch_s)
        read_folder(watch);
    make_embeddings(watch);
    map_frames_poll(watch->maps);
}

const struct batch_view *
watch_batch(struct watch *watch, int64_t epoch, int64_t step)
{
    const struct batch_view *known = find_batch(watch, epoch, step);
    struct batch_view *stored = &watch->stored;

    if (known)
        return known;
    batch_view_release(stored);
    if (epoch < 0 || step < 0 ||
        picture_step(&watch->pictures, epoch, step, stored))
        return NULL;
    return stored;
}

json_t *
watch_batch_json(struct watch *watch, const struct batch_view *b)
{
    json_t *batch = batch_view_json(b, pictures_set(&watch->pictures, NULL));

    if (b->texts)
        json_object_set_new(batch, "texts", picture_texts(&watch->pictures, b));
    if (!b->z && *watch->why.msg)
        json_object_set_new(batch, "reason", json_name(watch->why.msg));
    return batch;
}

json_t *
watch_anchor(struct watch *watch, const struct batch_view *b, size_t row)
{
    const struct data_set *set = pictures_set(&watch->pictures, NULL);

    return json_pack(
        "{s:o s:o}", "drawn", batch_view_negatives(b, set, row), "trail",
        chain_trail_json(&watch->trail, b->ids[row % b->n], row / b->n, set));
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
status_json(const struct watch *watch)
{
    const struct run_stages *stages = &watch->live.stages;
    json_t *all = json_object();

    for (size_t i = 0; i < stages->n; i++) {
        const struct run_stage *s = &stages->stage[i];
        char *name =
            mem_format("%s %jd", s->status.stage, (intmax_t)s->status.number);
        json_t *stage = stage_json(&s->status);

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
classes_json(const struct data_set *set)
{
    json_t *list = json_array();

    for (size_t i = 0; set && i < data_classes(set); i++)
        json_array_append_new(list, json_name(data_class_name(set, i)));
    return list;
}

static json_t *
compared_json(const struct watch *watch)
{
    json_t *list = json_array();

    for (size_t i = 0; i < watch->where.compare.n; i++) {
        const char *run = watch->where.compare.item[i];

        json_array_append_new(list,
                              json_pack("{s:o s:b s:o}", "run", json_name(run),
                                        "living", lock_held(run), "metrics",
                                        history_json(&watch->compared[i])));
    }
    return list;
}

/* The checkpoints that exist: {step, time}. */
static json_t *
checkpoints_json(const char *run)
{
    json_t *list = json_array();
    struct err ignored;
    size_t n = 0;
    long *steps = nn_checkpoint_steps(run, &n, &ignored);

    for (size_t i = 0; steps && i < n; i++) {
        struct stat file;

        if (!stat(mem_temp("%s/step-%08ld", run, steps[i]), &file))
            json_array_append_new(
                list,
                json_pack("{s:I s:f}", "step", (json_int_t)steps[i], "time",
                          (double)file.st_mtim.tv_sec +
                              1e-9 * (double)file.st_mtim.tv_nsec));
    }
    free(steps);
    return list;
}

json_t *
watch_json(struct watch *watch)
{
    const char *run = watch->where.stage.run;
    char *folder = realpath(run, NULL), *copy = mem_text(folder ? folder : run);
    const struct batch_view *newest = watch_newest(watch);
    json_t *batch = newest ? watch_batch_json(watch, newest) : json_null();
    // the comparison of the end of the run, by pipelines/bin/compare
    json_t *table = json_load_file(mem_temp("%s/table.json", run), 0, NULL);
    json_t *all;
    const struct data_set *set = pictures_set(&watch->pictures, NULL);

    read_folder(watch);
    all = json_pack(
        "{s:s s:s s:b s:I s:o s:o s:I s:o s:o s:o s:O s:o s:o s:o s:o s:o}",
        "run", basename(copy), "folder", folder ? folder : run, "living",
        lock_held(run), "size", (json_int_t)(set ? data_size(set) : 0),
        "classes", classes_json(set), "options", read_config(run, "options"),
        "steps", count_steps(watch), "metrics", history_json(&watch->history),
        "status", status_json(watch), "checkpoints", checkpoints_json(run),
        "results", watch->results, "table", table ? table : json_null(), "map",
        map_frames_json(watch->maps), "samples", samples_json(&watch->samples),
        "compared", compared_json(watch), "batch", batch);
    mem_free(copy, folder);
    return all;
}
