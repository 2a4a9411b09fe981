/* The tables of flow/handover.h, row by row, as Client and Service of
 * foil-wire(5) have them. */
#include <string.h>

#include "flow/handover.h"
#include "t.h"

static void
keeper(void)
{
    struct flow_state_copy k = {.ready = 1};
    size_t wanted = 2;

    T(flow_state_copy_needs_handover(&k, "s1") && !k.ready,
      "[any: greeted by another service] the state is handed over");
    T(flow_state_copy_on_answer(&k, FLOW_ANSWERED, "s1") && k.ready,
      "[STATE: ok with the id] with the last piece it is ready");
    T(!flow_state_copy_needs_handover(&k, "s1") && k.ready,
      "[any: greeted by the same] nothing is handed over");
    T(!flow_state_copy_on_answer(&k, FLOW_ANSWERED, "s1") && k.ready,
      "an answer ends a request");
    T(flow_state_copy_on_answer(&k, FLOW_NO_STATE, "s1") && !k.ready,
      "[READY: error with id and need_state] the state, and again");
    T(flow_state_copy_on_answer(&k, FLOW_NO_STATE, "s1") && !k.ready,
      "[STATE: error with id and need_state] from the first piece on");
    while (wanted < 20 && flow_state_copy_on_answer(&k, FLOW_NO_STATE, "s1"))
        wanted++;
    T(wanted == 7, "the eighth time it ends");
    T(flow_state_copy_needs_handover(&k, "s1"),
      "a service without the state connects");
    k.ready = 1;
    flow_state_copy_on_answer(&k, FLOW_ANSWERED, "s1");
    T(flow_state_copy_on_answer(&k, FLOW_NO_STATE, "s1"),
      "an answer resets the count");
    T(!flow_state_copy_on_answer(&k, FLOW_FAILED, "s1") && !k.ready,
      "[STATE: error with id] end");
    T(flow_state_copy_on_answer(&k, FLOW_ANSWERED, "s2") && k.ready &&
          !flow_state_copy_needs_handover(&k, "s2"),
      "a service with the state connects");
    flow_state_copy_mark_stale(&k);
    T(!k.ready, "[READY: a step was not applied] the state is handed over");
}

static int
judges(const struct flow_state_owner *s, uint64_t peer, int64_t session,
       int there)
{
    const struct wire_hello owner = {.stage = "train"};
    struct err err;

    return flow_state_owner_check(s, peer, session, there ? &owner : NULL,
                                  &err);
}

static void
owners(void)
{
    struct flow_state_owner s;
    struct wire_place at = {5, 0, 3};
    struct table_rows none = {.n = 0};
    struct wire_state state = {
        .session = 5, .step = 3, .last = 1, .tables = &none};
    struct err err;

    flow_state_owner_init(&s);
    T(!flow_state_owner_fits(&s, &at) && !judges(&s, 1, 1, 1),
      "[weights.get, where it does not stand there] without a state it wants "
      "one");
    T(flow_state_owner_check_piece(&s, &state, &err) == 1,
      "a state without tables");
    flow_state_owner_add_piece(&s, &state, 1, "a");
    flow_state_owner_commit(&s);
    T(flow_state_owner_fits(&s, &at) && s.owner == 1,
      "[state.put, each piece] its sender owns the state, which counts");
    at.step = 2;
    T(!flow_state_owner_fits(&s, &at), "it wants one for a place before");
    at = (struct wire_place){6, 0, 3};
    T(!flow_state_owner_fits(&s, &at), "it wants one for another session");
    at = (struct wire_place){5, 0, 4};
    T(!judges(&s, 1, 4, 1), "the owner may do as it likes");
    T(judges(&s, 2, 9, 1),
      "[another peer, the owner is connected] it is refused");
    T(judges(&s, 2, 4, 0),
      "[another peer, with an older session] it is refused");
    T(!judges(&s, 2, 5, 0), "one with the same continues");
    flow_state_owner_advance(&s, &at, 2, "b");
    T(s.owner == 2 && s.next.step == 5 && !flow_state_owner_fits(&s, &at),
      "[weights.get] it is after the step, and that peer owns it");
    flow_state_owner_on_hello(&s, 7, "a");
    T(s.owner == 2, "another name is another peer");
    flow_state_owner_on_hello(&s, 8, "b");
    T(s.owner == 8, "the same on another connection is not");
}

/* A trainer without a first batch yet hands nothing over. */
static void
beginning(void)
{
    struct wire_place at = {5, 0, 0};
    struct flow_state_owner s;

    flow_state_owner_init(&s);
    T(flow_state_owner_is_new_run(&s, &at),
      "without any state the first session begins");
    flow_state_owner_begin(&s, &at);
    T(!flow_state_owner_is_new_run(&s, &at) && flow_state_owner_fits(&s, &at),
      "it begins once");
    at.step = 3;
    flow_state_owner_advance(&s, &at, 1, "a");
    at = (struct wire_place){6, 0, 0};
    T(flow_state_owner_is_new_run(&s, &at),
      "[another session begins, the owner is gone] "
      "it needs no state");
    flow_state_owner_begin(&s, &at);
    T(flow_state_owner_fits(&s, &at) && !s.owner,
      "after the session begins the state fits and has no owner");
    at.session = 5;
    T(flow_state_owner_is_new_run(&s, &at),
      "an older session is a new run where the newer one was never true");
    at = (struct wire_place){7, 0, 1};
    T(!flow_state_owner_is_new_run(&s, &at),
      "a session at a later step is no new run: its trainer has a state");
    at = (struct wire_place){7, 1, 0};
    T(!flow_state_owner_is_new_run(&s, &at),
      "a session at a later epoch is no new run: its trainer has a state");
}

static void
pieces(void)
{
    struct table_rows table[2] = {{.name = "t", .rows = 3, .width = 1},
                                  {.name = "u", .rows = 1, .width = 1}};
    struct wire_state piece = {
        .session = 5, .step = 3, .n = 2, .tables = table};
    struct flow_state_owner s;
    struct err err;

    flow_state_owner_init(&s);
    table[0].n = 2;
    T(flow_state_owner_check_piece(&s, &piece, &err) == 1, "the first piece");
    flow_state_owner_add_piece(&s, &piece, 1, "a");
    T(!flow_state_owner_fits(&s, &(struct wire_place){5, 0, 3}),
      "half of a state does not count");
    table[0].n = 1;
    piece.from = 1;
    T(flow_state_owner_check_piece(&s, &piece, &err) < 0,
      "[state.put that does not follow] the same rows: %s", err.msg);
    piece.from = 2;
    piece.step = 4;
    T(flow_state_owner_check_piece(&s, &piece, &err) < 0,
      "rows of another place");
    piece.step = 3;
    piece.session = 6;
    T(flow_state_owner_check_piece(&s, &piece, &err) < 0,
      "rows of another session");
    piece.session = 5;
    piece.total = 1;
    T(flow_state_owner_check_piece(&s, &piece, &err) < 0,
      "rows after more steps");
    piece.total = 0;
    T(flow_state_owner_check_piece(&s, &piece, &err) == 0, "the next piece");
    flow_state_owner_add_piece(&s, &piece, 1, "a");
    T(flow_state_owner_check_complete(&s, &piece, &err),
      "[state.put that will not do] a table is missing: %s", err.msg);
    table[0].n = 0;
    table[1].n = 1;
    piece.from = 0;
    T(flow_state_owner_check_piece(&s, &piece, &err) == 0, "the next table");
    flow_state_owner_add_piece(&s, &piece, 1, "a");
    T(!flow_state_owner_check_complete(&s, &piece, &err), "all of it is there");
    flow_state_owner_discard(&s);
    T(flow_state_owner_check_piece(&s, &piece, &err) < 0,
      "after a drop the first piece comes again");
}

int
main(void)
{
    keeper();
    owners();
    beginning();
    pieces();
    return t_done();
}
