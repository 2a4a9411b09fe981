#include "t.h"
#include "wire/error.h"

#include "parts.h"

static int
get(struct wire_msg *msg, struct err *err)
{
    struct wire_error error;

    return wire_error_get(&error, msg, err);
}

int
main(void)
{
    static const struct change changes[] = {
        {"reason", NULL, -1},   {"reason", "1", -1},  {"again", NULL, 0},
        {"again", "1", -1},     {"state", "true", 0}, {"state", "nil", -1},
        {"message", "true", 0}, {"message", "1", -1}, {"id", NULL, 0},
        {"id", "-1", -1},       {"id", "1.5", -1},    {NULL, NULL, 0},
    };
    struct wire_error error = {"no such run", 1, 0, 0, 9}, got;
    struct wire_msg *msg = again(wire_error_put(&error));
    struct err err = {""};

    T(!wire_error_get(&got, msg, &err) && !strcmp(got.reason, "no such run") &&
          got.again && !got.state && got.id == 9,
      "round trip: %s", err.msg);
    judge_all(get, msg, changes);
    wire_msg_free(msg);

    error =
        (struct wire_error){.reason = "no", .id = -1, .state = 1, .message = 1};
    msg = again(wire_error_put(&error));
    T(!wire_error_get(&got, msg, &err) && got.id == -1 && got.state &&
          got.message && !got.again,
      "what is left out is not said");
    wire_msg_free(msg);
    return t_done();
}
