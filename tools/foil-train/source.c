#include <stdlib.h>
#include <string.h>

#include "train.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/stop.h"

/* Seconds: between two complaints, until a trainer says that it waits. */
static const double patience = 10, starving = 1;

int
train_source_open(struct train *t, struct err *err)
{
    struct wire_server_config config = {
        .kind = WIRE_CONSUMES,
        .hello = {.stage = "train", .version = WIRE_VERSION},
        .at = t->state.at,
        .limits = {.credit = (size_t)t->options->credit,
                   .part_bytes = WIRE_MOST_PART,
                   .held_bytes = WIRE_MOST_PART},
    };
    char *endpoint =
        wire_endpoint(t->options->batches, t->options->run, "batch");

    config.endpoint = endpoint;
    t->source = (struct train_source){.credit = (size_t)t->options->credit};
    t->source.server = wire_server_open(t->wire, &config, err);
    free(endpoint);
    return t->source.server ? 0 : -1;
}

void
train_source_close(struct train *t)
{
    struct train_source *s = &t->source;

    for (size_t i = 0; i < s->n; i++)
        wire_batch_release(s->held + i);
    free(s->held);
    wire_server_close(s->server);
    *s = (struct train_source){0};
}

/* Brings the credit of the peers up to what there is room for. */
static void
grant(struct train_source *s)
{
    const size_t peers = wire_server_peers(s->server);
    size_t share;

    if (!peers || s->n >= s->credit)
        return;
    share = (s->credit - s->n) / peers;
    for (size_t i = peers; i-- > 0;) // backwards: who is gone drops out
        wire_server_want(s->server, wire_server_peer(s->server, i),
                         share ? share : 1);
}

/* Batches that may be held while we wait for one: see call_for(). */
static size_t
most_held(const struct train_source *s)
{
    return 4 * s->credit + wire_server_peers(s->server);
}

/*
 * The batch whose turn it is does not come.  Say so each second, so that the
 * selector takes its item from a peer that does not deliver it; and see that
 * whoever gets it next can ask for it, though all credit may be used up by
 * batches whose turn has not come.  A peer with open credit can ask already;
 * of the others each gets a credit at first, one of them each second later.
 * As long as the first call brings what was missing, the next that is missing
 * is called for at once.
 */
static void
call_for(struct train_source *s, double now)
{
    const size_t peers = wire_server_peers(s->server);
    const int first = !s->calls;
    size_t given = 0;

    if (first ? !s->short_of && now - s->waiting < starving
              : now - s->called < s->pause)
        return;
    s->called = now;
    s->calls++;
    // too many are held: the farthest are dropped, so this must be seldom
    s->pause = s->n < most_held(s) ? starving : 2 * s->pause;
    for (size_t i = 0; i < peers; i++) {
        const uint64_t peer =
            wire_server_peer(s->server, (s->turn + i) % peers);
        const int gets = !wire_server_credit(s->server, peer) &&
                         (first || s->n < s->credit || !given);

        given += (size_t)gets;
        wire_server_waits(s->server, peer, (size_t)gets);
    }
    s->turn++;
}

/* The held batch of a place, or n when there is none. */
static size_t
find(const struct train_source *s, const struct wire_place *at)
{
    size_t i = 0;

    while (i < s->n && wire_place_cmp(&s->held[i].at, at))
        i++;
    return i;
}

/* How many views a table has rows for. */
static size_t
views_of(const struct wire_batch *b)
{
    return b->variants.augmentations ? (size_t)b->variants.augmentations
                                     : b->n_views;
}

/* What a first batch says of all; and what makes no sense for anybody. */
static int
learn_shape(struct train *t, const struct wire_batch *b, struct err *err)
{
    const struct wire_hello *hello = wire_server_hello(t->source.server);
    struct train_shape *shape = &t->shape;

    if (b->n_views != 2 || b->n < 2)
        return err_set(err,
                       "a batch of %zu images in %zu views: want at "
                       "least 2 images in 2 views",
                       b->n, b->n_views);
    if (shape->images && (t->encoder.net || b->n <= shape->images))
        return 0; // until the net is built the largest counts
    memcpy(shape->digest, hello->digest, sizeof shape->digest);
    shape->size = hello->size;
    shape->images = b->n;
    shape->extra = b->of_extra.reserve ? (size_t)b->of_extra.reserve
                   : b->n_extra        ? 2 * b->n
                                       : 0;
    shape->height = b->height;
    shape->width = b->width;
    shape->channels = b->channels;
    shape->views = views_of(b);
    return 0;
}

static int
judge(struct train *t, const struct wire_batch *b, struct err *err)
{
    const struct train_shape *shape = &t->shape;

    if (learn_shape(t, b, err))
        return -1;
    if (b->height != shape->height || b->width != shape->width)
        return err_set(err, "images of %zux%zu: this run has %zux%zu", b->width,
                       b->height, shape->width, shape->height);
    if (b->n > shape->images || b->n_extra > shape->extra)
        return err_set(err,
                       "a batch of %zu and %zu images: this run has up to %zu "
                       "and %zu",
                       b->n, b->n_extra, shape->images, shape->extra);
    if (train_is_table(t->options) && views_of(b) != shape->views)
        return err_set(err, "%zu views of an image: this run has %zu",
                       views_of(b), shape->views);
    return 0;
}

/* Tells a peer that its batches will not do: it ends with that sentence. */
static void
send_away(struct train_source *s, uint64_t peer, const struct err *why)
{
    struct wire_error error = {.id = -1};
    struct wire_msg *msg;

    memcpy(error.reason, why->msg, sizeof error.reason);
    msg = wire_error_put(&error);
    wire_server_send(s->server, peer, msg);
    wire_msg_free(msg);
}

/* Holds a batch; when there is no room for one that can wait, the one that is
 * farthest ahead goes, and is asked for again when its turn has come. */
static void
hold(struct train *t, struct wire_batch *batch)
{
    struct train_source *s = &t->source;
    size_t last = 0;

    if (s->n < most_held(s) || !wire_place_cmp(&batch->at, &t->state.at)) {
        mem_grow(&s->held, &s->room, s->n + 1, sizeof *s->held);
        s->held[s->n++] = *batch;
        return;
    }
    for (size_t i = 1; i < s->n; i++)
        if (wire_place_cmp(&s->held[i].at, &s->held[last].at) > 0)
            last = i;
    if (wire_place_cmp(&batch->at, &s->held[last].at) > 0) {
        wire_batch_release(batch);
        return;
    }
    wire_batch_release(&s->held[last]);
    s->held[last] = *batch;
}

static void
came(struct train *t, const struct wire_news *news)
{
    struct train_source *s = &t->source;
    struct wire_batch batch;
    struct err why;

    if (wire_msg_kind(news->msg) != WIRE_BATCH)
        return;
    if (wire_batch_get(&batch, news->msg, wire_server_hello(s->server)->size,
                       &why)) {
        if (wire_server_bad(s->server, news->peer, &why))
            train_report_say(t, "%s", why.msg);
        return;
    }
    if (batch.at.session != t->state.at.session ||
        wire_place_cmp(&batch.at, &t->state.at) < 0 ||
        find(s, &batch.at) < s->n) {
        wire_batch_release(&batch); // late, or a second time
        return;
    }
    if (judge(t, &batch, &why)) {
        train_report_say(t, "an augmenter was sent away: %s", why.msg);
        send_away(s, news->peer, &why);
        wire_batch_release(&batch);
        return;
    }
    if (s->largest < wire_msg_bytes(news->msg)) {
        s->largest = wire_msg_bytes(news->msg);
        wire_server_expect(s->server, 2 * s->largest, s->credit);
    }
    hold(t, &batch);
}

/* Whether the data set is the one that the checkpoint was made with. */
static int
check_data(struct train *t, struct err *err)
{
    const struct wire_hello *hello = wire_server_hello(t->source.server);
    struct train_shape *shape = &t->shape;

    if (!shape->digest[0] || !hello->digest[0] ||
        !strcmp(shape->digest, hello->digest))
        return 0;
    if (!train_overridden("dataset") || shape->size != hello->size)
        return err_set(err,
                       "the augmenters have a data set of %jd images, digest "
                       "%.8s; the checkpoint is of %jd, digest %.8s%s",
                       (intmax_t)hello->size, hello->digest,
                       (intmax_t)shape->size, shape->digest,
                       shape->size == hello->size
                           ? "; --override dataset goes on all the same"
                           : "");
    memcpy(shape->digest, hello->digest, sizeof shape->digest);
    return 0;
}

/* Takes all that has come. */
static int
drain(struct train *t, struct err *err)
{
    struct train_source *s = &t->source;
    struct wire_news news;

    while (wire_server_next(s->server, &news, err) > 0) {
        switch (news.what) {
        case WIRE_JOINED:
            if (check_data(t, err))
                return -1;
            break;
        case WIRE_CAME:
            came(t, &news);
            break;
        case WIRE_BAD:
            train_report_say(t, "%s", news.why.msg);
            break;
        case WIRE_LEFT:
            train_report_say(t, "an augmenter is gone, %zu remain",
                             wire_server_peers(s->server));
            s->calls = 0; // what it had is free: see that it is asked for
            break;
        case WIRE_MOVED:
        case WIRE_PASSED:
        case WIRE_WAITED:
        case WIRE_ENDED:
        case WIRE_OVER:
            break;
        }
    }
    grant(s);
    train_features_serve(t);
    return 0;
}

/*
 * Whether the plan was over when the checkpoint was made, and nothing speaks
 * for a longer one: an augmenter says that nothing is left, or none is there
 * for a while, or those that are bring nothing until the deadline.
 */
static int
was_over(const struct train *t, enum wire_ended said, double now)
{
    const struct train_state *state = &t->state;
    const double until =
        wire_server_peers(t->source.server) ? t->options->deadline : patience;

    return state->epochs && state->at.epoch >= state->epochs &&
           (said != WIRE_NOT_ENDED || now - t->source.waiting >= until);
}

/*
 * Whether nothing is left: all augmenters have to say so, for as long as one
 * that was killed needs to be noticed and started again.
 */
static int
is_over(struct train *t, double now)
{
    struct train_source *s = &t->source;
    struct wire_place end;
    enum wire_ended said = wire_server_ended(s->server, &end);

    if (wire_place_cmp(&end, &t->state.at) > 0)
        said = WIRE_NOT_ENDED;
    if (said != WIRE_ALL_ENDED)
        s->over = 0;
    else if (!s->over)
        s->over = now;
    return was_over(t, said, now) || (s->over && now - s->over >= WIRE_SILENCE);
}

/* Says that nothing comes; -1 when it has lasted too long. */
static int
complain(struct train *t, double now, struct err *err)
{
    struct train_source *s = &t->source;
    const double lasted = now - s->waiting;
    const size_t peers = wire_server_peers(s->server);
    const char *again = "; start selector and augmenters again if they ended";

    if (lasted >= t->options->deadline)
        return err_set(err,
                       "no batch for epoch %jd, step %jd in %.0f seconds, "
                       "%zu augmenters there: given up%s",
                       (intmax_t)t->state.at.epoch, (intmax_t)t->state.at.step,
                       lasted, peers, peers ? "" : again);
    if (now - s->said < patience || lasted < patience)
        return 0;
    s->said = now;
    if (!peers)
        train_report_say(t, "no augmenter is there: waiting for %.0f seconds%s",
                         lasted, again);
    else
        train_report_say(t,
                         "waiting for %.0f seconds for epoch %jd, step %jd "
                         "from %zu augmenters",
                         lasted, (intmax_t)t->state.at.epoch,
                         (intmax_t)t->state.at.step, peers);
    return 0;
}

int
train_source_next(struct train *t, struct wire_batch *batch, struct err *err)
{
    struct train_source *s = &t->source;

    s->waiting = clock_now();
    s->pause = starving;
    s->calls = 0;
    for (;;) {
        double now, pause = 1;
        size_t i;
        int rc;

        if (drain(t, err))
            return -1;
        now = clock_now();
        i = find(s, &t->state.at);
        if (i < s->n && !stop_asked()) {
            if (s->calls)
                s->short_of = s->calls == 1;
            *batch = s->held[i];
            s->held[i] = s->held[--s->n];
            t->waited += now - s->waiting;
            grant(s);
            return 1;
        }
        if (is_over(t, now))
            return 0;
        call_for(s, now);
        if (t->service && train_negatives_meet(t, err))
            return -1;
        if (complain(t, now, err))
            return -1;
        if (t->options->deadline - (now - s->waiting) < pause)
            pause = t->options->deadline - (now - s->waiting);
        rc = wire_wait(t->wire, t->stop, pause, err);
        if (rc <= 0)
            return rc;
    }
}

void
train_source_done(struct train *t)
{
    wire_server_done(t->source.server, &t->state.at);
}
