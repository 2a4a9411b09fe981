#include <string.h>

#include "wire/event.h"
#include "wire/pack.h"

struct wire_msg *
wire_event_put(const struct wire_event *event)
{
    struct wire_writer w;

    wire_write_start(&w, WIRE_EVENT);
    wire_write_whole(&w, "sequence", event->sequence);
    wire_write_text(&w, "what", event->what);
    wire_write_whole(&w, "epoch", event->epoch);
    wire_write_whole(&w, "step", event->step);
    if (*event->path)
        wire_write_text(&w, "path", event->path);
    if (*event->reason)
        wire_write_text(&w, "reason", event->reason);
    return wire_write_end(&w);
}

int
wire_event_get(struct wire_event *event, const struct wire_msg *msg,
               struct err *err)
{
    static const char *const known[] = {"step", "checkpoint", "epoch", "stop"};
    struct wire_reader r = wire_read_start(msg, err);
    struct wire_event got = {0};
    int fits = 0;

    got.sequence = wire_read_whole(&r, "sequence", 0, INT64_MAX);
    wire_read_text(&r, "what", got.what, sizeof got.what);
    got.epoch = wire_read_whole(&r, "epoch", 0, WIRE_EPOCH_MAX - 1);
    got.step = wire_read_whole(&r, "step", 0, WIRE_STEP_MAX - 1);
    wire_read_text_if(&r, "path", got.path, sizeof got.path);
    wire_read_text_if(&r, "reason", got.reason, sizeof got.reason);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        fits |= !strcmp(got.what, known[i]);
    if (!fits)
        wire_read_fail(&r, "'what' is none of step, checkpoint, epoch, stop");
    if (r.rc)
        return -1;
    *event = got;
    return 0;
}
