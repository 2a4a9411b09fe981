#include "wire/reject.h"
#include "wire/pack.h"

#include "place.h"

struct wire_msg *
wire_reject_put(const struct wire_reject *reject)
{
    struct wire_writer w;

    REQUIRE(reject->n >= 1);
    wire_write_start(&w, WIRE_REJECT);
    wire_place_write(&w, &reject->at);
    wire_write_text(&w, "reason", reject->reason);
    wire_write_tensor(&w, "ids", WIRE_I8, reject->ids, 1, &reject->n);
    return wire_write_end(&w);
}

int
wire_reject_get(struct wire_reject *reject, struct wire_msg *msg,
                struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_reject got = {0};

    *reject = got;
    wire_place_read(&r, &got.at);
    wire_read_text(&r, "reason", got.reason, sizeof got.reason);
    got.ids = wire_read_ids(&r, "ids", 0, &got.n);
    if (r.rc)
        return -1;
    *reject = got;
    reject->msg = wire_msg_hold(msg);
    return 0;
}

void
wire_reject_release(struct wire_reject *reject)
{
    wire_msg_free(reject->msg);
    *reject = (struct wire_reject){0};
}
