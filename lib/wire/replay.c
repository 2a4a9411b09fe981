#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "util/clock.h"
#include "util/mem.h"
#include "wire/batch.h"
#include "wire/client.h"
#include "wire/lease.h"
#include "wire/record.h"
#include "wire/replay.h"
#include "wire/server.h"

/* Where in the file a step is. */
struct spot {
    struct wire_place at;
    off_t offset;
};

struct wire_replay {
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
message_at(struct wire_replay *replay, off_t offset, struct err *err)
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
note(struct wire_replay *replay, struct wire_msg *msg, off_t offset)
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
read_through(struct wire_replay *replay, enum wire_kind kind, struct err *err)
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
        note(replay, msg, offset);
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
sort(struct wire_replay *replay)
{
    size_t n = 0;

    qsort(replay->spot, replay->n, sizeof *replay->spot, by_place);
    for (size_t i = 0; i < replay->n; i++)
        if (!n || wire_place_cmp(&replay->spot[n - 1].at, &replay->spot[i].at))
            replay->spot[n++] = replay->spot[i];
    replay->n = n;
}

struct wire_replay *
wire_replay_open(const char *path, struct err *err)
{
    struct wire_replay *replay = mem_array(1, sizeof *replay);

    replay->file = wire_record_open(path, err);
    if (!replay->file || read_through(replay, WIRE_BATCH, err) ||
        (!replay->n && read_through(replay, WIRE_ITEM, err)))
        goto fail;
    if (!replay->n) {
        err_set(err, "'%s' holds neither batches nor items", path);
        goto fail;
    }
    sort(replay);
    return replay;

fail:
    wire_replay_close(replay);
    return NULL;
}

void
wire_replay_close(struct wire_replay *replay)
{
    if (!replay)
        return;
    if (replay->file)
        fclose(replay->file);
    free(replay->spot);
    free(replay);
}

const char *
wire_replay_edge(const struct wire_replay *replay)
{
    return replay->kind == WIRE_BATCH ? "batch" : "plan";
}

/* The first step that is not before `at`. */
static void
go_to(struct wire_replay *replay, const struct wire_place *at)
{
    replay->next = 0;
    while (replay->next < replay->n &&
           wire_place_cmp(&replay->spot[replay->next].at, at) < 0)
        replay->next++;
}

/* The step behind the last. */
static struct wire_place
end_of(const struct wire_replay *replay, int64_t session)
{
    struct wire_place at = replay->spot[replay->n - 1].at;

    at.session = session;
    at.step++;
    return at;
}

/* The recorded message of step i, in the present session. */
static struct wire_msg *
renewed(struct wire_replay *replay, size_t i, int64_t session, struct err *err)
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

/* ---- as an augmenter --------------------------------------------------- */

/* As many batches as there is credit for, then the end, once. */
static int
bring(struct wire_replay *replay, struct wire_client *client, int *told,
      struct err *err)
{
    const struct wire_place at = wire_client_place(client);

    while (wire_client_credit(client) && replay->next < replay->n) {
        struct wire_msg *msg = renewed(replay, replay->next, at.session, err);
        int sent = msg && wire_client_send(client, msg);

        wire_msg_free(msg);
        if (!msg)
            return -1;
        if (!sent)
            return 0;
        replay->next++;
    }
    if (replay->next == replay->n && !*told && wire_client_credit(client)) {
        const struct wire_place end = end_of(replay, at.session);
        struct wire_msg *msg = wire_place_put(WIRE_END, &end);

        *told = wire_client_send(client, msg);
        wire_msg_free(msg);
    }
    return 0;
}

static int
be_augmenter(struct wire_replay *replay, struct wire *wire, int stop_fd,
             const char *endpoint, const char *role, struct err *err)
{
    const struct wire_client_config config = {
        .endpoint = endpoint,
        .role = role,
        .kind = WIRE_BRINGS,
        .hello = replay->hello,
        .limits = {.credit = 64},
    };
    struct wire_client *client = wire_client_open(wire, &config, err);
    int rc = client ? 1 : -1, over = 0, told = 0;
    struct wire_news news;

    while (rc > 0 && !over && (rc = wire_wait(wire, stop_fd, 1, err)) > 0) {
        while ((rc = wire_client_next(client, &news, err)) > 0) {
            over |= news.what == WIRE_ENDED;
            if (news.what != WIRE_JOINED && news.what != WIRE_MOVED)
                continue;
            told = 0;
            news.at = wire_client_place(client);
            go_to(replay, &news.at);
        }
        if (rc == 0)
            rc = bring(replay, client, &told, err) ? -1 : 1;
    }
    wire_client_close(client);
    return rc < 0 ? -1 : 0;
}

/* ---- as the selector --------------------------------------------------- */

/* The next for who asks: what was lost first, then what is new. */
static size_t
choose(struct wire_replay *replay, const struct wire_leases *leases)
{
    struct wire_place at;
    size_t i = 0;

    if (!wire_leases_next(leases, &at))
        return replay->next;
    while (wire_place_cmp(&replay->spot[i].at, &at))
        i++;
    return i;
}

static int
hand_out(struct wire_replay *replay, struct wire_server *server,
         struct wire_leases *leases, struct err *err)
{
    const struct wire_place now = wire_server_place(server);
    uint64_t peer;
    size_t i;

    while ((i = choose(replay, leases)) < replay->n &&
           (peer = wire_server_asker(server, leases))) {
        struct wire_msg *msg = renewed(replay, i, now.session, err);

        if (!msg)
            return -1;
        if (wire_server_send(server, peer, msg)) {
            wire_leases_give(leases, &replay->spot[i].at, peer, clock_now());
            replay->next += i == replay->next;
        }
        wire_msg_free(msg);
    }
    if (now.session >= 0 && replay->next == replay->n) {
        const struct wire_place end = end_of(replay, now.session);

        wire_server_end(server, &end);
    }
    return 0;
}

static void
hear(struct wire_replay *replay, struct wire_leases *leases,
     const struct wire_news *news)
{
    if (news->what == WIRE_LEFT)
        wire_leases_drop(leases, news->peer);
    if (news->what == WIRE_WAITED)
        wire_leases_wanted(leases, &news->at);
    if (news->what == WIRE_MOVED) {
        wire_leases_clear(leases);
        go_to(replay, &news->at);
    }
    if (news->what == WIRE_PASSED) {
        wire_leases_done(leases, &news->at);
        while (replay->next < replay->n &&
               wire_place_cmp(&replay->spot[replay->next].at, &news->at) < 0)
            replay->next++;
    }
}

static int
be_selector(struct wire_replay *replay, struct wire *wire, int stop_fd,
            const char *endpoint, struct err *err)
{
    const struct wire_server_config config = {
        .endpoint = endpoint,
        .kind = WIRE_PRODUCES,
        .hello = replay->hello,
        .limits = {.credit = 64},
    };
    struct wire_server *server = wire_server_open(wire, &config, err);
    struct wire_leases *leases = wire_leases_new(lease_seconds);
    int rc = server ? 1 : -1, over = 0;
    struct wire_place end;
    struct err words;
    struct wire_news news;

    while (rc > 0 && !over && (rc = wire_wait(wire, stop_fd, 1, err)) > 0) {
        while (wire_server_next(server, &news, err) > 0)
            hear(replay, leases, &news);
        over = wire_server_ended(server, &end) == WIRE_ALL_ENDED;
        while (wire_server_late(server, leases, &words))
            ;
        rc = hand_out(replay, server, leases, err) ? -1 : 1;
    }
    wire_server_close(server);
    wire_leases_free(leases);
    return rc < 0 ? -1 : 0;
}

int
wire_replay_run(struct wire_replay *replay, struct wire *wire, int stop_fd,
                const char *endpoint, const char *role, struct err *err)
{
    return replay->kind == WIRE_BATCH
               ? be_augmenter(replay, wire, stop_fd, endpoint, role, err)
               : be_selector(replay, wire, stop_fd, endpoint, err);
}
