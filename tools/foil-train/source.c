#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "train.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/stop.h"

/* Seconds without an augmenter after which a finished plan has ended. */
static const double absent_s = 10;

enum { DIGITS = 32 };

int
train_session(struct train *t, struct err *err)
{
    const char *path = mem_temp("%s/session", t->options->stage.run);
    size_t len;
    char *last = file_read(path, DIGITS, &len, err), text[DIGITS];
    const int64_t before = last ? strtoll(last, NULL, 10) : 0;
    int n;

    free(last);
    t->session =
        wire_session_begin(before > 0 ? before : 0, (int64_t)clock_wall());
    if (before > t->session)
        log_message(
            "the clock of this machine is days behind the last session of "
            "'%s': set the clock, here or where stages refuse the session",
            t->options->stage.run);
    n = snprintf(text, sizeof text, "%jd\n", (intmax_t)t->session);
    return file_write(path, text, (size_t)n, err);
}

/* Refuses a peer with another data set than the checkpoint's, or another
 * vocabulary. */
static int
check_peer(void *self, const struct wire_hello *hello, struct err *err)
{
    struct train *t = self;
    struct train_shape *shape = &t->shape;

    if (*shape->digest && *hello->digest &&
        strcmp(shape->digest, hello->digest)) {
        if (!train_overridden("dataset") || shape->size != hello->size)
            return err_set(err,
                           "'%s' has a data set of %jd images, digest %.8s; "
                           "the checkpoint is of %jd, digest %.8s%s",
                           hello->peer, (intmax_t)hello->size, hello->digest,
                           (intmax_t)shape->size, shape->digest,
                           shape->size == hello->size
                               ? "; --override dataset continues anyway"
                               : "");
        memcpy(shape->digest, hello->digest, sizeof shape->digest);
    }
    if (train_texts_check_recipe(&t->texts, hello->recipe, err))
        return -1;
    if (*hello->view_options)
        memcpy(t->view_options, hello->view_options, sizeof t->view_options);
    return 0;
}

int
train_source_open(struct train *t, struct err *err)
{
    const size_t window = (size_t)t->options->window,
                 max_batch = (size_t)t->options->max_batch << 20;
    const struct flow_inlet_config config = {
        .server = {.endpoint =
                       stage_endpoint(&t->stage, t->options->batches, "batch"),
                   .hello = {.stage = "train", .max_batch = (int64_t)max_batch},
                   .limits = {.queue = window, .max_batch = max_batch},
                   .check = check_peer,
                   .self = t},
        .at = train_at(t),
        .window = 1, // until the size of a batch is known
    };

    t->source = (struct train_source){
        .inlet = flow_inlet_open(t->stage.wire, &config, err),
    };
    return t->source.inlet ? 0 : -1;
}

static void
release_batch(struct wire_batch *batch)
{
    if (batch)
        wire_batch_release(batch);
    free(batch);
}

static void
drop_batches(struct train_source *s)
{
    struct wire_batch *batch;

    while (s->inlet && (batch = flow_consumer_drop(s->inlet->consumer)))
        release_batch(batch);
}

struct wire_place
train_at(const struct train *t)
{
    return (struct wire_place){t->session, t->state.epoch, t->state.step};
}

int
train_source_restart(struct train *t, struct err *err)
{
    struct wire_place at;

    if (train_session(t, err))
        return -1;
    at = train_at(t);
    flow_state_copy_mark_stale(&t->service.state_copy);
    drop_batches(&t->source);
    flow_consumer_begin(t->source.inlet->consumer, &at);
    t->source.ended_at = 0;
    return 0;
}

void
train_source_close(struct train *t)
{
    struct train_source *s = &t->source;

    drop_batches(s);
    flow_inlet_close(s->inlet);
    *s = (struct train_source){0};
}

/* The number of views for which a table has rows. */
static size_t
views_of(const struct wire_batch *b)
{
    return b->batch.fixed ? (size_t)b->batch.fixed : b->batch.v;
}

/* Extra images or captions, which are only negatives. */
static size_t
extra_of(const struct wire_batch *b)
{
    return b->batch.extra.n + b->batch.extra.n_texts;
}

/* Takes the data set from the first hello. */
static void
set_data(struct train_shape *shape, const struct wire_hello *hello)
{
    memcpy(shape->digest, hello->digest, sizeof shape->digest);
    shape->size = hello->size;
}

size_t
train_views_wanted(const struct train_options *options)
{
    return train_has_captions(options) ? 1 : 2;
}

/* Takes the shape of all batches from the first one, or refuses it. */
static int
set_shape(struct train *t, const struct wire_batch *b, struct err *err)
{
    const struct wire_hello *hello = flow_server_hello(t->source.inlet->server);
    struct train_shape *shape = &t->shape;
    const size_t views = train_views_wanted(t->options),
                 v = b->batch.v + b->batch.small.v;
    const size_t targets = (size_t)t->options->targets;

    if (t->options->text ? v != views : v < views || v > LOSS_VIEWS_MAX)
        return err_set(err,
                       "a batch of %zu view%s of each image: want %zu%s, by "
                       "foil-augment --views %zu",
                       v, plural(v), views,
                       train_has_captions(t->options) ? ", with captions" : "",
                       views);
    if (!train_has_captions(t->options) &&
        loss_objective_check(t->objective, &t->options->loss, 0, v, 0, err))
        return -1;
    if (targets > v || (shape->per_image && !train_has_captions(t->options) &&
                        v != shape->per_image))
        return err_set(err,
                       "a batch of %zu views of each image: this run %s "
                       "%zu",
                       v, targets > v ? "has --positive-views" : "has",
                       targets > v ? targets : shape->per_image);
    if (b->batch.b < 2)
        return err_set(err, "a batch of 1 image: want at least 2 images, by "
                            "foil-select --batch");
    if (shape->images && (t->encoder.ops || b->batch.b <= shape->images))
        return 0; // the largest batch before the net is built decides
    set_data(shape, hello);
    shape->images = b->batch.b;
    shape->per_image = train_has_captions(t->options) ? 2 : v;
    shape->extra = b->batch.extra.most ? (size_t)b->batch.extra.most
                   : extra_of(b)       ? 2 * b->batch.b
                                       : 0;
    if (!shape->extra && train_draws_outside(t->options))
        shape->extra =
            4 * b->batch.b; // one state for each of the 2 b rows, in both views
    shape->height = b->height;
    shape->width = b->width;
    shape->channels = b->channels;
    shape->small = b->batch.small.v;
    shape->small_height = b->batch.small.height;
    shape->small_width = b->batch.small.width;
    shape->views = views_of(b);
    shape->captions =
        train_has_captions(t->options) ? (size_t)b->batch.most_captions : 0;
    return 0;
}

/* Takes the sizes of views by epoch from the augmenter of the first batch. */
static int
set_sizes(struct train *t, uint64_t peer, struct err *err)
{
    const char *made =
        flow_server_peer_hello(t->source.inlet->server, peer)->view_options;
    struct image_sizes sizes = {0};
    const char *text;
    struct err none;
    json_t *object;
    int rc = 0;

    if (t->source.has_sizes)
        return 0;
    object =
        *made ? json_parse(made, strlen(made), "view_options", &none) : NULL;
    if (object && !json_get_text(object, "sizes", &text, &none))
        rc = image_sizes_parse(text, &sizes, err);
    json_decref(object);
    if (!rc && sizes.n && !t->options->encoder &&
        !nn_encoder_any_size(t->options->arch))
        rc = err_set(err,
                     "images of several sizes: --arch %s reads images of one "
                     "size, a resnet of any",
                     t->options->arch);
    if (!rc && train_stem_varies(t->options, &sizes))
        rc = err_set(err, "images of several sizes: some would have the stem "
                          "imagenet, others small; add ,stem=small or "
                          ",stem=imagenet to --arch");
    if (rc)
        return -1;
    t->source.sizes = sizes;
    t->source.has_sizes = 1;
    return 0;
}

/* Checks the size of the images of a batch. */
static int
check_size(const struct train *t, const struct wire_batch *b, struct err *err)
{
    const struct train_shape *shape = &t->shape;
    const struct image_sizes *sizes = &t->source.sizes;
    const size_t size = sizes->n ? image_sizes_at(sizes, b->batch.epoch) : 0,
                 height = size ? size : shape->height,
                 width = size ? size : shape->width;

    if (b->height != height || b->width != width)
        return err_set(err, "images of %zux%zu: this run has %zux%zu%s",
                       b->width, b->height, width, height,
                       size ? " in this epoch" : "");
    if (t->state.step && b->batch.epoch == t->state.epoch && t->encoder.ops &&
        (height != shape->height || width != shape->width))
        return err_set(err,
                       "images of %zux%zu: this epoch began with %zux%zu, and "
                       "sizes change between epochs",
                       width, height, shape->width, shape->height);
    return 0;
}

/* Checks the views of a second size. */
static int
check_small(const struct train *t, const struct wire_batch *b, struct err *err)
{
    const struct train_options *o = t->options;
    const struct train_shape *shape = &t->shape;
    const size_t height = b->batch.small.height, width = b->batch.small.width;

    if (b->batch.small.v != shape->small ||
        (shape->small &&
         (height != shape->small_height || width != shape->small_width)))
        return err_set(err,
                       "%zu views of a second size, %zux%zu: this run has %zu "
                       "of %zux%zu",
                       b->batch.small.v, width, height, shape->small,
                       shape->small_width, shape->small_height);
    if (!shape->small)
        return 0;
    if (height > b->height || width > b->width || b->batch.extra.n ||
        b->batch.made || b->batch.fixed)
        return err_set(err, "views of a second size have to be smaller, and "
                            "new ones by a recipe, without further images");
    if (o->shards > 1)
        return err_set(err, "views of two sizes: --shards splits batches of "
                            "one size");
    return o->encoder || nn_encoder_any_size(o->arch)
               ? 0
               : err_set(err,
                         "views of two sizes: --arch %s reads images of one "
                         "size, a resnet of any",
                         o->arch);
}

static int
check_batch(struct train *t, uint64_t peer, const struct wire_batch *b,
            struct err *err)
{
    const struct train_shape *shape = &t->shape;

    if (set_sizes(t, peer, err) || set_shape(t, b, err) ||
        train_texts_check(&t->texts, t->options, shape, b, err) ||
        check_size(t, b, err) || check_small(t, b, err))
        return -1;
    if (b->batch.extra.n && train_has_captions(t->options))
        return err_set(err,
                       "%zu extra images: a run with captions takes only "
                       "extra texts, as by --proposals shared,captions",
                       b->batch.extra.n);
    if (b->batch.made && !t->objective->by_encoder)
        return err_set(err, "the view program returned numbers for a loss, and "
                            "only --objective external reads them");
    if (nn_encoder_reads(t->options->arch, NN_IDS) &&
        views_of(b) != shape->views)
        return err_set(err, "%zu view%s of an image: this run has %zu",
                       views_of(b), plural(views_of(b)), shape->views);
    return 0;
}

/* Refuses a batch whose item is wrong, not its augmenter. */
static int
check_item(const struct train_shape *shape, const struct wire_batch *b,
           struct err *err)
{
    if (b->shard[1])
        return err_set(err,
                       "shard %jd of %jd of an item: shards are not "
                       "supported yet, batches must be whole",
                       (intmax_t)b->shard[0], (intmax_t)b->shard[1]);
    if (b->batch.b > shape->images || extra_of(b) > shape->extra)
        return err_set(err,
                       "a batch of %zu and %zu extra samples: this run has "
                       "up to %zu and %zu, as in its first batch; its first "
                       "item has to be the largest",
                       b->batch.b, extra_of(b), shape->images, shape->extra);
    return 0;
}

static void
take_batch(struct train *t, struct flow_event *event)
{
    struct train_source *s = &t->source;
    struct flow_server *server = s->inlet->server;
    struct wire_batch batch, *held;
    struct wire_error error = {.id = -1};
    struct wire_place at;
    struct wire_msg *msg;
    struct err why;

    if (wire_batch_get(&batch, event->msg, flow_server_hello(server)->size,
                       &event->why)) {
        stage_refuse(server, event);
        return;
    }
    at = wire_place_of(batch.session, &batch.batch);
    if (!flow_consumer_wants(s->inlet->consumer, &at))
        goto out; // late, or a second time
    if (check_batch(t, event->peer, &batch, &why)) {
        log_message("an augmenter was refused: %s", why.msg);
        memcpy(error.reason, why.msg, sizeof error.reason);
        msg = wire_error_put(&error); // on which it exits
        flow_server_send(server, event->peer, msg);
        wire_msg_free(msg);
        goto out;
    }
    if (check_item(&t->shape, &batch, &event->why)) {
        if (flow_server_refuse(server, event))
            log_message("epoch %jd, step %jd: %s", (intmax_t)at.epoch,
                        (intmax_t)at.step, event->why.msg);
        goto out;
    }
    if (!s->largest)
        flow_consumer_resize(s->inlet->consumer, (size_t)t->options->window);
    if (s->largest < wire_msg_bytes(event->msg)) {
        s->largest = wire_msg_bytes(event->msg);
        flow_server_expect(server, 2 * s->largest, (size_t)t->options->window);
    }
    held = mem_array(1, sizeof *held);
    *held = batch;
    release_batch(flow_consumer_hold(s->inlet->consumer, &at, held));
    return;

out:
    wire_batch_release(&batch);
}

/* Reads all messages. */
static void
read_peers(struct train *t)
{
    struct flow_inlet *inlet = t->source.inlet;
    struct flow_event event;

    while (flow_inlet_next(inlet, &event)) {
        stage_report(&event);
        if (event.kind == FLOW_MESSAGE)
            take_batch(t, &event);
        if (event.kind == FLOW_LEFT)
            log_message("an augmenter has left, %zu remain",
                        flow_server_peers(inlet->server));
    }
    train_features_serve(t);
}

void
train_source_serve(void *self)
{
    struct train *t = self;

    read_peers(t);
    flow_inlet_send_snapshots(t->source.inlet);
    wire_tick(t->stage.wire);
    train_status_send(t, 0);
}

int
train_plan_fits(const struct train *t, const struct wire_batch *batch)
{
    const char *order = t->state.order;

    return !batch->batch.step || !*order || !*batch->order ||
           !strcmp(order, batch->order);
}

void
train_prefetch_next(void *tool)
{
    struct train *t = tool;
    const struct train_state *s = &t->state;
    const int last = s->step + 1 == s->steps;
    const struct wire_place next = {.session = t->session,
                                    .epoch = s->epoch + last,
                                    .step = last ? 0 : s->step + 1};
    const struct wire_batch *found;

    stage_io_lock(&t->io);
    wire_batch_release(&t->unreleased);
    train_source_serve(t);
    found = flow_consumer_find(t->source.inlet->consumer, &next);
    // do not send a program a batch that will not be trained, or that is of a
    // size for which it will be started again
    if (found && train_plan_fits(t, found) &&
        found->height == t->shape.height && found->width == t->shape.width)
        train_learner_prefetch(&t->learner, &found->batch);
    stage_io_unlock(&t->io);
}

/* Seconds of waiting for the next batch. */
static double
waited_s(const struct train *t, double now)
{
    return now - t->stage.waiting.since;
}

/*
 * Returns 1 if no items are left: all augmenters must report that for as long
 * as it takes to notice a killed one and to restart it.
 *
 * If the plan had ended when the checkpoint was made, it is enough that no peer
 * has a longer one: an augmenter sends that no items are left, or none is
 * connected for a while, or no batch comes until the deadline.
 */
static int
is_plan_over(struct train *t, double now)
{
    const struct train_state *state = &t->state;
    struct train_source *s = &t->source;
    const enum flow_ended ended = flow_consumer_ended(s->inlet->consumer);
    const double absent =
        flow_server_peers(s->inlet->server) ? t->options->deadline : absent_s;

    if (ended != FLOW_ALL_ENDED)
        s->ended_at = 0;
    else if (!s->ended_at)
        s->ended_at = now;
    if (state->epochs && state->epoch >= state->epochs &&
        (ended != FLOW_NONE_ENDED || waited_s(t, now) >= absent))
        return 1;
    return s->ended_at && now - s->ended_at >= WIRE_SILENCE;
}

/* Describes what the augmenters wait for, or the augmenter that the trainer
 * waits for. */
static void
describe_augmenters(const struct flow_server *server, struct err *text)
{
    const size_t n = flow_server_peers(server);
    const char *source = "";
    size_t known = 0;

    for (size_t i = 0; i < n; i++) {
        const uint64_t peer = flow_server_peer(server, i);
        const struct wire_heartbeat *heartbeat =
            flow_server_heartbeat(server, peer);

        if (heartbeat->items) {
            err_set(text, "; '%.64s' has %jd items to make",
                    flow_server_peer_hello(server, peer)->peer,
                    (intmax_t)heartbeat->items);
            return;
        }
        known += heartbeat->room > 0;
        if (*heartbeat->source)
            source = heartbeat->source;
    }
    *text->msg = '\0';
    if (known == n && !*source)
        err_set(text, "; no selector sends them items");
    else if (known == n)
        err_set(text, "; they wait for items from foil-%s", source);
}

static const char *const again =
    "; restart selector and augmenters if they have ended";

int
train_source_waits_for(void *self, struct stage_waiting *waiting, double now,
                       struct err who[STAGE_WAITS])
{
    const struct train *t = self;
    const struct flow_inlet *inlet = t->source.inlet;
    const size_t peers = flow_server_peers(inlet->server);
    const double lasted = now - waiting->since;
    struct err feeders;

    if (lasted < STAGE_REPORT_EVERY_S)
        return -1;
    describe_augmenters(inlet->server, &feeders);
    if (!peers)
        err_set(who, "augmenters: none has been connected for %.0f seconds%s",
                lasted, again);
    else
        err_set(who,
                "epoch %jd, step %jd from %zu augmenters; after %.0f seconds "
                "%zu later batches have arrived%s",
                (intmax_t)t->state.epoch, (intmax_t)t->state.step, peers,
                lasted, flow_consumer_held(inlet->consumer), feeders.msg);
    return 1;
}

int
train_source_next(struct train *t, struct wire_batch *batch, struct err *err)
{
    const struct train_state *s = &t->state;
    const struct wire_place at = train_at(t);
    struct flow_consumer *consumer = t->source.inlet->consumer;
    struct wire_batch *next;
    struct err why;
    double now = clock_now();

    stage_waiting_moved(&t->stage.waiting, &at, now);
    if (!t->source.is_idle) { // the last call took a batch, or is the first
        t->state_before = t->state;
        flow_consumer_set_place(consumer, &at);
        flow_consumer_set_plan(consumer, s->step ? s->plan : "",
                               s->step ? s->order : "");
    }
    // if the clock was set back by more than a day, peers refuse the session
    if (wire_session_check(t->session, &why)) {
        log_message("%s: a new session begins", why.msg);
        if (train_source_restart(t, err))
            return -1;
    }
    read_peers(t);
    now = clock_now();
    next = stop_requested() ? NULL : flow_consumer_take(consumer);
    t->source.is_idle = !next;
    if (!next)
        return 0;
    *batch = *next;
    free(next);
    flow_inlet_send_snapshots(t->source.inlet);
    train_status_send(t, 0);
    t->journal.waited += waited_s(t, now);
    return 1;
}

int
train_source_idle(struct train *t, struct err *err)
{
    const double now = clock_now(), lasted = waited_s(t, now);
    const struct wire_hello *hello;
    size_t peers;

    if (is_plan_over(t, now))
        return 0;
    train_status_send(t, lasted);
    flow_consumer_mark_waiting(t->source.inlet->consumer, now);
    flow_inlet_send_snapshots(t->source.inlet);
    // before the first batch it only exchanges hellos with the service, which
    // may refuse its data set
    hello = flow_server_hello(t->source.inlet->server);
    if (!t->encoder.ops && hello->size) {
        set_data(&t->shape, hello);
        if (train_service_open(t, err))
            return -1;
    }
    if (t->service.service && (t->encoder.ops ? train_service_restore(t, err)
                                              : train_service_greet(t, err)))
        return -1;
    if (lasted < t->options->deadline)
        return 1;
    peers = flow_server_peers(t->source.inlet->server);
    return err_set(err,
                   "no batch for epoch %jd, step %jd in %.0f seconds, %zu "
                   "augmenters connected: given up%s",
                   (intmax_t)t->state.epoch, (intmax_t)t->state.step, lasted,
                   peers, peers ? "" : again);
}

double
train_source_pause_s(void *self)
{
    const struct train *t = self;

    return t->source.is_idle
               ? fmin(flow_inlet_pause_s(t->source.inlet),
                      t->options->deadline - waited_s(t, clock_now()))
               : 0;
}
