#include <stdlib.h>
#include <string.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

/* Returns 1 when RUN/NAME is there. */
static int
is_in_run(const struct pipeline *p, const char *name)
{
    char *path = mem_format("%s/%s", var(p, "RUN"), name);
    const int is = file_exists(path);

    free(path);
    return is;
}

/* Whether a stage's command ends in our tool, which knows its options. */
static int
runs_ours(const struct pipeline *p, int stage)
{
    char *key = mem_format("%s-command", pipeline_stages[stage]);
    char *tool = mem_format("foil-%s", pipeline_stages[stage]);
    const char *command = var(p, key), *end = strstr(command, tool);

    for (const char *next = end; (next = next ? strstr(next + 1, tool) : NULL);)
        end = next;
    if (end)
        end += strlen(tool);
    free(tool);
    free(key);
    return end && (!*end || !strcmp(end, "-mpi"));
}

/* Adds what the user says of a stage, unless it is for a program of another
 * kind and we ask our own. */
static void
add_theirs(const struct pipeline *p, int stage, struct word_list *theirs)
{
    const char *name = pipeline_stages[stage];

    if (!p->selects_ours || runs_ours(p, stage))
        pipeline_split(p, theirs, name, var(p, name));
}

void
merge_options(const struct pipeline *p, int stage, const struct word_list *own,
              struct word_list *words)
{
    struct word_list theirs = {0};

    add_theirs(p, stage, &theirs);
    for (size_t i = 0, end; i < own->n; i = end) {
        const size_t n = strlen(own->word[i]);
        int replaced = 0;

        end = item_end(own, i);
        for (size_t j = 0; j < theirs.n && !replaced; j++)
            replaced = strcspn(theirs.word[j], "=") == n &&
                       !memcmp(theirs.word[j], own->word[i], n);
        for (; i < end && !replaced; i++)
            word_list_add(words, own->word[i]);
    }
    for (size_t i = 0; i < theirs.n; i++)
        word_list_add(words, theirs.word[i]);
    word_list_release(&theirs);
}

/* ------------------------------------------------------------ the trainer */

int
has_own_net(const struct pipeline *p)
{
    struct word_list theirs = {0};
    int encoder = 0, arch = 0;

    add_theirs(p, TRAIN, &theirs);
    for (size_t i = 0; i < theirs.n; i++) {
        const size_t n = strcspn(theirs.word[i], "=");

        encoder |= n == 9 && !memcmp(theirs.word[i], "--encoder", n);
        arch |= n == 6 && !memcmp(theirs.word[i], "--arch", n);
    }
    word_list_release(&theirs);
    return encoder && !arch;
}

/* Adds the list's options of the trainer, of which those of a net say nothing
 * where the encoder is a program's. */
static void
add_trainer(const struct pipeline *p, struct word_list *own)
{
    static const char *const nets[] = {"--arch", "--stem",     "--width",
                                       "--norm", "--head",     "--embed",
                                       "--text", "--precision"};
    const struct word_list *all = &p->defaults[TRAIN];
    const int without_net = has_own_net(p);

    for (size_t i = 0, end; i < all->n; i = end) {
        int of_net = 0;

        end = item_end(all, i);
        for (size_t j = 0; j < sizeof nets / sizeof *nets && without_net; j++)
            of_net |= !strcmp(all->word[i], nets[j]);
        if (of_net && !strcmp(all->word[i], "--text"))
            word_list_put(own, "--text", "program", (char *)NULL);
        for (; i < end && !of_net; i++)
            word_list_add(own, all->word[i]);
    }
    for (size_t i = 0; i < p->tuned.n; i++)
        if (!strcmp(var(p, "objective"), var(p, "usual")))
            word_list_add(own, p->tuned.word[i]);
}

/* Adds the epochs of warm-up, a tenth of all at most; a checkpoint knows its
 * own. */
static void
add_warmup(const struct pipeline *p, struct word_list *own)
{
    const long epochs = whole_var(p, "epochs");
    char *value = 10 * whole_var(p, "warm") <= epochs
                      ? mem_text(var(p, "warm"))
                      : mem_format("%ld.%ld", epochs / 10, epochs % 10);

    if (*var(p, "warm") && !is_in_run(p, "latest"))
        word_list_put(own, "--warmup", value, (char *)NULL);
    free(value);
}

/* Adds what the trainer may know of --override: of what is the pipeline's it
 * knows little, and a data set has another name there. */
static void
add_overrides(const struct pipeline *p, struct word_list *words)
{
    static const char *const known[] = {"objective", "threads", "seed"};

    for (size_t i = 0; i < p->override.n; i++) {
        const char *key = p->override.word[i];
        int is = !pipeline_is_key(p, key);

        for (size_t j = 0; j < sizeof known / sizeof *known; j++)
            is |= !strcmp(known[j], key);
        if (p->operand.n && !strcmp(key, p->operand.word[0])) {
            key = "dataset";
            is = 1;
        }
        if (is)
            word_list_put(words, "--override", key, (char *)NULL);
    }
}

static void
add_vocabulary(const struct pipeline *p, struct word_list *words)
{
    if (*var(p, "captions"))
        word_list_put(words, "--vocabulary", var(p, "captions"), (char *)NULL);
}

/* Adds the words of the trainer, with RUN as the run directory. */
static void
words_of_train(const struct pipeline *p, const char *run,
               struct word_list *words)
{
    const long ranks = whole_var(p, "ranks");
    struct word_list own = {0};

    word_list_put(words, "-r", run, "--objective", var(p, "objective"),
                  "--threads", var(p, "threads"), "--seed", var(p, "seed"),
                  (char *)NULL);
    if (p->resume && !p->asks_elsewhere)
        word_list_add(words, "--resume");
    if (!p->asks_elsewhere)
        add_overrides(p, words);
    // its own vocabulary is that of before, by whatever path the run is called
    if (p->resume && !p->asks_elsewhere && *var(p, "captions") &&
        !*var(p, "vocabulary"))
        word_list_put(words, "--override", "vocabulary", (char *)NULL);
    add_vocabulary(p, words);
    add_trainer(p, &own);
    add_warmup(p, &own);
    if (ranks != 1 && !is_in_run(p, "latest"))
        word_list_put(&own, "--shards", var(p, "ranks"), (char *)NULL);
    if (*var(p, "keep-epochs") && strcmp(var(p, "keep-epochs"), "0"))
        word_list_put(&own, "--keep-features", var(p, "keep-epochs"),
                      (char *)NULL);
    merge_options(p, TRAIN, &own, words);
    word_list_release(&own);
}

/* ------------------------------------------------------------- the others */

static void
words_of_select(const struct pipeline *p, struct word_list *words)
{
    word_list_put(words, "--seed", var(p, "seed"), "--batch", var(p, "batch"),
                  "--epochs", var(p, "epochs"), (char *)NULL);
    merge_options(p, SELECT, &p->defaults[SELECT], words);
}

/* Returns the method of the service, NULL where the objective wants none. */
static const char *
find_method(const struct pipeline *p)
{
    return json_string_value(json_object_get(p->trains, "negatives"));
}

static int
has_filter(const struct word_list *words)
{
    for (size_t i = 0; i < words->n; i++)
        if (!strcmp(words->word[i], "--filter"))
            return 1;
    return 0;
}

/* Where negatives come from outside of the batch, the service stands before the
 * augmenters. */
static void
words_of_negatives(const struct pipeline *p, struct word_list *words)
{
    const char *filter = var(p, "filter");
    struct word_list own = {0};

    word_list_put(words, "-r", var(p, "RUN"), "--seed", var(p, "seed"),
                  (char *)NULL);
    for (size_t i = 0; i < p->defaults[NEGATIVES].n; i++)
        word_list_add(&own, p->defaults[NEGATIVES].word[i]);
    word_list_put(&own, "--method", find_method(p), (char *)NULL);
    merge_options(p, NEGATIVES, &own, words);
    if ((*filter ? !strcmp(filter, "yes")
                 : json_is_true(json_object_get(p->trains, "outside"))) &&
        !has_filter(words))
        word_list_add(words, "--filter");
    word_list_release(&own);
}

static void
words_of_augment(const struct pipeline *p, struct word_list *words)
{
    struct word_list service = {0}, own = {0};

    word_list_put(words, "-r", var(p, "RUN"), "--seed", var(p, "seed"),
                  (char *)NULL);
    add_vocabulary(p, words);
    for (size_t i = 0; i < p->defaults[AUGMENT].n; i++)
        word_list_add(&own, p->defaults[AUGMENT].word[i]);
    if (find_method(p))
        words_of_negatives(p, &service);
    if (has_filter(&service))
        word_list_add(&own, "--filter");
    merge_options(p, AUGMENT, &own, words);
    word_list_release(&service);
    word_list_release(&own);
}

/* Adds what runs a command where the selector is to be. */
static void
add_elsewhere(const struct pipeline *p, struct word_list *words)
{
    if (*var(p, "at"))
        pipeline_split(p, words, "at", var(p, "at"));
}

/* Returns the selector's data set, as it is called where it runs. */
static const char *
data_of_select(const struct pipeline *p, const char *data)
{
    return *var(p, "select-data") ? var(p, "select-data") : data;
}

/* --------------------------------------------------------------- the list */

/* The trainer as several processes. */
static void
put_ranks(const struct pipeline *p, FILE *list)
{
    struct word_list words = {0};
    char *text;

    word_list_put(&words, "mpirun", "-n", var(p, "ranks"), (char *)NULL);
    if (*var(p, "hosts"))
        word_list_put(&words, "--hostfile", var(p, "hosts"), (char *)NULL);
    word_list_add(&words, "foil-train-mpi");
    text = word_list_text(words.word, words.n);
    fputs(text, list);
    free(text);
    word_list_release(&words);
}

/* Adds a line of the list: copies and restart policy as it has them, and how
 * the stage is started, with the run directory as $RUN. */
static void
put_stage(const struct pipeline *p, FILE *list, int stage, const char *copies,
          const struct word_list *words)
{
    char *key = mem_format("%s-command", pipeline_stages[stage]);
    const char *command = var(p, key);
    char *restart = stage == TRAIN
                        ? mem_text("never")
                        : mem_format("killed,%s", var(p, "restarts"));
    struct word_list there = {0};
    char *lead, *text;
    const int ranks = stage == TRAIN && strcmp(var(p, "ranks"), "1") &&
                      runs_ours(p, TRAIN) && !strcmp(command, "foil-train");

    if (stage == SELECT)
        add_elsewhere(p, &there);
    lead = word_list_text(there.word, there.n);
    fprintf(list, "%-10s %-7s  %-8s %s%s", pipeline_stages[stage], copies,
            restart, lead, *lead ? " " : "");
    if (ranks)
        put_ranks(p, list);
    else
        fputs(command, list);
    fputs(" -r ", list);
    text = strcmp(words->word[1], var(p, "RUN"))
               ? word_list_text(words->word + 1, 1)
               : mem_text("$RUN");
    fprintf(list, "%s ", text);
    free(text);
    text = word_list_text(words->word + 2, words->n - 2);
    fprintf(list, "%s\n", text);
    free(text);
    free(lead);
    free(restart);
    free(key);
    word_list_release(&there);
}

/* mpirun kills its processes at a SIGTERM. */
static const char *
main_of(const struct pipeline *p)
{
    const char *command = var(p, "train-command");

    return !strncmp(command, "mpirun ", 7) || !strncmp(command, "srun ", 5) ||
                   (strcmp(var(p, "ranks"), "1") &&
                    !strcmp(command, "foil-train"))
               ? "main,USR1"
               : "main";
}

char *
stages_text(struct pipeline *p, const char *data)
{
    const char *there = var(p, "select-run");
    struct word_list words = {0};
    char *text = NULL;
    size_t n;
    FILE *list = open_memstream(&text, &n);

    REQUIRE(list);
    // sinks start before sources
    fputs("# name     copies  restart   command\n", list);
    words_of_train(p, var(p, "RUN"), &words);
    put_stage(p, list, TRAIN, main_of(p), &words);
    word_list_release(&words);
    if (find_method(p)) {
        words_of_negatives(p, &words);
        put_stage(p, list, NEGATIVES, "1", &words);
        word_list_release(&words);
    }
    words_of_augment(p, &words);
    word_list_add(&words, data);
    put_stage(p, list, AUGMENT, var(p, "augmenters"), &words);
    word_list_release(&words);
    word_list_put(&words, "-r", *there ? there : var(p, "RUN"), (char *)NULL);
    words_of_select(p, &words);
    word_list_add(&words, data_of_select(p, data));
    put_stage(p, list, SELECT, "1", &words);
    word_list_release(&words);
    REQUIRE(!fclose(list));
    return text;
}

/* ------------------------------------------------------- what they make of it
 */

/* Returns the answer of a tool, an object of JSON. */
static json_t *
ask_tool(struct word_list *words)
{
    struct err err;
    char *text = step_capture(words->word);
    json_t *answer = json_parse(text, strlen(text), words->word[0], &err);

    if (!answer)
        die("%s", err.msg);
    free(text);
    word_list_release(words);
    return answer;
}

/* A checkpoint that another kind of trainer wrote says itself how far it is. */
static void
ask_checkpoint(struct pipeline *p)
{
    char *path = mem_format("%s/latest/config.json", var(p, "RUN"));
    struct err ignored;
    size_t len;
    char *text = file_read(path, 1 << 24, &len, &ignored);
    json_t *config = text ? json_parse(text, len, path, &ignored) : NULL;

    if (json_is_object(json_object_get(config, "state")))
        json_object_update(p->trains, json_object_get(config, "state"));
    json_decref(config);
    free(text);
    free(path);
}

void
stages_ask(struct pipeline *p, const char *data)
{
    char *none = mem_format("%s/none", var(p, "RUN"));
    struct word_list words = {0};
    char number[24] = "";

    p->selects_ours = 1;
    json_decref(p->selects);
    json_decref(p->trains);
    p->selects = NULL;
    set_var(p, "keep-epochs", "");
    if (*data) {
        add_elsewhere(p, &words);
        word_list_put(&words, "foil-select", "--dry-run", (char *)NULL);
        words_of_select(p, &words);
        word_list_add(&words, data_of_select(p, data));
        p->selects = ask_tool(&words);
        snprintf(number, sizeof number, "%jd",
                 (intmax_t)json_integer_value(
                     json_object_get(p->selects, "keep_features")));
        set_var(p, "keep-epochs", number);
    }
    p->asks_elsewhere = !runs_ours(p, TRAIN);
    word_list_put(&words, "foil-train", "--dry-run", (char *)NULL);
    words_of_train(p, p->asks_elsewhere ? none : var(p, "RUN"), &words);
    p->trains = ask_tool(&words);
    if (p->asks_elsewhere)
        ask_checkpoint(p);
    p->asks_elsewhere = p->selects_ours = 0;
    if (json_is_true(json_object_get(p->trains, "enough")) ||
        json_integer_value(json_object_get(p->trains, "epoch")) >=
            whole_var(p, "epochs"))
        p->learnt = LEARNT_BEFORE;
    free(none);
}
