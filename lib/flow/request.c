#include <math.h>
#include <stdio.h>
#include <string.h>

#include "request.h"

static const double pause_least = 0.1, pause_most = 5;

/* ---- the end that asks -------------------------------------------------- */

int64_t
flow_asking_id(struct flow_asking *asking)
{
    return ++asking->last_id;
}

void
flow_asking_begin(struct flow_asking *asking, int64_t id, double now)
{
    asking->id = id;
    asking->waits = 1;
    asking->begun = asking->sent = now;
    asking->pause = pause_least;
}

int
flow_asking_hear(struct flow_asking *asking, int64_t id,
                 const struct wire_error *error, enum flow_answer *what)
{
    if (id != asking->id || !asking->waits)
        return 0;
    asking->waits = 0;
    *what = !error ? FLOW_ANSWERED : error->state ? FLOW_NO_STATE : FLOW_FAILED;
    return 1;
}

void
flow_asking_refuse(struct flow_asking *asking)
{
    asking->waits = 1;
}

int
flow_asking_turn(const struct flow_asking *asking, double now, double *until)
{
    const double end = asking->begun + asking->deadline,
                 due = asking->sent + asking->timeout;

    *until = fmin(due, end);
    if (now >= end)
        return -1;
    return now >= due;
}

double
flow_asking_pause(struct flow_asking *asking)
{
    const double pause = asking->pause;

    asking->pause = fmin(2 * pause, pause_most);
    return pause;
}

void
flow_asking_renewed(struct flow_asking *asking, double now)
{
    asking->sent = now;
}

/* ---- the end that answers ----------------------------------------------- */

struct wire_msg *
flow_kept_find(const struct flow_kept *kept, const char *name, int64_t id)
{
    for (size_t i = 0; i < FLOW_KEPT_MAX; i++)
        if (kept->answer[i].msg && kept->answer[i].id == id &&
            !strcmp(kept->answer[i].name, name))
            return kept->answer[i].msg;
    return NULL;
}

int
flow_kept_late(const struct flow_kept *kept, const char *name, int64_t id)
{
    for (size_t i = 0; i < FLOW_KEPT_MAX; i++)
        if (kept->answer[i].msg && kept->answer[i].id > id &&
            !strcmp(kept->answer[i].name, name))
            return 1;
    return 0;
}

/* The peer's own entry, else the oldest: free ones have turn 0. */
static size_t
entry_of(const struct flow_kept *kept, const char *name)
{
    size_t oldest = 0;

    for (size_t i = 0; i < FLOW_KEPT_MAX; i++) {
        if (kept->answer[i].msg && !strcmp(kept->answer[i].name, name))
            return i;
        if (kept->answer[i].turn < kept->answer[oldest].turn)
            oldest = i;
    }
    return oldest;
}

void
flow_kept_put(struct flow_kept *kept, const char *name, int64_t id,
              struct wire_msg *msg)
{
    size_t i = entry_of(kept, name);

    wire_msg_hold(msg);
    wire_msg_free(kept->answer[i].msg);
    snprintf(kept->answer[i].name, sizeof kept->answer[i].name, "%s", name);
    kept->answer[i].id = id;
    kept->answer[i].turn = ++kept->turn;
    kept->answer[i].msg = msg;
}

void
flow_kept_release(struct flow_kept *kept)
{
    for (size_t i = 0; i < FLOW_KEPT_MAX; i++)
        wire_msg_free(kept->answer[i].msg);
    *kept = (struct flow_kept){0};
}
