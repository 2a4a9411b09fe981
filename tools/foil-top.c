/*
 * foil-top: a run as it goes: its stages, how fast they are, who waits for
 * whom, and its numbers as curves.
 */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foil-top/top.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "util/terminal.h"

static struct run_where where;
static int once;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &where.run, 0, 0, "DIR",
     "run directory: its events, and the steps so far"},
    {"events", 0, OPT_TEXT, &where.events, 0, 0, "ENDPOINT",
     "where the trainer publishes [ipc://DIR/events]"},
    {"once", 0, OPT_FLAG, &once, 0, 0, NULL,
     "print how it is now, and end; so without a terminal"},
    WIRE_KEYS_OPT(&where.keys),
    WIRE_ALLOW_OPT(&where.allow),
    {0},
};

static const struct opt_tool tool = {
    "foil-top", "watch a run: stages, rates, queues, curves", "[RUN]", 0, 1,
    opts,
};

enum { PLAIN = 80 }; // columns where there is no terminal

static const double glance = 0.1, /* seconds between two looks at keys, */
    redraw = 0.5,                 /* and two pictures */
    patience = 2.5;               /* for a trainer that is to tell how it is:
                                   * it does each second */

/* Whether the terminal's characters are UTF-8. */
static int
has_blocks(void)
{
    return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* The trainer that has the run, heard or not. */
static void
look_for_trainer(struct top *top)
{
    if (where.run)
        top->trainer = lock_holder(where.run);
}

/* Prints how it is as soon as all stages have been told of, or nobody does. */
static void
print_once(struct top *top, int stop)
{
    const int width = terminal_size(STDOUT_FILENO, NULL);
    const double until = clock_now() + patience;
    struct err err;
    char *text;
    int rc = 1;

    while (rc > 0 && clock_now() < until && !top->live.over &&
           !top_stage(top, "train", clock_now())) {
        rc = wire_wait(top->live.wire, stop, glance, &err);
        if (rc < 0)
            die("%s", err.msg);
        top_take(top);
    }
    if (!rc)
        return;
    look_for_trainer(top);
    if (top->live.heard <= 0 && !top->total && !top->trainer)
        die("no trainer is heard, and there are no steps of before");
    // what is told at the same time is there a moment later
    if (wire_wait(top->live.wire, stop, glance, &err) > 0)
        top_take(top);
    text = top_page(top, clock_now(), width ? (size_t)width : PLAIN, 0,
                    has_blocks());
    fputs(text, stdout);
    free(text);
}

static void
draw_screen(struct top *top, int blocks)
{
    int rows;
    const int columns = terminal_size(STDOUT_FILENO, &rows);
    char *text;

    look_for_trainer(top);
    text = top_page(top, clock_now(), (size_t)columns, (size_t)rows, blocks);
    top_screen_show(text);
    free(text);
}

/* Until q is typed, or we are asked to stop. */
static void
watch_run(struct top *top, int stop)
{
    const int blocks = has_blocks();
    int columns = 0, key = 0, rc = 1;
    double drawn = 0;
    struct err err;

    top_screen_open();
    while (rc > 0 && key != 'q' && key != 'Q') {
        const double now = clock_now();
        const int width = terminal_size(STDOUT_FILENO, NULL);

        if (now - drawn >= redraw || width != columns) {
            draw_screen(top, blocks);
            drawn = now;
            columns = width;
        }
        rc = wire_wait(top->live.wire, stop, glance, &err);
        if (rc < 0)
            die("%s", err.msg);
        top_take(top);
        key = top_screen_key();
    }
    top_screen_close();
}

int
main(int argc, char **argv)
{
    struct top top = {.epoch = -1};
    struct err err;
    int stop;

    opt_parse(&tool, argc, argv);
    if (!where.run && !where.events)
        opt_misuse("which run? want RUN, its directory, or --events ENDPOINT");
    opt_together(&where.keys, &where.allow);
    if (where.run && !file_exists(where.run))
        die("there is no run '%s'", where.run);
    stop = stop_fd(&err);
    if (stop < 0)
        die("%s", err.msg);
    top.name = where.run ? where.run : where.events;
    top_open(&top, &where);
    if (once || !terminal_size(STDOUT_FILENO, NULL))
        print_once(&top, stop);
    else
        watch_run(&top, stop);
    top_close(&top);
    close_stdout();
    return EXIT_OK;
}
