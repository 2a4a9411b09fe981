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

/* A line that no terminal of 60 columns has room for. */
static void
draw_long(const void *arg)
{
    struct progress p;

    (void)arg;
    progress_start(&p, "steps", 0, 100000);
    progress_show(&p, 50000, "loss -0.3200  infonce 4.1082  123456 images/s");
    progress_show(&p, 100000, "loss -0.3200  infonce 4.1082  123456 images/s");
}

/* Draw with a pseudo-terminal as stderr; what came out goes to text. */
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

/* The most characters that are between two returns of the cursor. */
static size_t
longest(const char *text)
{
    size_t most = 0;

    while (*text) {
        text += strspn(text, "\r");
        text += strncmp(text, "\033[K", 3) ? 0 : 3;
        most = strcspn(text, "\r") > most ? strcspn(text, "\r") : most;
        text += strcspn(text, "\r");
    }
    return most;
}

int
main(void)
{
    struct child c = child_run(draw, NULL);
    char text[4096];

    T(c.code == 0 && !*c.out && !*c.err, "a log stays quiet");
    if (on_a_terminal(200, draw, text, sizeof text)) {
        T_SKIP("on a terminal", "no pseudo-terminals here");
        return t_done();
    }
    T(strstr(text, "50/200 steps (25%)"), "count, unit and share");
    T(strstr(text, "loss 4.51"), "and what the tool adds");
    T(!strstr(text, "too soon"), "at most five times a second");
    T(strstr(text, "200/200 steps (100%)"), "but the end is always drawn");
    T(strstr(text, "the last is shown\r\033[K\r\033[K20 images"),
      "cleared once");
    T(strstr(text, "no total"), "without a total");
    T(strstr(text, "\r\033[K50/200 steps (25%)  loss 4.51"),
      "no rate when there is one count alone");
    T(strstr(text, "\r\033[K1/100 items (1%)  \r\033[K2/100 items (2%)  ") &&
          strstr(text, "/s  ") && strstr(text, "s left  later"),
      "rate and time left from the second on");
    on_a_terminal(60, draw_long, text, sizeof text);
    T(longest(text) == 59, "cut to less than 60 columns: %zu", longest(text));
    return t_done();
}
