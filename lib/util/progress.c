#include <stdio.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/progress.h"

static const double every = 0.2; // seconds between two drawings

void
progress_start(struct progress *p, const char *unit, double first, double total)
{
    *p = (struct progress){
        .unit = unit,
        .total = total,
        .start = clock_now(),
        .first = first,
        .on = isatty(STDERR_FILENO),
    };
}

/* Write seconds as 59s, 12m05s or 3h07m. */
static void
duration(double seconds, char text[24])
{
    unsigned s = seconds > 359999 ? 359999 : (unsigned)(seconds + 0.5);

    if (s < 60)
        snprintf(text, 24, "%us", s);
    else if (s < 3600)
        snprintf(text, 24, "%um%02us", s / 60, s % 60);
    else
        snprintf(text, 24, "%uh%02um", s / 3600, s / 60 % 60);
}

void
progress_show(struct progress *p, double done, const char *more)
{
    double now, rate;
    char left[24];

    if (!p->on)
        return;
    now = clock_now();
    if (now - p->shown < every && (p->total <= 0 || done < p->total))
        return;
    p->shown = now;
    p->drawn = 1;
    rate = now > p->start ? (done - p->first) / (now - p->start) : 0;
    if (p->total > 0 && rate > 0) {
        duration((p->total - done) / rate, left);
        fprintf(stderr, "\r\033[K%.0f/%.0f %s (%.0f%%)  %.1f/s  %s left  %s",
                done, p->total, p->unit, 100 * done / p->total, rate, left,
                more);
    } else {
        fprintf(stderr, "\r\033[K%.0f %s  %.1f/s  %s", done, p->unit, rate,
                more);
    }
    fflush(stderr);
}

void
progress_clear(struct progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = 0;
}
