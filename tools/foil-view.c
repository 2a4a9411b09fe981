/*
 * foil-view: a page of a run, as it goes or when it is over: which images are
 * contrasted with which, its dataflow and its curves.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
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
#include "wire/keys.h"

NUM_ROOM_FIRST

static struct watch_where where;
static struct opt_list beside;
static const char *address = "127.0.0.1", *token, *file;
static long port = 8765, points = FILM_POINTS;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &where.live.run, 0, 0, "RUN",
     "run directory; must be given"},
    {"beside", 0, OPT_LIST, &beside, 0, 0, "RUN",
     "show the curves of this run, too; up to 7 of them"},
    {"data", 0, OPT_TEXT, &where.data, 0, 0, "DATA",
     "the data set, where it is not at its place any more"},
    {"port", 0, OPT_WHOLE, &port, 0, 65535, "N",
     "port of the page; 0: any that is free"},
    {"address", 0, OPT_TEXT, &address, 0, 0, "ADDRESS",
     "where to listen; 0.0.0.0: for other machines, too"},
    {"token", 0, OPT_TEXT, &token, 0, 0, "WORD",
     "path of the page [random]; '': none, any user may read it"},
    {"points", 0, OPT_WHOLE, &points, FILM_POINTS_LEAST, FILM_POINTS_MOST, "N",
     "images on the map"},
    {"export", 0, OPT_TEXT, &file, 0, 0, "FILE",
     "write the page as one file, and end"},
    {"events", 0, OPT_TEXT, &where.live.events, 0, 0, "ENDPOINT",
     "where the trainer publishes [ipc://RUN/events]"},
    WIRE_KEYS_OPT(&where.live.keys),
    WIRE_ALLOW_OPT(&where.live.allow),
    {0},
};

static const struct opt_tool tool = {
    "foil-view", "show a run as a page in a browser", "[RUN]", 0, 1, opts,
};

enum { TOKEN = 16 }; // bytes

static const char token_characters[] = "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-_";

static const double beat = 5, glance = 1, patience = 10; // seconds

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

/* One descriptor that is readable when one of two is. */
static int
join_descriptors(int one, int other)
{
    const int all = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};

    if (all < 0 || epoll_ctl(all, EPOLL_CTL_ADD, one, &event) ||
        epoll_ctl(all, EPOLL_CTL_ADD, other, &event))
        die("cannot wait: %s", strerror(errno));
    return all;
}

static void
answer_pages(struct serve *serve, struct watch *watch, struct hub *hub,
             int stop)
{
    const int due = join_descriptors(stop, serve_fd(serve));
    double beaten = clock_now();
    struct err err;

    while (!stop_asked()) {
        if (wire_wait(watch->live.wire, due, fmin(glance, serve_due(serve)),
                      &err) < 0)
            die("%s", err.msg);
        watch_hear(watch);
        if (clock_now() - beaten > beat) {
            beaten = clock_now();
            hub_beat(hub);
        }
        serve_run(serve);
    }
    close(due);
}

/* Writes the page of a run that is over at once; of one that goes when it has
 * been heard, or is not. */
static void
write_page(struct watch *watch, int stop)
{
    const double until = clock_now() + patience;
    struct err err;
    char *text;
    size_t size;

    while (watch_waits(watch) && clock_now() < until && !stop_asked()) {
        if (wire_wait(watch->live.wire, stop, glance, &err) < 0)
            die("%s", err.msg);
        watch_hear(watch);
    }
    text = export_page(watch, &size);
    if (file_write(file, text, size, &err))
        die("%s", err.msg);
    free(text);
}

/* Until we are asked to stop. */
static void
serve_page(struct watch *watch, struct hub *hub, int stop)
{
    struct serve *serve;
    struct err err;

    if (!token)
        token = make_token();
    serve = serve_open(&(struct serve_how){address, (uint16_t)port, token},
                       watch, hub, &err);
    if (!serve)
        die("%s", err.msg);
    printf("http://%s:%d/%s%s\n", address, serve_port(serve), token,
           *token ? "/" : "");
    fflush(stdout);
    answer_pages(serve, watch, hub, stop);
    serve_close(serve);
}

static void
check_runs(void)
{
    if (!file_exists(where.live.run))
        die("there is no run '%s'", where.live.run);
    if (beside.n > BESIDE_MOST)
        opt_misuse("--beside takes %d runs at most", BESIDE_MOST);
    for (size_t i = 0; i < beside.n; i++)
        if (!file_exists(beside.item[i]))
            die("there is no run '%s'", beside.item[i]);
    where.beside = beside.item;
    where.n_beside = beside.n;
    where.points = (size_t)points;
}

int
main(int argc, char **argv)
{
    struct hub *hub;
    struct watch watch;
    struct err err;
    int stop;

    opt_parse(&tool, argc, argv);
    if (!where.live.run)
        opt_misuse("which run? want RUN, its directory");
    if (file && token)
        opt_misuse("--token belongs to a page that is served: leave it out, or "
                   "--export");
    if (token && token[strspn(token, token_characters)])
        opt_misuse("--token '%s': want letters, digits, - and _", token);
    opt_together(&where.live.keys, &where.live.allow);
    check_runs();
    stop = stop_fd(&err);
    if (stop < 0)
        die("%s", err.msg);
    priority_lower(PRIORITY_BESIDE);
    num_threads(1); // and a child may compute, too
    hub = hub_open();
    watch_open(&watch, &where, hub);
    if (file)
        write_page(&watch, stop);
    else
        serve_page(&watch, hub, stop);
    watch_close(&watch);
    hub_close(hub);
    close_stdout();
    return EXIT_OK;
}
