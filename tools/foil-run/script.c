#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "pipeline.h"
#include "util/file.h"
#include "util/opt.h"

/* ------------------------------------------------------------- its header */

static void
take_operands(struct pipeline *p, const struct word_list *word)
{
    p->described = "";
    for (size_t i = 0; i < word->n; i++) {
        const char *given = word->word[i];
        const int may = *given == '[';
        const char *name =
            keep("%.*s", (int)strcspn(given + may, "]"), given + may);

        p->described = keep("%s%s%s", p->described, i ? " " : "", given);
        word_list_add(&p->operand, name);
        set_var(p, name, "");
        p->needed += !may;
    }
}

static void
take_own_option(struct pipeline *p, const struct word_list *word)
{
    pipeline_row_add(p, word->word[0], word->word[1], word->word[3]);
    set_var(p, word->word[0], word->word[2]);
}

static void
take_default(struct pipeline *p, const struct word_list *word)
{
    set_var(p, word->word[0], word->word[1]);
}

/* ------------------------------------------------------------------ steps */

static void
do_set(struct pipeline *p, const struct word_list *word)
{
    const char *name = word->word[0];

    if (stage_named(name, strlen(name)) >= 0)
        die("'%s' is what the user says of that stage: set another variable",
            name);
    set_var(p, name, word->word[1]);
}

static void
do_let(struct pipeline *p, const struct word_list *word)
{
    set_var(p, word->word[0], step_capture(word->word + 1));
}

static void
do_say(struct pipeline *p, const struct word_list *word)
{
    (void)p;
    say("%s", word->word[0]);
}

static void
do_fail(struct pipeline *p, const struct word_list *word)
{
    (void)p;
    die("%s", word->word[0]);
}

static void
do_misuse(struct pipeline *p, const struct word_list *word)
{
    pipeline_misuse(p, "%s", word->word[0]);
}

/* The first name that is free, where no -r is given: for a pipeline that brings
 * its own data, and so may be run again and again. */
static void
do_fresh(struct pipeline *p, const struct word_list *word)
{
    const char *first = var(p, "RUN");

    (void)word;
    if (setting_get(&p->said, "run") || p->resume)
        return;
    for (int i = 2; file_exists(var(p, "RUN")); i++)
        set_var(p, "RUN", keep("%s-%d", first, i));
    say("everything goes to '%s'", var(p, "RUN"));
}

static void
do_prepare(struct pipeline *p, const struct word_list *word)
{
    pipeline_prepare(p, word->n ? word->word[0] : "",
                     word->n > 1 ? word->word[1] : "");
}

static void
do_learn(struct pipeline *p, const struct word_list *word)
{
    pipeline_learn(p, word->word[0], word->n > 1 ? word->word[1] : "");
}

/* NAME DATA OPTION...: RUN/embedded/NAME.npy, of the newest checkpoint where no
 * --raw is said. */
static void
do_features(struct pipeline *p, const struct word_list *word)
{
    const char *folder = run_path(p, "embedded"), *data = word->word[1];
    struct word_list words = {0};
    struct err err;

    if (file_mkdir(folder, 0755, &err))
        die("%s", err.msg);
    pipeline_index(p, data);
    word_list_put(&words, "foil-embed", "-o",
                  keep("%s/%s.npy", folder, word->word[0]), "--threads",
                  var(p, "threads"), (char *)NULL);
    for (size_t i = 2; i < word->n; i++)
        word_list_add(&words, word->word[i]);
    merge_options(p, EMBED, &p->defaults[EMBED], &words);
    if (!word_list_has(word, "--raw"))
        word_list_add(&words, run_path(p, "latest"));
    word_list_add(&words, data);
    step_run(p, &words);
}

static void
do_index(struct pipeline *p, const struct word_list *word)
{
    pipeline_index(p, word->word[0]);
}

/* Returns the file of a part: beside the list, or of foil. */
static const char *
find_part(const struct pipeline *p, const char *name)
{
    const char *slash = strrchr(p->path, '/');
    const int n = slash ? (int)(slash - p->path) + 1 : 0;
    const char *own = keep("%.*sparts/%s.list", n, p->path, name);
    const char *ours = keep("%s/%s.list", var(p, "parts"), name);

    if (file_exists(own))
        return own;
    if (!file_exists(ours))
        die("no part '%s': neither '%s' nor '%s' is there", name, own, ours);
    return ours;
}

/* PART ARG...: the lines of parts/PART.list, in which the arguments are $1 ..
 */
static void
read_part(struct pipeline *p, const struct word_list *word,
          void (*read)(struct pipeline *, const char *name, const char *text))
{
    const char *path = find_part(p, word->word[0]);
    const struct pipeline_part part = {path, *word, p->part};
    struct err err;
    size_t len;
    char *text;

    for (const struct pipeline_part *in = p->part; in; in = in->before)
        if (!strcmp(in->path, path))
            die("'%s' uses itself", path);
    text = file_read(path, LIST_MAX_BYTES, &len, &err);
    if (!text)
        die("%s", err.msg);
    p->part = &part;
    read(p, path, text);
    p->part = part.before;
    free(text);
}

static void
do_use(struct pipeline *p, const struct word_list *word)
{
    read_part(p, word, script_run);
}

/* A part may have a header, too. */
static void
declare_part(struct pipeline *p, const struct word_list *word)
{
    read_part(p, word, script_declare);
}

/* NAME STAGE: a variable is set to the options of a stage, as words. */
static void
do_words(struct pipeline *p, const struct word_list *word)
{
    const int stage = stage_named(word->word[1], strlen(word->word[1]));
    struct word_list words = {0};

    if (stage < 0) {
        say("no stage '%s'", word->word[1]);
        exit(EXIT_FAILED);
    }
    merge_options(p, stage, &p->defaults[stage], &words);
    set_var(p, word->word[0], word_list_text(words.word, words.n));
}

/* Keeps other calls out of a study's folder, until `each`. */
static void
do_alone(struct pipeline *p, const struct word_list *word)
{
    (void)word;
    study_lock(p);
}

/* -------------------------------------------------------- lines that lead */

static const char *
give_nothing(const void *of, const char *name)
{
    (void)of;
    (void)name;
    return "";
}

/* Returns the words that are left of a line. */
static struct word_list
rest_of(struct words *words)
{
    struct word_list list = {0};
    struct err err;

    if (words_rest(words, &list, &err))
        die("%s", err.msg);
    return list;
}

/* Passes the rest of a line, of which no variable has to be there. */
static void
skip_line(struct words *words)
{
    words->value = give_nothing;
    rest_of(words);
    words->value = pipeline_value;
}

/* Returns the next word of a line that must have one. */
static char *
need_word(struct words *words)
{
    struct err err;
    int failed = 0;
    char *word = words_next(words, &failed, &err);

    if (failed)
        die("%s", err.msg);
    if (!word)
        die("%s:%d: the line ends early", words->name, words->line);
    return word;
}

static void run_line(struct pipeline *p, struct words *words);

static void
run_where(struct pipeline *p, struct words *words, int holds)
{
    if (holds)
        run_line(p, words);
    else
        skip_line(words);
}

static void
lead_if(struct pipeline *p, struct words *words)
{
    run_where(p, words, *need_word(words) != 0);
}

static void
lead_unless(struct pipeline *p, struct words *words)
{
    run_where(p, words, !*need_word(words));
}

static void
lead_without(struct pipeline *p, struct words *words)
{
    run_where(p, words, !file_exists(need_word(words)));
}

/* NAME LIST STEP: the step for each word of a list with commas */
static void
lead_for(struct pipeline *p, struct words *words)
{
    const char *name = need_word(words);
    char *list = need_word(words), *rest;
    const struct words step = *words;

    skip_line(words);
    for (char *item = strtok_r(list, ",", &rest); item;
         item = strtok_r(NULL, ",", &rest)) {
        *words = step;
        set_var(p, name, item);
        run_line(p, words);
    }
}

/* METHOD FOLDER STEP: the step for a method, in a folder */
static void
lead_as(struct pipeline *p, struct words *words)
{
    const char *method = need_word(words), *folder = need_word(words);
    struct study_before before;

    study_begin(p, &before, method, folder);
    run_line(p, words);
    study_end(p, &before);
}

/* One trial of a study, unless it has results. */
static void
run_trial(struct pipeline *p, struct words *words, const char *method,
          long seed)
{
    const char *run = keep("%s/%s-%ld", var(p, "study"), method, seed);
    const char *result = keep("%s/result.tsv", run);
    const char *draft = keep("%s/result.new", run);
    struct study_before before;
    struct err err;

    if (file_exists(result))
        return;
    say("%s, seed %ld", method, seed);
    study_begin(p, &before, method, run);
    set_var(p, "seed", keep("%ld", seed));
    hold_make(run);
    if (file_write(draft, "", 0, &err))
        die("%s", err.msg);
    run_line(p, words);
    if (rename(draft, result))
        die("cannot write '%s'", result);
    study_end(p, &before);
}

/* The step for each seed and method of a study. */
static void
lead_each(struct pipeline *p, struct words *words)
{
    const long first = whole_var(p, "seed"), seeds = whole_var(p, "seeds");
    const struct words step = *words;

    study_unlock(p);
    for (long i = 0; i < seeds; i++) {
        char *methods = keep("%s", var(p, "methods")), *rest;

        for (char *name = strtok_r(methods, ",", &rest); name;
             name = strtok_r(NULL, ",", &rest)) {
            *words = step;
            run_trial(p, words, name, first + i);
        }
    }
    *words = step;
    skip_line(words);
}

/* The output of a step goes to a file. */
static void
redirect_line(struct pipeline *p, struct words *words, int append)
{
    p->to = need_word(words);
    p->to_append = append;
    run_line(p, words);
    p->to = NULL;
}

static void
lead_to(struct pipeline *p, struct words *words)
{
    redirect_line(p, words, 0);
}

static void
lead_onto(struct pipeline *p, struct words *words)
{
    redirect_line(p, words, 1);
}

/* The rest of the line is a command that is run in the end. */
static void
lead_finally(struct pipeline *p, struct words *words)
{
    const struct word_list list = rest_of(words);

    (void)p;
    if (!list.n)
        die("%s:%d: the line ends early", words->name, words->line);
    step_finally(list.word);
}

/* -------------------------------------------------------------- the table */

enum { ANY = 1000 };

/* What a line may begin with: a verb with so many words behind it, or what
 * stands before another step, and takes the line itself. */
static const struct step {
    const char *name;
    size_t least, most;
    void (*declare)(struct pipeline *, const struct word_list *); /* header */
    void (*run)(struct pipeline *, const struct word_list *);
    void (*lead)(struct pipeline *, struct words *);
} steps[] = {
    {"pipeline", 0, 9, take_operands, NULL, NULL},
    {"option", 4, 4, take_own_option, NULL, NULL},
    {"default", 2, 2, take_default, NULL, NULL},
    {"study", 0, 1, study_declare, NULL, NULL},
    {"method", 2, 9, study_method, study_set_method, NULL},
    {"open", 0, ANY, NULL, study_open, NULL},
    {"alone", 0, 0, NULL, do_alone, NULL},
    {"set", 2, 2, NULL, do_set, NULL},
    {"let", 2, ANY, NULL, do_let, NULL},
    {"words", 2, 2, NULL, do_words, NULL},
    {"say", 1, 1, NULL, do_say, NULL},
    {"fail", 1, 1, NULL, do_fail, NULL},
    {"misuse", 1, 1, NULL, do_misuse, NULL},
    {"fresh", 0, 0, NULL, do_fresh, NULL},
    {"prepare", 0, 2, NULL, do_prepare, NULL},
    {"learn", 1, 2, NULL, do_learn, NULL},
    {"features", 2, ANY, NULL, do_features, NULL},
    {"index", 1, 1, NULL, do_index, NULL},
    {"use", 1, ANY, declare_part, do_use, NULL},
    {"run", 1, ANY, NULL, step_run, NULL},
    {"if", 0, 0, NULL, NULL, lead_if},
    {"unless", 0, 0, NULL, NULL, lead_unless},
    {"without", 0, 0, NULL, NULL, lead_without},
    {"for", 0, 0, NULL, NULL, lead_for},
    {"to", 0, 0, NULL, NULL, lead_to},
    {"onto", 0, 0, NULL, NULL, lead_onto},
    {"as", 0, 0, NULL, NULL, lead_as},
    {"each", 0, 0, NULL, NULL, lead_each},
    {"finally", 0, 0, NULL, NULL, lead_finally},
};

/* Returns the options to which a line of that name adds, or NULL. */
static struct word_list *
find_options(struct pipeline *p, const char *name)
{
    const int stage = stage_named(name, strlen(name));

    return stage >= 0               ? &p->defaults[stage]
           : !strcmp(name, "tuned") ? &p->tuned
                                    : NULL;
}

/* Returns the step of that name, and ends the process where there is none. */
static const struct step *
find_step(const struct words *words, const char *name)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(steps[i].name, name))
            return &steps[i];
    die("%s:%d: no step '%s'", words->name, words->line, name);
}

/* Calls with the words of a line; without a call it is passed. */
static void
call_step(struct pipeline *p, struct words *words, const struct step *step,
          void (*call)(struct pipeline *, const struct word_list *))
{
    struct word_list list;

    if (!call) {
        skip_line(words);
        return;
    }
    list = rest_of(words);
    if (list.n < step->least || list.n > step->most)
        die("%s:%d: '%s' wants %zu words or more behind it, and at most %zu",
            words->name, words->line, step->name, step->least, step->most);
    call(p, &list);
}

static void
run_line(struct pipeline *p, struct words *words)
{
    const char *name = need_word(words);
    struct word_list *options = find_options(p, name);
    const struct step *step = options ? NULL : find_step(words, name);
    struct word_list more;

    if (options) {
        more = rest_of(words);
        word_list_join(options, &more);
    } else if (step->lead) {
        step->lead(p, words);
    } else {
        call_step(p, words, step, step->run);
    }
}

/* In the header's turn variables have no values yet. */
static void
declare_line(struct pipeline *p, struct words *words)
{
    const char *name = need_word(words);

    words->value = give_nothing;
    if (find_options(p, name))
        rest_of(words);
    else
        call_step(p, words, find_step(words, name),
                  find_step(words, name)->declare);
}

/* Calls with the words of each line that has any. */
static void
each_line(struct pipeline *p, const char *name, const char *text,
          void (*call)(struct pipeline *p, struct words *words))
{
    struct words words = {.name = name, .at = text, .line = 1, .of = p};

    do {
        struct words ahead = words;
        struct err err;
        int failed = 0;
        const char *word;

        ahead.value = give_nothing;
        word = words_next(&ahead, &failed, &err);
        if (failed)
            die("%s", err.msg);
        words.value = pipeline_value;
        if (word)
            call(p, &words);
        else
            words = ahead; // behind its comment
    } while (words_line(&words));
}

void
script_run(struct pipeline *p, const char *name, const char *text)
{
    each_line(p, name, text, run_line);
}

void
script_declare(struct pipeline *p, const char *name, const char *text)
{
    each_line(p, name, text, declare_line);
}
