#include "t.h"
#include "util/clock.h"
#include "wire/next.h"

/* Sessions count from 1970; clocks differ, but not by days. */
static void
sessions(void)
{
    const int64_t now = (int64_t)clock_wall(), hour = (int64_t)3600e9;
    struct err err = {""};

    T(!wire_session_judge(0, &err) && !wire_session_judge(now, &err) &&
          !wire_session_judge(now + hour, &err),
      "a session of the past, of now and of a clock an hour ahead: %s",
      err.msg);
    T(wire_session_judge(now + 25 * hour, &err), "a day ahead: %s", err.msg);
    T(wire_session_judge(INT64_MAX, &err), "the end of time: %s", err.msg);
}

static void
order(void)
{
    const struct wire_place a = {5, 1, 9}, b = {4, 2, 0}, c = {1, 2, 1};

    T(wire_place_cmp(&a, &b) < 0, "a later epoch is later");
    T(wire_place_cmp(&c, &b) > 0, "a later step too");
    T(wire_place_cmp(&b, &b) == 0, "the same is the same");
}

/* done and end are a place, of which end may say more. */
static void
places(void)
{
    const struct wire_place at = {1700000000000000000, 3, 4};
    struct wire_msg *done = wire_place_put(WIRE_DONE, &at);
    struct wire_msg *end = wire_place_put(WIRE_END, &at);
    struct wire_msg *over = wire_over_put(&at), *beat = wire_beat_put();
    struct wire_msg *const all[] = {done, end, over};

    for (size_t i = 0; i < 3; i++) {
        struct wire_place got;
        struct err err = {""};

        T(wire_msg_kind(all[i]) == (i ? WIRE_END : WIRE_DONE) &&
              !wire_place_get(&got, all[i], &err) &&
              got.session == at.session && !wire_place_cmp(&got, &at),
          "%s: its place is read as it was put: %s",
          wire_kind_name(wire_msg_kind(all[i])), err.msg);
    }
    T(wire_over_get(over), "an end that says so ends the run");
    T(!wire_over_get(end), "an end alone does not end the run");
    T(!wire_over_get(done) && !wire_over_get(beat),
      "what is no end does not end the run");
    wire_msg_free(done);
    wire_msg_free(end);
    wire_msg_free(over);
    wire_msg_free(beat);
}

int
main(void)
{
    places();
    order();
    sessions();
    return t_done();
}
