#include "wire/error.h"
#include "wire/pack.h"

struct wire_msg *
wire_error_put(const struct wire_error *error)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_ERROR);
    wire_write_text(&w, "reason", error->reason);
    if (error->again)
        wire_write_flag(&w, "again", 1);
    if (error->state)
        wire_write_flag(&w, "state", 1);
    if (error->message)
        wire_write_flag(&w, "message", 1);
    if (error->id >= 0)
        wire_write_whole(&w, "id", error->id);
    return wire_write_end(&w);
}

int
wire_error_get(struct wire_error *error, const struct wire_msg *msg,
               struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_error got = {.id = -1};

    wire_read_text(&r, "reason", got.reason, sizeof got.reason);
    got.again = wire_read_flag(&r, "again");
    got.state = wire_read_flag(&r, "state");
    got.message = wire_read_flag(&r, "message");
    if (wire_read_has(&r, "id"))
        got.id = wire_read_whole(&r, "id", 0, INT64_MAX);
    if (r.rc)
        return -1;
    *error = got;
    return 0;
}
