#define _XOPEN_SOURCE 700 // posix_openpt
#include <fcntl.h>
#include <sys/ioctl.h>
#include <time.h>

#include "child.h"
#include "t.h"
#include "util/progress.h"

static void
draw(const void *arg)
{
    const struct timespec pause = {0, 250000000}; // beyond the rate of drawing
    struct progress p;

    (void)arg;
    progress_start(&p, "steps", 0, 200);
    progress_show(&p, 50, "loss 4.51");
    progress_show(&p, 51, "too soon");
    progress_show(&p, 200, "the last is shown");
    progress_clear(&p);
    progress_clear(&p);
    progress_start(&p, "images", 10, 0);
    progress_show(&p, 20, "no total");
    progress_clear(&p);
    progress_start(&p, "items", 0, 100);
    progress_show(&p, 1, "");
    nanosleep(&pause, NULL);
    progress_show(&p, 2, "later");
}

/* Draws a second line as foil-train, an hour after the start. */
static void
draw_training(const void *arg)
{
    struct progress p;

    (void)arg;
    progress_start(&p, "steps", 0, 39000);
    p.start -= 3600;
    p.drawn_at = p.start;
    progress_show(&p, 9000, "epoch 24/100  loss 4.1082");
}

/* Writes to a log, `seconds` after the start. */
static void
log_after(const void *seconds)
{
    struct progress p;

    progress_start(&p, "steps", 0, 39000);
    p.start -= *(const double *)seconds;
    p.logged = p.start;
    progress_show(&p, 9000, "epoch 24/100  loss 4.1082");
    progress_show(&p, 9001, "not so soon again");
    progress_clear(&p);
}

/* Draws with a pseudo-terminal as stderr; the output goes to text. */
static int
on_a_terminal(int columns, void (*draw_it)(const void *), char *text,
              size_t room)
{
    const struct winsize size = {.ws_row = 20,
                                 .ws_col = (unsigned short)columns};
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave, saved, n = 0;
    ssize_t got;

    if (master < 0 || grantpt(master) || unlockpt(master))
        return -1;
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0)
        return -1;
    ioctl(slave, TIOCSWINSZ, &size);
    saved = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    draw_it(NULL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    fcntl(master, F_SETFL, O_NONBLOCK);
    while ((got = read(master, text + n, room - 1 - (size_t)n)) > 0)
        n += (int)got;
    text[n] = 0;
    close(slave);
    close(master);
    return 0;
}

static void
every_width_gets_whole_fields(void)
{
    static const struct {
        int columns;
        const char *line;
    } lines[] = {
        {200, "9000/39000 steps  epoch 24/100  loss 4.1082  3h20m left  2.5/s  "
              "23%"},
        {60, "9000/39000 steps  epoch 24/100  loss 4.1082  3h20m left"},
        {55, "9000/39000 steps  epoch 24/100  loss 4.1082"},
        {20, "9000/39000 steps"},
        {8, "9000/39"},
        {1, ""},
    };
    char text[4096];

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        on_a_terminal(lines[i].columns, draw_training, text, sizeof text);
        T(!strncmp(text, "\r\033[K", 4) && !strcmp(text + 4, lines[i].line),
          "%d columns fit '%s'", lines[i].columns, text + 4);
    }
}

static void
a_log_gets_a_line_a_minute(void)
{
    const double seconds[] = {59, 3600};
    struct child c = child_run(log_after, &seconds[0]);

    T(c.code == 0 && !*c.out && !*c.err, "a log has no line for a minute");
    c = child_run(log_after, &seconds[1]);
    T(!strcmp(c.err, "foil: 9000/39000 steps, epoch 24/100, loss 4.1082, "
                     "3h20m left, 2.5/s, 23%\n"),
      "after an hour a log has one sentence: %s", c.err);
}

int
main(void)
{
    char text[4096];

    a_log_gets_a_line_a_minute();
    if (on_a_terminal(200, draw, text, sizeof text)) {
        T_SKIP("on a terminal", "no pseudo-terminals here");
        return t_done();
    }
    T(strstr(text, "50/200 steps  loss 4.51  25%"),
      "count, fields of the tool, and percentage");
    T(!strstr(text, "too soon"), "at most five times a second");
    T(strstr(text, "200/200 steps  the last is shown"),
      "the last count is always drawn");
    T(strstr(text, "100%\r\033[K\r\033[K20 images"), "cleared once");
    T(strstr(text, "20 images  no total\r"), "without a total no percentage");
    T(strstr(text, "\r\033[K1/100 items  1%\r\033[K2/100 items  later  "),
      "no rate for a single count");
    T(strstr(text, "s left  ") && strstr(text, "/s  2%"),
      "rate and time left from the second on");
    every_width_gets_whole_fields();
    return t_done();
}
