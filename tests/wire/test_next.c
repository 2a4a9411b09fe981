#include "t.h"
#include "util/clock.h"
#include "wire/next.h"

#include "parts.h"

static int
get_next(struct wire_msg *msg, struct err *err)
{
    struct wire_next next;

    return wire_next_get(&next, msg, err);
}

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

static int
get_place(struct wire_msg *msg, struct err *err)
{
    struct wire_place place;

    return wire_place_get(&place, msg, err);
}

static void
order(void)
{
    const struct wire_place a = {5, 1, 9}, b = {4, 2, 0}, c = {1, 2, 1};

    T(wire_place_cmp(&a, &b) < 0, "a later epoch is later");
    T(wire_place_cmp(&c, &b) > 0, "a later step too");
    T(wire_place_cmp(&b, &b) == 0, "the same is the same");
}

int
main(void)
{
    static const struct change places[] = {
        {"session", NULL, -1},
        {"session", "-1", -1},
        {"session", "9223372036854775807", 0},
        {"epoch", NULL, -1},
        {"epoch", "4294967295", 0},
        {"epoch", "4294967296", -1},
        {"step", NULL, -1},
        {"step", "281474976710655", 0},
        {"step", "281474976710656", -1},
        {"step", "true", -1},
        {NULL, NULL, 0},
    };
    static const struct change credits[] = {
        {"credit", NULL, -1}, {"credit", "0", 0},     {"credit", "4096", 0},
        {"credit", "-1", -1}, {"credit", "4097", -1}, {"waits", NULL, 0},
        {"waits", "7", -1},   {NULL, NULL, 0},
    };
    const struct wire_next next = {{1700000000000000000, 3, 4}, 2, 1};
    struct wire_next got;
    struct wire_place at;
    struct wire_msg *msg = again(wire_next_put(&next));
    struct err err = {""};

    T(!wire_next_get(&got, msg, &err) && got.credit == 2 &&
          got.at.session == next.at.session && got.at.epoch == 3 &&
          got.at.step == 4 && got.waits,
      "next: round trip: %s", err.msg);
    judge_all(get_next, msg, places);
    judge_all(get_next, msg, credits);
    wire_msg_free(msg);

    for (int end = 0; end < 2; end++) {
        const enum wire_kind kind = end ? WIRE_END : WIRE_DONE;

        msg = again(wire_place_put(kind, &next.at));
        T(wire_msg_kind(msg) == kind && !wire_place_get(&at, msg, &err) &&
              at.step == 4 && at.epoch == 3,
          "%s: round trip", wire_kind_name(kind));
        judge_all(get_place, msg, places);
        wire_msg_free(msg);
    }
    msg = again(wire_over_put(&next.at));
    T(wire_over_get(msg) && !wire_place_get(&at, msg, &err) && at.step == 4,
      "over: round trip");
    judge_all(get_place, msg, places);
    wire_msg_free(msg);
    msg = again(wire_place_put(WIRE_END, &next.at));
    T(!wire_over_get(msg), "an end alone is not the run's");
    wire_msg_free(msg);
    msg = again(wire_beat_put());
    T(wire_msg_kind(msg) == WIRE_BEAT, "beat: round trip");
    wire_msg_free(msg);
    order();
    sessions();
    return t_done();
}
