/* foil-top: watch a run: its stages, their speed, which waits for which, and
 * its metrics as curves. */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "foil-top/top.h"
#include "run/settings.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/opt.h"
#include "util/terminal.h"

static struct stage_options options;
static const char *events;
static int once;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &options.run, 0, 0, "DIR",
     "run directory, with its events and the steps so far"},
    {"events", 0, OPT_TEXT, &events, 0, 0, "ENDPOINT",
     "where the trainer publishes [ipc://DIR/events]"},
    {"once", 0, OPT_FLAG, &once, 0, 0, NULL,
     "print the present state and end; default without a terminal"},
    STAGE_KEYS_OPTS(options),
    {0},
};

static const struct opt_tool tool = {
    "foil-top", "watch a run: stages, rates, queues, curves", "[RUN]", 0, 1,
    opts,
};

enum { PLAIN = 80 }; // columns without a terminal

static const double poll_s = 0.1; // for keys and messages
static const double redraw_every_s = 0.5;
static const double print_s = 2.5; // to wait for a trainer's status, which is
                                   // published each second

/* Whether the terminal's characters are UTF-8. */
static int
has_blocks(void)
{
    return setlocale(LC_CTYPE, "") && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

/* Finds the trainer that holds the run's lock, even if it is silent. */
static void
find_trainer(struct top *top)
{
    if (options.run)
        top->trainer = lock_holder(options.run);
}

/* Prints the state once the trainer has published it, or after print_s. */
static void
print_once(struct stage *stage, struct top *top)
{
    const int width = terminal_size(STDOUT_FILENO, NULL);
    const double until = clock_now() + print_s;
    char *text;

    while (clock_now() < until && !top->live.over &&
           !top_stage(top, "train", clock_now())) {
        if (!stage_wait(stage, poll_s))
            return;
        top_read(top);
    }
    find_trainer(top);
    if (top->live.received_at <= 0 && !top->total && !top->trainer)
        die("no trainer sends messages, and there are no earlier steps: 'foil "
            "runs' lists runs that have some");
    // messages published at the same time arrive a moment later
    stage_wait(stage, poll_s);
    top_read(top);
    text = top_page(top, clock_now(), width ? (size_t)width : PLAIN, 0,
                    has_blocks());
    fputs(text, stdout);
    free(text);
}

/* Until q is typed, or SIGINT or SIGTERM arrives. */
static void
watch_run(struct stage *stage, struct top *top)
{
    const int blocks = has_blocks();
    int columns = 0, rows, key = 0, going = 1;
    double drawn_at = 0;

    top_screen_open();
    while (going && key != 'q' && key != 'Q') {
        const double now = clock_now();
        const int width = terminal_size(STDOUT_FILENO, &rows);

        if (now - drawn_at >= redraw_every_s || width != columns) {
            char *text;

            find_trainer(top);
            text = top_page(top, now, (size_t)width, (size_t)rows, blocks);
            top_screen_show(text);
            free(text);
            drawn_at = now;
            columns = width;
        }
        going = stage_wait(stage, poll_s);
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
    struct err err;

    opt_parse(&tool, argc, argv);
    if (!options.run && !events)
        opt_misuse("RUN is missing: the run directory, or --events ENDPOINT");
    opt_together(&options.keys, &options.allow);
    or_die(options.run && run_check(options.run, &err), &err);
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
