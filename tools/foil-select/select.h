#ifndef FOIL_SELECT_H
#define FOIL_SELECT_H

#include <stdio.h>

#include "data/set.h"
#include "select/plan.h"
#include "select/quarantine.h"
#include "stage/stage.h"
#include "util/progress.h"
#include "wire/plan.h"

/*
 * The parts of foil-select, one file each:
 *
 *   options.c   the command line
 *   serve.c     hands out items: places, leases, late augmenters
 *   planner.c   two threads that plan epochs from features
 *   make.c      one such plan
 *   command.c   plans by a program of the user's
 *   fetch.c     these features, from the trainer
 *   measure.c     how hard a plan is, beside a random one
 *   score.c     --score: a plan from files, without a trainer
 *   report.c    samples that could not be used
 *   tell.c      what there is, and what a plan needs, without a trainer
 */
enum select_policy { POLICY_WAIT, POLICY_PREVIOUS, POLICY_SHUFFLE };

enum select_source { FEATURES_STEPS, FEATURES_EVAL, FEATURES_NONE };

struct select_options {
    struct stage_options stage;
    const char *plan, *trainer, *quarantine;
    const char *avoid, *plan_out, *losses;
    const char *command; /* or NULL: its plans are what --strategy names */
    double limit;        /* seconds that it has for one */
    const struct select_strategy *strategy;
    double value[PARAM_MOST]; /* of the strategy's parameters */
    enum select_remainder remainder;
    enum select_policy policy;
    long batch, epochs, seed, lag, threads;
    int list; /* -1: nothing is listed */
    enum select_source features;
    int partial, half, score, dry;
    double lease;   /* seconds */
    char **operand; /* [operands] */
    int operands;
};

/* select_options_get() parses the command line; it prints and exits. */
const struct select_options *select_options_get(int argc, char **argv);

/* select_options_task() lays out `size` samples and reads --avoid, which is
 * allocated; it prints and exits. */
struct select_task select_options_task(const struct select_options *options,
                                       size_t size);

/* select_options_say() writes what a plan depends on, as options. */
void select_options_say(const struct select_options *options, char text[256]);

/* 1 when a strategy under these options plans from features. */
int select_options_wants(const struct select_options *options,
                         const struct select_strategy *of);

/* report.c: names the first of the samples on stderr, writes all to FILE. */
void select_report(const struct select_quarantine *bad,
                   const struct data_set *set, const char *file);

/* tell.c: prints all strategies, a line of JSON each; and what the plan of a
 * task needs and is, as one line. */
void select_tell_list(const struct select_options *options);
void select_tell_needs(const struct select_options *options,
                       const struct select_task *task);

/* score.c: all of --score. */
void select_score_files(const struct select_options *options);

/* ---------------------------------------------------------------- planning */

/* measure.c: adds to `about` how hard an epoch is, of each batch the samples
 * with features, under names that begin with `prefix`. */
void select_measure(struct wire_plan *about, const char *prefix,
                    const struct select_task *task, const int64_t *ids);

/* The features of an epoch, out of the history that the trainer keeps. */
struct select_history {
    struct select_features features;
    float *rows;    /* [2,size,d] that features.u and .v point into */
    uint8_t *known; /* [size] */
    size_t n;       /* of them are known */
    int eval;       /* a pass of its own made them */
};

enum select_fetched {
    FETCH_FAILED = -1, /* and always will: why says it */
    FETCH_STOPPED,
    FETCH_DONE,
    FETCH_NONE,  /* there are none of that epoch, nor ever will be */
    FETCH_AGAIN, /* not now: why says it */
};

/* fetch.c; the service is one of the trainer's features.  Of `wanted`, id and
 * from are set by the function. */
struct flow_service;
struct wire_fetch;
enum select_fetched select_fetch(struct flow_service *service, int stop,
                                 const struct wire_fetch *wanted, size_t size,
                                 struct select_history *history,
                                 struct err *why);
enum select_fetched select_tell(struct flow_service *service, int stop,
                                struct wire_plan *about, struct err *why);
void select_history_release(struct select_history *history);

/*
 * The planner: two threads with a connection to the trainer of their own. Asked
 * for an epoch it fetches the features, orders, and measures; told to, it tells
 * the trainer about a plan.  The main loop never waits for it.
 */
struct planner;

struct planner_config {
    const struct select_strategy *strategy;
    struct select_command *command; /* its plans are this one's; or NULL */
    struct select_task task;        /* but epoch and features */
    const char *endpoint;           /* of the trainer's features */
    const struct wire_keys *keys;
    struct wire_hello hello;
    int threads, half; /* features in half precision */
};

/* planner_open() keeps a copy of the task's groups. */
struct planner *planner_open(const struct planner_config *config,
                             struct err *err);

/*
 * planner_close() does not wait for a plan that is being made, which may take
 * minutes: it returns 1 with a thread still at work, on memory that is its
 * own, and the process is to end by _Exit(), as the thread uses libraries.  0
 * when all is released.
 */
int planner_close(struct planner *planner);

/*
 * planner_ask() wants an epoch planned from the features at the end of epoch
 * `from`, or, where that is negative, without.  One at a time: returns 0, and
 * does nothing, while another one is being made.
 */
int planner_ask(struct planner *planner, int64_t epoch, int64_t from);

/* planner_hurry() says whether the trainer waits for a plan: what nobody waits
 * for is computed at the lowest priority. */
void planner_hurry(struct planner *planner, int hurry);

/* What came of it. */
struct planned {
    int64_t epoch;
    int64_t *ids; /* to be freed */
    struct wire_plan about;
};

/*
 * command.c: the program of --strategy-command, and what it has answered, which
 * is kept in the run directory.  For one thread at a time.
 *   data  the digest of the data set, "" where there is none
 */
struct select_command;

/* The place of its plans in the table of strategies, of which it is none. */
extern const struct select_strategy select_strategy_command;

struct select_command *select_command_open(const struct select_options *options,
                                           const char *data, struct err *err);
void select_command_close(struct select_command *command);

/* select_command_order() is select_strategy_order(), which it may fail to be.
 */
int select_command_order(struct select_command *command,
                         const struct select_task *task, int64_t *ids,
                         struct err *err);

/* command.c: prints a plan, a line of ids for each batch. */
void select_print_plan(FILE *file, const struct select_layout *layout,
                       const int64_t *ids);

/* What a plan is made of, but for what the planner knows of all plans. */
struct select_making {
    int64_t epoch, from;
    double waited;                 /* seconds for the features */
    struct select_history history; /* these */
    int by_features;               /* else there are none */
};

/* make.c: orders and measures an epoch: the long part, which nothing
 * interrupts.  Thread-safe without a command.  Without ids, which only a
 * command leaves out, `why` tells why. */
struct planned select_make(const struct planner_config *config,
                           const struct select_making *making, struct err *why);

/* planner_take() returns 1 with a plan, or 0. */
int planner_take(struct planner *planner, struct planned *planned);

/* planner_tell() has the trainer told; planner_told() returns 1 when nothing
 * is left to tell. */
void planner_tell(struct planner *planner, const struct wire_plan *about);
int planner_told(struct planner *planner);

/* planner_forget() drops what was asked, made or to be told. */
void planner_forget(struct planner *planner);

/*
 * planner_trouble() returns -1 with why the planner has given up, 1 with why
 * it is kept waiting, once each time that begins, else 0.
 */
int planner_trouble(struct planner *planner, struct err *why);

/* ----------------------------------------------------------------- serving */

struct selector {
    const struct select_options *options;
    struct stage stage;
    struct data_set *set;
    struct select_task task;
    struct select_plan *plan;
    char said[256]; /* what items say of it */
    struct flow_outlet *outlet;
    struct progress progress;
    int over;

    struct planner *planner; /* NULL: plans need no features */
    struct select_command *command;
    int64_t *previous; /* the last order that was made from features */
    int64_t asked;     /* epochs before this one are asked for */
    int starved;       /* somebody waits for a plan */
    long fallbacks;    /* epochs that went without their plan */

    struct select_layout looks; /* of a pass over all samples, or 0 steps */
    int64_t *all;               /* [size] 0, 1, 2 ... */

    struct select_quarantine bad;
};

/* serve.c: judges what a peer says of the trainer's place; see flow/outlet.h.
 * `tool` is the selector.  Dies where the first that is named will not do. */
int select_believe(void *tool, struct wire_place *at, struct err *why);

/* serve.c: until all is trained, the run is over, or someone says stop. */
void select_serve(struct selector *s);

#endif
