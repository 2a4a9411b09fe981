#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "judge.h"
#include "run/live.h"
#include "stage/stage.h"
#include "util/file.h"
#include "util/stop.h"

/* Events may be lost while we judge: the folder is looked into this often. */
enum { LOOK_EVERY_S = 10, QUEUE = 1000 /* messages */ };

static struct stage_options options;
static const char *events, *command, *k_list = "1,10";
static int best = -1, once;
static double limit = 3600;
static long threads = 1; // the other processors are the trainer's

static const struct opt follow_own[] = {
    {"run", 'r', OPT_TEXT, &options.run, 0, 0, "RUN",
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
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    STAGE_KEYS_OPTS(options),
    {0},
};
verb_opts follow_opts = {follow_own, NULL};

/* The run that is followed. */
struct followed {
    struct stage stage;
    struct run_live live;
    int over; /* the trainer has stopped */
};

/* Reads the events that there are; returns 1 when something is to be looked at.
 */
static int
read_events(struct followed *run)
{
    const struct run_live *live = &run->live;
    int news = 0;

    while (run_live_next(&run->live)) {
        run->over |= live->over;
        news |= run->over || live->missed ||
                !strcmp(live->event.what, "checkpoint");
    }
    return news;
}

/* Waits for news, or until it is time to look: 0 when asked to stop. */
static int
wait_for_news(struct followed *run)
{
    for (int i = 0; i < LOOK_EVERY_S; i++) {
        if (!stage_wait(&run->stage, 1))
            return 0;
        if (read_events(run))
            break;
    }
    return 1;
}

/* Judges all that there is: 0 when asked to stop. */
static int
measure_all(struct judge *judge, struct followed *run)
{
    long step;

    while (!stop_asked() && (step = judge_next(judge)) >= 0) {
        judge_step(judge, step);
        read_events(run); // so that little is lost
    }
    return !stop_asked();
}

void
run_follow(char **path)
{
    static const char *const kinds[RUN_LISTENERS] = {"event"};
    struct followed run;
    struct judge judge = {.run = options.run,
                          .train = path[0] && path[1] ? path[0] : NULL,
                          .test = path[0] && path[1] ? path[1] : path[0],
                          .line = command,
                          .limit = limit,
                          .k_list = k_list,
                          .by = best,
                          .threads = threads};
    struct err err;

    if (!options.run)
        opt_misuse("-r is missing: which run?");
    if (!path[0] && !command)
        opt_misuse("wants TEST or --judge-command");
    if (!command && opt_given(&limit))
        opt_misuse("--command-limit belongs to --judge-command");
    opt_together(&options.keys, &options.allow);
    if (!file_exists(options.run))
        die("there is no run '%s'", options.run);
    stage_open(&run.stage, &options);
    judge.stop = run.stage.stop;
    judge_open(&judge);
    if (run_live_open(&run.live, run.stage.wire,
                      stage_endpoint(&run.stage, events, "events"), kinds,
                      QUEUE, &err))
        die("%s", err.msg);
    run.over = 0;
    while (measure_all(&judge, &run) && !once && !run.over &&
           !judge_over(&judge) && wait_for_news(&run))
        ;
    // the trainer's last event may have come before its last checkpoint was
    // seen
    measure_all(&judge, &run);
    say_stopped();
    run_live_close(&run.live);
    stage_close(&run.stage);
    judge_close(&judge);
}
