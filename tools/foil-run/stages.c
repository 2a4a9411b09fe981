#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline.h"
#include "run/settings.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const char *
command_of(const struct pipeline *p, int stage)
{
    return var(p, mem_keep_format("%s-command", pipeline_stages[stage]));
}

static int
ends_in(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

int
runs_foil_tool(const struct pipeline *p, int stage)
{
    const char *command = command_of(p, stage);
    const char *tool = mem_keep_format("foil-%s", pipeline_stages[stage]);

    return ends_in(command, tool) ||
           ends_in(command, mem_keep_format("%s-mpi", tool));
}

/* Returns the user's options for a stage; none if they are for a foreign
 * program and foil's tool is asked instead. */
static struct word_list
user_options(const struct pipeline *p, int stage)
{
    const char *name = pipeline_stages[stage];
    struct word_list theirs = {0};

    if (!p->query_own_select || runs_foil_tool(p, stage))
        pipeline_split(p, &theirs, name, var(p, name));
    return theirs;
}

void
merge_options(const struct pipeline *p, int stage, const struct word_list *own,
              struct word_list *words)
{
    const struct word_list theirs = user_options(p, stage);

    merge_items(stage, words, own, &theirs);
}

int
has_own_net(const struct pipeline *p)
{
    const struct word_list theirs = user_options(p, TRAIN);
    const size_t arch = item_find(&theirs, "--arch") + 1;

    return word_list_has(&theirs, "--encoder") &&
           (arch >= theirs.n || *theirs.word[arch] == ',');
}

/* Adds the header's options of the trainer, without those of a network if the
 * encoder is a program. */
static void
add_trainer(const struct pipeline *p, struct word_list *own)
{
    static const char nets[] = "--arch|--head|--embed|--text|--precision";
    const struct word_list *all = &p->defaults[TRAIN];
    const struct word_list *tuned =
        same_method(var(p, "objective"), p->usual) ? &p->tuned : own;
    const int without_net = has_own_net(p);
    struct word_list rest = {0};

    for (size_t i = 0, end; i < all->n; i = end) {
        const int of_net = without_net && opt_index(nets, all->word[i]) >= 0;

        end = item_end(all, i);
        if (of_net && !strcmp(all->word[i], "--text"))
            word_list_put(&rest, "--text", "program");
        for (; i < end && !of_net; i++)
            word_list_add(&rest, all->word[i]);
    }
    merge_items(TRAIN, own, &rest, tuned);
}

/* Removes --objective from both lists of the trainer's options; returns the
 * objective with all its parameters. */
static const char *
take_objective(const struct pipeline *p, struct word_list *own,
               struct word_list *theirs)
{
    const char *ours = take_item(own, "--objective");
    const char *cli = take_item(theirs, "--objective");
    const char *all = var(p, "objective");

    if (ours && setting_get(&p->cli, "objective"))
        all = merge_parameters(ours, all);
    else if (ours)
        all = merge_parameters(all, ours);
    return cli ? merge_parameters(all, cli) : all;
}

/* Adds the epochs of warm-up, at most a tenth of all; a checkpoint has its
 * own. */
static void
add_warmup(const struct pipeline *p, struct word_list *own)
{
    const long epochs = whole_var(p, "epochs");

    if (*var(p, "warm") && !run_has(p, "latest"))
        word_list_put(
            own, "--warmup",
            10 * whole_var(p, "warm") <= epochs
                ? var(p, "warm")
                : mem_keep_format("%ld.%ld", epochs / 10, epochs % 10));
}

/* Passes --override on to the trainer, except for most options of the
 * pipeline; the trainer's name for the data set is "dataset". */
static void
add_overrides(const struct pipeline *p, struct word_list *words)
{
    for (size_t i = 0; i < p->override.n; i++) {
        const char *key = p->override.word[i];

        if (p->operand.n && !strcmp(key, p->operand.word[0]))
            key = "dataset";
        else if (pipeline_is_key(p, key) &&
                 opt_index("objective|threads|seed", key) < 0)
            continue;
        word_list_put(words, "--override", key);
    }
}

static void
add_vocabulary(const struct pipeline *p, struct word_list *words)
{
    if (*var(p, "captions"))
        word_list_put(words, "--vocabulary", var(p, "captions"));
}

/* The epochs between two evaluations: those that the run remembers; at first a
 * divisor of them, the user's, the pipeline's or one for at most 20
 * checkpoints. */
static const char *
epochs_between(const struct pipeline *p)
{
    const struct word_list lists[] = {user_options(p, TRAIN),
                                      p->defaults[TRAIN]};
    struct settings pace = {0};
    struct err ignored;
    const char *stored;

    for (size_t i = 0; i < 2; i++) {
        const size_t own = item_find(&lists[i], "--checkpoint-epochs") + 1;

        if (own < lists[i].n)
            return lists[i].word[own];
    }
    setting_read(&pace, run_path(p, "compare/pace"), &ignored);
    stored = setting_get(&pace, "every");
    return stored ? stored
                  : mem_keep_format("%ld", (whole_var(p, "epochs") + 19) / 20);
}

static void
words_of_train(const struct pipeline *p, struct word_list *words)
{
    const char *keeps = var(p, "keep-epochs");
    struct word_list own = {0}, theirs = user_options(p, TRAIN);

    add_trainer(p, &own);
    word_list_put(words, "--objective", take_objective(p, &own, &theirs),
                  "--threads", var(p, "threads"), "--seed", var(p, "seed"));
    if (!p->foreign_trainer) {
        if (p->resume)
            word_list_add(words, "--resume");
        add_overrides(p, words);
        // the vocabulary is unchanged, even if the run has moved
        if (p->resume && *var(p, "captions") && !*var(p, "vocabulary"))
            word_list_put(words, "--override", "vocabulary");
    }
    if (p->evaluates && !word_list_has(&own, "--checkpoint-epochs") &&
        !word_list_has(&theirs, "--checkpoint-epochs"))
        word_list_put(words, "--checkpoint-epochs", epochs_between(p));
    add_vocabulary(p, words);
    add_warmup(p, &own);
    if (whole_var(p, "ranks") != 1 && !run_has(p, "latest"))
        word_list_put(&own, "--shards", var(p, "ranks"));
    if (*keeps && strcmp(keeps, "0"))
        word_list_put(&own, "--keep-features", keeps);
    merge_items(TRAIN, words, &own, &theirs);
}

static void
words_of_select(const struct pipeline *p, const char *data,
                struct word_list *words)
{
    const char *there = var(p, "at-data"); // its path at the selector

    word_list_put(words, "--seed", var(p, "seed"), "--batch", var(p, "batch"),
                  "--epochs", var(p, "epochs"));
    merge_options(p, SELECT, &p->defaults[SELECT], words);
    word_list_add(words, *there ? there : data);
}

/* Returns the method of the service; NULL if the objective needs none. */
static const char *
find_method(const struct pipeline *p)
{
    return json_string_value(json_object_get(p->trains, "negatives"));
}

/* A sampler that adds images from outside of the batch forwards the items to
 * the augmenters (--filter); --weigh-command replaces the sampler. */
static void
words_of_negatives(const struct pipeline *p, struct word_list *words)
{
    const char *filter = var(p, "filter");
    int outside = *filter ? !strcmp(filter, "yes")
                          : json_is_true(json_object_get(p->trains, "outside"));

    word_list_put(words, "--seed", var(p, "seed"));
    merge_options(p, NEGATIVES, &p->defaults[NEGATIVES], words);
    if (word_list_has(words, "--weigh-command")) {
        outside = !strcmp(filter, "yes") && setting_get(&p->cli, "filter");
    } else if (!word_list_has(words, "--method")) {
        word_list_put(words, "--method", find_method(p));
    } else {
        char **method = &words->word[item_find(words, "--method") + 1];

        if (*method && **method == ',')
            *method = mem_keep_format("%s%s", find_method(p), *method);
    }
    if (outside && !word_list_has(words, "--filter"))
        word_list_add(words, "--filter");
}

static void
words_of_augment(const struct pipeline *p, const char *data,
                 struct word_list *words)
{
    struct word_list service = {0}, own = {0};

    word_list_put(words, "--seed", var(p, "seed"));
    add_vocabulary(p, words);
    word_list_join(&own, &p->defaults[AUGMENT]);
    if (find_method(p))
        words_of_negatives(p, &service);
    if (word_list_has(&service, "--filter"))
        word_list_add(&own, "--filter");
    merge_options(p, AUGMENT, &own, words);
    word_list_add(words, data);
}

/* Whether mpirun starts foil's trainer, with several ranks. */
static int
runs_ranks(const struct pipeline *p)
{
    return strcmp(var(p, "ranks"), "1") &&
           !strcmp(command_of(p, TRAIN), "foil-train");
}

/* Adds the command prefix that runs the selector elsewhere. */
static void
add_elsewhere(const struct pipeline *p, struct word_list *words)
{
    if (*var(p, "at"))
        pipeline_split(p, words, "at", var(p, "at"));
}

/* Returns a command that starts a program as several ranks. */
static const char *
words_of_ranks(const struct pipeline *p, const char *program)
{
    struct word_list words = {0};

    word_list_put(&words, "mpirun", "-n", var(p, "ranks"));
    if (*var(p, "hosts"))
        word_list_put(&words, "--hostfile", var(p, "hosts"));
    word_list_add(&words, program);
    return word_list_text(words.word, words.n);
}

/* Tests mpirun first, as its own errors fill pages: as root, or if a host is
 * unreachable. */
static void
try_ranks(const struct pipeline *p)
{
    const char *line = words_of_ranks(p, "true");
    char *word[] = {(char[]){"sh"}, (char[]){"-c"},
                    mem_keep_format("%s >/dev/null 2>&1 || echo no", line),
                    NULL};

    if (*step_capture(word))
        die("mpirun starts no processes: run '%s' to see why%s", line,
            geteuid() || getenv("OMPI_ALLOW_RUN_AS_ROOT")
                ? ""
                : "; as root, set OMPI_ALLOW_RUN_AS_ROOT=1 and "
                  "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1");
}

/* Adds a line to the list: name, copies, restarts and command, with the run
 * directory of the machine of the stage. */
static void
put_stage(const struct pipeline *p, FILE *list, int stage,
          const struct word_list *words)
{
    const char *command = command_of(p, stage), *restart = "never";
    const char *copies = stage == AUGMENT ? var(p, "augmenters") : "1";
    char *run = mem_keep_format("%s", stage == SELECT ? var(p, "at-run") : "");
    struct word_list there = {0};

    if (stage == TRAIN) // mpirun kills its processes at a SIGTERM
        copies = runs_ranks(p) || !strncmp(command, "mpirun ", 7) ||
                         !strncmp(command, "srun ", 5)
                     ? "main,USR1"
                     : "main";
    else
        restart = mem_keep_format("killed,%s", var(p, "restarts"));
    if (stage == TRAIN && runs_ranks(p))
        command = words_of_ranks(p, "foil-train-mpi");
    if (stage == SELECT)
        add_elsewhere(p, &there);
    fprintf(list, "%-10s %-7s  %-8s %s%s%s -r %s %s\n", pipeline_stages[stage],
            copies, restart, word_list_text(there.word, there.n),
            there.n ? " " : "", command,
            *run ? word_list_text(&run, 1) : "$RUN",
            word_list_text(words->word, words->n));
}

char *
stages_text(struct pipeline *p, const char *data, const char *test)
{
    struct word_list train = {0}, negatives = {0}, augment = {0}, select = {0},
                     evaluate = {0};
    char *text = NULL;
    size_t n;
    FILE *list = open_memstream(&text, &n);

    REQUIRE(list);
    // sinks start before sources
    fputs("# name     copies  restart   command\n", list);
    words_of_train(p, &train);
    put_stage(p, list, TRAIN, &train);
    if (find_method(p)) {
        words_of_negatives(p, &negatives);
        put_stage(p, list, NEGATIVES, &negatives);
    }
    words_of_augment(p, data, &augment);
    put_stage(p, list, AUGMENT, &augment);
    words_of_select(p, data, &select);
    put_stage(p, list, SELECT, &select);
    if (p->evaluates) {
        word_list_put(&evaluate, "compare", "--during", epochs_between(p), data,
                      *test ? test : NULL);
        fprintf(list, "evaluate 1 optional %s\n",
                word_list_text(evaluate.word, evaluate.n));
    }
    REQUIRE(!fclose(list));
    return mem_keep(text);
}

static json_t *
ask_tool(const struct word_list *words)
{
    struct err err;
    const char *text = step_capture(words->word);
    json_t *answer = json_parse(text, strlen(text), words->word[0], &err);

    or_die(!answer, &err);
    return answer;
}

/* Returns the output of foil's tool of a stage with --dry-run, which refuses
 * wrong options; NULL if the stage is a foreign program. */
static json_t *
ask_stage(const struct pipeline *p, int stage, const struct word_list *options)
{
    struct word_list words = {0};

    if (!runs_foil_tool(p, stage))
        return NULL;
    word_list_put(&words, mem_keep_format("foil-%s", pipeline_stages[stage]),
                  "--dry-run", "-r", var(p, "RUN"));
    word_list_join(&words, options);
    return ask_tool(&words);
}

/* Checks that augmenters make as many views as the trainer takes. */
static void
ask_augmenters(const struct pipeline *p, const char *data)
{
    const char *run = var(p, "RUN"), *vocabulary = var(p, "captions");
    struct word_list augment = {0};
    json_int_t views, wants;
    json_t *answer;

    if (!strncmp(vocabulary, run, strlen(run)) && !file_exists(vocabulary))
        return; // a file of the run that does not exist yet
    words_of_augment(p, data, &augment);
    answer = ask_stage(p, AUGMENT, &augment);
    views = json_integer_value(json_object_get(answer, "views"));
    wants = json_integer_value(json_object_get(p->trains, "views"));
    json_decref(answer);
    if (views && wants && views != wants)
        die("--augment: foil-augment makes %jd views of each image, and "
            "foil-train takes %jd: want --views %jd",
            (intmax_t)views, (intmax_t)wants, (intmax_t)wants);
}

/* Checks the other stages, and foil-embed, which runs last. */
static void
ask_others(const struct pipeline *p, const char *data)
{
    struct word_list negatives = {0}, embed = {0};

    if (find_method(p)) {
        words_of_negatives(p, &negatives);
        json_decref(ask_stage(p, NEGATIVES, &negatives));
    }
    ask_augmenters(p, data);
    if (!*var(p, "embed"))
        return;
    word_list_put(&embed, "foil-embed", "--dry-run", "-o",
                  run_path(p, "features.npy"));
    merge_options(p, EMBED, &p->defaults[EMBED], &embed);
    word_list_put(&embed, run_path(p, "latest"), data);
    step_capture(embed.word);
}

void
stages_dry_run(struct pipeline *p, const char *data)
{
    struct word_list select = {0}, train = {0};
    struct err ignored;

    p->query_own_select = 1;
    json_decref(p->selects);
    json_decref(p->trains);
    p->selects = NULL;
    set_var(p, "keep-epochs", "");
    if (*data) {
        add_elsewhere(p, &select);
        word_list_put(&select, "foil-select", "--dry-run");
        words_of_select(p, data, &select);
        p->selects = ask_tool(&select);
        set_var(
            p, "keep-epochs",
            mem_keep_format("%jd", (intmax_t)json_integer_value(json_object_get(
                                       p->selects, "keep_features"))));
    }
    p->foreign_trainer = !runs_foil_tool(p, TRAIN);
    word_list_put(&train, "foil-train", "--dry-run", "-r",
                  p->foreign_trainer ? run_path(p, "none") : var(p, "RUN"));
    words_of_train(p, &train);
    p->trains = ask_tool(&train);
    if (p->foreign_trainer) { // its checkpoint has the progress
        json_t *config = run_config_newest(var(p, "RUN"), &ignored);

        if (json_is_object(json_object_get(config, "state")))
            json_object_update(p->trains, json_object_get(config, "state"));
        json_decref(config);
    }
    if (*data)
        ask_others(p, data);
    if (*data && runs_ranks(p))
        try_ranks(p);
    p->foreign_trainer = p->query_own_select = 0;
    if (json_is_true(json_object_get(p->trains, "enough")) ||
        json_integer_value(json_object_get(p->trains, "epoch")) >=
            whole_var(p, "epochs"))
        p->trained = 1;
}
