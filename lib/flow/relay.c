
#include "flow/relay.h"
#include "util/mem.h"

#include "window.h"

enum state { WAITING, MAKING, MADE, SENT };

/* Seconds until the snapshot is sent again to the producer; after a failed
 * send.
 */
static const double resend_s = 1, retry_s = 0.05;

struct entry {
    struct wire_place at;
    enum state state;
    void *item, *batch; /* batch: of MADE, else NULL */
};

struct flow_relay {
    struct wire_want newest; /* of the consumer */
    size_t room;
    int paused;
    size_t n, n_room;
    struct entry *entry; /* [n], not sorted */
    int notified;        /* the producer has the newest snapshot, and */
    size_t room_sent;    /* this room */
    double sent_at;      /* when it was sent, or may be again */
};

struct flow_relay *
flow_relay_new(size_t room)
{
    struct flow_relay *r = mem_array(1, sizeof *r);

    REQUIRE(room && room <= WIRE_WINDOW_MAX);
    r->room = room;
    flow_snapshot_init(&r->newest);
    r->sent_at = -resend_s;
    return r;
}

void
flow_relay_free(struct flow_relay *r)
{
    if (!r)
        return;
    REQUIRE(!r->n);
    flow_snapshot_release(&r->newest);
    mem_free(r->entry, r);
}

static size_t
count_entries(const struct flow_relay *r, enum state state)
{
    size_t n = 0;

    for (size_t i = 0; i < r->n; i++)
        n += r->entry[i].state == state;
    return n;
}

/* The lowest wanted entry in a state, or NULL. */
static struct entry *
find_lowest(const struct flow_relay *r, enum state state)
{
    struct entry *best = NULL;

    for (size_t i = 0; i < r->n; i++) {
        struct entry *e = &r->entry[i];

        if (e->state == state && flow_snapshot_wants(&r->newest, &e->at) &&
            (!best || wire_place_cmp(&e->at, &best->at) < 0))
            best = e;
    }
    return best;
}

static int
is_past(const struct flow_relay *r, const struct wire_place *at)
{
    return at->session != r->newest.at.session ||
           wire_place_cmp(at, &r->newest.at) < 0;
}

int
flow_relay_on_snapshot(struct flow_relay *r, const struct wire_want *want)
{
    if (flow_snapshot_order(&r->newest, want) <= 0)
        return 0;
    flow_snapshot_set(&r->newest, want);
    r->notified = 0;
    return 1;
}

void
flow_relay_forget(struct flow_relay *r)
{
    r->newest.at.session = -1;
}

/* Compares sessions, too: an item of the last one may still be in the making.
 */
static int
is_same(const struct wire_place *a, const struct wire_place *b)
{
    return a->session == b->session && !wire_place_cmp(a, b);
}

int
flow_relay_take(struct flow_relay *r, const struct wire_place *at, void *item)
{
    size_t i = 0;

    REQUIRE(item);
    if (is_past(r, at))
        return 0;
    while (i < r->n && !is_same(&r->entry[i].at, at))
        i++;
    if (i < r->n && r->entry[i].state == SENT)
        r->entry[i].state = WAITING; // the batch is made again from the item
    if (i < r->n || i == WIRE_WINDOW_MAX)
        return 0;
    mem_grow(&r->entry, &r->n_room, r->n + 1, sizeof *r->entry);
    r->entry[r->n++] = (struct entry){*at, WAITING, item, NULL};
    return 1;
}

/* The entry to be made next, or NULL. */
static struct entry *
find_work(const struct flow_relay *r)
{
    struct entry *e = find_lowest(r, WAITING);

    return !e || count_entries(r, MADE) >= r->room ? NULL : e;
}

const void *
flow_relay_next(const struct flow_relay *r)
{
    const struct entry *e = find_work(r);

    return e ? e->item : NULL;
}

void
flow_relay_pause(struct flow_relay *r, int paused)
{
    r->paused = paused;
}

void *
flow_relay_work(struct flow_relay *r)
{
    struct entry *e = find_work(r);

    REQUIRE(!count_entries(r, MAKING));
    if (!e)
        return NULL;
    e->state = MAKING;
    return e->item;
}

void
flow_relay_made(struct flow_relay *r, void *batch)
{
    size_t i = 0;

    REQUIRE(batch && count_entries(r, MAKING) == 1);
    while (r->entry[i].state != MAKING)
        i++;
    r->entry[i].state = MADE;
    r->entry[i].batch = batch;
}

void *
flow_relay_ready(const struct flow_relay *r)
{
    const struct entry *e = find_lowest(r, MADE);

    return e ? e->batch : NULL;
}

void
flow_relay_mark_batch_sent(struct flow_relay *r)
{
    struct entry *e = find_lowest(r, MADE);

    REQUIRE(e);
    e->state = SENT;
    e->batch = NULL;
}

void
flow_relay_on_reconnect(struct flow_relay *r)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->entry[i].state == SENT)
            r->entry[i].state = WAITING;
}

static void
take_out(struct flow_relay *r, size_t i, void **item, void **batch)
{
    *item = r->entry[i].item;
    *batch = r->entry[i].batch;
    r->entry[i] = r->entry[--r->n];
}

/* A waiting item whose batch the consumer has stays: it may drop the batch. */
static int
is_stale(const struct flow_relay *r, const struct entry *e)
{
    if (e->state == WAITING)
        return is_past(r, &e->at);
    return e->state != MAKING && !flow_snapshot_wants(&r->newest, &e->at);
}

int
flow_relay_stale(struct flow_relay *r, void **item, void **batch)
{
    for (size_t i = 0; i < r->n; i++) {
        if (!is_stale(r, &r->entry[i]))
            continue;
        take_out(r, i, item, batch);
        return 1;
    }
    return 0;
}

int
flow_relay_drop(struct flow_relay *r, void **item, void **batch)
{
    if (!r->n)
        return 0;
    take_out(r, r->n - 1, item, batch);
    return 1;
}

void
flow_relay_resend_snapshot(struct flow_relay *r)
{
    r->notified = 0;
    r->sent_at = -resend_s;
}

static size_t
count_room(const struct flow_relay *r)
{
    const size_t n = r->paused ? 0 : r->room + count_entries(r, SENT);

    return n < WIRE_WINDOW_MAX ? n : WIRE_WINDOW_MAX;
}

int
flow_relay_next_snapshot(const struct flow_relay *r, double now,
                         struct wire_want *want)
{
    const int is_new = !r->notified || r->room_sent != count_room(r);

    if (r->newest.at.session < 0 || now - r->sent_at < (is_new ? 0 : resend_s))
        return 0;
    *want = r->newest;
    want->room = (int64_t)count_room(r);
    return 1;
}

void
flow_relay_mark_snapshot_sent(struct flow_relay *r, int sent, double now)
{
    r->notified = sent;
    r->room_sent = count_room(r);
    r->sent_at = sent ? now : now + retry_s;
}

struct wire_place
flow_relay_place(const struct flow_relay *r)
{
    return r->newest.at;
}

int
flow_relay_consumer_waits(const struct flow_relay *r)
{
    size_t has = r->newest.n_have;

    for (size_t i = 0; i < r->n; i++)
        has += r->entry[i].state == SENT &&
               flow_snapshot_wants(&r->newest, &r->entry[i].at);
    return r->newest.at.session >= 0 && has < 2;
}

size_t
flow_relay_items(const struct flow_relay *r)
{
    return count_entries(r, WAITING) + count_entries(r, MAKING);
}

size_t
flow_relay_unsent(const struct flow_relay *r)
{
    return count_entries(r, MADE);
}
