#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "select.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/batch.h"

enum { LEAST_WINDOW = 4 }; // shards

static struct select_options o = {.batch = 128,
                                  .epochs = 100,
                                  .lag = 1,
                                  .threads = 1,
                                  .lease = 10,
                                  .list = -1,
                                  .limit = 600};
static const char *strategy = "shuffle";

/* The table of options: these, the parameters of strategies, from lib/select,
 * and `rest`. */
static const struct opt plan[] = {
    STAGE_RUN_OPT(o.stage),
    {"plan", 0, OPT_TEXT, &o.plan, 0, 0, "ENDPOINT",
     "endpoint for augmenters [ipc://DIR/plan]"},
    {"trainer", 0, OPT_TEXT, &o.trainer, 0, 0, "ENDPOINT",
     "endpoint of the trainer for features [ipc://DIR/features]"},
    {"strategy", 0, OPT_METHOD, &strategy, 0, 0, "NAME[,PARAM=X]...",
     "how to choose batches, one of --list strategies"},
    {"strategy-command", 0, OPT_TEXT, &o.command, 0, 0, "COMMAND",
     "your program that makes plans, instead of --strategy"},
    {"command-limit", 0, OPT_REAL, &o.limit, 0.1, 1e6, "SECONDS",
     "time limit of the command for an answer"},
    {"partial", 0, OPT_FLAG, &o.partial, 0, 0, NULL,
     "the command may leave out and repeat samples"},
    {"batch", 'b', OPT_WHOLE, &o.batch, 2, WIRE_BATCH_MAX - 1, "N",
     "at most N samples in a batch"},
    {"epochs", 'e', OPT_WHOLE, &o.epochs, 1, 1e9, "N",
     "epochs of the whole run"},
    {"seed", 's', OPT_WHOLE, &o.seed, 0, 1e15, "N",
     "seed of the random numbers"},
    {"remainder", 0, OPT_CHOICE, &o.remainder, 0, 0, "keep|drop|wrap",
     "what to do with samples that do not fill a batch"},
    {"windows", 0, OPT_WHOLE, &o.windows, 0, 1e6, "K",
     "order samples within K shards at a time; 0: among all"},
    {0},
};
static const struct opt rest[] = {
    {"avoid", 0, OPT_TEXT, &o.avoid, 0, 0, "FILE",
     "group of each sample, .npy: separate samples of a group"},
    {"features", 0, OPT_CHOICE, &o.features, 0, 0, "steps|eval|none",
     "features from the training steps, or from an extra pass"},
    {"table", 0, OPT_CHOICE, &o.half, 0, 0, "f32|f16",
     "precision of features in messages of the trainer"},
    {"lag", 0, OPT_WHOLE, &o.lag, 0, 100, "EPOCHS",
     "age of features, in epochs before the last epoch"},
    {"policy", 0, OPT_CHOICE, &o.policy, 0, 0, "wait|previous|shuffle",
     "what to do while a plan is not ready"},
    {"threads", 0, OPT_WHOLE, &o.threads, 0, 1024, "N",
     "threads for planning; 0: all cores"},
    {"lease", 0, OPT_REAL, &o.lease, 0.1, 86400, "SECONDS",
     "time after which another augmenter gets an item"},
    {"quarantine", 0, OPT_TEXT, &o.quarantine, 0, 0, "FILE",
     "write a list of samples that could not be used"},
    {"score", 0, OPT_FLAG, &o.score, 0, 0, NULL,
     "plan an epoch from files and print how hard its batches are"},
    {"plan-out", 0, OPT_TEXT, &o.plan_out, 0, 0, "FILE",
     "score: write the plan, a line of ids for each batch"},
    {"losses", 0, OPT_TEXT, &o.losses, 0, 0, "FILE",
     "score: write the loss of each batch, a line each"},
    {"list", 0, OPT_CHOICE, &o.list, 0, 0, "strategies|options",
     "print all strategies, or the options, as JSON, one a line, and end"},
    {"dry-run", 0, OPT_FLAG, &o.dry, 0, 0, NULL,
     "check options and DATA, print what the plan needs, and end"},
    STAGE_KEYS_OPTS(o.stage),
    {0},
};
static struct opt opts[OPT_MOST];
static struct param_set params;

static const struct opt_tool tool = {
    "foil-select",
    "decide which samples share a mini-batch",
    "DATA | U.npy [V.npy]",
    0,
    2,
    opts,
};

static void
check_windows(void)
{
    if (!o.windows)
        return;
    if (o.windows < LEAST_WINDOW)
        opt_misuse("--windows %ld: want %d or more, as samples of one shard "
                   "would share most batches",
                   o.windows, LEAST_WINDOW);
    if (o.command || o.value[SELECT_REFINE] ||
        (strcmp(o.strategy->name, "shuffle") &&
         strcmp(o.strategy->name, "fixed")))
        opt_misuse(
            "--windows is for --strategy shuffle and fixed, without refine: "
            "others order all samples of an epoch");
    if (o.avoid || o.score || o.features == FEATURES_EVAL)
        opt_misuse("--windows does not go with %s: it is about all samples",
                   o.avoid   ? "--avoid"
                   : o.score ? "--score"
                             : "--features eval");
}

const struct select_options *
select_options_get(int argc, char **argv)
{
    size_t n = opt_append(opts, 0, plan);
    struct err err;

    for (size_t i = 0; select_strategies[i]; i++)
        param_set_add(&params, "strategy", select_strategies[i]->name,
                      select_strategies[i]->params);
    n = param_set_opts(&params, opts, n);
    opt_append(opts, n, rest);
    o.operand = opt_parse(&tool, argc, argv);
    while (o.operand[o.operands])
        o.operands++;
    o.strategy = o.command ? &select_strategy_command
                           : select_strategy_find(strategy, &err);
    if (!o.strategy)
        opt_misuse("%s", err.msg);
    param_set_get(&params, o.strategy->params, o.value);
    if (!o.operands && o.list < 0)
        opt_misuse("needs %s", tool.operands);
    if (!o.score && o.operands > 1)
        opt_misuse("two files are for --score");
    if (o.plan_out && !o.score)
        opt_misuse("--plan-out belongs to --score");
    if (o.losses && !o.score)
        opt_misuse("--losses belongs to --score");
    if (o.command && opt_is_set(&strategy))
        opt_misuse("--strategy-command and --strategy exclude each other");
    if (!o.command && opt_is_set(&o.limit))
        opt_misuse("--command-limit belongs to --strategy-command");
    if (!o.command && o.partial)
        opt_misuse("--partial belongs to --strategy-command");
    if (o.features == FEATURES_NONE && (!o.command || o.value[SELECT_REFINE]))
        opt_misuse(
            "--features none is for --strategy-command without --refine");
    check_windows();
    opt_together(&o.stage.keys, &o.stage.allow);
    return &o;
}

struct select_windows *
select_open_windows(const struct data_set *set, size_t each, uint64_t seed)
{
    struct select_windows *windows;
    struct err err;
    size_t n;
    uint64_t *first = data_shards(set, &n, &err);

    or_die(!first, &err);
    if (n < LEAST_WINDOW)
        die("--windows wants a set of %d shards or more, such as indexes of "
            "foil data join or tars of one index: here is %zu",
            LEAST_WINDOW, n);
    windows = select_windows_new(n, first, each, seed);
    free(first);
    return windows;
}

int
select_options_use_features(const struct select_options *options,
                            const struct select_strategy *of)
{
    return options->features != FEATURES_NONE &&
           (of->needs_features || options->value[SELECT_REFINE]);
}

/* Reads the group of each sample, from a file of integers. */
static int64_t *
read_groups(const char *path, size_t size)
{
    struct data_npy npy;
    struct err err;
    int64_t *group;

    or_die(data_npy_read(path, &npy, &err), &err);
    if (npy.shape[0] != size || npy.shape[1] != 1)
        die("'%s' is no vector of %zu whole numbers", path, size);
    group = data_npy_wholes(&npy, &err);
    if (!group)
        die("'%s' is no vector of whole numbers: %s", path, err.msg);
    data_npy_release(&npy);
    return group;
}

struct select_task
select_options_task(const struct select_options *options, size_t size)
{
    struct select_task task = {.seed = (uint64_t)options->seed};
    struct err err;

    memcpy(task.value, options->value, sizeof task.value);
    or_die(select_layout_make(size, (size_t)options->batch, options->remainder,
                              &task.layout, &err) ||
               select_strategy_fit(options->strategy, &task.layout, task.value,
                                   &err),
           &err);
    if (options->avoid)
        task.group = read_groups(options->avoid, size);
    return task;
}

void
select_options_print(const struct select_options *options, char text[256])
{
    char *all = NULL;

    if (options->command)
        mem_append(&all, "--strategy-command '%s'", options->command);
    else
        mem_append(&all, "--strategy %s", options->strategy->name);
    // appends the parameters that differ from their defaults
    for (size_t i = 0; options->strategy->params[i].name; i++) {
        int length;
        const char *word;

        if (options->value[i] == options->strategy->params[i].value)
            continue;
        mem_append(&all, ",%s", options->strategy->params[i].name);
        if (options->strategy->params[i].kind == OPT_CHOICE) {
            word = opt_word(options->strategy->params[i].arg,
                            (int)options->value[i], &length);
            mem_append(&all, "=%.*s", length, word);
        } else if (options->strategy->params[i].kind != OPT_FLAG) {
            mem_append(&all, "=%.12g", options->value[i]);
        }
    }
    mem_append(&all, " -b %ld -s %ld", options->batch, options->seed);
    if (options->remainder != SELECT_KEEP)
        mem_append(&all, " --remainder %s", opt_choice(&o.remainder));
    if (options->windows)
        mem_append(&all, " --windows %ld", options->windows);
    if (options->avoid)
        mem_append(&all, " --avoid %s", options->avoid);
    if (select_options_use_features(options, options->strategy))
        mem_append(&all, " --features %s --lag %ld", opt_choice(&o.features),
                   options->lag);
    snprintf(text, 256, "%s", all);
    free(all);
}

static json_t *
keep_features(const struct select_options *options, int wants)
{
    return json_integer(wants ? options->lag + 1 : 0);
}

void
select_print_list(const struct select_options *options)
{
    for (size_t i = 0; select_strategies[i]; i++) {
        const struct select_strategy *s = select_strategies[i];
        const int wants = select_options_use_features(options, s);

        json_print(json_pack("{s:s, s:s, s:b, s:o, s:o}", "name", s->name,
                             "summary", s->summary, "features", wants,
                             "keep_features", keep_features(options, wants),
                             "defaults", param_list(s->params)));
    }
}

void
select_print_needs(const struct select_options *options,
                   const struct select_task *task, struct select_plan *of)
{
    const struct select_layout *layout = &task->layout;
    const int wants = select_options_use_features(options, options->strategy);
    const int64_t *ids;
    size_t n;
    json_t *needs = json_pack(
        "{s:s, s:o, s:I, s:I, s:I, s:I}", "strategy", options->strategy->name,
        "keep_features", keep_features(options, wants), "samples",
        (json_int_t)layout->size, "batches", (json_int_t)layout->steps,
        "largest", (json_int_t)select_layout_count(layout, 0), "least",
        (json_int_t)select_layout_count(layout, layout->steps - 1));

    if (task->windows) {
        ids = select_plan_batch(of, 0, 0, &n);
        json_object_set_new(
            needs, "same_shard",
            json_real(select_windows_same_shard(task->windows, n, ids)));
    }
    json_print(needs);
}
