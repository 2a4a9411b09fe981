#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eval.h"
#include "judge.h"
#include "nn/checkpoint.h"
#include "train/config.h"
#include "train/results.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

enum { WORDS = 16 };

/* What each checkpoint is measured by. */
static const char *const measures[] = {"knn", "probe"};
enum { MEASURES = sizeof measures / sizeof *measures };

/* The folder of this program, to be given to free(). */
static char *
own_folder(void)
{
    char path[PATH_MAX];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

    if (n < 0)
        die("cannot read '/proc/self/exe': %s", strerror(errno));
    path[n < 0 ? 0 : n] = 0;
    return mem_text(dirname(path));
}

static void
take_digest(const char *path, char hex[DIGEST_HEX])
{
    struct data_set *set = data_open_or_die(path, 0);
    const struct digest digest = data_digest(set);

    if (!data_classes(set))
        die("'%s' has no labels, so that nothing can be judged by it", path);
    digest_hex(&digest, hex);
    data_close(set);
}

void
judge_open(struct judge *judge)
{
    char *folder = mem_format("%s/follow", judge->run);
    struct err err;

    take_digest(judge->train, judge->digest[0]);
    take_digest(judge->test, judge->digest[1]);
    judge->bin = own_folder();
    if (file_mkdir(folder, 0777, &err))
        die("%s", err.msg);
    judge->lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (judge->lock < 0)
        die("cannot open '%s': %s", folder, strerror(errno));
    if (flock(judge->lock, LOCK_EX | LOCK_NB))
        die("another foil-eval follows '%s'", judge->run);
    free(folder);
}

void
judge_close(struct judge *judge)
{
    char *link = mem_format("%s/judging", judge->run);
    char *folder = mem_format("%s/follow", judge->run);
    struct err ignored;

    unlink(link);
    file_remove(folder, &ignored);
    close(judge->lock);
    free(judge->bin);
    free(folder);
    free(link);
}

/* Whether a result is of these data and this checkpoint. */
static int
is_ours(const struct judge *judge, const json_t *result, long step,
        const char *manifest)
{
    static const char *const sides[] = {"train", "test"};
    const char *is = json_string_value(json_object_get(result, "manifest"));

    if (json_integer_value(json_object_get(result, "step")) != step || !is ||
        strcmp(is, manifest))
        return 0;
    for (int i = 0; i < 2; i++) {
        const json_t *made =
            json_object_get(json_object_get(result, sides[i]), "made");
        const char *digest = json_string_value(
            json_object_get(json_object_get(made, "data"), "digest"));

        if (!digest || strcmp(digest, judge->digest[i]))
            return 0;
    }
    return 1;
}

/*
 * The last result of a checkpoint by a measure; NULL when there is none.  That
 * of knn is the one with the last of K,... .
 */
static const json_t *
result_of(const struct judge *judge, const json_t *results, long step,
          const char *measure)
{
    const json_t *found = NULL, *one;
    char manifest[DIGEST_HEX];
    struct err ignored;
    size_t i;

    if (train_results_manifest(judge->run, step, manifest, &ignored))
        return NULL; // it has gone
    json_array_foreach(results, i, one)
    {
        if (!strcmp(json_string_value(json_object_get(one, "measure")),
                    measure) &&
            is_ours(judge, one, step, manifest))
            found = one;
    }
    return found;
}

static double
accuracy(const json_t *result)
{
    return json_number_value(json_object_get(result, "accuracy"));
}

static json_t *
read_results(const struct judge *judge)
{
    struct err err;
    json_t *results = train_results_read(judge->run, &err);

    if (!results)
        die("%s", err.msg);
    return results;
}

static long *
list_steps(const struct judge *judge, size_t *n)
{
    struct err err;
    long *steps = nn_checkpoint_steps(judge->run, n, &err);

    if (!steps)
        die("%s", err.msg);
    return steps;
}

static int
is_judged(const struct judge *judge, const json_t *results, long step)
{
    int all = 1;

    for (size_t i = 0; i < MEASURES; i++)
        all &= result_of(judge, results, step, measures[i]) != NULL;
    return all;
}

long
judge_next(const struct judge *judge)
{
    json_t *results = read_results(judge);
    long next = -1, *steps;
    size_t n;

    steps = list_steps(judge, &n);
    for (size_t i = 0; i < n && next < 0; i++)
        if (!is_judged(judge, results, steps[i]))
            next = steps[i];
    free(steps);
    json_decref(results);
    return next;
}

/* What a child does: become the tool, quiet on stdout, and end with us. */
_Noreturn static void
become(char **argv)
{
    const int null = open("/dev/null", O_RDWR);

    if (prctl(PR_SET_PDEATHSIG, SIGTERM) || null < 0 ||
        dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
        _exit(126);
    stop_unblock();
    execv(argv[0], argv);
    _exit(127);
}

/*
 * Runs a tool to its end: 1 when it did its work, 0 when it failed, -1 when we
 * were asked to stop, which it then was, too.  The pipe is closed when it ends.
 */
static int
run_tool(const struct judge *judge, char **argv)
{
    struct pollfd wait[2] = {{.fd = judge->stop, .events = POLLIN}};
    int life[2], status = 0;
    pid_t pid;

    if (pipe(life))
        die("cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid = fork();
    if (!pid) {
        close(life[0]);
        become(argv);
    }
    close(life[1]);
    if (pid < 0)
        die("cannot start '%s': %s", argv[0], strerror(errno));
    wait[1] = (struct pollfd){.fd = life[0], .events = POLLIN};
    while (poll(wait, 2, -1) < 0 && errno == EINTR)
        continue;
    if (stop_asked())
        kill(pid, SIGTERM);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    close(life[0]);
    if (stop_asked())
        return -1;
    return WIFEXITED(status) && !WEXITSTATUS(status);
}

/* Runs one of our tools with words up to NULL. */
static int
run_words(const struct judge *judge, const char *tool, const char *const *words)
{
    char *argv[WORDS + 1] = {mem_format("%s/%s", judge->bin, tool)};
    int n = 1, rc;

    for (; words[n - 1]; n++) {
        REQUIRE(n < WORDS);
        argv[n] = mem_text(words[n - 1]);
    }
    argv[n] = NULL;
    rc = run_tool(judge, argv);
    while (n--)
        free(argv[n]);
    return rc;
}

/* Embeds both data sets, and measures: as run_tool(). */
static int
measure(const struct judge *judge, const char *checkpoint)
{
    char *features[2] = {mem_format("%s/follow/train.npy", judge->run),
                         mem_format("%s/follow/test.npy", judge->run)};
    char *threads = mem_format("%ld", judge->threads);
    const char *data[2] = {judge->train, judge->test};
    int rc = 1;

    for (int i = 0; i < 2 && rc > 0; i++) {
        const char *words[] = {"-o",       features[i], "--threads", threads,
                               checkpoint, data[i],     NULL};

        rc = run_words(judge, "foil-embed", words);
    }
    for (size_t i = 0; i < MEASURES && rc > 0; i++) {
        const int knn = !strcmp(measures[i], "knn");
        const char *words[] = {measures[i],   "--threads", threads,
                               features[0],   features[1], knn ? "-k" : NULL,
                               judge->k_list, NULL};

        rc = run_words(judge, "foil-eval", words);
    }
    free(threads);
    free(features[0]);
    free(features[1]);
    return rc;
}

/* Points `best` to the best of those that are there; of equals, the first. */
static long
point_best(const struct judge *judge, const json_t *results)
{
    const json_t *best = NULL;
    struct err err;
    long at = -1, *steps;
    size_t n;

    steps = list_steps(judge, &n);
    for (size_t i = 0; i < n; i++) {
        const json_t *one = result_of(judge, results, steps[i], judge->by);

        if (one && (!best || accuracy(one) > accuracy(best))) {
            best = one;
            at = steps[i];
        }
    }
    free(steps);
    if (best && nn_checkpoint_point(judge->run, "best", at, &err))
        say("%s", err.msg);
    return at;
}

/* Prints what came of a checkpoint: a sentence for people, else JSON. */
static void
tell(const struct judge *judge, long step)
{
    json_t *results = read_results(judge), *line = json_object();
    const long best = point_best(judge, results);
    const int people = isatty(STDOUT_FILENO);

    json_object_set_new(line, "step", json_integer(step));
    if (people)
        printf("step %ld", step);
    for (size_t i = 0; i < MEASURES; i++) {
        const json_t *one = result_of(judge, results, step, measures[i]);
        const json_t *k = json_object_get(one, "k");

        if (people)
            printf("  %s%s%.0jd %.4f", measures[i], k ? " " : "",
                   (intmax_t)json_integer_value(k), accuracy(one));
        json_object_set_new(line, measures[i], json_real(accuracy(one)));
    }
    json_object_set_new(line, "best", json_integer(best));
    if (people)
        puts(best == step ? "  best" : "");
    else
        json_print(json_incref(line));
    fflush(stdout);
    json_decref(line);
    json_decref(results);
}

int
judge_step(const struct judge *judge, long step)
{
    char *checkpoint = mem_format("%s/step-%08ld", judge->run, step);
    json_t *results;
    struct err err;
    int rc;

    // the link keeps it from being removed, if it is still there now
    if (nn_checkpoint_point(judge->run, "judging", step, &err))
        die("%s", err.msg);
    rc = file_exists(checkpoint) ? measure(judge, checkpoint) : 0;
    if (rc == 0 && file_exists(checkpoint))
        die("'%s' could not be judged", checkpoint);
    free(checkpoint);
    if (rc <= 0)
        return 0;
    results = read_results(judge);
    if (!is_judged(judge, results, step))
        die("the results of step %ld are not in '%s/results.jsonl'", step,
            judge->run);
    json_decref(results);
    tell(judge, step);
    return 1;
}

int
judge_over(const struct judge *judge)
{
    struct err ignored;
    int over = 0;
    char *folder;

    if (nn_checkpoint_find(judge->run, &folder, &ignored) > 0) {
        json_t *config = train_config_read(folder, &ignored);
        const json_t *state = json_object_get(config, "state");
        const json_int_t epochs =
            json_integer_value(json_object_get(state, "epochs"));

        over = epochs > 0 &&
               json_integer_value(json_object_get(state, "epoch")) >= epochs;
        json_decref(config);
        free(folder);
    }
    return over;
}
