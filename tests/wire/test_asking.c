/* The tables of wire/request.h and wire/handover.h, row by row, as
 * Client and Service of foil-wire(5) have them. */
#include <string.h>

#include "t.h"
#include "wire/handover.h"
#include "wire/link.h"
#include "wire/request.h"

enum { DROPPED = 99 };

/* What the answer with that id comes to, or DROPPED. */
static int
hears(struct wire_asking *a, int64_t id)
{
    enum wire_answer what;

    return wire_asking_hear(a, id, NULL, &what) ? (int)what : DROPPED;
}

/* The same of an error. */
static int
fails(struct wire_asking *a, int64_t id, int state)
{
    const struct wire_error error = {.state = state};
    enum wire_answer what;

    return wire_asking_hear(a, id, &error, &what) ? (int)what : DROPPED;
}

/* What an error of that id is about. */
static enum wire_about
about(int again, int64_t id, const char *kind)
{
    struct wire_error error = {.again = again, .id = id};

    snprintf(error.of.kind, sizeof error.of.kind, "%s", kind);
    return wire_error_about(&error);
}

static void
request(void)
{
    struct wire_asking a = {.timeout = 5, .deadline = 12, .last_id = 40};
    double until;

    T(wire_asking_id(&a) == 41 && wire_asking_id(&a) == 42, "ids rise");
    wire_asking_begin(&a, 42, 100);
    T(a.waits && !wire_asking_turn(&a, 104.9, &until) && until == 105,
      "[READY: there is a request] it waits for its answer");
    T(hears(&a, 41) == DROPPED && fails(&a, 41, 0) == DROPPED && a.waits,
      "[any: another id] it is dropped");
    T(about(0, -1, "pairs") == WIRE_ABOUT_MESSAGE &&
          about(0, 42, "pairs") == WIRE_ABOUT_MESSAGE,
      "[any: error with kind] it is no answer");
    T(about(1, 42, "pairs") == WIRE_ABOUT_GREETING &&
          about(0, 0, "") == WIRE_ABOUT_REQUEST,
      "an error with `again` is about the greeting, one with an id an answer");
    T(wire_asking_turn(&a, 105, &until) == 1 && wire_asking_pause(&a) == 0.1 &&
          wire_asking_pause(&a) == 0.2,
      "[any: no answer in time] a new connection, after pauses that double");
    wire_asking_renewed(&a, 105.1);
    T(!wire_asking_turn(&a, 110, &until) && a.waits && a.id == 42,
      "the same request, with time again");
    T(wire_asking_turn(&a, 112, &until) == -1, "but to the deadline only");
    T(hears(&a, 42) == WIRE_ANSWERED && !a.waits,
      "[READY: answer with the id] done");
    T(hears(&a, 42) == DROPPED, "the same answer again is dropped");
    wire_asking_refuse(&a);
    T(hears(&a, 42) == WIRE_ANSWERED,
      "[any: answer that does not fit] it waited on for a better one");
    wire_asking_begin(&a, 43, 200);
    T(fails(&a, 43, 0) == WIRE_FAILED && !a.waits,
      "[READY: error with id] there is no answer");
    wire_asking_begin(&a, 44, 200);
    T(fails(&a, 44, 1) == WIRE_NO_STATE,
      "[READY: error with id and state] it is told apart");
    T(about(0, -1, "") == WIRE_ABOUT_US,
      "an error of nothing is about ourselves");
}

static void
keeper(void)
{
    struct wire_keeper k = {.ready = 1};
    size_t wanted = 2;

    T(wire_keeper_meets(&k, "s1") && !k.ready,
      "[any: greeted by another service] the state is handed over");
    T(wire_keeper_next(&k, WIRE_ANSWERED, "s1") && k.ready,
      "[STATE: state.ok with the id] with the last piece it is ready");
    T(!wire_keeper_meets(&k, "s1") && k.ready,
      "[any: greeted by the same] nothing is handed over");
    T(!wire_keeper_next(&k, WIRE_ANSWERED, "s1") && k.ready,
      "an answer ends a request");
    T(wire_keeper_next(&k, WIRE_NO_STATE, "s1") && !k.ready,
      "[READY: error with id and state] the state, and again");
    T(wire_keeper_next(&k, WIRE_NO_STATE, "s1") && !k.ready,
      "[STATE: error with id and state] from the first piece on");
    while (wanted < 20 && wire_keeper_next(&k, WIRE_NO_STATE, "s1"))
        wanted++;
    T(wanted == 7, "the eighth time it ends");
    T(wire_keeper_meets(&k, "s1"), "a service that has not taken it is met");
    k.ready = 1;
    wire_keeper_next(&k, WIRE_ANSWERED, "s1");
    T(wire_keeper_next(&k, WIRE_NO_STATE, "s1"), "an answer begins the count");
    T(!wire_keeper_next(&k, WIRE_FAILED, "s1") && !k.ready,
      "[STATE: error with id] end");
    T(wire_keeper_next(&k, WIRE_ANSWERED, "s2") && k.ready &&
          !wire_keeper_meets(&k, "s2"),
      "who took the state is met");
    wire_keeper_behind(&k);
    T(!k.ready, "[READY: a step was not applied] the state is handed over");
}

static int
judges(const struct wire_stand *s, uint64_t peer, int64_t session, int there)
{
    const struct wire_hello owner = {.stage = "train"};
    struct err err;

    return wire_stand_check(s, peer, session, there ? &owner : NULL, &err);
}

static void
owners(void)
{
    struct wire_stand s;
    struct wire_place at = {5, 0, 3};
    struct wire_table none = {.n = 0};
    struct wire_state state = {
        .session = 5, .step = 3, .last = 1, .tables = &none};
    struct err err;

    wire_stand_init(&s);
    T(!wire_stand_fits(&s, &at) && !judges(&s, 1, 1, 1),
      "[pairs, where it does not stand there] before a state it wants one");
    T(wire_stand_follows(&s, &state, &err) == 1, "a state without tables");
    wire_stand_add(&s, &state, 1, "a");
    wire_stand_stands(&s);
    T(wire_stand_fits(&s, &at) && s.owner == 1,
      "[state.put, each piece] its sender owns the state, which counts");
    at.step = 2;
    T(!wire_stand_fits(&s, &at), "it wants one for a place before");
    at = (struct wire_place){6, 0, 3};
    T(!wire_stand_fits(&s, &at), "and for another session");
    at = (struct wire_place){5, 0, 4};
    T(!judges(&s, 1, 4, 1), "the owner may do as it likes");
    T(judges(&s, 2, 9, 1),
      "[another peer, the owner is connected] it is refused");
    T(judges(&s, 2, 4, 0),
      "[another peer, with an older session] it is refused");
    T(!judges(&s, 2, 5, 0), "one with the same goes on");
    wire_stand_weighed(&s, &at, 2, "b");
    T(s.owner == 2 && s.next.step == 5 && !wire_stand_fits(&s, &at),
      "[pairs] it stands behind the step, and is that peer's");
    wire_stand_greeted(&s, 7, "a");
    T(s.owner == 2, "another name is another peer");
    wire_stand_greeted(&s, 8, "b");
    T(s.owner == 8, "the same on another connection is not");
}

static void
pieces(void)
{
    struct wire_table table[2] = {{.name = "t", .rows = 3, .width = 1},
                                  {.name = "u", .rows = 1, .width = 1}};
    struct wire_state piece = {
        .session = 5, .step = 3, .n = 2, .tables = table};
    struct wire_stand s;
    struct err err;

    wire_stand_init(&s);
    table[0].n = 2;
    T(wire_stand_follows(&s, &piece, &err) == 1, "the first piece");
    wire_stand_add(&s, &piece, 1, "a");
    T(!wire_stand_fits(&s, &(struct wire_place){5, 0, 3}),
      "half of a state does not count");
    table[0].n = 1;
    piece.from = 1;
    T(wire_stand_follows(&s, &piece, &err) < 0,
      "[state.put that does not follow] the same rows: %s", err.msg);
    piece.from = 2;
    piece.step = 4;
    T(wire_stand_follows(&s, &piece, &err) < 0, "rows of another place");
    piece.step = 3;
    piece.session = 6;
    T(wire_stand_follows(&s, &piece, &err) < 0, "rows of another session");
    piece.session = 5;
    piece.total = 1;
    T(wire_stand_follows(&s, &piece, &err) < 0, "rows after more steps");
    piece.total = 0;
    T(wire_stand_follows(&s, &piece, &err) == 0, "the next piece");
    wire_stand_add(&s, &piece, 1, "a");
    T(wire_stand_whole(&s, &piece, &err),
      "[state.put that will not do] a table is missing: %s", err.msg);
    table[0].n = 0;
    table[1].n = 1;
    piece.from = 0;
    T(wire_stand_follows(&s, &piece, &err) == 0, "the next table");
    wire_stand_add(&s, &piece, 1, "a");
    T(!wire_stand_whole(&s, &piece, &err), "all of it is there");
    wire_stand_drop(&s);
    T(wire_stand_follows(&s, &piece, &err) < 0,
      "what was dropped begins with the first piece");
}

int
main(void)
{
    request();
    keeper();
    owners();
    pieces();
    return t_done();
}
