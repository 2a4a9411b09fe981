/*
 * foil-view: a page of a run, as it goes or when it is over: which images are
 * contrasted with which, its dataflow and its curves.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "foil-view/export.h"
#include "foil-view/serve.h"
#include "num/room.h"
#include "num/threads.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "util/stop.h"

NUM_ROOM_FIRST

static struct watch_where where;
static struct opt_list compare;
static const char *address = "127.0.0.1", *token, *file;
static long port = 8765, points = MAP_FRAMES_POINTS;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &where.stage.run, 0, 0, "RUN",
     "run directory; must be given"},
    {"beside", 0, OPT_LIST, &compare, 0, 0, "RUN",
     "show the curves of this run, too; up to 7 of them"},
    {"data", 0, OPT_TEXT, &where.data, 0, 0, "DATA",
     "the data set, where it is not at its place any more"},
    {"port", 0, OPT_WHOLE, &port, 0, 65535, "N",
     "port of the page; 0: any that is free"},
    {"address", 0, OPT_TEXT, &address, 0, 0, "ADDRESS",
     "where to listen; 0.0.0.0: for other machines, too"},
    {"token", 0, OPT_TEXT, &token, 0, 0, "WORD",
     "path of the page [random]; '': none, any user may read it"},
    {"points", 0, OPT_WHOLE, &points, MAP_FRAMES_POINTS_LEAST,
     MAP_FRAMES_POINTS_MOST, "N", "images on the map"},
    {"export", 0, OPT_TEXT, &file, 0, 0, "FILE",
     "write the page as one file, and end"},
    {"events", 0, OPT_TEXT, &where.events, 0, 0, "ENDPOINT",
     "where the trainer publishes [ipc://RUN/events]"},
    STAGE_KEYS_OPTS(where.stage),
    {0},
};

static const struct opt_tool tool = {
    "foil-view", "show a run as a page in a browser", "[RUN]", 0, 1, opts,
};

enum { TOKEN = 16 }; // bytes

static const char token_characters[] = "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-_";

static const double beat_every_s = 5, look_every_s = 1, // at most
    export_s = 10; // for a trainer's first batch

/* A random word. */
static const char *
make_token(void)
{
    static char word[2 * TOKEN + 1];
    uint8_t byte[TOKEN];

    if (getrandom(byte, sizeof byte, 0) != sizeof byte)
        die("no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < TOKEN; i++)
        snprintf(word + 2 * i, 3, "%02x", byte[i]);
    return word;
}

/* The page, as it is served. */
struct page {
    struct serve *serve;
    struct watch *watch;
    struct hub *hub;
    double beaten; /* when the hub was sent a sign of life */
};

static double
choose_page_pause(void *self)
{
    const struct page *page = self;

    return fmin(look_every_s, serve_due(page->serve));
}

static int
answer_pages(void *self)
{
    struct page *page = self;

    watch_hear(page->watch);
    if (clock_now() - page->beaten > beat_every_s) {
        page->beaten = clock_now();
        hub_beat(page->hub);
    }
    serve_run(page->serve);
    return 1;
}

/* Writes the page of a run that is over at once; of one that goes on, when its
 * trainer has published a batch, or does not. */
static void
write_page(struct watch *watch)
{
    const double until = clock_now() + export_s;
    struct err err;
    char *text;
    size_t size;

    while (watch_waits(watch) && clock_now() < until &&
           stage_wait(&watch->stage, look_every_s))
        watch_hear(watch);
    text = export_page(watch, &size);
    if (file_write(file, text, size, &err))
        die("%s", err.msg);
    free(text);
}

/* Until we are asked to stop. */
static void
serve_page(struct watch *watch, struct hub *hub)
{
    static const struct stage_handlers handlers = {choose_page_pause,
                                                   answer_pages, NULL};
    struct page page = {.watch = watch, .hub = hub, .beaten = clock_now()};
    struct err err;

    if (!token)
        token = make_token();
    page.serve = serve_open(&(struct serve_how){address, (uint16_t)port, token},
                            watch, hub, &err);
    if (!page.serve)
        die("%s", err.msg);
    printf("http://%s:%d/%s%s\n", address, serve_port(page.serve), token,
           *token ? "/" : "");
    fflush(stdout);
    stage_watch(&watch->stage, serve_fd(page.serve));
    stage_run(&watch->stage, &handlers, &page);
    serve_close(page.serve);
}

static void
check_runs(void)
{
    if (!file_exists(where.stage.run))
        die("there is no run '%s'", where.stage.run);
    if (compare.n > COMPARE_MOST)
        opt_misuse("--beside takes %d runs at most", COMPARE_MOST);
    for (size_t i = 0; i < compare.n; i++)
        if (!file_exists(compare.item[i]))
            die("there is no run '%s'", compare.item[i]);
    where.compare = compare.item;
    where.n_compare = compare.n;
    where.points = (size_t)points;
}

int
main(int argc, char **argv)
{
    struct hub *hub;
    struct watch watch;

    opt_parse(&tool, argc, argv);
    if (!where.stage.run)
        opt_misuse("which run? want RUN, its directory");
    if (file && token)
        opt_misuse("--token belongs to a page that is served: leave it out, or "
                   "--export");
    if (token && token[strspn(token, token_characters)])
        opt_misuse("--token '%s': want letters, digits, - and _", token);
    opt_together(&where.stage.keys, &where.stage.allow);
    check_runs();
    priority_lower(PRIORITY_BESIDE);
    num_threads(1); // and a child may compute, too
    hub = hub_open();
    watch_open(&watch, &where, hub);
    if (file)
        write_page(&watch);
    else
        serve_page(&watch, hub);
    watch_close(&watch);
    hub_close(hub);
    close_stdout();
    return EXIT_OK;
}
