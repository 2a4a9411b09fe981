/*
 * The machines of lib/flow in virtual time, over a network that loses, doubles
 * and delays messages, between parties that are killed, hang, stop and lie.
 * Whatever happens, after each event
 *
 *     what a producer hands out is wanted and nobody's, within the room of who
 *     gets it, and its book is that of a naive one (tests/flow/check.h)
 *     nothing that is wanted is nobody's while a peer has room
 *     no more is held than the window
 *     each place is trained once, in order
 *
 * and the run ends, within the time that its faults may cost.  Without faults
 * no item goes out twice.
 *
 * usage: test_simulation [N [SEED]]     N schedules from SEED on
 *        test_simulation 1 SEED         one, told event by event
 *
 * The first one that fails is told like that, too.
 */
#include "t.h"

#include "flow/parties.h"

/* ---- begin and end ------------------------------------------------------ */

static void
start(struct world *w, int party)
{
    const struct wire_place at = {.session = -1};
    struct wire_place from;

    w->party[party].starts++;
    if (party == SELECTOR) {
        source_open(&w->selector);
    } else if (party == FILTER) {
        source_open(&w->filter_out);
        w->filter_in = flow_consumer_new(&at, 1, 1 + (int64_t)(1e6 * w->now));
        flow_consumer_join(w->filter_in, 1);
        w->drawn = w->plan_end = -1;
    } else if (party == TRAINER) {
        w->trained -= w->trained % w->checkpoint;
        from = place(w, session(w), w->trained);
        w->trainer = flow_consumer_new(&from, (size_t)w->window, 1);
        w->training = 0;
        w->all_ended = 0;
        w->busy = w->now;
    } else {
        struct relay *r = &w->relay[party - RELAY];

        r->flow = flow_relay_new((size_t)w->room);
        r->made = 0;
        w->hung -= r->hangs;
        r->hangs = 0;
    }
    tick(w, party, w->now);
}

static void
finish(struct world *w, int party)
{
    if (party == SELECTOR) {
        flow_producer_free(w->selector.flow);
    } else if (party == FILTER) {
        flow_producer_free(w->filter_out.flow);
        drop_items(w->filter_in);
        flow_consumer_free(w->filter_in);
    } else if (party == TRAINER) {
        drop_items(w->trainer);
        flow_consumer_free(w->trainer);
    } else {
        relay_clear(&w->relay[party - RELAY]);
        flow_relay_free(w->relay[party - RELAY].flow);
    }
}

static void
connect_to(struct world *w, int client, int binder)
{
    struct link *link = &w->link[w->n_links++];

    *link = (struct link){.client = client, .binder = binder};
    link->lived = -life;
}

static int
exists(const struct world *w, int party)
{
    return party == FILTER ? w->filtered : party < RELAY + w->relays;
}

static void
begin(struct world *w, uint64_t seed, int trace)
{
    const struct world old = *w;

    *w = (struct world){.seed = seed, .trace = trace};
    w->due = old.due; // their memory is used again
    w->room_due = old.room_due;
    w->event = old.event;
    w->room_events = old.room_events;
    w->spare = old.spare;
    w->room_spare = old.room_spare;
    rng_init(&w->rng, seed, RNG_TEST, 1, 0, 0);
    w->relays = 1 + dice(w, RELAYS_MAX);
    w->filtered = !dice(w, 3);
    w->window = 1 + dice(w, WINDOW_MAX);
    w->room = 1 + dice(w, 3);
    w->steps = 3 + dice(w, 8);
    w->places = 4 + dice(w, PLACES_MAX - 4);
    w->checkpoint = 1 + dice(w, 10);
    w->loss = dice(w, 4) ? 0 : 20 + (unsigned)dice(w, 200);
    w->twice = dice(w, 4) ? 0 : 3 + (unsigned)dice(w, 30);
    w->slow = dice(w, 2) ? 0.1 : 1;
    if (w->filtered)
        connect_to(w, FILTER, SELECTOR);
    for (int i = 0; i < w->relays; i++) {
        connect_to(w, RELAY + i, binder_of_items(w));
        connect_to(w, RELAY + i, TRAINER);
        w->relay[i].deaf = !dice(w, 3);
    }
    tell(w, "seed %ju: %d relays%s, window %d, room %d, %d places",
         (uintmax_t)seed, w->relays, w->filtered ? " and a filter" : "",
         w->window, w->room, w->places);
    for (int party = 0; party < PARTIES; party++)
        if (exists(w, party))
            start(w, party);
}

/* ---- faults ------------------------------------------------------------- */

/* The connection is lost, with all that is on it. */
static void
cut(struct world *w, struct link *link, double seconds)
{
    link->connection++;
    if (link->back < w->now + seconds)
        link->back = w->now + seconds;
    link->last[0] = link->last[1] = link->back;
    wire_greeting_lost(&link->greeting);
    if (link->client >= RELAY && link->binder == TRAINER)
        flow_relay_lost(w->relay[link->client - RELAY].flow);
}

static void
kill_party(struct world *w, int party)
{
    const double seconds = some(w, 3);

    if (w->party[party].back > w->now)
        return;
    tell(w, "%s is killed, for %.3f s", name_of(party), seconds);
    for (int i = 0; i < w->n_links; i++) {
        struct link *link = &w->link[i];

        if (link->client == party || link->binder == party)
            cut(w, link, seconds);
        if (link->binder == party)
            link->number = 0;
    }
    finish(w, party);
    start(w, party); // which runs from then on
    w->party[party].back = w->now + seconds;
    w->allowed += party >= RELAY     ? silence + 3
                  : party == TRAINER ? seconds + 3 + 0.4 * w->checkpoint
                                     : seconds + 4;
}

static void
stop_party(struct world *w, int party)
{
    const double seconds = some(w, 8);

    tell(w, "%s stops for %.3f s", name_of(party), seconds);
    w->party[party].stopped = w->now + seconds;
    w->allowed += seconds + 4;
}

/* Something that is not the trainer's. */
static void
lie(struct world *w)
{
    const int i =
        link_of(w, RELAY + dice(w, (unsigned)w->relays), binder_of_items(w));
    const struct source *s = w->filtered ? &w->filter_out : &w->selector;
    struct said said = {.session = s->session,
                        .serial = s->serial + 1000000,
                        .k = (int16_t)(s->place + dice(w, 5)),
                        .window = (int16_t)w->window,
                        .room = (int16_t)w->room};

    if (!w->link[i].number || s->session < 0)
        return;
    switch (dice(w, 4)) {
    case 0:
        said.session++;
        break;
    case 1:
        said.session = INT64_MAX;
        break;
    case 2:
        for (said.n = 0; said.n < said.window; said.n++)
            said.have[said.n] = (int16_t)(said.k + said.n);
        break;
    default:
        break;
    }
    tell(w, "%s lies", name_of(w->link[i].client));
    post(w, i, 1, NEXT, &said);
    w->looked = w->now; // for all that the producer knows
    w->allowed += FLOW_LAPSE + 4;
}

static void
fault(struct world *w)
{
    const int relay = RELAY + dice(w, (unsigned)w->relays);
    double seconds;
    struct relay *r = &w->relay[relay - RELAY];

    switch (dice(w, 9)) {
    case 0:
    case 1:
        kill_party(w, relay);
        break;
    case 2:
        if (r->hangs || w->hung + 1 >= w->relays)
            break;
        tell(w, "%s hangs", name_of(relay));
        r->hangs = 1;
        w->hung++;
        w->allowed += 2 * LEASE + 4;
        break;
    case 3:
        kill_party(w, w->filtered && dice(w, 2) ? FILTER : SELECTOR);
        break;
    case 4:
        kill_party(w, TRAINER);
        break;
    case 5:
        stop_party(w, dice(w, 2) && !w->filtered ? SELECTOR : relay);
        break;
    case 6:
        lie(w);
        break;
    case 7:
        tell(w, "a long step");
        w->busy = w->now + some(w, 3 * LEASE);
        tick(w, TRAINER, w->busy);
        w->allowed += w->busy - w->now + 2;
        break;
    default:
        seconds = some(w, 2);
        tell(w, "a link is cut for %.3f s", seconds);
        cut(w, &w->link[dice(w, (unsigned)w->n_links)], seconds);
        w->allowed += seconds + 3;
    }
}

/* ---- all of it ---------------------------------------------------------- */

/* When who it is for reads it: now, or later. */
static double
readable(const struct world *w, int party)
{
    const struct party *p = &w->party[party];
    double at = p->back > p->stopped ? p->back : p->stopped;

    if (party == TRAINER && w->busy > at)
        at = w->busy;
    if (party >= RELAY && w->relay[party - RELAY].deaf &&
        w->relay[party - RELAY].made > at)
        at = w->relay[party - RELAY].made;
    return at;
}

/* To who connects. */
static void
client_hears(struct world *w, struct link *link, const struct event *e)
{
    if (e->what == HELLO) {
        if (!wire_greeting_hello(&link->greeting))
            return;
        if (link->client == FILTER) {
            flow_consumer_leave(w->filter_in, 1);
            flow_consumer_join(w->filter_in, 1);
        } else if (link->binder == TRAINER) {
            flow_relay_lost(w->relay[link->client - RELAY].flow);
        } else {
            flow_relay_met(w->relay[link->client - RELAY].flow);
        }
    } else if (e->what == AGAIN) {
        wire_greeting_again(&link->greeting);
    } else if (link->greeting.state != WIRE_IN) {
        return;
    } else if (link->client >= RELAY) {
        relay_hears(w, link->client, e);
    } else if (e->what == ITEM) {
        hold(w, w->filter_in, &e->said);
    } else if (e->what == END && e->said.session == w->filter_out.session) {
        w->plan_end = e->said.k;
    }
}

/* To who binds. */
static void
binder_hears(struct world *w, int i, const struct event *e)
{
    struct link *link = &w->link[i];
    const struct wire_place at = place(w, e->said.session, e->said.k);

    if (e->what == HELLO) {
        if (link->number && link->met != e->connection)
            leave(w, link); // on another connection
        if (!link->number) {
            link->met = e->connection;
            link->number = ++w->numbers;
            link->session = -1;
            link->room = link->late = 0;
            join(w, link->binder, link->number);
        }
        link->heard = w->now;
        post(w, i, 0, HELLO, NULL);
        return;
    }
    if (!link->number) {
        post(w, i, 0, AGAIN, NULL);
        return;
    }
    link->heard = w->now;
    if (e->what == NEXT && link->binder == SELECTOR)
        source_next(w, &w->selector, link, &e->said);
    else if (e->what == NEXT)
        filter_next(w, source_next(w, &w->filter_out, link, &e->said));
    else if (e->what == BATCH)
        hold(w, w->trainer, &e->said);
    else if (e->what == END)
        flow_consumer_end(w->trainer, link->number, &at);
}

static void
arrive(struct world *w, const struct due *due, const struct event *e)
{
    struct link *link = &w->link[e->link];
    const int party = e->up ? link->binder : link->client;
    const double at = readable(w, party);

    if (e->connection != link->connection)
        return;
    if (at > w->now) { // it stays in the queue, and in order
        push(w, at, due->order, e);
        return;
    }
    tell_message(w, e, " arrives");
    if (e->up)
        binder_hears(w, e->link, e);
    else
        client_hears(w, link, e);
    if (party == TRAINER && w->n_due && w->due[0].at <= w->now &&
        w->event[w->due[0].event].what != TICK)
        return; // all is read before anything is said
    turn(w, party);
}

static void
look_up(struct world *w, int party)
{
    struct party *p = &w->party[party];
    const double at = p->back > p->stopped ? p->back : p->stopped;

    if (p->tick > w->now)
        return;
    if (at > w->now) {
        tick(w, party, at);
        return;
    }
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].client == party)
            tend_link(w, i);
    if (party < RELAY && readable(w, party) <= w->now)
        judge_silence(w, party);
    turn(w, party);
    tick(w, party, w->now + patience(w, party));
}

/* After what happened at a party. */
static void
check(struct world *w, int party)
{
    if (party == SELECTOR)
        book_check(w, &w->selector);
    if (party == FILTER)
        book_check(w, &w->filter_out);
}

/* One run; 1 when it went as it should. */
static int
run(struct world *w, uint64_t seed, int trace)
{
    double when[FAULTS_MAX];
    int faults, done = 0;

    begin(w, seed, trace);
    faults = dice(w, 2) ? 0 : dice(w, FAULTS_MAX + 1);
    for (int i = 0; i < faults; i++)
        when[i] = some(w, 8);
    w->allowed = (w->slow > 0.5 ? 9 : 5) + 0.4 * w->places;
    while (!w->over && !*w->wrong) {
        const struct due due = pop(w);
        const struct event e = w->event[due.event];

        free_event(w, due.event);
        w->now = due.at;
        for (int i = done; i < faults; i++) {
            if (when[i] > w->now)
                continue;
            when[i] = when[done++];
            fault(w);
        }
        if (e.what == TICK)
            look_up(w, e.link);
        else
            arrive(w, &due, &e);
        check(w, e.what == TICK ? e.link
                 : e.up         ? w->link[e.link].binder
                                : w->link[e.link].client);
        if (w->now > w->allowed)
            fail(w, "not over after %.1f s", w->allowed);
    }
    if (!faults && !w->loss && !w->twice)
        check_calm(w);
    for (int party = 0; party < PARTIES; party++)
        if (exists(w, party))
            finish(w, party);
    return !*w->wrong;
}

/* N schedules: so many do not go as they should. */
static uint64_t
run_all(struct world *w, uint64_t first, uint64_t n, double *longest)
{
    uint64_t bad = 0;

    for (uint64_t seed = first; seed < first + n; seed++) {
        if (!run(w, seed, n == 1) && bad++ < 20) {
            printf("# seed %ju: after %.1f s and %d of %d: %s\n",
                   (uintmax_t)seed, w->now, w->trained, w->places, w->wrong);
            if (bad == 1 && n > 1)
                run(w, seed, 1);
        }
        *longest = fmax(*longest, w->now);
    }
    return bad;
}

int
main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000,
                   first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    struct world w = {0};
    double longest = 0;
    const uint64_t bad = run_all(&w, first, n, &longest);

    free(w.due);
    free(w.event);
    free(w.spare);
    printf("# from seed %ju on; the longest took %.1f s\n", (uintmax_t)first,
           longest);
    T(!bad, "%ju of %ju schedules go as they should", (uintmax_t)(n - bad),
      (uintmax_t)n);
    return t_done();
}
