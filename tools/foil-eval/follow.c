#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "judge.h"
#include "run/live.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

/* Events may be lost while we judge: the folder is looked into this often. */
static const double look_every = 10;

static struct run_where where;
static const char *command, *k_list = "1,10";
static int over; // the trainer has stopped
static int best = -1, once;
static double limit = 3600;
static long threads = 1; // the other processors are the trainer's

const struct opt follow_opts[] = {
    {"run", 'r', OPT_TEXT, &where.run, 0, 0, "RUN",
     "run directory, whose checkpoints are judged; must be given"},
    {"events", 0, OPT_TEXT, &where.events, 0, 0, "ENDPOINT",
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
    WIRE_KEYS_OPT(&where.keys),
    WIRE_ALLOW_OPT(&where.allow),
    {0},
};

/* Takes what there is; returns 1 when something is to be looked at. */
static int
take_news(struct run_live *live)
{
    int news = 0;

    while (run_live_next(live)) {
        over |= live->over;
        news |= over || live->missed || !strcmp(live->event.what, "checkpoint");
    }
    return news;
}

/* Waits for news, or until it is time to look: 0 when asked to stop. */
static int
wait_for_news(struct run_live *live, int stop)
{
    struct err err;
    int rc = 1;

    for (int i = 0; i < (int)look_every && rc > 0; i++) {
        rc = wire_wait(live->wire, stop, 1, &err);
        if (rc < 0)
            die("%s", err.msg);
        if (rc > 0 && take_news(live))
            break;
    }
    return rc;
}

/* Judges all that there is: 0 when asked to stop. */
static int
measure_all(struct judge *judge, struct run_live *live)
{
    long step;

    while (!stop_asked() && (step = judge_next(judge)) >= 0) {
        judge_step(judge, step);
        take_news(live); // so that little is lost
    }
    return !stop_asked();
}

void
run_follow(char **path)
{
    static const char *const kinds[RUN_LISTENERS] = {"event"};
    struct run_live live;
    struct judge judge = {.run = where.run,
                          .train = path[0] && path[1] ? path[0] : NULL,
                          .test = path[0] && path[1] ? path[1] : path[0],
                          .line = command,
                          .limit = limit,
                          .k_list = k_list,
                          .by = best,
                          .threads = threads};
    struct err err;

    if (!where.run)
        opt_misuse("-r is missing: which run?");
    if (!path[0] && !command)
        opt_misuse("wants TEST or --judge-command");
    if (!command && opt_given(&limit))
        opt_misuse("--command-limit belongs to --judge-command");
    if (!file_exists(where.run))
        die("there is no run '%s'", where.run);
    judge.stop = stop_fd(&err);
    if (judge.stop < 0)
        die("%s", err.msg);
    judge_open(&judge);
    opt_together(&where.keys, &where.allow);
    if (run_live_open(&live, &where, kinds, 1000, &err))
        die("%s", err.msg);
    while (measure_all(&judge, &live) && !once && !over && !judge_over(&judge))
        if (!wait_for_news(&live, judge.stop))
            break;
    // the trainer's last word may have come before its last checkpoint was seen
    measure_all(&judge, &live);
    say_stopped();
    run_live_close(&live);
    judge_close(&judge);
}
