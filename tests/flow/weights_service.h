#pragma once

/*
 * The filter as a negatives service, and the trainer as its client: no item is
 * sent before the service has a state of the trainer's session, and each step
 * waits for an answer.  The state is one piece here; tests/flow/services.h has
 * more, and their values.
 *
 * A trainer without a checkpoint hands nothing over before its first batch.
 * The service sees the end of a connection a moment later than the trainer.
 */
#include "flow/check.h"

static void cut(struct world *w, struct link *link, double seconds);

/* The link on which the trainer sends requests. */
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

    if (w->begins > w->now || !flow_state_owner_is_new_run(&w->ownership, &at))
        return;
    w->begins = w->now + 0.5;
    if (w->ownership.owner && reaches(w, w->ownership.owner))
        return;
    log_event(w, "session %jd begins without a state", (intmax_t)at.session);
    flow_state_owner_begin(&w->ownership, &at);
}

/* Whether the filter may draw for its next place. */
static int
may_draw(struct world *w)
{
    const struct wire_place *weighed = &w->ownership.next;
    const int k = weighed->session < 0 ? 0 : count(w, weighed);

    if (!w->weighs)
        return 1;
    if (weighed->session != w->filter_out.session)
        return 0;
    if (w->drawn < k)
        w->drawn = k;
    return w->drawn - k < w->horizon;
}

/* The answer to a request: `over` is 1 when the state is wanted, 2 when the
 * message is refused. */
static enum what
serve(struct world *w, struct flow_known_peer *peer, const struct event *e,
      struct content *answer)
{
    const struct wire_place at = place(w, e->content.session, e->content.k);
    const uint64_t owner = w->ownership.owner;
    const struct wire_state state = {
        .session = at.session, .epoch = at.epoch, .step = at.step, .last = 1};
    struct flow_known_peer *there =
        owner && owner != peer->number && reaches(w, owner)
            ? flow_peer_table_by_number(&w->roll[SERVICE], owner)
            : NULL;
    struct err err;

    answer->over = 2;
    if (flow_state_owner_check(&w->ownership, peer->number, at.session,
                               there ? &there->hello : NULL, &err))
        return DENIED;
    answer->over = e->what == ASK;
    if (e->what == ASK && !flow_state_owner_fits(&w->ownership, &at))
        return DENIED;
    if (e->what == ASK) {
        flow_state_owner_advance(&w->ownership, &at, peer->number,
                                 peer->hello.peer);
    } else {
        REQUIRE(flow_state_owner_check_piece(&w->ownership, &state, &err) == 1);
        flow_state_owner_add_piece(&w->ownership, &state, peer->number,
                                   peer->hello.peer);
        flow_state_owner_commit(&w->ownership);
    }
    answer->over = 0;
    w->answered = answer->serial;
    w->answer = ANSWER;
    return ANSWER;
}

static void
service_receives(struct world *w, const struct event *e)
{
    const struct wire_id id = id_of(e->link, e->connection);
    struct flow_known_peer *peer =
        flow_peer_table_by_id(&w->roll[SERVICE], &id);
    struct content answer = e->content;
    enum what what = ANSWER;

    if (e->what != ASK && e->what != PUT)
        return;
    if (e->content.serial < w->answered)
        return; // it is late
    answer.over = 0;
    if (e->content.serial != w->answered)
        what = serve(w, peer, e, &answer);
    post(w, e->link, 0, what, &answer);
}

/* ---- the trainer -------------------------------------------------------- */

static void
send_request(struct world *w)
{
    struct link *link = asking_link(w);

    if (link->greeting.state == FLOW_IN)
        post(w, (int)(link - w->link), 1, w->requester.what, &w->requester.out);
}

/* The next request: weights of the present batch, or the state before it. */
static void
send_request_to(struct world *w)
{
    struct requester *a = &w->requester;

    a->what = a->keeper.ready ? ASK : PUT;
    a->out = (struct content){.session = w->session,
                              .serial = flow_request_id(&a->request),
                              .k = (int16_t)w->trained};
    a->wants = 1;
    flow_request_begin(&a->request, a->out.serial, w->now);
    send_request(w);
}

/* Between two steps: a new service, or one on a new connection, gets the
 * state, as it may have begun a session that a peer invented. */
static void
meet_service(struct world *w)
{
    struct requester *a = &w->requester;
    char name[16];

    snprintf(name, sizeof name, "service%d", a->service);
    if (!a->built || asking_link(w)->greeting.state != FLOW_IN)
        return;
    if (a->connection != asking_link(w)->connection)
        flow_state_copy_mark_stale(&a->keeper);
    a->connection = asking_link(w)->connection;
    if (!flow_state_copy_needs_handover(&a->keeper, name))
        return;
    a->hands_over = 1;
    send_request_to(w);
}

/* The present batch is weighed, and is in training until then. */
static void
begin_step(struct world *w)
{
    w->training = 1;
    w->busy = w->now + 0.01 + some(w, w->pace);
    tick(w, TRAINER, w->busy);
}

static void
trainer_receives(struct world *w, const struct event *e)
{
    struct requester *a = &w->requester;
    const struct wire_error error = {.id = e->content.serial,
                                     .need_state = e->content.over == 1};
    const int weights = a->keeper.ready;
    enum flow_answer what;
    char name[16];

    snprintf(name, sizeof name, "service%d", a->service);
    if (!a->wants || e->content.over == 2 ||
        !flow_request_receive(&a->request, e->content.serial,
                              e->what == DENIED ? &error : NULL, &what))
        return;
    a->wants = 0;
    if (flow_state_copy_on_answer(&a->keeper, what, name)) {
        if (!a->hands_over)
            send_request_to(w);
        a->hands_over = 0;
    } else if (weights && what == FLOW_ANSWERED) {
        begin_step(w);
    } else {
        fail(w, "the service refuses the trainer's state");
    }
}

/* A request without an answer is sent again on another connection. */
static void
retry_request(struct world *w)
{
    struct requester *a = &w->requester;
    struct link *link = asking_link(w);
    double until;
    int what;

    if (a->renews && a->renews <= w->now) {
        a->renews = 0;
        cut(w, link, 0);
        a->request.sent = w->now;
    } else if (!a->renews) {
        what = flow_request_turn(&a->request, w->now, &until);
        if (what < 0)
            fail(w, "the trainer's request fails");
        if (what > 0)
            a->renews = w->now + flow_request_pause(&a->request);
    }
}

/* A trainer that resumes from a checkpoint has a network at once. */
static void
begin_asking(struct world *w)
{
    const struct flow_request asking = {.timeout = 5,
                                        .deadline = 1200,
                                        .last_id =
                                            w->requester.request.last_id + 9};

    w->requester =
        (struct requester){.request = asking, .built = w->trained > 0};
}
