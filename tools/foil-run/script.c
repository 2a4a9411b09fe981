#include <stdlib.h>
#include <string.h>

#include "hold.h"
#include "pipeline.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

/* ------------------------------------------------------------- its header */

static void
take_operands(struct pipeline *p, char **word, size_t n)
{
    p->described = mem_text("");
    for (size_t i = 0; i < n; i++) {
        const int may = *word[i] == '[';
        char *name =
            mem_format("%.*s", (int)strcspn(word[i] + may, "]"), word[i] + may);
        char *longer =
            mem_format("%s%s%s", p->described, i ? " " : "", word[i]);

        free(p->described);
        p->described = longer;
        word_list_add(&p->operand, name);
        set_var(p, name, "");
        p->needed += !may;
        free(name);
    }
}

static void
take_own_option(struct pipeline *p, char **word, size_t n)
{
    (void)n;
    pipeline_row_add(p, word[0], word[1], word[3]);
    set_var(p, word[0], word[2]);
}

static void
take_default(struct pipeline *p, char **word, size_t n)
{
    (void)n;
    set_var(p, word[0], word[1]);
}

/* ------------------------------------------------------------------ steps */

static void
do_set(struct pipeline *p, char **word, size_t n)
{
    (void)n;
    if (stage_named(word[0], strlen(word[0])) >= 0)
        die("'%s' is what the user says of that stage: set another variable",
            word[0]);
    set_var(p, word[0], word[1]);
}

static void
do_let(struct pipeline *p, char **word, size_t n)
{
    char *value = step_capture(word + 1);

    (void)n;
    set_var(p, word[0], value);
    free(value);
}

static void
add_words(struct word_list *list, char **word, size_t n)
{
    for (size_t i = 0; i < n; i++)
        word_list_add(list, word[i]);
}

static void
do_say(struct pipeline *p, char **word, size_t n)
{
    (void)p;
    (void)n;
    say("%s", word[0]);
}

static void
do_fail(struct pipeline *p, char **word, size_t n)
{
    (void)p;
    (void)n;
    die("%s", word[0]);
}

static void
do_misuse(struct pipeline *p, char **word, size_t n)
{
    (void)n;
    pipeline_misuse(p, "%s", word[0]);
}

/* The first name that is free, where no -r is given: for a pipeline that brings
 * its own data, and so may be run again and again. */
static void
do_fresh(struct pipeline *p, char **word, size_t n)
{
    char *first = mem_text(var(p, "RUN"));

    (void)word;
    (void)n;
    if (!setting_get(&p->said, "run") && !p->resume) {
        for (int i = 2; file_exists(var(p, "RUN")); i++) {
            char *next = mem_format("%s-%d", first, i);

            set_var(p, "RUN", next);
            free(next);
        }
        say("everything goes to '%s'", var(p, "RUN"));
    }
    free(first);
}

static void
do_prepare(struct pipeline *p, char **word, size_t n)
{
    pipeline_prepare(p, n ? word[0] : "", n > 1 ? word[1] : "");
}

static void
do_learn(struct pipeline *p, char **word, size_t n)
{
    pipeline_learn(p, word[0], n > 1 ? word[1] : "");
}

/* NAME DATA OPTION...: RUN/embedded/NAME.npy, of the newest checkpoint where no
 * --raw is said. */
static void
do_features(struct pipeline *p, char **word, size_t n)
{
    char *folder = mem_format("%s/embedded", var(p, "RUN"));
    char *out = mem_format("%s/%s.npy", folder, word[0]);
    char *latest = mem_format("%s/latest", var(p, "RUN"));
    struct word_list words = {0};
    struct err err;
    int raw = 0;

    if (file_mkdir(folder, 0755, &err))
        die("%s", err.msg);
    pipeline_index(p, word[1]);
    word_list_put(&words, "foil-embed", "-o", out, "--threads",
                  var(p, "threads"), (char *)NULL);
    add_words(&words, word + 2, n - 2);
    for (size_t i = 2; i < n; i++)
        raw |= !strcmp(word[i], "--raw");
    merge_options(p, EMBED, &p->defaults[EMBED], &words);
    if (!raw)
        word_list_add(&words, latest);
    word_list_add(&words, word[1]);
    step_run(p, words.word, words.n);
    word_list_release(&words);
    free(latest);
    free(out);
    free(folder);
}

static void
do_index(struct pipeline *p, char **word, size_t n)
{
    (void)n;
    pipeline_index(p, word[0]);
}

/* PART ARG...: the lines of parts/PART.list, in which the arguments are $1 ..
 */
static void
read_part(struct pipeline *p, char **word, size_t n,
          void (*read)(struct pipeline *, const char *name, const char *text))
{
    char *path = mem_format("%s/%s.list", var(p, "parts"), word[0]);
    const struct settings *before = p->args;
    struct settings args = {0};
    struct err err;
    size_t len;
    char *text = file_read(path, LIST_MAX_BYTES, &len, &err);

    if (!text)
        die("%s", err.msg);
    for (size_t i = 1; i < n; i++) {
        char name[24];

        snprintf(name, sizeof name, "%zu", i);
        setting_set(&args, name, word[i]);
    }
    p->args = &args;
    read(p, path, text);
    p->args = before;
    setting_release(&args);
    free(text);
    free(path);
}

static void
do_use(struct pipeline *p, char **word, size_t n)
{
    read_part(p, word, n, script_run);
}

/* A part may have a header, too. */
static void
declare_part(struct pipeline *p, char **word, size_t n)
{
    read_part(p, word, n, script_declare);
}

/* NAME STAGE: a variable is set to the options of a stage, as words. */
static void
do_words(struct pipeline *p, char **word, size_t n)
{
    const int stage = stage_named(word[1], strlen(word[1]));
    struct word_list words = {0};
    char *text;

    (void)n;
    if (stage < 0) {
        say("no stage '%s'", word[1]);
        exit(EXIT_FAILED);
    }
    merge_options(p, stage, &p->defaults[stage], &words);
    text = word_list_text(words.word, words.n);
    set_var(p, word[0], text);
    free(text);
    word_list_release(&words);
}

/* Keeps other calls out of a study's folder, until `each`. */
static void
do_alone(struct pipeline *p, char **word, size_t n)
{
    (void)word;
    (void)n;
    study_lock(p);
}

static void
do_nothing(struct pipeline *p, char **word, size_t n)
{
    (void)p;
    (void)word;
    (void)n;
}

enum { ANY = 1000 };

static const struct verb {
    const char *name;
    size_t least, most; /* words behind it */
    void (*declare)(struct pipeline *, char **word, size_t n); /* header */
    void (*run)(struct pipeline *, char **word, size_t n);
} verbs[] = {
    {"pipeline", 0, 9, take_operands, do_nothing},
    {"option", 4, 4, take_own_option, do_nothing},
    {"default", 2, 2, take_default, do_nothing},
    {"study", 0, 1, study_declare, do_nothing},
    {"method", 2, 9, study_method, study_set_method},
    {"open", 0, ANY, NULL, study_open},
    {"alone", 0, 0, NULL, do_alone},
    {"set", 2, 2, NULL, do_set},
    {"let", 2, ANY, NULL, do_let},
    {"words", 2, 2, NULL, do_words},
    {"say", 1, 1, NULL, do_say},
    {"fail", 1, 1, NULL, do_fail},
    {"misuse", 1, 1, NULL, do_misuse},
    {"fresh", 0, 0, NULL, do_fresh},
    {"prepare", 0, 2, NULL, do_prepare},
    {"learn", 1, 2, NULL, do_learn},
    {"features", 2, ANY, NULL, do_features},
    {"index", 1, 1, NULL, do_index},
    {"use", 1, ANY, declare_part, do_use},
    {"run", 1, ANY, NULL, step_run},
};

static const struct verb *
find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (!strcmp(verbs[i].name, name))
            return &verbs[i];
    return NULL;
}

/* -------------------------------------------------------- lines that lead */

static const char *
give_nothing(const void *of, const char *name)
{
    (void)of;
    (void)name;
    return "";
}

/* Passes the rest of a line, of which no variable has to be there. */
static void
skip_line(struct words *words)
{
    const struct words before = *words;
    struct word_list list = {0};
    struct err err;

    words->value = give_nothing;
    if (words_rest(words, &list, &err))
        die("%s", err.msg);
    words->value = before.value;
    word_list_release(&list);
}

/* Returns the next word of a line that must have one. */
static char *
need_word(struct words *words)
{
    struct err err;
    int failed = 0;
    char *word = words_next(words, &failed, &err);

    if (!word)
        die("%s%s", failed ? err.msg : "", failed ? "" : "a line ends early");
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
    char *word = need_word(words);

    run_where(p, words, *word != 0);
    free(word);
}

static void
lead_unless(struct pipeline *p, struct words *words)
{
    char *word = need_word(words);

    run_where(p, words, !*word);
    free(word);
}

static void
lead_without(struct pipeline *p, struct words *words)
{
    char *path = need_word(words);

    run_where(p, words, !file_exists(path));
    free(path);
}

/* NAME LIST STEP: the step for each word of a list with commas */
static void
lead_for(struct pipeline *p, struct words *words)
{
    char *name = need_word(words), *list = need_word(words), *rest;
    const struct words step = *words;
    char *item = strtok_r(list, ",", &rest);

    if (!item)
        skip_line(words);
    for (; item; item = strtok_r(NULL, ",", &rest)) {
        *words = step;
        set_var(p, name, item);
        run_line(p, words);
    }
    free(list);
    free(name);
}

/* METHOD FOLDER STEP: the step for a method, in a folder */
static void
lead_as(struct pipeline *p, struct words *words)
{
    char *method = need_word(words), *folder = need_word(words);
    struct study_before before;

    study_begin(p, &before, method, folder);
    run_line(p, words);
    study_end(p, &before);
    free(folder);
    free(method);
}

/* One trial of a study, unless it has results. */
static void
run_trial(struct pipeline *p, struct words *words, const char *method,
          long seed)
{
    char *run = mem_format("%s/%s-%ld", var(p, "study"), method, seed);
    char *result = mem_format("%s/result.tsv", run);
    char *draft = mem_format("%s/result.new", run);
    char *number = mem_format("%ld", seed);
    struct study_before before;
    struct err err;

    if (file_exists(result)) {
        skip_line(words);
    } else {
        say("%s, seed %ld", method, seed);
        study_begin(p, &before, method, run);
        set_var(p, "seed", number);
        hold_make(run);
        if (file_write(draft, "", 0, &err))
            die("%s", err.msg);
        run_line(p, words);
        if (rename(draft, result))
            die("cannot write '%s'", result);
        study_end(p, &before);
    }
    free(number);
    free(draft);
    free(result);
    free(run);
}

/* The step for each seed and method of a study. */
static void
lead_each(struct pipeline *p, struct words *words)
{
    const long first = whole_var(p, "seed"), seeds = whole_var(p, "seeds");
    const struct words step = *words;

    study_unlock(p);
    for (long i = 0; i < seeds; i++) {
        char *methods = mem_text(var(p, "methods")), *rest;

        for (char *name = strtok_r(methods, ",", &rest); name;
             name = strtok_r(NULL, ",", &rest)) {
            *words = step;
            run_trial(p, words, name, first + i);
        }
        free(methods);
    }
    *words = step;
    skip_line(words);
}

/* The output of a step goes to a file. */
static void
redirect_line(struct pipeline *p, struct words *words, int append)
{
    char *path = need_word(words);

    p->to = path;
    p->to_append = append;
    run_line(p, words);
    p->to = NULL;
    free(path);
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
    static struct word_list list;
    struct err err;

    (void)p;
    word_list_release(&list);
    if (words_rest(words, &list, &err))
        die("%s", err.msg);
    step_finally(list.word);
}

static const struct {
    const char *name;
    void (*run)(struct pipeline *p, struct words *words);
} leads[] = {
    {"if", lead_if},           {"unless", lead_unless},
    {"for", lead_for},         {"without", lead_without},
    {"to", lead_to},           {"onto", lead_onto},
    {"as", lead_as},           {"each", lead_each},
    {"finally", lead_finally},
};
enum { N_LEADS = sizeof leads / sizeof *leads };

/* Returns the options to which a line of that name adds, or NULL. */
static struct word_list *
find_options(struct pipeline *p, const char *name)
{
    const int stage = stage_named(name, strlen(name));

    return stage >= 0               ? &p->defaults[stage]
           : !strcmp(name, "tuned") ? &p->tuned
                                    : NULL;
}

/* One verb with its words; `declares` in the header's turn. */
static void
run_verb(struct pipeline *p, struct words *words, const char *name,
         int declares)
{
    const struct verb *verb = find_verb(name);
    struct word_list list = {0};
    struct err err;

    if (!verb)
        die("%s:%d: no step '%s'", words->name, words->line, name);
    if (declares ? !verb->declare : verb->run == do_nothing) {
        skip_line(words);
        return;
    }
    words->value = declares ? give_nothing : pipeline_value;
    if (words_rest(words, &list, &err))
        die("%s", err.msg);
    words->value = pipeline_value;
    if (list.n < verb->least || list.n > verb->most)
        die("%s:%d: '%s' wants %zu words or more behind it, and at most %zu",
            words->name, words->line, name, verb->least, verb->most);
    if (declares)
        verb->declare(p, list.word, list.n);
    else
        verb->run(p, list.word, list.n);
    word_list_release(&list);
}

/* Returns the index of what may stand before a step, or -1. */
static int
find_lead(const char *name)
{
    for (int i = 0; i < N_LEADS; i++)
        if (!strcmp(leads[i].name, name))
            return i;
    return -1;
}

static void
run_line(struct pipeline *p, struct words *words)
{
    char *name = need_word(words);
    struct word_list *options = find_options(p, name);
    const int lead = find_lead(name);
    struct err err;

    if (lead >= 0)
        leads[lead].run(p, words);
    else if (!options)
        run_verb(p, words, name, 0);
    else if (words_rest(words, options, &err))
        die("%s", err.msg);
    free(name);
}

/* Calls with the words of each line that has any. */
static void
each_line(struct pipeline *p, const char *name, const char *text,
          void (*call)(struct pipeline *p, struct words *words))
{
    struct words words = {
        .name = name, .at = text, .line = 1, .value = pipeline_value, .of = p};

    do {
        struct words ahead = words;
        struct err err;
        int failed = 0;
        char *word;

        ahead.value = give_nothing;
        word = words_next(&ahead, &failed, &err);
        if (failed)
            die("%s", err.msg);
        if (word)
            call(p, &words);
        else
            words = ahead; // behind its comment
        words.value = pipeline_value;
        free(word);
    } while (words_line(&words));
}

void
script_run(struct pipeline *p, const char *name, const char *text)
{
    each_line(p, name, text, run_line);
}

static void
declare_line(struct pipeline *p, struct words *words)
{
    char *name = need_word(words);

    if (find_lead(name) >= 0 || find_options(p, name))
        skip_line(words);
    else
        run_verb(p, words, name, 1);
    free(name);
}

void
script_declare(struct pipeline *p, const char *name, const char *text)
{
    each_line(p, name, text, declare_line);
}
