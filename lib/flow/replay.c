#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "flow/client.h"
#include "flow/outlet.h"
#include "flow/replay.h"
#include "util/clock.h"
#include "util/mem.h"
#include "wire/batch.h"
#include "wire/record.h"

/* Where in the file a step is. */
struct spot {
    struct wire_place at;
    off_t offset;
};

struct flow_replay {
    FILE *file;
    enum wire_kind kind; /* WIRE_BATCH or WIRE_ITEM */
    struct wire_hello hello;
    size_t n, room, next;
    struct spot *spot; /* [n], by place */
};

/* For lost items: as foil-select does. */
static const double lease_seconds = 10;

/* Message at offset; what was read once can be read again, or it is -1. */
static struct wire_msg *
message_at(struct flow_replay *replay, off_t offset, struct err *err)
{
    struct wire_record record;
    struct wire_msg *msg = NULL;

    if (fseeko(replay->file, offset, SEEK_SET) ||
        wire_record_next(replay->file, &record, &msg, err) <= 0) {
        err_set(err, "the recording has changed");
        return NULL;
    }
    return msg;
}

/* The place of a batch or item; -1 when it is no sound one. */
static int
place_of(struct wire_msg *msg, struct wire_place *at)
{
    struct wire_batch batch;
    struct wire_item item;
    struct err err;

    if (wire_msg_kind(msg) == WIRE_BATCH) {
        if (wire_batch_get(&batch, msg, 0, &err))
            return -1;
        *at = batch.at;
        wire_batch_release(&batch);
        return 0;
    }
    if (wire_item_get(&item, msg, 0, &err))
        return -1;
    *at = item.at;
    wire_item_release(&item);
    return 0;
}

static void
note_spot(struct flow_replay *replay, struct wire_msg *msg, off_t offset)
{
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *stage = replay->kind == WIRE_BATCH ? "augment" : "select";
    struct wire_hello hello;
    struct wire_place at;
    struct err err;

    if (kind == WIRE_HELLO && !wire_hello_get(&hello, msg, &err) &&
        !strcmp(hello.stage, stage))
        replay->hello = hello;
    if (kind != replay->kind || place_of(msg, &at))
        return;
    mem_grow(&replay->spot, &replay->room, replay->n + 1, sizeof *replay->spot);
    replay->spot[replay->n++] = (struct spot){at, offset};
}

/* One pass over the file for batches, or for items. */
static int
read_through(struct flow_replay *replay, enum wire_kind kind, struct err *err)
{
    struct wire_record record;
    struct wire_msg *msg;
    off_t offset;
    int rc;

    replay->kind = kind;
    snprintf(replay->hello.stage, sizeof replay->hello.stage, "%s",
             kind == WIRE_BATCH ? "augment" : "select");
    if (fseeko(replay->file, 8, SEEK_SET)) // behind the magic
        return err_sys(err, "cannot read the recording");
    while (offset = ftello(replay->file),
           (rc = wire_record_next(replay->file, &record, &msg, err)) > 0) {
        note_spot(replay, msg, offset);
        wire_msg_free(msg);
    }
    return rc;
}

static int
by_place(const void *a, const void *b)
{
    const struct spot *x = a, *y = b;
    int order = wire_place_cmp(&x->at, &y->at);

    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

static void
sort_spots(struct flow_replay *replay)
{
    size_t n = 0;

    qsort(replay->spot, replay->n, sizeof *replay->spot, by_place);
    for (size_t i = 0; i < replay->n; i++)
        if (!n || wire_place_cmp(&replay->spot[n - 1].at, &replay->spot[i].at))
            replay->spot[n++] = replay->spot[i];
    replay->n = n;
}

struct flow_replay *
flow_replay_open(const char *path, struct err *err)
{
    struct flow_replay *replay = mem_array(1, sizeof *replay);

    replay->file = wire_record_open(path, err);
    if (!replay->file || read_through(replay, WIRE_BATCH, err) ||
        (!replay->n && read_through(replay, WIRE_ITEM, err)))
        goto fail;
    if (!replay->n) {
        err_set(err, "'%s' holds neither batches nor items", path);
        goto fail;
    }
    sort_spots(replay);
    return replay;

fail:
    flow_replay_close(replay);
    return NULL;
}

void
flow_replay_close(struct flow_replay *replay)
{
    if (!replay)
        return;
    if (replay->file)
        fclose(replay->file);
    free(replay->spot);
    free(replay);
}

const char *
flow_replay_edge(const struct flow_replay *replay)
{
    return replay->kind == WIRE_BATCH ? "batch" : "plan";
}

/* The first step that is not before `at`. */
static void
go_to(struct flow_replay *replay, const struct wire_place *at)
{
    size_t low = 0, high = replay->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (wire_place_cmp(&replay->spot[middle].at, at) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    replay->next = low;
}

/* The recorded message of step i, in the present session. */
static struct wire_msg *
renew_message(struct flow_replay *replay, size_t i, int64_t session,
              struct err *err)
{
    struct wire_msg *old = message_at(replay, replay->spot[i].offset, err);
    struct wire_msg *msg = NULL;
    struct wire_batch batch;
    struct wire_item item;

    if (!old)
        return NULL;
    if (replay->kind == WIRE_BATCH && !wire_batch_get(&batch, old, 0, err)) {
        batch.at.session = session;
        msg = wire_batch_put(&batch);
        wire_batch_release(&batch);
    }
    if (replay->kind == WIRE_ITEM && !wire_item_get(&item, old, 0, err)) {
        item.at.session = session;
        msg = wire_item_put(&item);
        wire_item_release(&item);
    }
    wire_msg_free(old);
    return msg;
}

/* ---- as an augmenter, and as the selector ------------------------------ */

/* The places of the window, as far as they are recorded. */
static void
fill_book(struct flow_replay *replay, struct flow_producer *producer)
{
    while (flow_producer_short(producer)) {
        struct wire_place at = flow_producer_fresh(producer), behind;
        const int64_t session = at.session;

        go_to(replay, &at);
        if (replay->next == replay->n) {
            flow_producer_close(producer);
            return;
        }
        at = behind = replay->spot[replay->next].at;
        behind.session = session;
        behind.step++;
        flow_producer_add(producer, &at, &behind);
    }
}

/* The one peer of an augmenter's producer. */
enum { TRAINER = 1 };

static void
hear_trainer(struct flow_producer *producer, const struct flow_client *client,
             const struct flow_news *news)
{
    if (news->what == FLOW_JOINED) {
        flow_producer_leave(producer, TRAINER);
        flow_producer_join(producer, TRAINER);
    }
    if (news->what == FLOW_MESSAGE)
        flow_producer_next(producer, TRAINER, flow_client_snapshot(client),
                           clock_now());
}

static int
bring_batches(struct flow_replay *replay, struct flow_producer *producer,
              struct flow_client *client, struct err *err)
{
    const double now = clock_now();
    struct flow_turn turn;
    struct flow_late late;

    fill_book(replay, producer);
    while (flow_producer_late(producer, now, &late))
        ;
    while (flow_producer_turn(producer, now, &turn)) {
        struct wire_msg *msg;

        go_to(replay, &turn.at);
        msg = renew_message(replay, replay->next, turn.at.session, err);
        if (!msg)
            return -1;
        flow_producer_gave(producer, &turn, flow_client_send(client, msg), now);
        wire_msg_free(msg);
    }
    while (flow_producer_untold(producer, now)) {
        const struct wire_end end = {.at = flow_producer_fresh(producer)};
        struct wire_msg *msg = wire_end_put(&end);

        flow_producer_told(producer, TRAINER, flow_client_send(client, msg),
                           now);
        wire_msg_free(msg);
    }
    return 0;
}

static int
be_augmenter(struct flow_replay *replay, struct wire *wire, int stop_fd,
             const char *endpoint, const char *role, struct err *err)
{
    const struct flow_client_config config = {
        .endpoint = endpoint,
        .role = role,
        .edge = WIRE_EDGE_BATCH,
        .hello = replay->hello,
        .limits = {.queue = 64},
    };
    struct flow_client *client = flow_client_open(wire, &config, err);
    struct flow_producer *producer = flow_producer_new(lease_seconds);
    int rc = client ? 1 : -1, over = 0;
    struct flow_news news;

    while (rc > 0 && !over &&
           (rc = wire_wait(wire, stop_fd,
                           fmin(1, flow_producer_due(producer, clock_now())),
                           err)) > 0) {
        while ((rc = flow_client_next(client, &news, err)) > 0) {
            over |= news.what == FLOW_OVER;
            hear_trainer(producer, client, &news);
        }
        if (rc == 0)
            rc = bring_batches(replay, producer, client, err) ? -1 : 1;
    }
    flow_producer_free(producer);
    flow_client_close(client);
    return rc < 0 ? -1 : 0;
}

static int
hand_out(struct flow_replay *replay, struct flow_outlet *outlet,
         struct err *err)
{
    struct flow_producer *producer = outlet->producer;
    struct flow_turn turn;

    fill_book(replay, producer);
    while (flow_producer_turn(producer, clock_now(), &turn)) {
        struct wire_msg *msg;

        go_to(replay, &turn.at);
        msg = renew_message(replay, replay->next, turn.at.session, err);
        if (!msg)
            return -1;
        flow_outlet_give(outlet, &turn, msg);
        wire_msg_free(msg);
    }
    flow_outlet_end(outlet);
    return 0;
}

static int
be_selector(struct flow_replay *replay, struct wire *wire, int stop_fd,
            const char *endpoint, struct err *err)
{
    const struct flow_outlet_config config = {
        .endpoint = endpoint,
        .hello = replay->hello,
        .limits = {.queue = 64},
        .lease = lease_seconds,
    };
    struct flow_outlet *outlet = flow_outlet_open(wire, &config, err);
    int rc = outlet ? 1 : -1, over = 0;
    struct err words;
    struct flow_news news;

    while (rc > 0 && !over &&
           (rc = wire_wait(wire, stop_fd, flow_outlet_patience(outlet), err)) >
               0) {
        while (flow_outlet_next(outlet, &news))
            ;
        over = flow_outlet_is_over(outlet);
        while (flow_outlet_late(outlet, &words))
            ;
        rc = hand_out(replay, outlet, err) ? -1 : 1;
    }
    flow_outlet_close(outlet);
    return rc < 0 ? -1 : 0;
}

int
flow_replay_run(struct flow_replay *replay, struct wire *wire, int stop_fd,
                const char *endpoint, const char *role, struct err *err)
{
    return replay->kind == WIRE_BATCH
               ? be_augmenter(replay, wire, stop_fd, endpoint, role, err)
               : be_selector(replay, wire, stop_fd, endpoint, err);
}
