#define _XOPEN_SOURCE 700 // realpath()
#include "watch.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "number.h"
#include "past.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

enum { LOG = 200, POINTS = 4000, STAGES = 3 /* a run has, or more */ };

static const int64_t any_size = (int64_t)1 << 48; // of a data set
/* seconds: between two batches that pages are told, between two lines of
 * metrics, and for which we hear before pages have their turn */
static const double each = 1, pace = .05, turn = .05;
/* seconds: in which a run with a sampler tells what it drew in one of its
 * steps, at first, and as long as it goes */
static const double first = .6, soon = 2;

/* What is rare has a queue of its own: what comes with each step may fill the
 * other one. */
static const char *const kinds[WATCH_LISTENERS] = {"event status",
                                                   "metrics features drawn"};

static void
open_listeners(struct watch *watch)
{
    const struct wire_limits limits = {.queue = 64};
    char *endpoint =
        wire_endpoint(watch->where.events, watch->where.run, "events");
    struct err err;

    for (size_t i = 0; i < WATCH_LISTENERS; i++) {
        watch->listener[i] =
            wire_listener_open(watch->wire, endpoint, kinds[i], &limits, &err);
        if (!watch->listener[i])
            die("%s", err.msg);
    }
    free(endpoint);
}

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
    json_t *state = read_config(watch->where.run, "state");
    const double known = json_number_value(json_object_get(state, "steps")) *
                         json_number_value(json_object_get(state, "epochs"));

    json_decref(state);
    return (json_int_t)(said > 0 ? said : known);
}

/* What happened so far, as the folder has it. */
static void
read_log(struct watch *watch)
{
    const int living = lock_held(watch->where.run);

    history_read(&watch->history, watch->where.run);
    json_decref(watch->log);
    watch->log = past_log(watch->where.run, &watch->history, living,
                          count_steps(watch), LOG);
}

void
watch_open(struct watch *watch, const struct watch_where *where,
           struct hub *hub)
{
    struct err err;

    *watch = (struct watch){.where = *where, .hub = hub};
    watch->film = film_open(hub, where->points);
    watch->pictures.views = train_views_open(where->run, where->data);
    if (where->keys &&
        wire_keys_open(&watch->keys, where->keys, where->allow, &err))
        die("%s", err.msg);
    watch->wire = wire_open(where->keys ? &watch->keys : NULL, &err);
    if (!watch->wire)
        die("%s", err.msg);
    history_read(&watch->history, where->run);
    watch->is_past = !lock_held(where->run);
    watch->status = watch->is_past ? past_stages(where->run, &watch->history)
                                   : json_object();
    beside_open(&watch->beside, where->beside, where->n_beside);
    open_listeners(watch);
    read_log(watch);
}

void
watch_close(struct watch *watch)
{
    for (size_t i = 0; i < WATCH_LISTENERS; i++)
        wire_listener_close(watch->listener[i]);
    wire_close(watch->wire);
    wire_keys_release(&watch->keys);
    train_views_close(watch->pictures.views);
    history_release(&watch->history);
    film_close(watch->film);
    results_release(&watch->results);
    samples_release(&watch->samples);
    beside_release(&watch->beside);
    ways_release(&watch->ways);
    moment_release(&watch->drawn);
    json_decref(watch->status);
    json_decref(watch->log);
    free(watch->untold);
    moment_release(&watch->newest);
    moment_release(&watch->linked);
    kept_release(&watch->kept);
}

static json_t *
show_values(const struct value *value, size_t n)
{
    json_t *values = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(values, value[i].name, number_show(value[i].value));
    return values;
}

/* NULL: there is none. */
static int
has_plan(const struct wire_metrics *m)
{
    return m && !isnan(value_find(m->values, m->n, "plan.mean"));
}

/* The newest line waits, or one with figures of a plan, which an epoch has
 * once: pages are told of one every so often. */
static void
take_metrics(struct watch *watch, const struct wire_msg *msg)
{
    struct wire_metrics *m = mem_array(1, sizeof *m), *old = watch->untold;
    double tau;
    struct err ignored;

    if (!wire_metrics_get(m, msg, &ignored) && !strcmp(m->stage, "train")) {
        tau = value_find(m->values, m->n, "tau");
        watch->tau = isnan(tau) ? watch->tau : tau;
        if (!has_plan(old) || has_plan(m)) {
            watch->untold = m;
            m = old;
        }
    }
    free(m);
}

static void
tell_metrics(struct watch *watch, double now)
{
    const struct wire_metrics *m = watch->untold;
    double total;

    if (!m || now - watch->told_at < pace)
        return;
    total = value_find(m->values, m->n, "total");
    hub_say(watch->hub, "metrics",
            json_pack("{s:I s:o}", "total", (json_int_t)(total > 0 ? total : 0),
                      "values", show_values(m->values, m->n)));
    free(watch->untold);
    watch->untold = NULL;
    watch->told_at = now;
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
        hub_say(watch->hub, "again", json_object());
    }
    name = mem_format("%s %jd", status.stage, (intmax_t)status.number);
    values = show_values(status.values, status.n);
    told = json_pack("{s:s s:I s:O}", "stage", status.stage, "number",
                     (json_int_t)status.number, "values", values);
    json_object_set_new(watch->status, name,
                        json_pack("{s:s s:I s:o s:f}", "stage", status.stage,
                                  "number", (json_int_t)status.number, "values",
                                  values, "heard", now));
    hub_say(watch->hub, "status", told);
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
    hub_say(watch->hub, "event", line);
    if (!strcmp(event.what, "epoch"))
        film_epoch(watch->film, event.epoch);
}

static void *
copy_array(const void *from, size_t n, size_t size)
{
    return memcpy(mem_array(n, size), from, n * size);
}

/* It comes before the embeddings of its step, and waits for them. */
static void
take_drawn(struct watch *watch, struct wire_msg *msg, double now)
{
    struct moment *m = &watch->drawn;
    struct wire_drawn d;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);
    size_t rows, n;

    if (wire_drawn_get(&d, msg, any_size, &ignored))
        return;
    watch->drawn_at = now;
    rows = d.n_views * d.n;
    n = rows * d.k;
    moment_release(m);
    *m = (struct moment){
        .epoch = d.epoch, .step = d.step, .n = d.n, .views = d.n_views};
    m->drawn = (struct moment_drawn){
        .columns = d.columns,
        .k = d.k,
        .sample = copy_array(d.sample, n, sizeof *d.sample),
        .epoch = copy_array(d.of_epoch, n, sizeof *d.of_epoch),
        .row = copy_array(d.row, n, sizeof *d.row),
        .view = copy_array(d.view, n, sizeof *d.view),
        .w = copy_array(d.w, n, sizeof *d.w),
        .cosine = copy_array(d.cosine, n, sizeof *d.cosine),
        .outside = copy_array(d.outside, rows, sizeof *d.outside),
        .effective = copy_array(d.effective, rows, sizeof *d.effective)};
    snprintf(m->drawn.sampler, sizeof m->drawn.sampler, "%s", d.sampler);
    ways_take(&watch->ways, &d, set ? data_size(set) : 0);
    wire_drawn_release(&d);
}

static void
join_drawn(struct watch *watch, struct moment *m)
{
    struct moment *known = &watch->drawn;

    if (known->epoch != m->epoch || known->step != m->step ||
        known->n != m->n || known->views != m->views)
        return;
    m->drawn = known->drawn;
    known->drawn = (struct moment_drawn){0};
    moment_release(known);
}

/* Whether a step is to come soon of which it is known what was drawn. */
static int
is_sampled(const struct watch *watch, double now)
{
    return watch->drawn_at > 0 ? now - watch->drawn_at < soon
                               : now - watch->heard_at < first;
}

/* Takes over a batch.  Of a run with a sampler, those of which it is known what
 * was drawn are shown. */
static void
show_moment(struct watch *watch, struct moment *m, double now)
{
    if (!m->drawn.k && is_sampled(watch, now) &&
        (watch->newest.n || watch->kept.n)) {
        moment_release(m);
        return;
    }
    moment_release(&watch->newest);
    watch->newest = *m;
    if (now - watch->kept_at >= each && hub_pages(watch->hub)) {
        watch->kept_at = now;
        hub_say(
            watch->hub, "batch",
            watch_show_batch(watch, kept_add(&watch->kept, &watch->newest)));
    }
}

static void
take_features(struct watch *watch, struct wire_msg *msg, double now)
{
    struct wire_features f;
    struct moment m;
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);

    if (wire_features_get(&f, msg, set ? (int64_t)data_size(set) : any_size,
                          &ignored))
        return;
    if (f.z && f.n && !f.id) {
        if (watch->heard_at <= 0)
            watch->heard_at = now;
        m = (struct moment){
            .epoch = f.epoch,
            .step = f.step,
            .n = f.n,
            .views = f.n_views,
            .d = f.dim,
            .ids = copy_array(f.ids, f.n, sizeof *m.ids),
            .z = copy_array(f.z, f.n_views * f.n * f.dim, sizeof *m.z)};
        m.texts =
            set && f.n_views == 2 && train_views_texts(watch->pictures.views);
        join_drawn(watch, &m);
        film_take(watch->film, &m, set ? data_size(set) : 0);
        show_moment(watch, &m, now);
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
    hub_say(watch->hub, "again", json_object());
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
    int again = history_read(&watch->history, watch->where.run);

    watch->looked_at = clock_now();
    results_read(&watch->results, watch->where.run, watch->hub);
    again |= beside_read(&watch->beside, watch->hub);
    if (again)
        hub_say(watch->hub, "again", json_object());
    if (samples_read(&watch->samples, watch->where.run, &watch->pictures))
        hub_say(watch->hub, "samples", samples_show(&watch->samples));
}

void
watch_hear(struct watch *watch)
{
    const double end = clock_now() + turn;

    for (size_t i = 0; i < WATCH_LISTENERS; i++)
        hear_until(watch, watch->listener[i], end);
    tell_metrics(watch, clock_now());
    if (clock_now() - watch->looked_at >= each)
        read_folder(watch);
    film_tend(watch->film);
}

const struct moment *
watch_batch(struct watch *watch, int64_t epoch, int64_t step)
{
    const struct moment *kept = kept_find(&watch->kept, epoch, step);
    struct moment *linked = &watch->linked;

    if (kept)
        return kept;
    if (linked->n && linked->epoch == epoch && linked->step == step)
        return linked;
    moment_release(linked);
    if (epoch < 0 || step < 0 ||
        picture_step(&watch->pictures, epoch, step, linked))
        return NULL;
    return linked;
}

json_t *
watch_show_batch(struct watch *watch, const struct moment *moment)
{
    const size_t tiles = moment->n * moment_pictures(moment);
    struct err ignored;
    json_t *batch =
        moment_show(moment, pictures_set(&watch->pictures, &ignored),
                    pictures_tile(&watch->pictures),
                    tiles < PICTURE_COLUMNS ? tiles : PICTURE_COLUMNS);

    if (moment->texts)
        json_object_set_new(batch, "texts",
                            picture_texts(&watch->pictures, moment));
    return batch;
}

/* As the trainer says it, which may learn it, else as the checkpoint has it. */
static double
find_tau(const struct watch *watch)
{
    json_t *options = read_config(watch->where.run, "options");
    const double saved = json_number_value(json_object_get(options, "tau"));

    json_decref(options);
    return watch->tau > 0 ? watch->tau : saved > 0 ? saved : .5;
}

json_t *
watch_anchor(struct watch *watch, const struct moment *moment, size_t row)
{
    struct err ignored;
    const struct data_set *set = pictures_set(&watch->pictures, &ignored);
    json_t *anchor = moment_anchor(moment, set, row, 1 / find_tau(watch));

    if (anchor)
        json_object_set_new(anchor, "way",
                            ways_show(&watch->ways,
                                      moment->ids[row % moment->n],
                                      row / moment->n, set));
    return anchor;
}

int
watch_waits(const struct watch *watch)
{
    const double now = clock_now();

    return lock_held(watch->where.run) &&
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
const struct moment *
watch_newest(struct watch *watch)
{
    const double now = clock_now();

    if (!watch->newest.n && !watch->kept.n)
        picture_step(&watch->pictures, -1, 0, &watch->newest);
    // pages that ask again and again leave others what those ask about
    if (watch->newest.n && (!watch->kept.n || now - watch->shown_at >= each)) {
        watch->shown_at = now;
        kept_add(&watch->kept, &watch->newest);
    }
    return kept_newest(&watch->kept);
}

static json_t *
show_newest(struct watch *watch)
{
    const struct moment *newest = watch_newest(watch);

    return newest ? watch_show_batch(watch, newest) : json_null();
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
    const char *run = watch->where.run;
    char *folder = realpath(run, NULL), *copy = mem_text(folder ? folder : run);
    json_t *batch = show_newest(watch), *all;
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
        film_show(watch->film), "samples", samples_show(&watch->samples),
        "beside", beside_show(&watch->beside, POINTS), "batch", batch);
    free(copy);
    free(folder);
    return all;
}
