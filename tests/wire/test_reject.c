#include "t.h"
#include "wire/reject.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_reject reject;
    int rc = wire_reject_get(&reject, msg, err);

    wire_reject_release(&reject);
    return rc;
}

int
main(void)
{
    static const struct change changes[] = {
        {"session", NULL, -1}, {"reason", NULL, -1},  {"reason", "''", 0},
        {"tensors", NULL, -1}, {"tensors", "[]", -1}, {NULL, NULL, 0},
    };
    const int64_t ids[] = {4, 1099511627776};
    struct wire_reject reject = {.at = {7, 1, 2},
                                 .reason = "not a JPEG",
                                 .n = 2,
                                 .ids = ids},
                       got;
    struct wire_msg *msg = again(wire_reject_put(&reject));
    struct err err = {""};

    T(!wire_reject_get(&got, msg, &err) && got.n == 2 &&
          !memcmp(got.ids, ids, sizeof ids) &&
          !strcmp(got.reason, "not a JPEG") && got.at.session == 7,
      "round trip: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg); // got holds it
    T(got.ids[1] == ids[1], "the ids outlive our hold");
    wire_reject_release(&got);
    wire_reject_release(&got);
    T(!got.ids && !got.msg, "released twice is empty");
    return t_done();
}
