#ifndef TESTS_FLOW_WEIGHING_H
#define TESTS_FLOW_WEIGHING_H

/*
 * The filter as a negatives service, and the trainer as its client: no item
 * passes before the service has a state of the trainer's session, and each step
 * waits for an answer.  The state is one piece here; tests/flow/services.h has
 * more of them, and their values.
 *
 * A trainer without a checkpoint hands nothing over before its first batch has
 * come.  The end of a connection shows to the service a moment later than to
 * the trainer.
 */
#include "flow/check.h"

static void cut(struct world *w, struct link *link, double seconds);

/* The link by which the trainer asks. */
static struct link *
asking_link(struct world *w)
{
    return &w->link[link_of(w, TRAINER, SERVICE)];
}

/* ---- the service -------------------------------------------------------- */

/* A peer seems to be connected. */
static int
reaches(struct world *w, uint64_t number)
{
    const struct flow_known_peer *peer =
        flow_peer_table_by_number(&w->roll[SERVICE], number);
    const struct link *link = asking_link(w);
    unsigned connection;

    if (!peer)
        return 0;
    connection = peer->id.byte[1] * 256u + peer->id.byte[2];
    return connection == link->connection ||
           w->now < link->gone[connection % CUTS];
}

static void
begin_weighing(struct world *w)
{
    const struct wire_place at = flow_producer_place(w->filter_out.flow);

    if (w->begins > w->now || !flow_stand_begins(&w->stand, &at))
        return;
    w->begins = w->now + 0.5;
    if (w->stand.owner && reaches(w, w->stand.owner))
        return;
    tell(w, "session %jd begins without a state", (intmax_t)at.session);
    flow_stand_begin(&w->stand, &at);
}

/* Whether the filter may draw for its next place. */
static int
may_draw(struct world *w)
{
    const struct wire_place *weighed = &w->stand.next;
    const int k = weighed->session < 0 ? 0 : count(w, weighed);

    if (!w->weighs)
        return 1;
    if (weighed->session != w->filter_out.session)
        return 0;
    if (w->drawn < k)
        w->drawn = k;
    return w->drawn - k < w->horizon;
}

/* The answer to a request: `over` is 1 where the state is wanted, 2 where the
 * message is refused. */
static enum what
serve(struct world *w, struct flow_known_peer *peer, const struct event *e,
      struct said *answer)
{
    const struct wire_place at = place(w, e->said.session, e->said.k);
    const uint64_t owner = w->stand.owner;
    const struct wire_state state = {
        .session = at.session, .epoch = at.epoch, .step = at.step, .last = 1};
    struct flow_known_peer *there =
        owner && owner != peer->number && reaches(w, owner)
            ? flow_peer_table_by_number(&w->roll[SERVICE], owner)
            : NULL;
    struct err err;

    answer->over = 2;
    if (flow_stand_check(&w->stand, peer->number, at.session,
                         there ? &there->hello : NULL, &err))
        return DENIED;
    answer->over = e->what == ASK;
    if (e->what == ASK && !flow_stand_fits(&w->stand, &at))
        return DENIED;
    if (e->what == ASK) {
        flow_stand_weighed(&w->stand, &at, peer->number, peer->hello.peer);
    } else {
        REQUIRE(flow_stand_follows(&w->stand, &state, &err) == 1);
        flow_stand_add(&w->stand, &state, peer->number, peer->hello.peer);
        flow_stand_stands(&w->stand);
    }
    answer->over = 0;
    w->answered = answer->serial;
    w->answer = ANSWER;
    return ANSWER;
}

static void
service_hears(struct world *w, const struct event *e)
{
    const struct wire_id id = id_of(e->link, e->connection);
    struct flow_known_peer *peer =
        flow_peer_table_by_id(&w->roll[SERVICE], &id);
    struct said answer = e->said;
    enum what what = ANSWER;

    if (e->what != ASK && e->what != PUT)
        return;
    if (e->said.serial < w->answered)
        return; // it is late
    answer.over = 0;
    if (e->said.serial != w->answered)
        what = serve(w, peer, e, &answer);
    post(w, e->link, 0, what, &answer);
}

/* ---- the trainer -------------------------------------------------------- */

static void
say_request(struct world *w)
{
    struct link *link = asking_link(w);

    if (link->greeting.state == FLOW_IN)
        post(w, (int)(link - w->link), 1, w->asker.what, &w->asker.out);
}

/* The next request: weights of the batch at hand, or the state before. */
static void
ask_service(struct world *w)
{
    struct asker *a = &w->asker;

    a->what = a->keeper.ready ? ASK : PUT;
    a->out = (struct said){.session = w->session,
                           .serial = flow_request_id(&a->request),
                           .k = (int16_t)w->trained};
    a->asks = 1;
    flow_request_begin(&a->request, a->out.serial, w->now);
    say_request(w);
}

/* Between two steps: a service that it has not met, or that is connected anew,
 * gets the state: it may have begun a session that a peer made up. */
static void
meet_service(struct world *w)
{
    struct asker *a = &w->asker;
    char name[16];

    snprintf(name, sizeof name, "service%d", a->service);
    if (!a->built || asking_link(w)->greeting.state != FLOW_IN)
        return;
    if (a->connection != asking_link(w)->connection)
        flow_keeper_behind(&a->keeper);
    a->connection = asking_link(w)->connection;
    if (!flow_keeper_meets(&a->keeper, name))
        return;
    a->meets = 1;
    ask_service(w);
}

/* The batch at hand is weighed; it is trained until then. */
static void
begin_step(struct world *w)
{
    w->training = 1;
    w->busy = w->now + 0.01 + some(w, w->pace);
    tick(w, TRAINER, w->busy);
}

static void
trainer_hears(struct world *w, const struct event *e)
{
    struct asker *a = &w->asker;
    const struct wire_error error = {.id = e->said.serial,
                                     .state = e->said.over == 1};
    const int weights = a->keeper.ready;
    enum flow_answer what;
    char name[16];

    snprintf(name, sizeof name, "service%d", a->service);
    if (!a->asks || e->said.over == 2 ||
        !flow_request_receive(&a->request, e->said.serial,
                              e->what == DENIED ? &error : NULL, &what))
        return;
    a->asks = 0;
    if (flow_keeper_next(&a->keeper, what, name)) {
        if (!a->meets)
            ask_service(w);
        a->meets = 0;
    } else if (weights && what == FLOW_ANSWERED) {
        begin_step(w);
    } else {
        fail(w, "the service does not take the state of the trainer");
    }
}

/* What is not answered is asked again on another connection. */
static void
ask_again(struct world *w)
{
    struct asker *a = &w->asker;
    struct link *link = asking_link(w);
    double until;
    int what;

    if (a->renews && a->renews <= w->now) {
        a->renews = 0;
        cut(w, link, 0);
        flow_request_renewed(&a->request, w->now);
    } else if (!a->renews) {
        what = flow_request_turn(&a->request, w->now, &until);
        if (what < 0)
            fail(w, "the trainer gives its request up");
        if (what > 0)
            a->renews = w->now + flow_request_pause(&a->request);
    }
}

/* A trainer that goes on from a checkpoint has a network at once. */
static void
begin_asking(struct world *w)
{
    const struct flow_request asking = {.timeout = 5,
                                        .deadline = 1200,
                                        .last_id =
                                            w->asker.request.last_id + 9};

    w->asker = (struct asker){.request = asking, .built = w->trained > 0};
}

#endif
