#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flow/replay.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "wire/event.h"
#include "wire/feed.h"
#include "wire/keys.h"
#include "wire/news.h"
#include "wire/proxy.h"
#include "wire/record.h"
#include "wire/show.h"

static const char *run, *record, *keys_file, *allow, *kinds = "";
static const char *role = "any", *to = "train";
static int full, quiet, follow;
static long count;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &run, 0, 0, "DIR",
     "run directory: where events, plan and batch are unless named"},
    {"full", 'f', OPT_FLAG, &full, 0, 0, NULL,
     "print all numbers of the tensors instead of a digest"},
    {"quiet", 'q', OPT_FLAG, &quiet, 0, 0, NULL, "print nothing"},
    {"kinds", 'k', OPT_TEXT, &kinds, 0, 0, "LIST",
     "only these kinds, \"batch end\"; else all"},
    {"count", 'n', OPT_WHOLE, &count, 0, 1e15, "N",
     "end after N messages; 0: never"},
    {"follow", 0, OPT_FLAG, &follow, 0, 0, NULL,
     "events: listen on when the run is over"},
    {"record", 'w', OPT_TEXT, &record, 0, 0, "FILE",
     "write the messages to FILE too"},
    {"to", 0, OPT_WORD, &to, 0, 0, "select|train|negatives",
     "proxy, replay: whose key the real binder has"},
    WIRE_KEYS_OPT(&keys_file),
    WIRE_ALLOW_OPT(&allow),
    {"role", 0, OPT_WORD, &role, 0, 0, "select|augment|train|negatives|tap|any",
     "keys: what the holder may speak as"},
    {0},
};

static const struct opt_tool tool = {
    "foil-tap",
    "watch, record, replay what the stages say",
    "events|proxy|show|replay|keys [WHERE ...]",
    1,
    3,
    opts,
};

/* What all verbs need. */
struct tap {
    struct wire_keys keys;
    struct wire *wire;
    FILE *out; /* the recording, or NULL */
    int stop;
    long seen;
};

static void
tap_open(struct tap *tap)
{
    struct err err;

    opt_together(&keys_file, &allow);
    tap->stop = stop_fd(&err);
    if (tap->stop < 0)
        die("%s", err.msg);
    if (keys_file && wire_keys_open(&tap->keys, keys_file, allow, &err))
        die("%s", err.msg);
    tap->wire = wire_open(keys_file ? &tap->keys : NULL, &err);
    if (!tap->wire)
        die("%s", err.msg);
    if (!record)
        return;
    tap->out = fopen(record, "wb");
    if (!tap->out)
        die("cannot write '%s': %s", record, strerror(errno));
    if (wire_record_start(tap->out, &err))
        die("%s", err.msg);
}

static void
tap_close(struct tap *tap)
{
    wire_close(tap->wire);
    wire_keys_release(&tap->keys);
    if (tap->out && fclose(tap->out))
        die("cannot write '%s': %s", record, strerror(errno));
    close_stdout();
}

/* 1 when the kind is one of those that were asked for. */
static int
wanted(const struct wire_msg *msg)
{
    const char *name = wire_kind_name(wire_msg_kind(msg));
    const size_t n = strlen(name);

    for (const char *at = kinds; *at;) {
        const size_t len = strcspn(at, " ,");

        if (len == n && !memcmp(at, name, n))
            return 1;
        at += len + strspn(at + len, " ,");
    }
    return !*kinds;
}

/*
 * Print and record one message; 1 when there were enough.  A line is out when
 * its message has passed.
 */
static int
report(struct tap *tap, const struct wire_msg *msg,
       const struct wire_record *from)
{
    json_t *line;
    struct err err;
    char *text;

    if (!wanted(msg))
        return 0;
    if (tap->out && wire_record_put(tap->out, from, msg, &err))
        die("%s: %s", record, err.msg);
    if (tap->out && !full && fflush(tap->out))
        die("cannot write '%s': %s", record, strerror(errno));
    if (!quiet) {
        line = wire_show(msg, full);
        json_object_set_new(line, "time", json_integer((json_int_t)from->time));
        json_object_set_new(line, "from", json_integer(from->from));
        text = json_line(line);
        if (fputs(text, stdout) < 0 || fflush(stdout))
            die("cannot write to standard output: %s", strerror(errno));
        free(text);
        json_decref(line);
    }
    return count && ++tap->seen >= count;
}

static void
complain(const char *why)
{
    static struct wire_tally tally;
    struct err err;

    err_set(&err, "%.400s", why);
    if (wire_tally_add(&tally, &err))
        say("%s", err.msg);
}

/* Whether the trainer says with it that its run is over. */
static int
is_stop(const struct wire_msg *msg)
{
    struct wire_event event;
    struct err ignored;

    return wire_msg_kind(msg) == WIRE_EVENT &&
           !wire_event_get(&event, msg, &ignored) &&
           !strcmp(event.what, "stop");
}

static void
do_events(struct tap *tap, const char *endpoint)
{
    const struct wire_limits limits = {.credit = 1000,
                                       .part_bytes = WIRE_MOST_PART};
    // events are listened to in any case, if only for the last one
    char *heard = *kinds ? mem_format("%s event", kinds) : mem_text("");
    struct wire_listener *listener;
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc, over = 0;

    listener = wire_listener_open(tap->wire, endpoint, heard, &limits, &err);
    if (!listener)
        die("%s", err.msg);
    free(heard);
    while (!over && (rc = wire_wait(tap->wire, tap->stop, 1, &err)) > 0) {
        while (!over &&
               (rc = wire_listener_next(listener, &msg, &missed, &err))) {
            const struct wire_record from = {clock_wall(), 0};

            if (rc < 0) {
                complain(err.msg);
                continue;
            }
            if (missed)
                say("%ju messages were lost on the way to us",
                    (uintmax_t)missed);
            over = report(tap, msg, &from) || (!follow && is_stop(msg));
            wire_msg_free(msg);
        }
    }
    wire_listener_close(listener);
}

static void
do_proxy(struct tap *tap, const char *here, const char *there)
{
    const struct wire_limits limits = {.credit = 64,
                                       .part_bytes = WIRE_MOST_PART};
    struct wire_proxy *proxy;
    struct wire_msg *msg;
    struct err err;
    int rc, over = 0;

    proxy = wire_proxy_open(tap->wire, here, there, to, &limits, &err);
    if (!proxy)
        die("%s", err.msg);
    while (!over && (rc = wire_wait(tap->wire, tap->stop, 1, &err)) > 0) {
        struct wire_record from = {0};

        while (!over && (rc = wire_proxy_next(proxy, &from.from, &msg, &err))) {
            if (rc < 0) {
                complain(err.msg);
                continue;
            }
            from.time = clock_wall();
            over = report(tap, msg, &from);
            wire_msg_free(msg);
        }
    }
    wire_proxy_close(proxy);
}

static void
do_show(struct tap *tap, const char *path)
{
    struct wire_record from;
    struct wire_msg *msg;
    struct err err;
    FILE *file = wire_record_open(path, &err);
    int rc, over = 0;

    if (!file)
        die("%s", err.msg);
    while (!over && (rc = wire_record_next(file, &from, &msg, &err))) {
        if (rc < 0)
            die("'%s': %s", path, err.msg);
        over = stop_asked() || report(tap, msg, &from);
        wire_msg_free(msg);
    }
    fclose(file);
}

static void
do_replay(struct tap *tap, const char *path, const char *endpoint)
{
    struct flow_replay *replay;
    struct err err;
    char *where;
    int rc;

    replay = flow_replay_open(path, &err);
    if (!replay)
        die("%s", err.msg);
    where = wire_endpoint(endpoint, run, flow_replay_edge(replay));
    if (!where)
        opt_misuse("replay where? -r DIR or an endpoint");
    rc = flow_replay_run(replay, tap->wire, tap->stop, where, to, &err);
    flow_replay_close(replay);
    free(where);
    if (rc)
        die("%s", err.msg);
}

/* An endpoint that must be known by now. */
static char *
need(const char *given, const char *edge)
{
    char *endpoint = wire_endpoint(given, run, edge);

    if (!endpoint)
        opt_misuse("where are the %s? -r DIR or an endpoint", edge);
    return endpoint;
}

int
main(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    const char *verb = operand[0], *a = operand[1], *b = a ? operand[2] : NULL;
    struct tap tap = {0};
    struct err err;
    char *endpoint;

    if (!strcmp(verb, "keys")) {
        if (!b)
            opt_misuse("keys wants DIR NAME");
        if (wire_keys_make(a, b, role, &err))
            die("%s", err.msg);
        return EXIT_OK;
    }
    if (!strcmp(verb, "events") && !b) {
        endpoint = need(a, "events");
        tap_open(&tap);
        do_events(&tap, endpoint);
        free(endpoint);
    } else if (!strcmp(verb, "proxy") && b) {
        tap_open(&tap);
        do_proxy(&tap, a, b);
    } else if (!strcmp(verb, "show") && a && !b) {
        tap_open(&tap);
        do_show(&tap, a);
    } else if (!strcmp(verb, "replay") && a) {
        tap_open(&tap);
        do_replay(&tap, a, b);
    } else {
        opt_misuse("wants events [ENDPOINT], proxy HERE THERE, show FILE, "
                   "replay FILE [ENDPOINT] or keys DIR NAME");
    }
    tap_close(&tap);
    return EXIT_OK;
}
