#include "wire/next.h"
#include "util/clock.h"
#include "wire/pack.h"

#include "place.h"

int
wire_session_judge(int64_t session, struct err *err)
{
    static const double nanoseconds_a_day = 86400e9, year_2025 = 1735689600e9;
    const double now = (double)clock_wall(),
                 ahead = ((double)session - now) / nanoseconds_a_day;

    if (ahead <= 1 || now < year_2025)
        return 0;
    return err_set(err,
                   "session %jd lies %.0f days ahead of this machine's clock",
                   (intmax_t)session, ahead);
}

int
wire_place_cmp(const struct wire_place *a, const struct wire_place *b)
{
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

void
wire_place_write(struct wire_writer *w, const struct wire_place *at)
{
    wire_write_whole(w, "session", at->session);
    wire_write_whole(w, "epoch", at->epoch);
    wire_write_whole(w, "step", at->step);
}

void
wire_place_read(struct wire_reader *r, struct wire_place *at)
{
    at->session = wire_read_whole(r, "session", 0, INT64_MAX);
    at->epoch = wire_read_whole(r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    at->step = wire_read_whole(r, "step", 0, WIRE_STEP_MAX - 1);
}

struct wire_msg *
wire_next_put(const struct wire_next *next)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_NEXT);
    wire_place_write(&w, &next->at);
    wire_write_whole(&w, "credit", next->credit);
    if (next->waits)
        wire_write_flag(&w, "waits", 1);
    return wire_write_end(&w);
}

int
wire_next_get(struct wire_next *next, const struct wire_msg *msg,
              struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_next got = {0};

    wire_place_read(&r, &got.at);
    got.credit = wire_read_whole(&r, "credit", 0, WIRE_CREDIT_MAX);
    got.waits = wire_read_flag(&r, "waits");
    if (r.rc)
        return -1;
    *next = got;
    return 0;
}

struct wire_msg *
wire_place_put(enum wire_kind kind, const struct wire_place *at)
{
    struct wire_writer w;

    REQUIRE(kind == WIRE_DONE || kind == WIRE_END);
    wire_write_start(&w, kind);
    wire_place_write(&w, at);
    return wire_write_end(&w);
}

int
wire_place_get(struct wire_place *at, const struct wire_msg *msg,
               struct err *err)
{
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_place got = {0};

    wire_place_read(&r, &got);
    if (r.rc)
        return -1;
    *at = got;
    return 0;
}

struct wire_msg *
wire_over_put(const struct wire_place *at)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_END);
    wire_place_write(&w, at);
    wire_write_flag(&w, "over", 1);
    return wire_write_end(&w);
}

int
wire_over_get(const struct wire_msg *msg)
{
    struct err why;
    struct wire_reader r = wire_read_start(msg, &why);

    return wire_msg_kind(msg) == WIRE_END && wire_read_flag(&r, "over") &&
           !r.rc;
}

struct wire_msg *
wire_beat_put(void)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_BEAT);
    return wire_write_end(&w);
}
