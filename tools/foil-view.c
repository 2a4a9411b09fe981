/* foil-view: shows a live or finished run as a web page: the images of a batch
 * and their similarities, the dataflow and the curves. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "foil-view/watch.h"
#include "num/room.h"
#include "num/threads.h"
#include "run/settings.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/limits.h"
#include "util/opt.h"

NUM_ROOM_FIRST

static struct watch_where where = {.points = MAP_FRAMES_POINTS};
static const char *address = "127.0.0.1", *token, *file;
static long port = 8765;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &where.stage.run, 0, 0, "RUN",
     "run directory (required)"},
    {"compare", 0, OPT_LIST, &where.compare, 0, 0, "RUN",
     "also show the curves of this run; up to 7 runs"},
    {"data", 0, OPT_TEXT, &where.data, 0, 0, "DATA",
     "the data set, if it has moved"},
    {"port", 0, OPT_WHOLE, &port, 0, 65535, "N",
     "port of the page; 0: any free port"},
    {"address", 0, OPT_TEXT, &address, 0, 0, "ADDRESS",
     "address to listen at; 0.0.0.0: reachable from other machines"},
    {"token", 0, OPT_TEXT, &token, 0, 0, "WORD",
     "secret path of the page [random]; '': none, any user may read it"},
    {"points", 0, OPT_WHOLE, &where.points, MAP_FRAMES_POINTS_LEAST,
     MAP_FRAMES_POINTS_MOST, "N", "images on the map"},
    {"export", 0, OPT_TEXT, &file, 0, 0, "FILE",
     "write the page to this file and exit"},
    {"events", 0, OPT_TEXT, &where.events, 0, 0, "ENDPOINT",
     "endpoint of the trainer's events [ipc://RUN/events]"},
    STAGE_KEYS_OPTS(where.stage),
    {0},
};

static const struct opt_tool tool = {
    "foil-view", "show a run as a page in a browser", "[RUN]", 0, 1, opts,
};

static const char token_characters[] = "abcdefghijklmnopqrstuvwxyz"
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789-_";

static const double export_s = 10; // to wait for a trainer's first batch

static const char *
make_token(void)
{
    static char word[DIGEST_HEX];
    struct digest bytes;

    if (getrandom(bytes.byte, sizeof bytes.byte, 0) != sizeof bytes.byte)
        die("no random numbers: %s", strerror(errno));
    return digest_hex(bytes, word);
}

/* Writes the page when its embeddings and map are made; of a live run also
 * waits for a batch of the trainer and for the status of its stages, up to
 * export_s. */
static void
write_page(struct watch *watch)
{
    const double until = clock_now() + export_s;
    struct err err;
    char *text;
    size_t size;

    for (;;) {
        watch_poll(watch);
        if (!watch->embedding.child && !map_frames_busy(watch->maps) &&
            (!watch_is_incomplete(watch) || clock_now() >= until))
            break;
        if (!stage_wait(&watch->stage, .2))
            die("stopped: '%s' is not written", file);
    }
    text = export_page(watch, &size);
    or_die(file_write(file, text, size, &err), &err);
    free(text);
}

int
main(int argc, char **argv)
{
    struct watch watch;
    struct err err;

    opt_parse(&tool, argc, argv);
    if (!where.stage.run)
        opt_misuse("RUN is missing: the run directory");
    if (file && token)
        opt_misuse("--token belongs to a page that is served: leave it out, or "
                   "--export");
    if (token && token[strspn(token, token_characters)])
        opt_misuse("--token '%s': want letters, digits, - and _", token);
    opt_together(&where.stage.keys, &where.stage.allow);
    if (where.compare.n > COMPARE_MOST)
        opt_misuse("--compare takes %d runs at most", COMPARE_MOST);
    or_die(run_check(where.stage.run, &err), &err);
    for (size_t i = 0; i < where.compare.n; i++)
        or_die(run_check(where.compare.item[i], &err), &err);
    where.whole = file != NULL;
    priority_lower(PRIORITY_LOW);
    num_threads(1); // a child process computes maps at the same time
    watch_open(&watch, &where);
    if (file)
        write_page(&watch);
    else
        serve_page(&watch, address, (uint16_t)port,
                   token ? token : make_token());
    watch_close(&watch);
    close_stdout();
    return EXIT_OK;
}
