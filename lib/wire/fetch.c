#include "wire/fetch.h"
#include "wire/pack.h"

struct wire_msg *
wire_fetch_put(const struct wire_fetch *fetch)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_FEATURES_GET);
    wire_write_whole(&w, "id", fetch->id);
    wire_write_whole(&w, "epoch", fetch->epoch);
    wire_write_whole(&w, "from", fetch->from);
    if (fetch->half)
        wire_write_flag(&w, "half", 1);
    if (fetch->plan >= 0)
        wire_write_whole(&w, "plan", fetch->plan);
    return wire_write_end(&w);
}

int
wire_fetch_get(struct wire_fetch *fetch, const struct wire_msg *msg,
               struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_fetch got;

    got.id = wire_read_whole(&r, "id", 1, INT64_MAX);
    got.epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    got.from = wire_read_whole(&r, "from", 0, WIRE_SIZE_MAX - 1);
    got.half = wire_read_flag(&r, "half");
    got.plan = wire_read_has(&r, "plan")
                   ? wire_read_whole(&r, "plan", 0, WIRE_EPOCH_MAX - 1)
                   : -1;
    if (r.rc)
        return -1;
    *fetch = got;
    return 0;
}
