/*
 * A producer, a consumer and the augmenters between them in virtual time:
 * messages are late, peers are killed, hang, lie and come back, selector and
 * trainer start again.  Whatever happens, every place is consumed once and in
 * order, nobody stands still for longer than the leases of those that hang, and
 * what is kept is bounded.
 *
 * usage: test_simulation [SEED]
 */
#include <stdlib.h>

#include "flow/consumer.h"
#include "flow/producer.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum {
    SEEDS = 400,
    STEPS = 10,   /* in an epoch */
    PLACES = 150, /* in the run */
    AUGMENTERS_MAX = 8,
    FAULTS_MAX = 6,
    ROOM = 8,
    LEASE = 10,
    CHECKPOINT = 20 /* steps between two */
};

/* Seconds. */
static const double silence = 3.2, faults_until = 20, tick = 0.05, slack = 12,
                    lost_for_good = 1000;

enum to { TO_PRODUCER, TO_CONSUMER, TO_AUGMENTER };
enum what { HELLO, GONE, NEXT, DONE, ITEM, BATCH };

struct mail {
    enum to to;
    enum what what;
    double at;
    uint64_t peer;         /* number of the augmenter, from or to */
    int selector, trainer; /* which one it is from, or to; -1: either */
    struct wire_next next; /* or the place of it alone */
};

/* An augmenter relays credit, and makes one item after another. */
struct augmenter {
    uint64_t number;
    int hangs, dead;
    double back;          /* when who is dead starts again */
    struct wire_place at; /* of the trainer */
    size_t credit, asked; /* batches it may send, items that it asked for */
    size_t n;             /* items that it has */
    struct wire_place item[4 * ROOM * AUGMENTERS_MAX];
    double made;       /* when the first of them is */
    double arrives[2]; /* of the last message on each of its links */
};

struct world {
    struct rng rng;
    double now;
    struct flow_producer *producer;
    struct flow_consumer *consumer;
    int selector, trainer; /* how often they were started */
    size_t n, hung;
    struct augmenter aug[AUGMENTERS_MAX];
    uint64_t numbers;
    size_t n_mail, room_mail;
    struct mail *mail;
    double busy, waiting; /* the trainer trains until; waits since, or 0 */
    int64_t trained;      /* places before this one are */
    double longest;       /* wait */
    size_t most_held, most_out;
    int wrong;
};

static struct wire_place
place(int64_t session, int64_t k)
{
    return (struct wire_place){session, k / STEPS, k % STEPS};
}

static int64_t
count(const struct wire_place *at)
{
    return at->epoch * STEPS + at->step;
}

static double
some(struct world *w, double most)
{
    return rng_range(&w->rng, 0, most);
}

/* Messages of a link arrive in the order in which they were sent. */
static void
post(struct world *w, struct augmenter *a, enum to to, enum what what,
     const struct wire_next *next, int link)
{
    double *last = &a->arrives[link];
    struct mail mail = {.to = to,
                        .what = what,
                        .peer = a->number,
                        .selector = link == 0 ? w->selector : -1,
                        .trainer = link == 1 ? w->trainer : -1};

    if (next)
        mail.next = *next;
    mail.at = w->now + (rng_below(&w->rng, 50) ? some(w, 0.02) : some(w, 1));
    if (mail.at < *last)
        mail.at = *last;
    *last = mail.at;
    mem_grow(&w->mail, &w->room_mail, w->n_mail + 1, sizeof *w->mail);
    w->mail[w->n_mail++] = mail;
}

static struct augmenter *
find(struct world *w, uint64_t number)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->aug[i].number == number && !w->aug[i].dead)
            return &w->aug[i];
    return NULL;
}

/* ---- an augmenter ------------------------------------------------------ */

static void
ask(struct world *w, struct augmenter *a)
{
    const size_t wanted = a->credit > a->n ? a->credit - a->n : 0;
    const struct wire_next next = {
        a->at, (int64_t)(wanted > a->asked ? wanted - a->asked : 0), 0};

    if (a->at.session < 0 || !next.credit)
        return;
    post(w, a, TO_PRODUCER, NEXT, &next, 0);
    a->asked = wanted;
}

static void
hear_trainer(struct world *w, struct augmenter *a, const struct mail *mail)
{
    const struct wire_next *said = &mail->next;
    const struct wire_next waits = {said->at, 0, 1}, done = {said->at, 0, 0};

    if (said->at.session > a->at.session) {
        a->at = said->at;
        a->credit = (size_t)said->credit;
        a->asked = a->n = 0;
    } else {
        a->credit += (size_t)said->credit;
        if (wire_place_cmp(&said->at, &a->at) > 0) {
            a->at = said->at;
            post(w, a, TO_PRODUCER, DONE, &done, 0);
        }
    }
    if (said->waits)
        post(w, a, TO_PRODUCER, NEXT, &waits, 0);
    ask(w, a);
}

static void
take_item(struct world *w, struct augmenter *a, const struct wire_place *at)
{
    if (at->session != a->at.session)
        return;
    a->asked -= a->asked > 0;
    if (wire_place_cmp(at, &a->at) < 0)
        return;
    if (!a->n)
        a->made = w->now + some(w, 0.3);
    REQUIRE(a->n < sizeof a->item / sizeof *a->item);
    a->item[a->n++] = *at;
}

/* Brings what is made; now and then twice. */
static void
work(struct world *w, struct augmenter *a)
{
    while (a->n && a->credit && !a->hangs && a->made <= w->now) {
        const struct wire_next next = {a->item[0], 0, 0};

        for (size_t i = 1; i < a->n; i++)
            a->item[i - 1] = a->item[i];
        a->n--;
        a->made = w->now + some(w, 0.3);
        if (wire_place_cmp(&next.at, &a->at) < 0)
            continue;
        a->credit--;
        post(w, a, TO_CONSUMER, BATCH, &next, 1);
        if (a->credit && !rng_below(&w->rng, 10)) {
            a->credit--;
            post(w, a, TO_CONSUMER, BATCH, &next, 1);
        }
    }
    ask(w, a);
}

static void
join(struct world *w, struct augmenter *a)
{
    *a = (struct augmenter){
        .number = ++w->numbers, .at.session = -1, .arrives = {w->now, w->now}};
    post(w, a, TO_PRODUCER, HELLO, NULL, 0);
    post(w, a, TO_CONSUMER, HELLO, NULL, 1);
}

/* ---- the producer ------------------------------------------------------ */

static void
hand_out(struct world *w)
{
    struct flow_turn turn;
    struct flow_late late;

    while (flow_producer_late(w->producer, w->now, &late))
        continue;
    while (flow_producer_turn(w->producer, w->now, &turn)) {
        const int64_t k = count(&turn.at);
        const struct wire_place fresh = place(turn.at.session, k + 1);
        const struct wire_next next = {turn.at, 0, 0};
        struct augmenter *a = find(w, turn.peer);

        if (k >= PLACES)
            break;
        if (a)
            post(w, a, TO_AUGMENTER, ITEM, &next, 0);
        flow_producer_gave(w->producer, &turn, 1, w->now);
        if (!turn.again)
            flow_producer_go(w->producer, &fresh);
    }
    if (flow_producer_out(w->producer) > w->most_out)
        w->most_out = flow_producer_out(w->producer);
}

static void
tell_producer(struct world *w, const struct mail *mail)
{
    struct augmenter *a = find(w, mail->peer);
    const struct wire_next open = {a ? a->at : mail->next.at,
                                   a ? (int64_t)a->asked : 0, 0};

    if (mail->selector != w->selector)
        return;
    if (mail->what == HELLO)
        flow_producer_join(w->producer, mail->peer);
    if (mail->what == HELLO && a && a->at.session >= 0)
        post(w, a, TO_PRODUCER, NEXT, &open, 0);
    if (mail->what == GONE)
        flow_producer_leave(w->producer, mail->peer);
    if (mail->what == NEXT)
        flow_producer_next(w->producer, mail->peer, &mail->next, w->now);
    if (mail->what == DONE)
        flow_producer_done(w->producer, &mail->next.at, w->now);
}

/* ---- the consumer ------------------------------------------------------ */

static void
tell_consumer(struct world *w, const struct mail *mail)
{
    const struct wire_place *at = &mail->next.at;
    struct wire_place *item;

    if (mail->trainer != w->trainer)
        return;
    if (mail->what == HELLO)
        flow_consumer_join(w->consumer, mail->peer);
    if (mail->what == GONE)
        flow_consumer_leave(w->consumer, mail->peer);
    if (mail->what != BATCH || !flow_consumer_came(w->consumer, mail->peer) ||
        !flow_consumer_wants(w->consumer, at))
        return;
    item = mem_array(1, sizeof *item);
    *item = *at;
    free(flow_consumer_hold(w->consumer, at, item));
    if (flow_consumer_held(w->consumer) > w->most_held)
        w->most_held = flow_consumer_held(w->consumer);
}

static void
say(struct world *w)
{
    struct flow_ask ask;

    while (flow_consumer_turn(w->consumer, w->now, &ask)) {
        struct augmenter *a = find(w, ask.peer);

        if (a)
            post(w, a, TO_AUGMENTER, NEXT, &ask.next, 1);
        flow_consumer_asked(w->consumer, &ask, 1, w->now);
    }
}

/* The trainer between two steps: takes the next batch, or waits. */
static void
train(struct world *w)
{
    struct wire_place at = flow_consumer_place(w->consumer);
    struct wire_next done;
    struct wire_place *item = flow_consumer_take(w->consumer);

    if (!w->waiting)
        w->waiting = w->now;
    if (!item) {
        flow_consumer_wait(w->consumer, w->now);
        say(w);
        return;
    }
    if (w->now - w->waiting > w->longest)
        w->longest = w->now - w->waiting;
    w->waiting = 0;
    w->wrong += wire_place_cmp(item, &at) || count(item) != w->trained;
    free(item);
    w->trained++;
    w->busy = w->now + some(w, 0.2);
    done = (struct wire_next){place(at.session, w->trained), 0, 0};
    flow_consumer_go(w->consumer, &done.at);
    for (size_t i = 0; i < w->n; i++)
        if (!w->aug[i].dead)
            post(w, &w->aug[i], TO_AUGMENTER, DONE, &done, 1);
}

/* ---- faults ------------------------------------------------------------ */

static void
start_selector(struct world *w)
{
    flow_producer_free(w->producer);
    w->producer = flow_producer_new(LEASE);
    w->selector++;
    for (size_t i = 0; i < w->n; i++)
        if (!w->aug[i].dead)
            post(w, &w->aug[i], TO_PRODUCER, HELLO, NULL, 0);
}

static void
stop_trainer(struct world *w)
{
    void *item;

    while (w->consumer && (item = flow_consumer_drop(w->consumer)))
        free(item);
    flow_consumer_free(w->consumer);
}

static void
start_trainer(struct world *w)
{
    struct wire_place at;

    w->trained -= w->trained % CHECKPOINT;
    at = place(++w->trainer, w->trained);
    stop_trainer(w);
    w->consumer = flow_consumer_new(&at, 1);
    flow_consumer_room(w->consumer, ROOM);
    w->busy = w->now + some(w, 3);
    w->waiting = 0;
    for (size_t i = 0; i < w->n; i++) {
        w->aug[i].credit = 0;
        if (!w->aug[i].dead)
            post(w, &w->aug[i], TO_CONSUMER, HELLO, NULL, 1);
    }
}

static void
kill_one(struct world *w, struct augmenter *a)
{
    if (a->dead)
        return;
    w->now += silence; // so late, at most, is it noticed
    post(w, a, TO_PRODUCER, GONE, NULL, 0);
    post(w, a, TO_CONSUMER, GONE, NULL, 1);
    w->now -= silence;
    w->hung -= (size_t)a->hangs;
    a->dead = 1;
    a->back = w->now + some(w, 5);
}

/* Says that more is trained than is. */
static void
lie(struct world *w, struct augmenter *a)
{
    const struct wire_next done = {
        place(a->at.session,
              count(&a->at) + 1 + (int64_t)rng_below(&w->rng, 30)),
        0, 0};

    if (!a->dead && a->at.session >= 0 && count(&done.at) <= PLACES)
        post(w, a, TO_PRODUCER, DONE, &done, 0);
}

static void
fault(struct world *w)
{
    struct augmenter *a = &w->aug[rng_below(&w->rng, w->n)];

    switch (rng_below(&w->rng, 5)) {
    case 0:
        kill_one(w, a);
        break;
    case 1:
        if (a->dead || a->hangs || w->hung + 1 >= w->n)
            break;
        a->hangs = 1;
        w->hung++;
        break;
    case 2:
        lie(w, a);
        break;
    case 3:
        start_selector(w);
        break;
    default:
        start_trainer(w);
    }
}

/* ---- all of it --------------------------------------------------------- */

/* The first message that arrives by now: 1, or 0 when there is none.  The
 * trainer reads between two steps. */
static int
arrives(struct world *w, struct mail *mail)
{
    size_t first = w->n_mail;

    for (size_t i = 0; i < w->n_mail; i++)
        if (w->mail[i].at <= w->now &&
            (w->mail[i].to != TO_CONSUMER || w->busy <= w->now) &&
            (first == w->n_mail || w->mail[i].at < w->mail[first].at))
            first = i;
    if (first == w->n_mail)
        return 0;
    *mail = w->mail[first];
    w->n_mail--;
    for (size_t i = first; i < w->n_mail; i++)
        w->mail[i] = w->mail[i + 1];
    return 1;
}

static void
deliver(struct world *w, const struct mail *mail)
{
    struct augmenter *a = find(w, mail->peer);

    if (mail->to == TO_PRODUCER)
        tell_producer(w, mail);
    else if (mail->to == TO_CONSUMER)
        tell_consumer(w, mail);
    else if (a && mail->what == ITEM && mail->selector == w->selector)
        take_item(w, a, &mail->next.at);
    else if (a && mail->what != ITEM && mail->trainer == w->trainer)
        hear_trainer(w, a, mail);
}

static void
turn(struct world *w)
{
    struct mail mail;

    while (arrives(w, &mail))
        deliver(w, &mail);
    for (size_t i = 0; i < w->n; i++) {
        if (w->aug[i].dead && w->aug[i].back <= w->now)
            join(w, &w->aug[i]);
        if (!w->aug[i].dead)
            work(w, &w->aug[i]);
    }
    hand_out(w);
    say(w);
    if (w->busy <= w->now && w->trained < PLACES)
        train(w);
    w->now += tick;
}

static void
begin(struct world *w, uint64_t seed)
{
    *w = (struct world){0};
    rng_init(&w->rng, seed, RNG_TEST, 1, 0, 0);
    start_selector(w);
    start_trainer(w);
    w->n = (size_t[]){1, 3, 8}[seed % 3];
    for (size_t i = 0; i < w->n; i++)
        join(w, &w->aug[i]);
}

static void
end(struct world *w)
{
    stop_trainer(w);
    flow_producer_free(w->producer);
    free(w->mail);
}

/* One run; 1 when it went as it should. */
static int
run(uint64_t seed, struct world *w)
{
    double when[FAULTS_MAX];
    size_t faults, done = 0;

    begin(w, seed);
    faults = rng_below(&w->rng, FAULTS_MAX + 1);
    for (size_t i = 0; i < faults; i++)
        when[i] = some(w, faults_until);
    while (w->trained < PLACES && w->now < lost_for_good) {
        for (size_t i = 0; i < faults; i++) {
            if (when[i] > w->now)
                continue;
            when[i] = lost_for_good;
            done++;
            fault(w);
        }
        turn(w);
    }
    end(w);
    return w->trained == PLACES && !w->wrong &&
           w->longest <= (double)w->hung * LEASE + slack &&
           w->most_held <= 4 * ROOM + AUGMENTERS_MAX + 1 &&
           w->most_out <= 5 * ROOM + 2 * AUGMENTERS_MAX;
}

int
main(int argc, char **argv)
{
    const uint64_t first = argc == 2 ? strtoull(argv[1], NULL, 10) : 0,
                   last = argc == 2 ? first + 1 : SEEDS;
    struct world w = {0};
    size_t good = 0, held = 0, out = 0;
    double longest = 0;

    for (uint64_t seed = first; seed < last; seed++) {
        if (run(seed, &w))
            good++;
        else
            printf("# seed %ju: %jd of %d trained, %d out of order, longest "
                   "wait %.1f s with %zu of %zu that hang, %zu held, %zu out\n",
                   (uintmax_t)seed, (intmax_t)w.trained, PLACES, w.wrong,
                   w.longest, w.hung, w.n, w.most_held, w.most_out);
        held = w.most_held > held ? w.most_held : held;
        out = w.most_out > out ? w.most_out : out;
        longest = fmax(longest, w.longest);
    }
    printf("# longest wait %.1f s, at most %zu held and %zu out\n", longest,
           held, out);
    T(good == last - first, "%zu of %ju runs went as they should", good,
      (uintmax_t)(last - first));
    return t_done();
}
