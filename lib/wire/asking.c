#include <math.h>

#include "asking.h"

static const double pause_least = 0.1, pause_most = 5;

int64_t
wire_asking_id(struct wire_asking *asking)
{
    return ++asking->last_id;
}

void
wire_asking_begin(struct wire_asking *asking, int64_t id, double now)
{
    asking->id = id;
    asking->waits = 1;
    asking->begun = asking->sent = now;
    asking->pause = pause_least;
}

enum wire_answer
wire_asking_hear(struct wire_asking *asking, int64_t id,
                 const struct wire_error *error)
{
    const int mine = id == asking->id && asking->waits;

    if (!error) {
        asking->waits &= !mine;
        return mine ? WIRE_ANSWERED : WIRE_STOPPED;
    }
    if (*error->of.kind)
        return WIRE_ODD;
    if (id < 0)
        return WIRE_REFUSED;
    if (!mine)
        return WIRE_STOPPED;
    asking->waits = 0;
    return error->state ? WIRE_NO_STATE : WIRE_FAILED;
}

void
wire_asking_refuse(struct wire_asking *asking)
{
    asking->waits = 1;
}

int
wire_asking_turn(const struct wire_asking *asking, double now, double *until)
{
    const double end = asking->begun + asking->deadline,
                 due = asking->sent + asking->timeout;

    *until = fmin(due, end);
    if (now >= end)
        return -1;
    return now >= due;
}

double
wire_asking_pause(struct wire_asking *asking)
{
    const double pause = asking->pause;

    asking->pause = fmin(2 * pause, pause_most);
    return pause;
}

void
wire_asking_renewed(struct wire_asking *asking, double now)
{
    asking->sent = now;
}
