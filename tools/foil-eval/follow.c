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

static const char *run, *events, *keys, *allow, *command, *k_list = "1,10";
static int best = -1, once;
static double limit = 3600;
static long threads = 1; // the other processors are the trainer's

const struct opt follow_opts[] = {
    {"run", 'r', OPT_TEXT, &run, 0, 0, "RUN",
     "run directory, whose checkpoints are judged; must be given"},
    {"events", 0, OPT_TEXT, &events, 0, 0, "ENDPOINT",
     "where the trainer publishes events; else in RUN"},
    {"neighbours", 'k', OPT_TEXT, &k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"best", 0, OPT_CHOICE, &best, 0, 0, JUDGE_MEASURES,
     "by what RUN/best is the best; else the first that there is"},
    {"judge-command", 0, OPT_TEXT, &command, 0, 0, "COMMAND",
     "a program of yours that judges, too"},
    {"command-limit", 0, OPT_REAL, &limit, 0.1, 1e6, "SECONDS",
     "time it has for a checkpoint"},
    {"once", 0, OPT_FLAG, &once, 0, 0, NULL,
     "judge the checkpoints that there are, and end"},
    THREADS_OPT(&threads),
    WIRE_KEYS_OPT(&keys),
    WIRE_ALLOW_OPT(&allow),
    {0},
};

/* What a run says over the wire. */
struct hearing {
    struct wire_keys keys;
    struct wire *wire;
    struct wire_listener *listener;
    int over; /* the trainer has stopped */
};

static void
hearing_open(struct hearing *hearing)
{
    const struct wire_limits limits = {.queue = 1000};
    char *endpoint = wire_endpoint(events, run, "events");
    struct err err;

    opt_together(&keys, &allow);
    *hearing = (struct hearing){.over = 0};
    if (keys && wire_keys_open(&hearing->keys, keys, allow, &err))
        die("%s", err.msg);
    hearing->wire = wire_open(keys ? &hearing->keys : NULL, &err);
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
measure_all(struct judge *judge, struct hearing *hearing)
{
    long step;

    while (!stop_asked() && (step = judge_next(judge)) >= 0) {
        judge_step(judge, step);
        hear_run(hearing); // so that little is lost
    }
    return !stop_asked();
}

void
run_follow(char **path)
{
    struct hearing hearing;
    struct judge judge = {.run = run,
                          .train = path[0] && path[1] ? path[0] : NULL,
                          .test = path[0] && path[1] ? path[1] : path[0],
                          .line = command,
                          .limit = limit,
                          .k_list = k_list,
                          .by = best,
                          .threads = threads};
    struct err err;

    if (!run)
        opt_misuse("-r is missing: which run?");
    if (!path[0] && !command)
        opt_misuse("wants TEST or --judge-command");
    if (!command && opt_given(&limit))
        opt_misuse("--command-limit belongs to --judge-command");
    if (!file_exists(run))
        die("there is no run '%s'", run);
    judge.stop = stop_fd(&err);
    if (judge.stop < 0)
        die("%s", err.msg);
    judge_open(&judge);
    hearing_open(&hearing);
    while (measure_all(&judge, &hearing) && !once && !hearing.over &&
           !judge_over(&judge))
        if (!wait_for_news(&hearing, judge.stop))
            break;
    // the trainer's last word may have come before its last checkpoint was seen
    measure_all(&judge, &hearing);
    say_stopped();
    hearing_close(&hearing);
    judge_close(&judge);
}
