#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "eval.h"
#include "nn/checkpoint.h"
#include "pace.h"
#include "run/live.h"
#include "run/origin.h"
#include "run/results.h"
#include "run/settings.h"
#include "stage/program.h"
#include "stage/stage.h"
#include "util/digest.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

/*
 * The verb follow evaluates checkpoints of a run: runs foil-embed on TRAIN and
 * TEST, and foil-eval on the features, which adds the results to the run; then
 * points `best` to the best existing checkpoint.  Measures knn and probe if
 * both data sets have labels, and retrieval if TEST has captions and the run a
 * text encoder.  A user's program may add other results.
 * With --share a program evaluates some epochs (pace.h).
 */
enum by { BY_LABELS, BY_CAPTIONS, BY_COMMAND };
static const struct {
    const char *name;
    enum by by;
    const char *verb, *option; // of foil-eval
} measures[] = {               // in the order of --best
    {"knn", BY_LABELS, "knn", "-k"},
    {"probe", BY_LABELS, "probe", NULL},
    {"captions", BY_CAPTIONS, "retrieve", "--captions"},
    {"command", BY_COMMAND, NULL, NULL}};
enum { MEASURES = sizeof measures / sizeof *measures };

enum {
    LONGEST = 1 << 20, // bytes of an answer of the command
    POLL_EVERY_S = 10,
    QUEUE = 1000 // messages
};

static struct stage_options options;
static const char *events, *command, *k_list = "1,10";
static int best_by = -1, once;
static double limit = 3600;
static long threads = 1; // the other processors are the trainer's
static struct pace pace = {.every = 1, .from = 1};
static double share = NAN; // percent; NAN: evaluate all checkpoints

static const struct opt follow_own[] = {
    {"run", 'r', OPT_TEXT, &options.run, 0, 0, "RUN",
     "run directory with the checkpoints; required"},
    {"events", 0, OPT_TEXT, &events, 0, 0, "ENDPOINT",
     "where the trainer publishes events [ipc://RUN/events]"},
    {"neighbours", 'k', OPT_TEXT, &k_list, 0, 0, "K,...",
     "numbers of neighbours that vote"},
    {"best", 0, OPT_CHOICE, &best_by, 0, 0, "knn|probe|captions|command",
     "measure that decides RUN/best [the first available]"},
    {"eval-command", 0, OPT_TEXT, &command, 0, 0, "COMMAND",
     "your program that also evaluates checkpoints"},
    {"command-limit", 0, OPT_REAL, &limit, 0.1, 1e6, "SECONDS",
     "time limit of the command for a checkpoint"},
    {"share", 0, OPT_REAL, &share, 0.01, 100, "PERCENT",
     "evaluate by COMMAND after some epochs, for at most this share of the "
     "trainer's processor time"},
    {"every", 0, OPT_WHOLE, &pace.every, 1, 1e9, "EPOCHS",
     "with --share: after each of so many epochs, or a multiple"},
    {"from", 0, OPT_WHOLE, &pace.from, 1, 1e9, "EPOCH",
     "with --share: not before this one"},
    {"once", 0, OPT_FLAG, &once, 0, 0, NULL,
     "evaluate the existing checkpoints, and end"},
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "threads to use; 0: all cores"},
    STAGE_KEYS_OPTS(options),
    {0},
};
verb_opts follow_opts = {follow_own, NULL};

struct judge {
    const char *train, *test;   /* paths; train may be NULL, and test where
                                   there is a command */
    size_t by;                  /* index of the measure that decides `best` */
    int stop;                   /* descriptor */
    int labels, captions;       /* 1: the data sets have them */
    char digest[2][DIGEST_HEX]; /* of train, test */
    struct stage_program *program; /* of --eval-command, or NULL */
    double prepared;               /* processor seconds, of its last answer */
    char *folder;                  /* for temporary files, locked */
    const char *link;              /* to the checkpoint being evaluated */
    int lock;                      /* descriptor */
};

/* Notes the digest of a data set, and whether it has labels and captions. */
static void
read_set(struct judge *judge, const char *path, char hex[DIGEST_HEX])
{
    struct data_set *set = data_open_parts_or_die(path, 0);
    const size_t classes = data_classes(set);
    struct data_facts facts;
    struct err err;

    or_die(data_facts(set, &facts, &err), &err);
    judge->captions = facts.captions > 0;
    judge->labels =
        judge->train && classes && (path == judge->train || judge->labels);
    if (!classes && !judge->captions)
        die("'%s' has no labels and no captions to evaluate checkpoints with",
            path);
    digest_hex(data_digest(set), hex);
    data_close(set);
}

/* Whether the data or the command for a kind of measure exist. */
static int
is_available(const struct judge *judge, enum by by)
{
    const int there[] = {judge->labels, judge->captions, command != NULL};

    return there[by];
}

static int
take_judgement(void *of, const char *line, struct err *err)
{
    json_t **answer = of;
    struct err why;

    *answer = json_parse(line, strlen(line), "answer", &why);
    return *answer
               ? 0
               : err_set(err, "answered '%.80s', which is no object in JSON",
                         line);
}

static int
forget_judgement(void *of)
{
    json_t **answer = of;

    json_decref(*answer);
    *answer = NULL;
    return 1;
}

static void
open_command(struct judge *judge)
{
    judge->program =
        stage_command_open(&(struct stage_program_config){.name = "judge",
                                                          .line = command,
                                                          .limit_s = limit,
                                                          .longest = LONGEST,
                                                          .most = 1});
}

/* Sends a checkpoint to the command and adds its answer to the results of the
 * run, as the measure "command" if it names none; returns as run_tool(). */
static int
ask_command(struct judge *judge, const char *checkpoint, long step)
{
    char *line = mem_format("judge step=%ld %s", step, checkpoint);
    enum stage_outcome outcome;
    json_t *result = NULL;
    char manifest[DIGEST_HEX];
    struct stage_answer answer = {
        .take = take_judgement, .retry = forget_judgement, .of = &result};
    struct err err;

    outcome = stage_program_ask_retry(judge->program, line, judge->stop,
                                      &answer, &err);
    free(answer.ok);
    or_die(outcome == STAGE_LOST || outcome == STAGE_REFUSED, &err);
    free(line);
    if (outcome != STAGE_ANSWERED) {
        json_decref(result);
        return -1;
    }
    if (!result)
        die("judge: '%s' answered no line of JSON", command);
    if (!json_is_string(json_object_get(result, "measure")))
        json_object_set_new(result, "measure", json_string("command"));
    json_object_set_new(result, "command", json_string(command));
    if (share > 0)
        json_object_set_new(result, "epoch",
                            json_integer(pace_epoch(&pace, step)));
    judge->prepared = json_number_value(json_object_get(result, "prepared"));
    or_die(run_results_manifest(options.run, step, manifest, &err) ||
               run_results_add(options.run, step, manifest, result, &err),
           &err);
    json_decref(result);
    return 1;
}

/* Locks the run: only one foil-eval follows it. */
static void
open_judging(struct judge *judge)
{
    struct err err;
    size_t by = 0;

    judge->folder =
        mem_format("%s/%s", options.run, share > 0 ? "compare" : "follow");
    judge->link = share > 0 ? "comparing" : "judging";
    if (judge->train)
        read_set(judge, judge->train, judge->digest[0]);
    if (judge->test)
        read_set(judge, judge->test, judge->digest[1]);
    while (best_by < 0 && by + 1 < MEASURES &&
           !is_available(judge, measures[by].by))
        by++;
    judge->by = best_by < 0 ? by : (size_t)best_by;
    if (!is_available(judge, measures[judge->by].by)) {
        if (best_by < 0)
            die("'%s' has only labels, which need TRAIN too", judge->test);
        die("the data sets do not suffice for --best %s",
            measures[judge->by].name);
    }
    or_die(file_mkdir(judge->folder, 0777, &err), &err);
    judge->lock = open(judge->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (judge->lock < 0)
        die("cannot open '%s': %s", judge->folder, strerror(errno));
    if (flock(judge->lock, LOCK_EX | LOCK_NB))
        die("another foil-eval follows '%s'", options.run);
    if (command && strchr(options.run, '\n')) // a request is a line
        die("the name of '%s' contains a line end: rename the run",
            options.run);
    if (!command || share > 0)
        return;
    if (run_origin_note(options.run, "eval --eval-command", command, &err))
        log_message("%s", err.msg);
    open_command(judge);
}

/* Whether a measure applies to a checkpoint. */
static int
applies_to(const struct judge *judge, size_t measure, long step)
{
    if (measures[measure].by != BY_CAPTIONS)
        return is_available(judge, measures[measure].by);
    return judge->captions &&
           file_exists(
               mem_temp("%s/step-%08ld/text.safetensors", options.run, step));
}

/* Whether a result is of these data, or this command, and of this checkpoint.
 * Of captions, only the rule that equal ones count as one. */
static int
matches_result(const struct judge *judge, const json_t *result, enum by by,
               long step, const char *manifest)
{
    const int captions = by == BY_CAPTIONS;
    const char *const sides[] = {captions ? "images" : "train", "test"};
    const char *const wanted[] = {judge->digest[captions], judge->digest[1]};
    const char *rule = json_string_value(json_object_get(result, "rule"));
    const char *is = json_string_value(json_object_get(result, "manifest"));
    const char *line = json_string_value(json_object_get(result, "command"));

    if (json_integer_value(json_object_get(result, "step")) != step || !is ||
        strcmp(is, manifest) || (captions && rule && strcmp(rule, "equal")))
        return 0;
    if (by == BY_COMMAND)
        return line && !strcmp(line, command);
    for (int i = 0; i < 2 - captions; i++) {
        const char *digest;

        if (json_unpack((json_t *)result, "{s:{s:{s:{s:s}}}}", sides[i], "made",
                        "data", "digest", &digest) ||
            strcmp(digest, wanted[i]))
            return 0;
    }
    return 1;
}

/* The digest of a checkpoint's manifest; "" if that was removed. */
static const char *
manifest_of(long step, char hex[DIGEST_HEX])
{
    struct err ignored;

    if (run_results_manifest(options.run, step, hex, &ignored))
        *hex = 0;
    return hex;
}

/* The last result of a measure for the checkpoint with that manifest; NULL if
 * there is none.  For knn it is the result with the last of K,... . */
static const json_t *
result_of(const struct judge *judge, const json_t *results, long step,
          const char *manifest, size_t measure)
{
    const char *name = measures[measure].name;
    const json_t *found = NULL, *one;
    size_t i;

    json_array_foreach(results, i, one)
    {
        const char *is = json_string_value(json_object_get(one, "measure"));

        if ((measures[measure].by == BY_COMMAND || !strcmp(is, name)) &&
            matches_result(judge, one, measures[measure].by, step, manifest))
            found = one;
    }
    return found;
}

/* The accuracy, or the mean of the six recalls; NAN without, as a program's
 * result may be. */
static double
accuracy_of(const json_t *result)
{
    const json_t *recall = json_object_get(result, "r_mean");
    const json_t *x = recall ? recall : json_object_get(result, "accuracy");

    return json_is_number(x) ? json_number_value(x) : NAN;
}

static json_t *
read_results(void)
{
    struct err err;
    json_t *results = run_results_read(options.run, &err);

    or_die(!results, &err);
    return results;
}

static long *
list_steps(size_t *n)
{
    struct err err;
    long *steps = nn_checkpoint_steps(options.run, n, &err);

    or_die(!steps, &err);
    return steps;
}

static int
is_evaluated(const struct judge *judge, const json_t *results, long step)
{
    char hex[DIGEST_HEX];
    const char *manifest = manifest_of(step, hex);
    int all = 1;

    for (size_t i = 0; i < MEASURES; i++)
        all &= !applies_to(judge, i, step) ||
               result_of(judge, results, step, manifest, i) != NULL;
    return all;
}

/* The oldest checkpoint without results for TRAIN and TEST, or -1. */
static long
next_step(const struct judge *judge)
{
    json_t *results = read_results();
    long next = -1, *steps;
    size_t n;

    steps = list_steps(&n);
    for (size_t i = 0; i < n && next < 0; i++)
        if ((!(share > 0) || pace_is_due(&pace, pace_epoch(&pace, steps[i]))) &&
            !is_evaluated(judge, results, steps[i]))
            next = steps[i];
    free(steps);
    json_decref(results);
    return next;
}

/* Measures a checkpoint in all ways; returns as run_tool(). */
static int
measure_checkpoint(struct judge *judge, const char *checkpoint, long step)
{
    char *features[2] = {mem_format("%s/first.npy", judge->folder),
                         mem_format("%s/second.npy", judge->folder)};
    char *number = mem_format("%ld", threads);
    int rc = 1, embedded = -1, any = 0;

    for (size_t i = 0; i < MEASURES && rc > 0; i++) {
        const enum by by = measures[i].by;
        const char *const sets[] = {
            by == BY_CAPTIONS ? judge->test : judge->train, judge->test};
        const char *words[] = {measures[i].verb,
                               "--threads",
                               number,
                               features[0],
                               features[1],
                               measures[i].option,
                               i ? NULL : k_list, // of knn
                               NULL};

        if (!applies_to(judge, i, step))
            continue;
        any = 1;
        if (by == BY_COMMAND) {
            rc = ask_command(judge, checkpoint, step);
            continue;
        }
        if (embedded != (int)by)
            rc = embed_both(judge->stop, checkpoint, sets, by == BY_CAPTIONS, 0,
                            threads, features);
        embedded = (int)by;
        if (rc > 0)
            rc = run_tool(judge->stop, "foil-eval", words);
    }
    if (!any)
        die("'%s' has no text encoder, and there are no labels to evaluate "
            "with",
            checkpoint);
    mem_free(features[0], features[1], number);
    return rc;
}

/* Points `best` to the best existing checkpoint; of equals, the first. Returns
 * its step, or -1 if none has an accuracy. */
static long
point_best(const struct judge *judge, const json_t *results)
{
    struct err err;
    double most = -INFINITY;
    size_t n;
    long at = -1, *steps = list_steps(&n);

    for (size_t i = 0; i < n; i++) {
        char hex[DIGEST_HEX];
        const json_t *one = result_of(judge, results, steps[i],
                                      manifest_of(steps[i], hex), judge->by);
        const double accuracy = accuracy_of(one);

        if (one && best_by >= 0 && isnan(accuracy))
            die("the result of step %ld has no number 'accuracy', which "
                "--best %s needs",
                steps[i], measures[judge->by].name);
        if (accuracy > most) {
            most = accuracy;
            at = steps[i];
        }
    }
    free(steps);
    if (at >= 0 && nn_checkpoint_set_link(options.run, "best", at, &err))
        log_message("%s", err.msg);
    return at;
}

/* Prints the results of a checkpoint: a line of text on a terminal, else
 * JSON. */
static void
print_results(const struct judge *judge, const json_t *results, long step)
{
    json_t *line = json_pack("{s:I}", "step", (json_int_t)step);
    const long best = point_best(judge, results);
    const int terminal = isatty(STDOUT_FILENO);
    char hex[DIGEST_HEX];
    const char *manifest = manifest_of(step, hex);

    if (terminal)
        printf("step %ld", step);
    for (size_t i = 0; i < MEASURES; i++) {
        const json_t *one = result_of(judge, results, step, manifest, i);
        const json_t *k = json_object_get(one, "k");
        const double accuracy = accuracy_of(one);

        if (!applies_to(judge, i, step) || isnan(accuracy))
            continue;
        if (terminal)
            printf("  %s%s%.0jd %.4f", measures[i].name, k ? " " : "",
                   (intmax_t)json_integer_value(k), accuracy);
        json_object_set_new(line, measures[i].name, json_real(accuracy));
    }
    if (best >= 0)
        json_object_set_new(line, "best", json_integer(best));
    if (terminal)
        puts(best == step ? "  best" : "");
    else
        json_print(json_incref(line));
    fflush(stdout);
    json_decref(line);
}

/* Evaluates a checkpoint, unless it was removed or a signal comes; ends the
 * process if a tool fails. */
static void
evaluate_step(struct judge *judge, long step)
{
    char *checkpoint = mem_format("%s/step-%08ld", options.run, step);
    json_t *results;
    struct err err;
    int rc;

    // the link protects the checkpoint from removal, if it still exists
    or_die(nn_checkpoint_set_link(options.run, judge->link, step, &err), &err);
    if (!file_exists(checkpoint)) {
        rc = 0;
    } else if (share > 0) {
        // the processor time of a command is known when it has ended
        pace_begin(&pace);
        open_command(judge);
        rc = ask_command(judge, checkpoint, step);
        stage_program_close(judge->program);
        judge->program = NULL;
        if (rc > 0)
            pace_end(&pace, pace_epoch(&pace, step), judge->prepared);
    } else {
        rc = measure_checkpoint(judge, checkpoint, step);
    }
    if (rc == 0 && file_exists(checkpoint))
        die("'%s' could not be evaluated", checkpoint);
    free(checkpoint);
    if (rc <= 0 || share > 0)
        return;
    results = read_results();
    if (!is_evaluated(judge, results, step))
        die("the results of step %ld are not in '%s/results.jsonl'", step,
            options.run);
    print_results(judge, results, step);
    json_decref(results);
}

/* Whether the newest checkpoint is the last of the run. */
static int
is_over(void)
{
    struct err ignored;
    json_t *config = run_config_newest(options.run, &ignored);
    const int over = run_config_done(config);

    json_decref(config);
    return over;
}

/* The run to follow.  A thread reads its events: an evaluation takes minutes,
 * while the queue of events fills up and the one that ends the run is lost. */
struct followed {
    struct stage stage;
    struct run_live live; /* of the thread */
    pthread_t reader;
    int end[2];      /* pipe: the thread ends when we close end[1] */
    int news[2];     /* pipe: a byte for each event that we should react to */
    atomic_int over; /* 1: the trainer has stopped */
};

static void *
read_events(void *arg)
{
    struct followed *run = arg;
    struct run_live *live = &run->live;
    struct err err;
    int rc;

    while ((rc = wire_wait(run->stage.wire, run->end[0], POLL_EVERY_S, &err)) >
           0)
        while (run_live_next(live)) {
            const struct wire_status *status = &live->status;
            const double cpu = value_find(status->values, status->n, "cpu");

            if (cpu > 0)
                atomic_store(&pace.cpu, (long)(1000 * cpu));
            if (live->over)
                atomic_store(&run->over, 1);
            if (share > 0 || live->over || live->missed ||
                !strcmp(live->event.what, "checkpoint"))
                (void)!write(run->news[1], "", 1); // full: news enough
        }
    or_die(rc < 0, &err);
    return NULL;
}

/* Connects to the trainer and starts the thread, which ends when end[1] is
 * closed. */
static void
start_reading(struct followed *run)
{
    // a status comes each second, and the events of fast steps cost more
    const char *const kinds[RUN_LISTENERS] = {share > 0 ? "status" : "event"};
    struct err err;
    int rc;

    run->over = 0;
    or_die(run_live_open(&run->live, run->stage.wire,
                         stage_endpoint(&run->stage, events, "events"), kinds,
                         QUEUE, &err),
           &err);
    if (pipe2(run->end, O_CLOEXEC) || pipe2(run->news, O_CLOEXEC | O_NONBLOCK))
        die("cannot make a pipe: %s", strerror(errno));
    rc = stop_create_thread(&run->reader, read_events, run);
    if (rc)
        die("cannot start a thread: %s", strerror(rc));
}

/* Waits for news, or for POLL_EVERY_S: 0 at a signal. */
static int
wait_for_news(const struct followed *run)
{
    struct pollfd wait[] = {{.fd = run->stage.stop, .events = POLLIN},
                            {.fd = run->news[0], .events = POLLIN}};
    char byte[64];

    if (poll(wait, 2, POLL_EVERY_S * 1000) > 0 && wait[1].revents)
        while (read(run->news[0], byte, sizeof byte) > 0)
            ;
    return !stop_requested();
}

/* Evaluates all new checkpoints: 0 at a signal. */
static int
measure_all(struct judge *judge)
{
    long step;

    while (!stop_requested() && (step = next_step(judge)) >= 0)
        evaluate_step(judge, step);
    return !stop_requested();
}

void
run_follow(char **path)
{
    struct followed run;
    struct judge judge = {.train = path[0] && path[1] ? path[0] : NULL,
                          .test = path[0] && path[1] ? path[1] : path[0]};
    struct err ignored;

    if (!options.run)
        opt_misuse("-r is missing: the run directory");
    if (!path[0] && !command)
        opt_misuse("needs TEST or --eval-command");
    if (!command && opt_is_set(&limit))
        opt_misuse("--command-limit belongs to --eval-command");
    if (share > 0 && (!command || path[0]))
        opt_misuse("--share needs --eval-command, and no data");
    if (!(share > 0) && (opt_is_set(&pace.every) || opt_is_set(&pace.from)))
        opt_misuse("--every and --from belong to --share");
    opt_together(&options.keys, &options.allow);
    if (!file_exists(options.run))
        die("there is no run '%s'", options.run);
    stage_open(&run.stage, &options);
    judge.stop = run.stage.stop;
    open_judging(&judge);
    pace.run = options.run;
    pace.share = 0.01 * share;
    if (share > 0)
        pace_open(&pace);
    start_reading(&run);
    while (measure_all(&judge) && !once && !run.over && !is_over() &&
           wait_for_news(&run))
        ;
    // the event that ends the run may overtake the last checkpoint
    if (!(share > 0))
        measure_all(&judge);
    close(run.end[1]);
    pthread_join(run.reader, NULL);
    close(run.end[0]);
    close(run.news[0]);
    close(run.news[1]);
    run_live_close(&run.live);
    log_stopped();
    stage_close(&run.stage);
    stage_program_close(judge.program);
    unlink(mem_temp("%s/%s", options.run, judge.link));
    if (!(share > 0))
        file_remove(judge.folder, &ignored);
    close(judge.lock);
    free(judge.folder);
}
