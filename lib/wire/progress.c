#include "wire/progress.h"
#include "util/clock.h"

/* Nanoseconds; a clock before 2025 was never set. */
static const int64_t day = (int64_t)86400 * 1000000000,
                     year_2025 = (int64_t)1735689600 * 1000000000;

int
wire_session_check(int64_t session, struct err *err)
{
    const double now = (double)clock_wall(),
                 ahead = ((double)session - now) / (double)day;

    if (ahead <= 1 || now < (double)year_2025)
        return 0;
    return err_set(err,
                   "session %jd is %.0f days ahead of this machine's clock",
                   (intmax_t)session, ahead);
}

int64_t
wire_session_begin(int64_t before, int64_t clock)
{
    return before < clock || (before - clock > day && clock >= year_2025)
               ? clock
               : before + 1;
}

int
wire_place_cmp(const struct wire_place *a, const struct wire_place *b)
{
    if (a->epoch != b->epoch)
        return a->epoch < b->epoch ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}
