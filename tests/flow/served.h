#pragma once

/* The service of tests/flow/services.h: how it handles messages. */
#include "flow/services.h"

static void
start_service(struct world *w)
{
    flow_peer_table_release(&w->peers);
    flow_answer_cache_release(&w->cache);
    flow_state_owner_init(&w->ownership);
    w->starts++;
    w->state = 0;
    log_event(w, "service %d begins", w->starts);
}

/* The connection of a peer, and its trainer. */
static struct wire_id
id_of(int who, unsigned connection)
{
    return (struct wire_id){
        3, {(uint8_t)who, (uint8_t)(connection >> 8), (uint8_t)connection}, 0};
}

/* The owner's hello, when it is another peer with a live connection. */
static const struct wire_hello *
owner_there(struct world *w, uint64_t peer)
{
    struct flow_known_peer *owner =
        flow_peer_table_by_number(&w->peers, w->ownership.owner);
    const uint8_t *byte;

    if (!owner || owner->number == peer)
        return NULL;
    byte = owner->id.byte;
    if (is_up(w, &w->trainer[byte[0]], byte[1] * 256u + byte[2]))
        return &owner->hello;
    owner->gone = 1;
    return NULL;
}

/* Gives the state to a peer: is that allowed? */
static void
check_owner(struct world *w, uint64_t before, uint64_t peer)
{
    struct flow_known_peer *owner =
        flow_peer_table_by_number(&w->peers, before);
    const uint8_t *byte = owner ? owner->id.byte : NULL;

    if (owner && before != peer &&
        is_up(w, &w->trainer[byte[0]], byte[1] * 256u + byte[2]))
        fail(w, "%s is there, and has lost the state", owner->hello.peer);
}

static struct note
weigh(struct world *w, const struct flow_known_peer *peer,
      const struct note *ask)
{
    struct note answer = {WEIGHTS, ask->id, ask->at, w->state, 0, 0, 0, ""};

    if (!flow_state_owner_fits(&w->ownership, &ask->at)) {
        if (w->ownership.next.session == ask->at.session && !w->new_session)
            fail(w, "the service wants a state that it has");
        answer.what = ERROR;
        answer.state = 1;
        return answer;
    }
    check_owner(w, w->ownership.owner, peer->number);
    w->state = after(w->state, (int)ask->at.step);
    flow_state_owner_advance(&w->ownership, &ask->at, peer->number,
                             peer->hello.peer);
    return answer;
}

/* All pieces are received: do they belong to one state? */
static void
commit_state(struct world *w, const struct wire_state *state)
{
    struct err err;

    if (flow_state_owner_check_complete(&w->ownership, state, &err)) {
        fail(w, "after the last piece: %s", err.msg);
        return;
    }
    for (int i = 1; state->n && i < PIECES; i++)
        if (w->coming[i] != w->coming[0])
            fail(w, "a state of pieces that do not belong together");
    if (state->session < w->ownership.next.session)
        fail(w, "a state of session %jd after one of %jd",
             (intmax_t)state->session, (intmax_t)w->ownership.next.session);
    w->state = state->n ? w->coming[0] : 0;
    flow_state_owner_commit(&w->ownership);
}

static struct note
take_state(struct world *w, const struct flow_known_peer *peer,
           const struct note *ask)
{
    struct note answer = {TAKEN, ask->id, ask->at, 0, 0, 0, 0, ""};
    struct table_rows table = {.name = "t", .rows = PIECES, .width = 8, .n = 1};
    struct wire_state state = {.session = ask->at.session,
                               .step = ask->at.step,
                               .n = ask->piece >= 0,
                               .from = ask->piece < 0 ? 0 : ask->piece,
                               .last =
                                   ask->piece < 0 || ask->piece == PIECES - 1,
                               .tables = &table};
    struct err err;

    if (flow_state_owner_check_piece(&w->ownership, &state, &err) < 0) {
        answer.what = ERROR;
        answer.state = 1;
        return answer;
    }
    check_owner(w, w->ownership.owner, peer->number);
    w->coming[state.from] = ask->value;
    flow_state_owner_add_piece(&w->ownership, &state, peer->number,
                               peer->hello.peer);
    if (state.last)
        commit_state(w, &state);
    return answer;
}

static void
cache_answer(struct world *w, const char *name, const struct note *answer)
{
    const struct wire_ok which = {.step = w->answers % ANSWERS};
    struct wire_msg *msg = wire_ok_put(&which);

    w->answer[w->answers++ % ANSWERS] = *answer;
    flow_answer_cache_put(&w->cache, name, answer->id, msg);
    wire_msg_free(msg);
}

/* Answer a request that is not late. */
static struct note
serve(struct world *w, struct flow_known_peer *peer, const struct note *ask)
{
    struct note answer = {ERROR, -1, ask->at, 0, 0, 0, 1, ""};
    struct wire_msg *known =
        flow_answer_cache_find(&w->cache, peer->hello.peer, ask->id);
    struct wire_ok which;
    struct err err;

    if (known && !wire_ok_get(&which, known, &err))
        return w->answer[which.step];
    if (flow_state_owner_check(&w->ownership, peer->number, ask->at.session,
                               owner_there(w, peer->number), &err))
        return answer;
    answer = ask->what == WEIGHTS_GET ? weigh(w, peer, ask)
                                      : take_state(w, peer, ask);
    if (answer.what != ERROR)
        cache_answer(w, peer->hello.peer, &answer);
    return answer;
}

static void
service_receives(struct world *w, const struct mail *mail)
{
    const struct wire_id id = id_of(mail->who, mail->connection);
    struct flow_known_peer *peer = flow_peer_table_by_id(&w->peers, &id);
    struct note answer = {.what = HELLO};

    if (mail->note.what == HELLO) {
        struct wire_hello hello = {.version = WIRE_VERSION};

        snprintf(hello.peer, sizeof hello.peer, "%s", mail->note.name);
        if (flow_peer_table_greet(&w->peers, &id, &hello, w->now, &peer) ==
            FLOW_ADDED)
            flow_state_owner_on_hello(&w->ownership, peer->number, hello.peer);
        snprintf(answer.name, sizeof answer.name, "service%d", w->starts);
    } else if (peer) {
        if (flow_answer_cache_late(&w->cache, peer->hello.peer, mail->note.id))
            return;
        answer = serve(w, peer, &mail->note);
    } else if (flow_peer_table_unknown(&w->peers, &id, w->now)) {
        answer.what = REHELLO;
    } else {
        return;
    }
    post(w, mail->who, 0, mail->connection, &answer);
    flow_peer_table_remove_gone(&w->peers);
    while (flow_peer_table_left(&w->peers))
        ;
}
