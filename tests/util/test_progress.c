#define _XOPEN_SOURCE 700 // posix_openpt
#include <fcntl.h>

#include "child.h"
#include "t.h"
#include "util/progress.h"

static void
draw(const void *arg)
{
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
}

/* Draw with a pseudo-terminal as stderr; what came out goes to text. */
static int
on_a_terminal(char *text, size_t room)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave, saved, n = 0;
    ssize_t got;

    if (master < 0 || grantpt(master) || unlockpt(master))
        return -1;
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    if (slave < 0)
        return -1;
    saved = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    draw(NULL);
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

int
main(void)
{
    struct child c = child_run(draw, NULL);
    char text[4096];

    T(c.code == 0 && !*c.out && !*c.err, "a log stays quiet");
    if (on_a_terminal(text, sizeof text)) {
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
    return t_done();
}
