/*
 * foil-select decides which samples share a mini-batch, and hands the batches
 * to whoever asks: a plan, leases, one loop.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/set.h"
#include "select/plan.h"
#include "select/quarantine.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "util/progress.h"
#include "util/stop.h"
#include "wire/item.h"
#include "wire/lease.h"
#include "wire/reject.h"
#include "wire/server.h"

enum { LISTED = 20 }; /* rejected samples that are named on stderr */

static const char *run_dir, *endpoint, *key_file, *allow_dir, *quarantine;
static const char *strategy_name = "shuffle", *remainder_name = "keep";
static long batch = 128, epochs = 100, seed;
static double patience = 10;

static const struct opt opts[] = {
    {"run", 'r', OPT_TEXT, &run_dir, 0, 0, "DIR",
     "run directory: endpoints not given are inside"},
    {"plan", 0, OPT_TEXT, &endpoint, 0, 0, "ENDPOINT",
     "where augmenters ask [ipc://DIR/plan]"},
    {"strategy", 0, OPT_CHOICE, &strategy_name, 0, 0, "shuffle|replace",
     "how an epoch is ordered"},
    {"batch", 'b', OPT_WHOLE, &batch, 2, WIRE_BATCH_MAX - 1, "N",
     "samples in a batch"},
    {"epochs", 'e', OPT_WHOLE, &epochs, 1, 1e9, "N", "epochs of the whole run"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of the random numbers"},
    {"remainder", 0, OPT_CHOICE, &remainder_name, 0, 0, "keep|drop|wrap",
     "samples that do not fill a batch"},
    {"lease", 0, OPT_REAL, &patience, 0.1, 86400, "SECONDS",
     "after that an item goes to another augmenter"},
    {"quarantine", 0, OPT_TEXT, &quarantine, 0, 0, "FILE",
     "write samples that could not be used here"},
    {"keys", 0, OPT_TEXT, &key_file, 0, 0, "FILE", "our own certificate"},
    {"allow", 0, OPT_TEXT, &allow_dir, 0, 0, "DIR",
     "certificates of those who may connect"},
    {0},
};

static const struct opt_tool tool = {
    "foil-select", "decide which samples share a mini-batch", "DATA", 1, 1,
    opts,
};

struct selector {
    struct data_set *set;
    struct select_layout layout;
    struct select_plan *plan;
    struct wire_server *server;
    struct wire_leases *leases;
    struct wire_place next; /* what was never handed out begins here */
    struct wire_place done; /* what is before it is trained */
    struct progress progress;
    int begun, over;

    struct select_quarantine bad;
};

/* Steps of the whole run before a place. */
static double
steps_before(const struct selector *s, const struct wire_place *at)
{
    return (double)at->epoch * (double)s->layout.steps + (double)at->step;
}

/*
 * A place as the trainer names it, which may say "behind the last step" for
 * "first step of the next epoch".  One that this plan does not have comes from
 * a run with another plan, and nothing good can follow.
 */
static struct wire_place
judge(const struct selector *s, const struct wire_place *at)
{
    struct wire_place place = *at;
    int64_t steps = (int64_t)s->layout.steps;

    if (place.step == steps) {
        place.epoch++;
        place.step = 0;
    }
    if (place.step > steps || place.epoch > epochs ||
        (place.epoch == epochs && place.step))
        die("the trainer is at epoch %" PRId64 ", step %" PRId64
            "; this plan has %ld epochs of %zu steps: start it with the "
            "--batch, --epochs and --remainder of the run",
            at->epoch, at->step, epochs, s->layout.steps);
    return place;
}

/* Everything before `at` is trained. */
static void
passed(struct selector *s, const struct wire_place *at)
{
    struct wire_place place = judge(s, at);

    wire_leases_done(s->leases, &place);
    if (wire_place_cmp(&place, &s->done) > 0)
        s->done = place;
    if (wire_place_cmp(&place, &s->next) > 0)
        s->next = place;
    s->over |= s->done.epoch >= epochs;
}

/* A trainer was started: nothing that was handed out before counts. */
static void
moved(struct selector *s, const struct wire_place *at)
{
    wire_leases_clear(s->leases);
    s->next = s->done = judge(s, at);
    s->over |= s->done.epoch >= epochs;
    s->begun = 1;
    progress_start(&s->progress, "steps", steps_before(s, &s->done),
                   (double)epochs * (double)s->layout.steps);
}

static int
take_reject(struct selector *s, struct wire_msg *msg, struct err *err)
{
    struct wire_reject got;
    int rc = 0;

    if (wire_msg_kind(msg) != WIRE_REJECT)
        return err_set(err, "'%s' is nothing for a selector",
                       wire_kind_name(wire_msg_kind(msg)));
    if (wire_reject_get(&got, msg, err))
        return -1;
    for (size_t i = 0; i < got.n && !rc; i++)
        if (got.ids[i] < 0 || (uint64_t)got.ids[i] >= s->layout.size)
            rc = err_set(err, "reject: no sample %" PRId64, got.ids[i]);
    for (size_t i = 0; i < got.n && !rc; i++)
        select_quarantine_add(&s->bad, got.ids[i], got.reason);
    wire_reject_release(&got);
    return rc;
}

/* Say something between two pictures of the progress line. */
static void
tell(struct selector *s, const char *text)
{
    progress_clear(&s->progress);
    say("%s", text);
}

static void
handle(struct selector *s, struct wire_news *news)
{
    size_t orphans;

    switch (news->what) {
    case WIRE_JOINED:
        break;
    case WIRE_LEFT:
        orphans = wire_leases_drop(s->leases, news->peer);
        if (orphans && !s->over) {
            char *text = mem_format("an augmenter is gone: its %zu items go to "
                                    "the next that ask",
                                    orphans);

            tell(s, text);
            free(text);
        }
        break;
    case WIRE_CAME:
        if (take_reject(s, news->msg, &news->why) &&
            wire_server_bad(s->server, news->peer, &news->why))
            tell(s, news->why.msg);
        break;
    case WIRE_MOVED:
        moved(s, &news->at);
        break;
    case WIRE_PASSED:
        passed(s, &news->at);
        break;
    case WIRE_ENDED:
        s->over = 1;
        break;
    case WIRE_BAD:
        tell(s, news->why.msg);
        break;
    }
}

static int
send_item(struct selector *s, uint64_t peer, const struct wire_place *at)
{
    struct wire_item item = {
        .at = *at,
        .size = (int64_t)s->layout.size,
        .steps = (int64_t)s->layout.steps,
        .epochs = epochs,
    };
    struct wire_msg *msg;
    int sent;

    item.ids = select_plan_batch(s->plan, (uint64_t)at->epoch,
                                 (uint64_t)at->step, &item.n);
    msg = wire_item_put(&item);
    sent = wire_server_send(s->server, peer, msg);
    wire_msg_free(msg);
    return sent;
}

/* Hand out what is asked for: first what others failed to do, then new. */
static void
give(struct selector *s)
{
    uint64_t peer;

    while (!s->over && (peer = wire_server_asker(s->server))) {
        double now = clock_now();
        struct wire_place at;
        int again = wire_leases_next(s->leases, now, &at);

        if (!again) {
            if (s->next.epoch >= epochs)
                break;
            at = s->next;
        }
        at.session = s->done.session;
        if (!send_item(s, peer, &at))
            break;
        wire_leases_give(s->leases, &at, peer, now);
        if (!again && ++s->next.step == (int64_t)s->layout.steps) {
            s->next.epoch++;
            s->next.step = 0;
        }
    }
    if (s->begun && s->next.epoch >= epochs)
        wire_server_end(s->server, &s->next);
}

static void
show(struct selector *s)
{
    size_t peers = wire_server_peers(s->server);
    char more[64];

    if (!s->begun)
        return;
    snprintf(more, sizeof more, "%zu planned ahead, %zu augmenter%s",
             wire_leases_size(s->leases), peers, peers == 1 ? "" : "s");
    progress_show(&s->progress, steps_before(s, &s->done), more);
}

/* Until all is trained, the run is over, or someone says stop. */
static int
serve(struct selector *s, struct wire *wire, int stop, struct err *err)
{
    struct wire_news news;
    int rc = 1;

    while (!s->over && rc > 0) {
        double due = wire_leases_due(s->leases, clock_now());

        // what is due may have nobody who asks for it: no busy waiting
        rc = wire_wait(wire, stop, fmin(fmax(due, 0.05), 1), err);
        while (rc > 0 && wire_server_next(s->server, &news, err) > 0)
            handle(s, &news);
        give(s);
        show(s);
    }
    progress_clear(&s->progress);
    return rc;
}

/* The quarantine list: a line `id name reason` for each, by tabs. */
static char *
listing(const struct selector *s)
{
    size_t len = 0, room = 0;
    char *text = NULL;

    mem_grow(&text, &room, 1, 1);
    text[0] = '\0';
    for (size_t i = 0; i < s->bad.n; i++) {
        const struct select_rejected *r = &s->bad.item[i];
        char *line = mem_format("%" PRId64 "\t%s\t%s\n", r->id,
                                data_name(s->set, (size_t)r->id), r->reason);
        size_t n = strlen(line) + 1;

        mem_grow(&text, &room, len + n, 1);
        memcpy(text + len, line, n);
        len += n - 1;
        free(line);
    }
    return text;
}

/* Name the first of them on stderr, all of them in --quarantine FILE. */
static void
report(const struct selector *s)
{
    struct err err;
    char *list;

    if (s->bad.n)
        say("%zu sample%s could not be used:", s->bad.n,
            s->bad.n == 1 ? "" : "s");
    for (size_t i = 0; i < s->bad.n && i < LISTED; i++)
        say("%" PRId64 " '%s': %s", s->bad.item[i].id,
            data_name(s->set, (size_t)s->bad.item[i].id),
            s->bad.item[i].reason);
    if (s->bad.n > LISTED)
        say("... and %zu more", s->bad.n - LISTED);
    if (!quarantine)
        return;
    list = listing(s);
    if (file_write(quarantine, list, strlen(list), &err))
        die("%s", err.msg);
    free(list);
}

static void
open_plan(struct selector *s, const char *path)
{
    static const char *const words[] = {"keep", "drop", "wrap"};
    const struct select_strategy *strategy;
    struct err err;
    int r = SELECT_KEEP;

    while (strcmp(words[r], remainder_name))
        r++;
    s->set = data_open(path, &err);
    if (!s->set)
        die("%s", err.msg);
    strategy = select_strategy_find(strategy_name, &err);
    if (!strategy ||
        select_layout_make(data_size(s->set), (size_t)batch,
                           (enum select_remainder)r, &s->layout, &err))
        die("%s", err.msg);
    s->plan = select_plan_new(strategy, &s->layout, (uint64_t)seed);
    s->leases = wire_leases_new(patience);
}

static void
open_server(struct selector *s, struct wire *wire)
{
    struct wire_server_config config = {
        .kind = WIRE_PRODUCES,
        .hello = {.stage = "select", .version = WIRE_VERSION},
    };
    struct digest digest = data_digest(s->set);
    char *at = wire_endpoint(endpoint, run_dir, "plan");
    struct err err;

    if (!at)
        opt_misuse("wants -r DIR or --plan ENDPOINT");
    if (run_dir && file_mkdir(run_dir, 0700, &err))
        die("%s", err.msg);
    digest_hex(&digest, config.hello.digest);
    config.hello.size = (int64_t)s->layout.size;
    config.endpoint = at;
    s->server = wire_server_open(wire, &config, &err);
    if (!s->server)
        die("%s", err.msg);
    free(at);
}

static void
release(struct selector *s)
{
    select_quarantine_release(&s->bad);
    wire_server_close(s->server);
    wire_leases_free(s->leases);
    select_plan_free(s->plan);
    data_close(s->set);
}

int
main(int argc, char **argv)
{
    char **operand = opt_parse(&tool, argc, argv);
    struct selector s = {0};
    struct wire_keys keys = {0};
    struct wire *wire;
    struct err err;
    int stop, rc;

    if (!key_file != !allow_dir)
        opt_misuse("--keys and --allow go together");
    priority_low();
    stop = stop_fd(&err);
    if (stop < 0 ||
        (key_file && wire_keys_open(&keys, key_file, allow_dir, &err)))
        die("%s", err.msg);
    wire = wire_open(key_file ? &keys : NULL, &err);
    if (!wire)
        die("%s", err.msg);
    open_plan(&s, operand[0]);
    open_server(&s, wire);

    rc = serve(&s, wire, stop, &err);
    if (rc < 0)
        die("%s", err.msg);
    report(&s);
    release(&s);
    wire_close(wire);
    wire_keys_release(&keys);
    return EXIT_OK;
}
