#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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

/* Columns of the terminal now; it may be drawn wider or narrower. */
static int
width(void)
{
    struct winsize size;

    return !ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col
                                                                   : 80;
}

/* Adds text to a line of `room` bytes, as far as it fits. */
__attribute__((format(printf, 3, 4))) static void
add(char *line, size_t room, const char *fmt, ...)
{
    const size_t n = strlen(line);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line + n, room - n, fmt, ap);
    va_end(ap);
}

void
progress_show(struct progress *p, double done, const char *more)
{
    const int first = !p->shown;
    char line[256] = "", left[24];
    double now, rate;

    if (!p->on)
        return;
    now = clock_now();
    if (now - p->shown < every && (p->total <= 0 || done < p->total))
        return;
    p->shown = now;
    p->drawn = 1;
    add(line, sizeof line, "%.0f", done);
    if (p->total > 0)
        add(line, sizeof line, "/%.0f %s (%.0f%%)", p->total, p->unit,
            100 * done / p->total);
    else
        add(line, sizeof line, " %s", p->unit);
    rate = now > p->start ? (done - p->first) / (now - p->start) : 0;
    if (!first && rate > 0) {
        add(line, sizeof line, "  %.1f/s", rate);
        if (p->total > 0) {
            duration((p->total - done) / rate, left);
            add(line, sizeof line, "  %s left", left);
        }
    }
    add(line, sizeof line, "  %s", more);
    // the last column stays free: a cursor behind it is in the next line
    fprintf(stderr, "\r\033[K%.*s", width() - 1, line);
    fflush(stderr);
}

void
progress_clear(struct progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = 0;
}
