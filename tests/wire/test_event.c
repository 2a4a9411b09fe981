#include "t.h"
#include "wire/event.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_event event;

    return wire_event_get(&event, msg, err);
}

int
main(void)
{
    static const struct change changes[] = {
        {"sequence", NULL, -1}, {"what", NULL, -1},      {"what", "'step'", 0},
        {"what", "'epoch'", 0}, {"what", "'stop'", 0},   {"what", "'nap'", -1},
        {"epoch", NULL, -1},    {"step", NULL, -1},      {"path", NULL, 0},
        {"path", "1", -1},      {"reason", "'full'", 0}, {NULL, NULL, 0},
    };
    struct wire_event event = {.sequence = 8,
                               .what = "checkpoint",
                               .epoch = 1,
                               .step = 2,
                               .path = "run/step-00000012"},
                      got;
    struct wire_msg *msg = again(wire_event_put(&event));
    struct err err = {""};

    T(!wire_event_get(&got, msg, &err) && got.sequence == 8 &&
          !strcmp(got.what, "checkpoint") &&
          !strcmp(got.path, "run/step-00000012") && !*got.reason,
      "round trip: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg);
    return t_done();
}
