#include "wire/next.h"
#include "util/clock.h"

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
