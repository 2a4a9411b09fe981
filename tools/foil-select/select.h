#pragma once

#include <stdio.h>

#include "data/set.h"
#include "select/plan.h"
#include "select/windows.h"
#include "stage/stage.h"
#include "util/progress.h"
#include "wire/features.h"

/*
 * The parts of foil-select, one file each:
 *
 *   options.c   the command line; --list and --dry-run
 *   serve.c     sends items: places, leases, late augmenters, the rest of an
 *               epoch that another selector began
 *   planner.c   two threads that plan epochs from features
 *   make.c      one such plan, and how hard it is
 *   command.c   plans by a user's program
 *   fetch.c     fetches features from the trainer
 *   score.c     --score: a plan from files, without a trainer
 *   report.c    samples that could not be used
 */
enum select_policy { POLICY_WAIT, POLICY_PREVIOUS, POLICY_SHUFFLE };

enum select_source { FEATURES_STEPS, FEATURES_EVAL, FEATURES_NONE };

struct select_options {
    struct stage_options stage;
    const char *plan, *trainer, *quarantine;
    const char *avoid, *plan_out, *losses;
    const char *command; /* --strategy-command; NULL: use `strategy` */
    double limit;        /* seconds for one plan of the command */
    const struct select_strategy *strategy;
    double value[PARAM_MOST]; /* of the strategy's parameters */
    enum select_remainder remainder;
    enum select_policy policy;
    long batch, epochs, seed, lag, threads, windows;
    int list; /* -1: no --list */
    enum select_source features;
    int partial, half, score, dry;
    double lease;   /* seconds */
    char **operand; /* [operands] */
    int operands;
};

/* select_options_get() parses the command line; exits on misuse. */
const struct select_options *select_options_get(int argc, char **argv);

/* select_options_task() lays out `size` samples and reads --avoid into group,
 * which the caller frees; dies on error. */
struct select_task select_options_task(const struct select_options *options,
                                       size_t size);

/* select_open_windows() returns windows of `each` shards of a set; the caller
 * frees them.  Dies if there are fewer than four shards. */
struct select_windows *select_open_windows(const struct data_set *set,
                                           size_t each, uint64_t seed);

/* select_options_print() writes the options that a plan depends on. */
void select_options_print(const struct select_options *options, char text[256]);

/* 1 if a strategy with these options plans from features. */
int select_options_use_features(const struct select_options *options,
                                const struct select_strategy *of);

/* report.c: the quarantine, the samples that could not be used, each with the
 * first reason reported for it. */
struct select_rejected {
    int64_t id;
    char *reason;
};

struct select_quarantine {
    struct select_rejected *item; /* [n], ascending by id */
    size_t n, room;
};

/* select_quarantine_add() adds a sample with a copy of the reason, unless the
 * sample is there already: O(log n), O(n) if it is new.  A zeroed struct is an
 * empty quarantine. */
void select_quarantine_add(struct select_quarantine *quarantine, int64_t id,
                           const char *reason);
void select_quarantine_release(struct select_quarantine *quarantine);

/* select_report() prints the first samples to stderr, and writes all to FILE,
 * lines of id, name and reason with tabs. */
void select_report(const struct select_quarantine *bad,
                   const struct data_set *set, const char *file);

/* options.c: prints all strategies, a line of JSON each; or the needs and sizes
 * of a task's plan, and with windows the share of pairs of the first batch that
 * are of one shard, as one line. */
void select_print_list(const struct select_options *options);
void select_print_needs(const struct select_options *options,
                        const struct select_task *task, struct select_plan *of);

/* score.c: --score. */
void select_score_files(const struct select_options *options);

/* make.c: adds the hardness of an epoch to `about`, with `prefix` before
 * the names; in each batch, only samples with features count. */
void select_measure(struct wire_plan *about, const char *prefix,
                    const struct select_task *task, const int64_t *ids);

/* The features of an epoch, from the history of the trainer. */
struct select_history {
    struct select_features features;
    float *rows;    /* [2,size,d] that features.u and .v point into */
    uint8_t *known; /* [size] */
    size_t n;       /* known samples */
    int eval;       /* 1: from an extra pass */
};

/* fetch.c: requests to the trainer's service of features; retry later after
 * FLOW_FAILED and FLOW_UNREACHED.  select_fetch() sets id and from of `wanted`
 * itself; FLOW_NO_STATE: the epoch has no features and never will. */
enum flow_answer select_fetch(struct flow_client *service, int stop,
                              const struct wire_features_request *wanted,
                              size_t size, struct select_history *history,
                              struct err *why);
enum flow_answer select_send_plan(struct flow_client *service, int stop,
                                  struct wire_plan *about, struct err *why);
void select_history_release(struct select_history *history);

/*
 * The planner: two threads with their own connection to the trainer.  For a
 * requested epoch it fetches the features, makes the plan and measures it; it
 * also sends reports on plans to the trainer.  The main loop never waits for
 * it.
 */
struct planner;

struct planner_config {
    const struct select_strategy *strategy;
    struct select_command *command; /* makes the plans; NULL: `strategy` does */
    struct select_task task;        /* without epoch and features */
    const char *endpoint;           /* of the trainer's features */
    const struct wire_keys *keys;
    struct wire_hello hello;
    int threads, half; /* half: features in half precision */
};

/* planner_open() copies the task's groups. */
struct planner *planner_open(const struct planner_config *config,
                             struct err *err);

/*
 * planner_close() does not wait for a plan that is being made, which may take
 * minutes: it returns 1 if a thread still works, on its own memory.  The
 * process must then end by _Exit(), as the thread uses libraries.  Returns 0 if
 * all is released.
 */
int planner_close(struct planner *planner);

/* planner_ask() requests a plan of an epoch from the features at the end of
 * epoch `from`, or without features if that is negative.  One at a time:
 * returns 0, and does nothing, while another one is being made. */
int planner_ask(struct planner *planner, int64_t epoch, int64_t from);

/* planner_set_urgent() sets whether the trainer waits for a plan; otherwise it
 * is computed at the lowest priority. */
void planner_set_urgent(struct planner *planner, int urgent);

/* A finished plan. */
struct planner_plan {
    int64_t epoch;
    int64_t *ids; /* to be freed */
    struct wire_plan about;
};

/*
 * command.c: the program of --strategy-command, and its plans, which are saved
 * in the run directory.  Not thread-safe.
 *   data  digest of the data set; "": none
 */
struct select_command;

/* Describes plans of the command; not in select_strategies. */
extern const struct select_strategy select_strategy_command;

struct select_command *select_command_open(const struct select_options *options,
                                           const char *data, struct err *err);
void select_command_close(struct select_command *command);

/* select_command_order() is select_strategy_order() by the command: 0, or -1
 * with a message. */
int select_command_order(struct select_command *command,
                         const struct select_task *task, int64_t *ids,
                         struct err *err);

/* command.c: prints a plan, a line of ids for each batch. */
void select_print_plan(FILE *file, const struct select_layout *layout,
                       const int64_t *ids);

/* The inputs of one plan, in addition to struct planner_config. */
struct select_making {
    int64_t epoch, from;
    double waited;                 /* seconds to fetch the features */
    struct select_history history; /* the features */
    int by_features;               /* 0: without features */
};

/* make.c: plans and measures an epoch, which takes long and cannot be
 * interrupted.  Thread-safe without a command.  If a command fails, returns
 * NULL ids and the reason in `why`. */
struct planner_plan select_make(const struct planner_config *config,
                                const struct select_making *making,
                                struct err *why);

/* planner_take() returns 1 with a plan, or 0. */
int planner_take(struct planner *planner, struct planner_plan *planned);

/* planner_report() queues a report to the trainer; planner_reported() returns
 * 1 when all reports are sent. */
void planner_report(struct planner *planner, const struct wire_plan *about);
int planner_reported(struct planner *planner);

/* planner_cancel() drops requests, plans and reports. */
void planner_cancel(struct planner *planner);

/* planner_trouble() returns -1 with the reason if the planner has given up, 1
 * if it must wait; each reason once; else 0. */
int planner_trouble(struct planner *planner, struct err *why);

/* The rest of an epoch that another selector began, in the same order. */
struct select_rest {
    int64_t epoch;
    char order[33];           /* of that epoch; "": no such epoch */
    struct select_plan *plan; /* NULL: its order cannot be made here */
    struct select_windows *windows;
    struct select_layout layout;
    char options[256];
};

struct selector {
    const struct select_options *options;
    struct stage stage;
    struct data_set *set;
    struct select_task task;
    struct select_plan *plan;
    char plan_options[256]; /* options of the plan, sent in items */
    struct select_rest rest;
    struct flow_outlet *outlet;
    struct progress progress;
    int over;

    struct planner *planner; /* NULL: plans need no features */
    struct select_command *command;
    int64_t *previous; /* the last plan made from features */
    int64_t requested; /* plans of epochs before this one are requested */
    int starved;       /* 1: the trainer waits for a plan */
    long fallbacks;    /* epochs whose plan was not ready */

    struct select_layout
        eval_pass; /* an extra pass over all samples; 0 steps: none */
    int64_t *all;  /* [size] 0, 1, 2 ... */

    struct select_quarantine bad;
};

/* serve.c: checks the trainer's place in a peer's message; see flow/outlet.h.
 * `tool` is the selector.  Dies if the first such place is invalid. */
int select_check_place(void *tool, struct wire_want *next, struct err *why);

/* serve.c: runs until all is trained, the run is over, or a signal arrives. */
void select_serve(struct selector *s);
