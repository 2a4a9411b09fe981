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
#include "util/terminal.h"

static struct stage_options options;
static const char *events;
static int once;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &options.run, 0, 0, "DIR",
     "run directory: its events, and the steps so far"},
    {"events", 0, OPT_TEXT, &events, 0, 0, "ENDPOINT",
     "where the trainer publishes [ipc://DIR/events]"},
    {"once", 0, OPT_FLAG, &once, 0, 0, NULL,
     "print how it is now, and end; so without a terminal"},
    STAGE_KEYS_OPTS(options),
    {0},
};

static const struct opt_tool tool = {
    "foil-top", "watch a run: stages, rates, queues, curves", "[RUN]", 0, 1,
    opts,
};

enum { PLAIN = 80 }; // columns where there is no terminal

static const double look_every_s = 0.1,  /* at keys */
    redraw_every_s = 0.5, print_s = 2.5; /* for the state of a trainer, which it
                                          * publishes each second */

/* Whether the terminal's characters are UTF-8. */
static int
has_blocks(void)
{
    return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* The trainer that has the run, whether its messages come or not. */
static void
look_for_trainer(struct top *top)
{
    if (options.run)
        top->trainer = lock_holder(options.run);
}

/* Prints how it is as soon as the trainer has published it, or does not. */
static void
print_once(struct stage *stage, struct top *top)
{
    const int width = terminal_size(STDOUT_FILENO, NULL);
    const double until = clock_now() + print_s;
    char *text;

    while (clock_now() < until && !top->live.over &&
           !top_stage(top, "train", clock_now())) {
        if (!stage_wait(stage, look_every_s))
            return;
        top_read(top);
    }
    look_for_trainer(top);
    if (top->live.heard <= 0 && !top->total && !top->trainer)
        die("no trainer is heard, and there are no steps of before");
    // what is published at the same time is there a moment later
    stage_wait(stage, look_every_s);
    top_read(top);
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
watch_run(struct stage *stage, struct top *top)
{
    const int blocks = has_blocks();
    int columns = 0, key = 0, goes_on = 1;
    double drawn = 0;

    top_screen_open();
    while (goes_on && key != 'q' && key != 'Q') {
        const double now = clock_now();
        const int width = terminal_size(STDOUT_FILENO, NULL);

        if (now - drawn >= redraw_every_s || width != columns) {
            draw_screen(top, blocks);
            drawn = now;
            columns = width;
        }
        goes_on = stage_wait(stage, look_every_s);
        top_read(top);
        key = top_screen_key();
    }
    top_screen_close();
}

int
main(int argc, char **argv)
{
    struct top top = {.epoch = -1};
    struct stage stage;

    opt_parse(&tool, argc, argv);
    if (!options.run && !events)
        opt_misuse("which run? want RUN, its directory, or --events ENDPOINT");
    opt_together(&options.keys, &options.allow);
    if (options.run && !file_exists(options.run))
        die("there is no run '%s'", options.run);
    stage_open(&stage, &options);
    top.name = options.run ? options.run : events;
    top_open(&top, &stage, events);
    if (once || !terminal_size(STDOUT_FILENO, NULL))
        print_once(&stage, &top);
    else
        watch_run(&stage, &top);
    top_close(&top);
    stage_close(&stage);
    close_stdout();
    return EXIT_OK;
}
