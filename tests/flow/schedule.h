#pragma once

/*
 * A schedule: a world drawn from a seed, faults at drawn times, one event
 * after another until the run is over for all, or something is wrong.
 *
 * The parties are defined by the file that is included before this one,
 * tests/flow/parties.h or tests/flow/credit.h: start(), finish(), turn(),
 * pause_s(), join(), leave(), client_greeted(), lost(), client_receives(),
 * binder_receives(), lie(), judge(), check_calm(), is_settled(),
 * binder_of_items() and FILTERS.
 */
#include "flow/world.h"

/* ---- begin ----------------------------------------------------------- */

static void
connect_to(struct world *w, int client, int binder)
{
    struct link *link = &w->link[w->n_links++];

    *link = (struct link){.client = client, .binder = binder, .connection = 1};
    link->heartbeat_at = -life;
}

static int
exists(const struct world *w, int party)
{
    return party == FILTER    ? w->filtered
           : party == SERVICE ? 0
                              : party < RELAY + w->relays;
}

/* Whether the trainer stops before the plan ends.  Draws nothing from the
 * rest of the schedule. */
static void
draw_end(struct world *w)
{
    rng_init(&w->ends, w->seed, RNG_TEST, 2, 0, 0);
    w->wanted = w->places;
    w->counts = rng_u32(&w->ends) % 2;
    if (w->counts && rng_u32(&w->ends) % 3 == 0)
        w->wanted -= (int)(rng_u32(&w->ends) % (unsigned)w->places);
}

static void
connect_all(struct world *w)
{
    if (w->filtered)
        connect_to(w, FILTER, SELECTOR);
    if (w->weighs)
        connect_to(w, TRAINER, SERVICE);
    for (int i = 0; i < w->relays; i++) {
        connect_to(w, RELAY + i, binder_of_items(w));
        connect_to(w, RELAY + i, TRAINER);
        w->relay[i].deaf = !dice(w, 3);
    }
}

static void
begin(struct world *w, uint64_t seed, int trace)
{
    static const double leases[] = {LEASE, LEASE, 3, 0.5};
    const struct world old = *w;

    *w = (struct world){.seed = seed, .trace = trace, .grace = old.grace};
    w->due = old.due; // their memory is reused
    w->room_due = old.room_due;
    w->event = old.event;
    w->room_events = old.room_events;
    w->spare = old.spare;
    w->room_spare = old.room_spare;
    rng_init(&w->rng, seed, RNG_TEST, 1, 0, 0);
    w->relays = 1 + dice(w, RELAYS_MAX);
    w->filtered = !dice(w, 3) && FILTERS;
    w->window = 1 + dice(w, WINDOW_MAX);
    w->room = 1 + dice(w, 3);
    w->steps = 3 + dice(w, 8);
    w->places = 4 + dice(w, PLACES_MAX - 4);
    w->checkpoint = 1 + dice(w, 10);
    w->loss = dice(w, 4) ? 0 : 20 + (unsigned)dice(w, 200);
    w->twice = dice(w, 4) ? 0 : 3 + (unsigned)dice(w, 30);
    w->slow = dice(w, 2) ? 0.1 : 1;
    w->lease = leases[dice(w, 4)];
    w->pace = dice(w, 8) ? 0.1 : 1;
    w->threaded = dice(w, 2);
    draw_end(w);
    rng_init(&w->more, seed, RNG_TEST, 4, 0, 0);
    w->weighs = w->filtered ? (int)(rng_u32(&w->more) % 4) : 0;
    w->horizon =
        1 + (int)(rng_u32(&w->more) % 2 ? WINDOW_MAX : rng_u32(&w->more) % 4);
    connect_all(w);
    log_event(w, "seed %ju: %d relays%s, window %d, room %d, %d places",
              (uintmax_t)seed, w->relays, w->filtered ? " and a filter" : "",
              w->window, w->room, w->places);
    for (int party = 0; party < PARTIES; party++)
        if (exists(w, party))
            start(w, party);
}

static int
can_run(const struct world *w, int party)
{
    const struct party *p = &w->party[party];

    return !p->left && p->back <= w->now && p->stopped <= w->now;
}

/* Greetings and heartbeats of a connecting party. */
static void
tend_link(struct world *w, int i)
{
    struct link *link = &w->link[i];

    if (!can_run(w, link->client))
        return;
    if (w->party[process_of(link->binder)].left && w->now > link->last[0] &&
        link->greeting.state != FLOW_OUT) {
        flow_greeting_lost(&link->greeting);
        lost(w, link);
    }
    if (flow_greeting_turn(&link->greeting, is_up(w, link), w->now))
        post(w, i, 1, HELLO, NULL);
    if (link->greeting.state == FLOW_IN &&
        w->now - link->heartbeat_at >= life) {
        post(w, i, 1, HEARTBEAT, NULL);
    }
}

/* The peers leave that a binder has dropped. */
static void
strike_off(struct world *w, int binder, int silent)
{
    uint64_t number;

    while ((number = flow_peer_table_left(&w->roll[binder])))
        for (int i = 0; i < w->n_links; i++) {
            struct link *link = &w->link[i];

            if (link->binder != binder || link->number != number)
                continue;
            link->silent = silent ? link->greeted_on : link->silent;
            leave(w, link);
        }
}

/* A binder drops silent peers, once it has read all messages. */
static void
drop_silent(struct world *w, int binder)
{
    flow_peer_table_expire(&w->roll[binder], w->now);
    strike_off(w, binder, 1);
}

/* ---- faults ------------------------------------------------------------- */

/* The connection is lost, with all messages in transit. */
static void
cut(struct world *w, struct link *link, double seconds)
{
    link->gone[link->connection++ % CUTS] =
        fmax(w->now, w->party[process_of(link->binder)].stopped) +
        (rng_u32(&w->more) % 2 ? 0 : rng_u32(&w->more) % 1000 * w->slow * 4e-3);
    w->allowed +=
        link->binder == SERVICE ? 12 : 0; // a request is lost, or refused
    if (link->back < w->now + seconds)
        link->back = w->now + seconds;
    link->last[0] = link->last[1] = link->back;
    flow_greeting_lost(&link->greeting);
    lost(w, link);
}

static void
kill_party(struct world *w, int party)
{
    const double seconds = some(w, 3);

    if (w->party[party].back > w->now || w->party[party].left)
        return;
    log_event(w, "%s is killed, for %.3f s", name_of(party), seconds);
    for (int i = 0; i < w->n_links; i++) {
        struct link *link = &w->link[i];

        if (link->client == party || process_of(link->binder) == party)
            cut(w, link, seconds);
        if (process_of(link->binder) == party)
            link->number = 0;
    }
    if (party < BINDERS)
        flow_peer_table_release(&w->roll[party]);
    if (party == FILTER)
        flow_peer_table_release(&w->roll[SERVICE]);
    finish(w, party);
    start(w, party); // which runs from then on
    w->party[party].back = w->now + seconds;
    w->stale += party == SELECTOR || party == TRAINER ? 0 : seconds + 2;
    w->allowed += party >= RELAY     ? silence + 3
                  : party == TRAINER ? seconds + 3 + 0.4 * w->checkpoint
                                     : seconds + 4;
}

static void
stop_party(struct world *w, int party)
{
    const double seconds = some(w, dice(w, 4) ? 8 : 16);

    if (w->party[party].left || w->party[party].stopped > w->now)
        return;
    log_event(w, "%s stops for %.3f s", name_of(party), seconds);
    w->party[party].stopped = w->now + seconds;
    w->stale += party >= RELAY ? seconds : 0;
    w->allowed += seconds + 4;
}

/* No item is made any more, by all but one party at most; or for a while. */
static void
hang(struct world *w, struct relay *r, int party)
{
    const double seconds = dice(w, 2) ? 1e9 : some(w, 2 * w->lease);
    int hung = 0;

    for (int i = 0; i < w->relays; i++)
        hung += w->relay[i].hangs > w->now;
    if (r->hangs > w->now || (seconds > 1e6 && hung + 1 >= w->relays))
        return;
    log_event(w, "%s hangs, for %.3f s", name_of(party), seconds);
    r->hangs = w->now + seconds;
    if (seconds < 1e6) {
        tick(w, party, r->hangs);
        w->allowed += seconds;
    }
    w->allowed += 2 * w->lease + 4;
}

static unsigned
pick(struct world *w, unsigned n)
{
    return rng_u32(&w->more) % n;
}

/* Several faults at the same moment, any party twice. */
static void
storm(struct world *w)
{
    const unsigned n = 2 + pick(w, 4);

    log_event(w, "a storm");
    w->allowed += 30;
    for (unsigned i = 0; i < n; i++) {
        const unsigned one = pick(w, 3 + (unsigned)w->relays);
        const int party = one < 3 ? (int)one : RELAY + (int)one - 3;

        if (!exists(w, party))
            continue;
        if (pick(w, 3))
            kill_party(w, party);
        else
            stop_party(w, party);
    }
    for (int lies = w->trained && pick(w, 3) ? 0 : 8; lies > 0; lies--)
        lie(w);
}

/* Seconds in which a step has to be trained, after the last fault and its
 * effects: each peer that hangs costs a lease, and may be late by it. */
static void
check_alive(struct world *w)
{
    double since = w->moved;

    if (w->over || w->trained == w->wanted)
        return;
    for (int party = 0; party < PARTIES; party++)
        since =
            fmax(since, fmax(w->party[party].back, w->party[party].stopped));
    for (int i = 0; i < w->relays; i++)
        if (w->relay[i].hangs < 1e6)
            since = fmax(since, w->relay[i].hangs);
    if (w->now - since > 60 + 5 * w->lease * w->relays + w->losses)
        fail(w, "no step for %.1f s, and nothing is wrong", w->now - since);
}

static void
fault(struct world *w, int relay)
{
    struct relay *r = &w->relay[relay - RELAY];
    double seconds;

    switch (dice(w, 9)) {
    case 0:
    case 1:
        kill_party(w, relay);
        break;
    case 2:
        hang(w, r, relay);
        break;
    case 3:
        kill_party(w, w->filtered && dice(w, 2) ? FILTER : SELECTOR);
        break;
    case 4:
        kill_party(w, TRAINER);
        break;
    case 5:
        stop_party(w, dice(w, 2) ? binder_of_items(w) : relay);
        break;
    case 6:
        lie(w);
        break;
    case 7:
        log_event(w, "a long step");
        w->busy = w->now + some(w, 3 * LEASE);
        tick(w, TRAINER, w->busy);
        w->allowed += w->busy - w->now + 2;
        break;
    default:
        seconds = some(w, 2);
        log_event(w, "a link is cut for %.3f s", seconds);
        cut(w, &w->link[dice(w, (unsigned)w->n_links)], seconds);
        w->stale += seconds + 2;
        w->allowed += seconds + 3;
    }
}

/* ---- all of it ---------------------------------------------------------- */

/* When its receiver reads a message: now, or later. */
static double
readable(const struct world *w, int party)
{
    const struct party *p = &w->party[process_of(party)];
    double at = p->back > p->stopped ? p->back : p->stopped;

    if (party == TRAINER && w->busy > at && !w->threaded)
        at = w->busy;
    if (party >= RELAY && w->relay[party - RELAY].deaf &&
        w->relay[party - RELAY].made > at)
        at = w->relay[party - RELAY].made;
    return at;
}

/* To a connecting party. */
static void
to_client(struct world *w, struct link *link, const struct event *e)
{
    if (e->what == REHELLO)
        flow_greeting_again(&link->greeting);
    else if (e->what == HELLO && flow_greeting_hello(&link->greeting)) {
        link->greeted = link->connection;
        client_greeted(w, link);
    } else if (e->what != HELLO && link->greeting.state == FLOW_IN)
        client_receives(w, link, e);
}

/* A hello; on a new connection, its peer begins again. */
static void
greet(struct world *w, struct link *link, const struct event *e)
{
    const struct wire_id id = id_of(e->link, e->connection);
    struct wire_hello hello = {.version = WIRE_VERSION};
    struct flow_known_peer *peer;
    enum flow_entry entry;

    snprintf(hello.peer, sizeof hello.peer, "%s%d", name_of(link->client),
             link->client == TRAINER ? w->party[TRAINER].starts : 0);
    entry = flow_peer_table_greet(&w->roll[link->binder], &id, &hello, w->now,
                                  &peer);
    strike_off(w, link->binder, 0); // that peer on another connection
    if (entry == FLOW_ADDED) {
        link->greeted_on = e->connection;
        link->number = peer->number;
        link->session = -1;
        link->room = link->late = 0;
        link->aside = 0;
        link->served = 0;
        if (link->binder == TRAINER) // else it is the relay's own
            link->notified = -1e9;
        link->ended = link->over = link->wants = 0;
        link->end_sent = -1e9;
        link->silent = 0;
        join(w, link);
    }
    post(w, e->link, 0, HELLO, NULL);
}

/* To a binding party. */
static void
to_binder(struct world *w, const struct event *e)
{
    struct link *link = &w->link[e->link];
    struct flow_peer_table *roll = &w->roll[link->binder];
    const struct wire_id id = id_of(e->link, e->connection);
    struct flow_known_peer *peer = flow_peer_table_by_id(roll, &id);

    if (e->what == HELLO) {
        greet(w, link, e);
    } else if (!peer) {
        if (flow_peer_table_unknown(roll, &id, w->now) &&
            e->connection == link->connection)
            post(w, e->link, 0, REHELLO, NULL);
    } else {
        peer->last_seen = w->now;
        binder_receives(w, link, e);
    }
}

/* A message arrives when its connection is up; a binder may still read
 * messages of a lost connection, also after those of the next one. */
static int
is_there(const struct world *w, const struct link *link, const struct event *e,
         uint64_t order)
{
    return e->connection == link->connection ||
           (e->up && order % 4 == 0 &&
            e->starts == w->party[process_of(link->binder)].starts);
}

static void
arrive(struct world *w, const struct due *due, const struct event *e)
{
    struct link *link = &w->link[e->link];
    const int party = e->up ? link->binder : link->client;
    double at = readable(w, party);

    // a trainer that waits for its service reads nothing else
    if (party == TRAINER && e->up && w->requester.wants && !w->threaded)
        at = fmax(at, 0.05 * ceil(w->now / 0.05 + 0.01));
    if (!is_there(w, link, e, due->order) || w->party[process_of(party)].left)
        return;
    if (at > w->now) { // it remains in the queue, in order
        link->last[e->up] = fmax(link->last[e->up], at);
        push(w, at, due->order, e);
        return;
    }
    log_message(w, e, " arrives");
    if (e->up)
        to_binder(w, e);
    else
        to_client(w, link, e);
    if (party == TRAINER && w->n_due && w->due[0].at <= w->now &&
        w->event[w->due[0].event].what != TICK)
        return; // all is read before anything is sent
    turn(w, process_of(party));
}

static void
look_up(struct world *w, int party)
{
    struct party *p = &w->party[party];
    const double at = p->back > p->stopped ? p->back : p->stopped;

    if (p->tick > w->now || p->left)
        return;
    if (party == TRAINER)
        check_alive(w);
    if (at > w->now) {
        tick(w, party, at);
        return;
    }
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].client == party)
            tend_link(w, i);
    if (party < RELAY && readable(w, party) <= w->now &&
        (party != TRAINER || !w->requester.wants || w->threaded))
        drop_silent(w, party);
    turn(w, party);
    tick(w, party, w->now + pause_s(w, party));
}

/* A fault or a storm; once the run was over it delays the end. */
static void
strike(struct world *w)
{
    const int relay = RELAY + dice(w, (unsigned)w->relays);

    if (w->weighs && !pick(w, 3))
        storm(w);
    else
        fault(w, relay);
    w->moved = w->now;
    if (w->over)
        w->end_by = fmax(w->end_by, w->now + 80);
}

/* One run; 1 when nothing was wrong. */
static int
run(struct world *w, uint64_t seed, int trace)
{
    double when[FAULTS_MAX];
    int faults, done = 0;

    begin(w, seed, trace);
    faults = dice(w, 2) ? 0 : dice(w, FAULTS_MAX + 1);
    for (int i = 0; i < faults; i++)
        when[i] = some(w, i % 2 ? 24 : 8);
    w->allowed = (w->slow > 0.5 ? 9 : 5) + (0.3 + w->pace) * w->places;
    while (!is_settled(w) && !*w->wrong) {
        const struct due due = pop(w);
        const struct event e = w->event[due.event];

        free_event(w, due.event);
        w->now = due.at;
        for (int i = done; i < faults; i++) {
            if (when[i] > w->now)
                continue;
            when[i] = when[done++];
            strike(w);
        }
        if (e.what == TICK)
            look_up(w, e.link);
        else
            arrive(w, &due, &e);
        judge(w, e.what == TICK ? e.link
                 : e.up         ? w->link[e.link].binder
                                : w->link[e.link].client);
        if (!w->over && w->now > w->allowed + w->grace)
            fail(w, "not over after %.1f s", w->allowed);
    }
    if (!faults && !w->loss && !w->twice && w->lease >= LEASE)
        check_calm(w);
    for (int party = 0; party < PARTIES; party++)
        if (exists(w, party))
            finish(w, party);
    for (int binder = 0; binder < BINDERS; binder++)
        flow_peer_table_release(&w->roll[binder]);
    return !*w->wrong;
}
