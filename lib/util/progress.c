#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/opt.h"
#include "util/progress.h"
#include "util/terminal.h"

enum { LINE = 256 }; // bytes of a line, with its end

static const double every = 0.2; // seconds between two drawings
static const double minute = 60; // and between two lines of a log

void
progress_start(struct progress *p, const char *unit, double first, double total)
{
    const double now = clock_now();

    *p = (struct progress){
        .unit = unit,
        .total = total,
        .start = now,
        .first = first,
        .logged = now,
        .terminal = isatty(STDERR_FILENO),
    };
}

/* Appends fields, which two blanks separate, to a line, with `between` between
 * them.  Returns the line, or NULL if one did not fit in so many columns. */
static char *
add_fields(char *line, size_t columns, const char *between, const char *fields)
{
    while (line && *fields) {
        const char *end = strstr(fields, "  ");
        const size_t n = end ? (size_t)(end - fields) : strlen(fields);
        const char *lead = *line ? between : "";
        const size_t len = strlen(line);

        if (len + strlen(lead) + n > columns)
            return NULL;
        snprintf(line + len, LINE - len, "%s%.*s", lead, (int)n, fields);
        fields += n;
        fields += strspn(fields, " ");
    }
    return line;
}

/* Writes a line of at most `columns` columns. */
static void
compose_line(const struct progress *p, double done, const char *more,
             double elapsed, size_t columns, const char *between,
             char line[LINE])
{
    const double rate =
        p->drawn_at && elapsed > 0 ? (done - p->first) / elapsed : 0;
    char count[64], left[24], speed[32] = "", percent[16] = "";

    if (p->total > 0)
        snprintf(count, sizeof count, "%.0f/%.0f %s", done, p->total, p->unit);
    else
        snprintf(count, sizeof count, "%.0f %s", done, p->unit);
    *left = 0;
    if (rate > 0 && p->total > 0) {
        clock_span((p->total - done) / rate, left);
        snprintf(left + strlen(left), sizeof left - strlen(left), " left");
    }
    if (rate > 0)
        snprintf(speed, sizeof speed, "%.1f/s", rate);
    if (p->total > 0)
        snprintf(percent, sizeof percent, "%.0f%%", 100 * done / p->total);
    *line = 0;
    if (!add_fields(line, columns, between, count)) {
        snprintf(line, LINE, "%.*s", (int)columns, count);
        return;
    }
    line = add_fields(line, columns, between, more);
    line = add_fields(line, columns, between, left);
    line = add_fields(line, columns, between, speed);
    add_fields(line, columns, between, percent);
}

static void
draw_line(struct progress *p, double now, double done, const char *more)
{
    char line[LINE];
    const int width = terminal_size(STDERR_FILENO, NULL);
    const size_t columns = width ? (size_t)width - 1 : 0;

    if (now - p->drawn_at < every && (p->total <= 0 || done < p->total))
        return;
    // the last column stays free: a cursor behind it is in the next line
    compose_line(p, done, more, now - p->start,
                 columns < LINE - 1 ? columns : LINE - 1, "  ", line);
    p->drawn_at = now;
    p->drawn = 1;
    fprintf(stderr, "\r\033[K%s", line);
    fflush(stderr);
}

void
progress_show(struct progress *p, double done, const char *more)
{
    const double now = clock_now();
    char line[LINE];

    if (p->terminal) {
        draw_line(p, now, done, more);
    } else if (p->unit && now - p->logged >= minute) {
        p->drawn_at = p->logged = now;
        compose_line(p, done, more, now - p->start, LINE - 1, ", ", line);
        log_message("%s", line);
    }
}

void
progress_clear(struct progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = 0;
}
