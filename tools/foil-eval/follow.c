#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "judge.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "wire/feed.h"
#include "wire/keys.h"

/* Events may be lost while we judge: the folder is looked into this often. */
static const double look_every = 10;

/* What a run says over the wire. */
struct hearing {
    struct wire_keys keys;
    struct wire *wire;
    struct wire_listener *listener;
    int over; /* the trainer has stopped */
};

static void
hearing_open(struct hearing *hearing, const struct options *options)
{
    const struct wire_limits limits = {.queue = 1000};
    char *endpoint = wire_endpoint(options->events, options->run, "events");
    struct err err;

    opt_together(&options->keys, &options->allow);
    *hearing = (struct hearing){.over = 0};
    if (options->keys &&
        wire_keys_open(&hearing->keys, options->keys, options->allow, &err))
        die("%s", err.msg);
    hearing->wire = wire_open(options->keys ? &hearing->keys : NULL, &err);
    if (hearing->wire)
        hearing->listener =
            wire_listener_open(hearing->wire, endpoint, "event", &limits, &err);
    if (!hearing->listener)
        die("%s", err.msg);
    free(endpoint);
}

static void
hearing_close(struct hearing *hearing)
{
    wire_listener_close(hearing->listener);
    wire_close(hearing->wire);
    wire_keys_release(&hearing->keys);
}

/* Takes what there is; returns 1 when something is to be looked at. */
static int
hear_run(struct hearing *hearing)
{
    struct wire_event event;
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc, news = 0;

    while ((rc = wire_listener_next(hearing->listener, &msg, &missed, &err))) {
        if (rc < 0)
            continue; // the next look into the folder makes up for it
        if (!wire_event_get(&event, msg, &err)) {
            hearing->over |= !strcmp(event.what, "stop");
            news |=
                hearing->over || missed || !strcmp(event.what, "checkpoint");
        }
        wire_msg_free(msg);
    }
    return news;
}

/* Waits for news, or until it is time to look: 0 when asked to stop. */
static int
wait_for_news(struct hearing *hearing, int stop)
{
    struct err err;
    int rc = 1;

    for (int i = 0; i < (int)look_every && rc > 0; i++) {
        rc = wire_wait(hearing->wire, stop, 1, &err);
        if (rc < 0)
            die("%s", err.msg);
        if (rc > 0 && hear_run(hearing))
            break;
    }
    return rc;
}

/* Judges all that there is: 0 when asked to stop. */
static int
judge_all(struct judge *judge, struct hearing *hearing)
{
    long step;

    while (!stop_asked() && (step = judge_next(judge)) >= 0) {
        judge_step(judge, step);
        hear_run(hearing); // so that little is lost
    }
    return !stop_asked();
}

void
run_follow(const struct options *options, char **path)
{
    struct hearing hearing;
    struct judge judge = {.run = options->run,
                          .train = path[0] && path[1] ? path[0] : NULL,
                          .test = path[0] && path[1] ? path[1] : path[0],
                          .line = options->command,
                          .limit = options->limit,
                          .k_list = options->k_list,
                          .by = options->best,
                          .threads = options->threads};
    struct err err;

    if (!options->run)
        opt_misuse("-r is missing: which run?");
    if (!path[0] && !options->command)
        opt_misuse("wants TEST or --judge-command");
    if (!options->command && opt_given(&given.limit))
        opt_misuse("--command-limit belongs to --judge-command");
    if (!file_exists(options->run))
        die("there is no run '%s'", options->run);
    judge.stop = stop_fd(&err);
    if (judge.stop < 0)
        die("%s", err.msg);
    judge_open(&judge);
    hearing_open(&hearing, options);
    while (judge_all(&judge, &hearing) && !options->once && !hearing.over &&
           !judge_over(&judge))
        if (!wait_for_news(&hearing, judge.stop))
            break;
    // the trainer's last word may have come before its last checkpoint was seen
    judge_all(&judge, &hearing);
    say_stopped();
    hearing_close(&hearing);
    judge_close(&judge);
}
