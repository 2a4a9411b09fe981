#include "stage/waiting.h"

#include <math.h>

void
stage_waiting_begin(struct stage_waiting *waiting, double now)
{
    *waiting =
        (struct stage_waiting){.at.session = -1, .since = now, .reported = now};
}

int
stage_waiting_moved(struct stage_waiting *waiting, const struct wire_place *at,
                    double now)
{
    if (at->session == waiting->at.session && !wire_place_cmp(at, &waiting->at))
        return 0;
    if (waiting->at.session >= 0)
        waiting->longest = fmax(waiting->longest, now - waiting->since);
    waiting->at = *at;
    waiting->since = now;
    return 1;
}

int
stage_waiting_due(struct stage_waiting *waiting, int waits, double now)
{
    if (waits < 0 || (waits && now - waiting->reported < STAGE_REPORT_EVERY_S))
        return 0;
    waiting->reported = now;
    return waits;
}
