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

#include "window.h"

struct step_offset {
    struct wire_place at;
    off_t offset;
};

struct flow_replay {
    FILE *file;
    enum wire_kind kind; /* WIRE_BATCH or WIRE_ITEM */
    struct wire_hello hello;
    size_t n, room, next;
    struct step_offset *steps; /* [n], sorted by place */
};

/* The default of foil-select. */
static const double lease_s = 10;

union step {
    struct wire_batch batch;
    struct wire_item item;
};

static void
note_step(struct flow_replay *replay, struct wire_msg *msg, off_t offset)
{
    const enum wire_kind kind = wire_msg_kind(msg);
    const char *stage = replay->kind == WIRE_BATCH ? "augment" : "select";
    struct wire_subject subject;
    struct wire_hello hello;
    union step step;
    struct err err;

    if (kind == WIRE_HELLO && !wire_hello_get(&hello, msg, &err) &&
        !strcmp(hello.stage, stage))
        replay->hello = hello;
    if (kind != replay->kind || wire_decode(kind, &step, msg, 0, &err))
        return;
    wire_release(kind, &step);
    wire_subject_of(&subject, msg);
    mem_grow(&replay->steps, &replay->room, replay->n + 1,
             sizeof *replay->steps);
    replay->steps[replay->n++] = (struct step_offset){subject.at, offset};
}

/* Reads the file once and notes where the batches, or the items, are. */
static int
scan_file(struct flow_replay *replay, enum wire_kind kind, struct err *err)
{
    struct wire_record record;
    struct wire_msg *msg;
    off_t offset;
    int rc;

    replay->kind = kind;
    snprintf(replay->hello.stage, sizeof replay->hello.stage, "%s",
             kind == WIRE_BATCH ? "augment" : "select");
    if (fseeko(replay->file, 8, SEEK_SET)) // after the magic
        return err_sys(err, "cannot read the recording");
    while (offset = ftello(replay->file),
           (rc = wire_record_next(replay->file, &record, &msg, err)) > 0) {
        note_step(replay, msg, offset);
        wire_msg_free(msg);
    }
    return rc;
}

static int
by_place(const void *a, const void *b)
{
    const struct step_offset *x = a, *y = b;
    int order = wire_place_cmp(&x->at, &y->at);

    return order ? order : (x->offset > y->offset) - (x->offset < y->offset);
}

struct flow_replay *
flow_replay_open(const char *path, struct err *err)
{
    struct flow_replay *replay = mem_array(1, sizeof *replay);
    struct step_offset *step;
    size_t n = 0;

    replay->file = wire_record_open(path, err);
    if (!replay->file || scan_file(replay, WIRE_BATCH, err) ||
        (!replay->n && scan_file(replay, WIRE_ITEM, err)))
        goto fail;
    if (!replay->n) {
        err_set(err, "'%s' holds neither batches nor items", path);
        goto fail;
    }
    step = replay->steps;
    qsort(step, replay->n, sizeof *step, by_place);
    for (size_t i = 0; i < replay->n; i++) // of two steps the first counts
        if (!n || wire_place_cmp(&step[n - 1].at, &step[i].at))
            step[n++] = step[i];
    replay->n = n;
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
    mem_free(replay->steps, replay);
}

const char *
flow_replay_edge(const struct flow_replay *replay)
{
    return replay->kind == WIRE_BATCH ? "batch" : "plan";
}

static void
seek_place(struct flow_replay *replay, const struct wire_place *at)
{
    replay->next =
        flow_places_before(replay->steps, replay->n, sizeof *replay->steps, at);
}

/* The recorded message of step i, with the present session. */
static struct wire_msg *
restamp_message(struct flow_replay *replay, size_t i, int64_t session,
                struct err *err)
{
    struct wire_msg *old, *msg = NULL;
    struct wire_record record;
    union step step;

    if (fseeko(replay->file, replay->steps[i].offset, SEEK_SET) ||
        wire_record_next(replay->file, &record, &old, err) <= 0) {
        err_set(err, "the recording has changed");
        return NULL;
    }
    if (!wire_decode(replay->kind, &step, old, 0, err)) {
        if (replay->kind == WIRE_BATCH)
            step.batch.session = session;
        else
            step.item.session = session;
        msg = wire_encode(replay->kind, &step);
        wire_release(replay->kind, &step);
    }
    wire_msg_free(old);
    return msg;
}

/* Add the recorded places of the window. */
static void
fill_book(struct flow_replay *replay, struct flow_producer *producer)
{
    while (flow_producer_needs_place(producer)) {
        struct wire_place at = flow_producer_fresh(producer), after;
        const int64_t session = at.session;

        seek_place(replay, &at);
        if (replay->next == replay->n) {
            flow_producer_close(producer, &at);
            return;
        }
        at = after = replay->steps[replay->next].at;
        after.session = session;
        after.step++;
        flow_producer_add(producer, &at, &after);
    }
}

/* Number of the only peer when playing as an augmenter. */
enum { TRAINER = 1 };

/* A recording being played: as an augmenter by a client, or as the selector by
 * an outlet. */
struct player {
    struct flow_replay *replay;
    struct flow_client *client;
    struct flow_outlet *outlet; /* or NULL */
    struct flow_producer *producer;
    int over;
};

static int
send_message(const struct player *p, uint64_t peer, struct wire_msg *msg)
{
    const int sent = p->outlet ? flow_server_send(p->outlet->server, peer, msg)
                               : flow_client_send(p->client, msg);

    wire_msg_free(msg);
    return sent;
}

static int
hand_out(struct player *p, struct err *err)
{
    struct flow_producer *producer = p->producer;
    const double now = clock_now();
    struct flow_send_item turn;
    struct flow_late late;
    uint64_t peer;

    fill_book(p->replay, producer);
    while (flow_producer_late(producer, now, &late))
        ;
    while (flow_producer_next_item(producer, now, &turn)) {
        struct wire_msg *msg;

        seek_place(p->replay, &turn.at);
        msg = restamp_message(p->replay, p->replay->next, turn.at.session, err);
        if (!msg)
            return -1;
        flow_producer_mark_sent(producer, &turn,
                                send_message(p, turn.peer, msg), now);
    }
    while ((peer = flow_producer_next_unnotified(producer, now))) {
        const struct wire_end end = {.at = flow_producer_fresh(producer)};

        flow_producer_mark_notified(
            producer, peer, send_message(p, peer, wire_end_put(&end)), now);
    }
    return 0;
}

/* Read all messages: 0, or -1 when the trainer refuses us. */
static int
receive_messages(struct player *p, struct err *err)
{
    struct flow_event event;
    int rc;

    while (p->outlet && flow_outlet_next(p->outlet, &event))
        continue;
    if (p->outlet) {
        p->over = flow_outlet_is_over(p->outlet);
        return 0;
    }
    while ((rc = flow_client_next(p->client, &event, err)) > 0) {
        p->over |= event.kind == FLOW_OVER;
        if (event.kind == FLOW_JOINED) {
            flow_producer_leave(p->producer, TRAINER);
            flow_producer_join(p->producer, TRAINER);
        }
        if (event.kind == FLOW_MESSAGE)
            flow_producer_on_snapshot(p->producer, TRAINER, event.want,
                                      clock_now());
    }
    return rc;
}

static int
open_player(struct player *p, struct wire *wire, const char *endpoint,
            const char *role, struct err *err)
{
    const struct wire_limits limits = {.queue = 64};
    const struct flow_client_config client = {.endpoint = endpoint,
                                              .role = role,
                                              .edge = WIRE_EDGE_BATCH,
                                              .hello = p->replay->hello,
                                              .limits = limits};
    const struct flow_outlet_config outlet = {
        .server = {.endpoint = endpoint,
                   .hello = p->replay->hello,
                   .limits = limits},
        .lease = lease_s};

    if (p->replay->kind == WIRE_ITEM) {
        p->outlet = flow_outlet_open(wire, &outlet, err);
        p->producer = p->outlet ? p->outlet->producer : NULL;
        return p->outlet ? 0 : -1;
    }
    p->client = flow_client_open(wire, &client, err);
    p->producer = flow_producer_new(lease_s);
    return p->client ? 0 : -1;
}

int
flow_replay_run(struct flow_replay *replay, struct wire *wire, int stop_fd,
                const char *endpoint, const char *role, struct err *err)
{
    struct player p = {.replay = replay};
    int rc = open_player(&p, wire, endpoint, role, err) ? -1 : 1;

    while (rc > 0 && !p.over) {
        const double pause =
            p.outlet ? flow_outlet_pause_s(p.outlet)
                     : fmin(1, flow_producer_due(p.producer, clock_now()));

        rc = wire_wait(wire, stop_fd, pause, err);
        if (rc > 0 && (receive_messages(&p, err) || hand_out(&p, err)))
            rc = -1;
    }
    if (!p.outlet)
        flow_producer_free(p.producer);
    flow_outlet_close(p.outlet);
    flow_client_close(p.client);
    return rc < 0 ? -1 : 0;
}
