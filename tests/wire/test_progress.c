#include "t.h"
#include "util/clock.h"
#include "wire/progress.h"

/* Sessions count from 1970; clocks differ, but not by days. */
static void
sessions(void)
{
    const int64_t now = (int64_t)clock_wall(), hour = (int64_t)3600e9;
    struct err err = {""};

    T(!wire_session_check(0, &err) && !wire_session_check(now, &err) &&
          !wire_session_check(now + hour, &err),
      "a session of the past, of now and of a clock an hour ahead: %s",
      err.msg);
    T(wire_session_check(now + 25 * hour, &err), "a day ahead: %s", err.msg);
    T(wire_session_check(INT64_MAX, &err), "the end of time: %s", err.msg);
    T(wire_session_begin(0, now) == now &&
          wire_session_begin(now - 1, now) == now,
      "a new session is the time");
    T(wire_session_begin(now, now) == now + 1 &&
          wire_session_begin(now + hour, now) == now + hour + 1,
      "if the clock was set back, one more than the last session");
    T(wire_session_begin(now + 25 * hour, now) == now,
      "which peers would refuse if it were a day ahead");
    T(wire_session_begin(now, hour) == now + 1,
      "a clock that was never set: one more than the last session");
}

static void
order(void)
{
    const struct wire_place a = {5, 1, 9}, b = {4, 2, 0}, c = {1, 2, 1};

    T(wire_place_cmp(&a, &b) < 0, "a later epoch is later");
    T(wire_place_cmp(&c, &b) > 0, "a later step too");
    T(wire_place_cmp(&b, &b) == 0, "the same is the same");
}

/* Held places are in order, each once, and fit the window. */
static void
held(void)
{
    static const struct {
        const char *what;
        size_t n;
        int64_t have[3][2];
        int good;
    } tries[] = {
        {"two epochs", 3, {{0, 9}, {1, 0}, {1, 7}}, 1},
        {"one", 1, {{0, 0}}, 1},
        {"none", 0, {{0}}, 1},
        {"out of order", 2, {{1, 0}, {0, 9}}, 0},
        {"a place twice", 2, {{1, 0}, {1, 0}}, 0},
        {"an epoch below 0", 1, {{-1, 0}}, 0},
        {"a step below 0", 1, {{0, -1}}, 0},
        {"an epoch that is too large", 1, {{WIRE_EPOCH_MAX, 0}}, 0},
        {"a step that is too large", 1, {{0, WIRE_STEP_MAX}}, 0},
    };

    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        struct wire_want next = {.at = {5, 0, 0},
                                 .serial = 1,
                                 .window = 3,
                                 .room = -1,
                                 .n_have = tries[i].n,
                                 .have = tries[i].have[0]},
                         got = {0};
        struct err err = {"taken"};
        struct wire_msg *msg = wire_want_put(&next);
        const int good = !wire_want_get(&got, msg, &err);

        T(good == tries[i].good && (!good || got.n_have == tries[i].n),
          "%s: %s", tries[i].what, err.msg);
        wire_want_release(&got);
        wire_msg_free(msg);
        next.window = 1;
        msg = wire_want_put(&next);
        if (good && tries[i].n > 1)
            T(wire_want_get(&got, msg, &err), "more than the window: %s",
              err.msg);
        wire_msg_free(msg);
    }
}

int
main(void)
{
    held();
    order();
    sessions();
    return t_done();
}
