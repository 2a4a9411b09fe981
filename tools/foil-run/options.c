#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"
#include "util/file.h"
#include "util/guess.h"
#include "util/mem.h"
#include "util/opt.h"

/* Stages in the order in which an option is looked up: foil-embed last, as it
 * shares many options. */
static const int lookup[N_STAGES] = {SELECT, NEGATIVES, AUGMENT, TRAIN, EMBED};

/* Rows of --help that are no options of a pipeline. */
static const struct {
    const char *name, *arg, *what;
} others[] = {
    {"resume", "", "continue RUN from its newest checkpoint, with its options"},
    {"override", " KEY", "with --resume: allow another value of this option"},
    {"OPTION", " [VALUE]",
     "an option of a stage, such as --lr 0.1; where several stages have it, "
     "with the stage, such as --train.policy in-batch"},
    {"select", " ARGS", "more options for foil-select"},
    {"augment", " ARGS", "for foil-augment"},
    {"train", " ARGS", "for foil-train"},
    {"negatives", " ARGS", "for foil-negatives"},
    {"embed", " ARGS", "for foil-embed"},
    {"select-command", " C",
     "run C instead of foil-select, with the same options"},
    {"augment-command", " C", "instead of foil-augment"},
    {"train-command", " C", "instead of foil-train"},
    {"negatives-command", " C", "instead of foil-negatives"},
    {"config", " FILE",
     "take options from a file, such as RUN/command of another run; those on "
     "the command line take precedence"},
    {"stages", "",
     "print the list of stages, as foil-run(1) reads it, and start nothing"},
    {"trace", "", "print each command of the script before it runs"},
    {"no-compare", "", "do not compare the encoder with raw pixels at the end"},
    {"help", "", "this text"},
};
enum { N_OTHERS = sizeof others / sizeof *others };

static int
is_known(const struct pipeline *p, const char *name)
{
    int known = pipeline_is_key(p, name) || !strcmp(name, "run");

    for (int i = 0; i < N_STAGES; i++)
        known = known || option_of_stage(i, name);
    return known;
}

static const char *
spell_known(void *p, const char *name)
{
    return is_known(p, name) ? mem_keep_format("--%s", spelled_in(TRAIN, name))
                             : NULL;
}

_Noreturn static void
refuse_option(struct pipeline *p, const char *name)
{
    struct guess guess = {.word = name, .lead = "--"};
    const struct word_list keys = pipeline_keys(p);
    const char *ours = guess_other(name, spell_known, p);

    if (ours)
        pipeline_misuse(p, "no option '--%s': %s", name, ours);
    guess_try(&guess, "run");
    for (size_t i = 0; i < N_OTHERS; i++)
        guess_try(&guess, others[i].name);
    for (size_t i = 0; i < keys.n; i++)
        guess_try(&guess, keys.word[i]);
    for (int i = 0; i < N_STAGES; i++) {
        const json_t *options = options_of_stage(lookup[i]), *option;
        size_t row;

        json_array_foreach(options, row, option)
        {
            const char *is = json_string_value(json_object_get(option, "name"));

            if (is && !json_object_get(option, "of"))
                guess_try(&guess, is);
        }
    }
    pipeline_misuse(p, "no option '--%s'%s", name, guess_words(&guess));
}

void
check_defaults(struct pipeline *p)
{
    for (size_t i = 0; i < p->set.n; i++) {
        const char *name = p->set.item[i].name;

        p->line = p->set_at.item[i].value;
        if (pipeline_is_key(p, name) || opt_index("warm|grace", name) >= 0)
            set_var(p, name, check_value(p, name, p->set.item[i].value));
        else if (is_known(p, name))
            pipeline_misuse(p, "--%s belongs to a line such as '#: train'",
                            name);
        else
            refuse_option(p, name);
    }
    p->line = NULL;
}

/* Whether an option is a parameter of a strategy, and none is chosen: by
 * default batches are random, without parameters. */
static int
is_unused(const struct pipeline *p, int stage, const char *name)
{
    int chosen =
        p->in_script || word_list_has(&p->defaults[stage], "--strategy");

    for (char **word = p->words; word && *word; word++)
        chosen |= strstr(*word, "strategy") || !strncmp(*word, "--config", 8) ||
                  !strcmp(*word, "--resume");
    return stage == SELECT && !chosen &&
           json_object_get(option_of_stage(stage, name), "of");
}

/* Returns the only stage with an option, or the stage of --train.lr; *name
 * becomes the option's name; *flag: it takes no value. */
static int
find_owner(struct pipeline *p, const char **name, int *flag)
{
    const size_t dot = strcspn(*name, ".");
    const int only = (*name)[dot] ? stage_named(*name, dot) : -1;
    const char *whole = *name, *at = "";
    const json_t *option;
    int owner = -1, several = 0;

    if (only >= 0)
        *name += dot + 1;
    for (int i = 0; i < N_STAGES; i++) {
        const int stage = lookup[i];

        if ((only >= 0 && stage != only) || (stage == EMBED && owner >= 0) ||
            !(option = option_of_stage(stage, *name)))
            continue;
        *flag = !json_object_get(option, "argument");
        if (owner >= 0 && is_unused(p, owner, *name))
            owner = -1;
        several += owner >= 0;
        if (owner < 0)
            owner = stage;
        at = mem_keep_format("%s --%s.%s", at, pipeline_stages[stage], *name);
    }
    if (owner < 0)
        refuse_option(p, whole);
    if (several)
        pipeline_misuse(p, "several stages have --%s: use one of%s", whole, at);
    return owner;
}

/* Whether an option is of the pipeline, or of a command of its script. */
static int
is_own(const struct pipeline *p, const char *name)
{
    return pipeline_is_key(p, name) ||
           opt_index(p->in_script ? "method|captions|grace|at|at-run|at-data"
                                  : "run|override|config",
                     name) >= 0;
}

/* Refuses a short option, which stages may have. */
_Noreturn static void
refuse_letter(struct pipeline *p, const char *word)
{
    const char letter[] = {word[1], 0};

    for (int i = 0; i < N_STAGES; i++) {
        const json_t *option;
        size_t row;

        json_array_foreach(options_of_stage(lookup[i]), row, option)
        {
            const char *is =
                json_string_value(json_object_get(option, "short"));

            if (is && !strcmp(is, letter))
                pipeline_misuse(
                    p, "no option '%s': it is --%s", word,
                    json_string_value(json_object_get(option, "name")));
        }
    }
    pipeline_misuse(p, "no option '%s'", word);
}

/* Reads the header of the pipeline that a sweep trains. */
static void
sweep_take_pipeline(struct pipeline *p, const char *name)
{
    const char *folder = strchr("./", *name) ? "" : getenv("FOIL_PIPELINES");
    char *own = p->path, *text;
    struct err err;
    size_t len;

    p->path = mem_keep_format("%s%s%s", folder, *folder ? "/" : "", name);
    text = file_read(p->path, LIST_MAX_BYTES, &len, &err);
    if (!text || !strstr(text, "\n#:"))
        pipeline_misuse(p,
                        "no pipeline '%s': a sweep needs one with a header, "
                        "'foil' lists them",
                        name);
    set_var(p, "PIPELINE", name);
    p->described = "";
    header_read(p, name, text);
    p->is_fresh = 0;
    p->path = own;
    free(text);
}

/* Whether an option has one value, which may have commas. */
static int
takes_commas(const struct pipeline *p, int stage, const char *name)
{
    const struct pipeline_row *row = pipeline_row_find(p, name);
    const char *arg =
        row ? row->arg
            : json_string_value(json_object_get(
                  stage < 0 ? NULL : option_of_stage(stage, name), "argument"));

    return !arg || opt_index("LIST|COMMAND|R,G,B", arg) >= 0;
}

/* Takes an option of a sweep, a word of the command line; value is NULL for a
 * flag.  Returns 0 if it is one of the sweep itself. */
static int
sweep_take_option(struct pipeline *p, int stage, const char *word,
                  const char *name, const char *value)
{
    const int whole = takes_commas(p, stage, name);
    const char *option, *at = value;
    struct word_list values = {0};

    for (size_t i = p->sweep_rows[0]; i < p->sweep_rows[1]; i++)
        if (!strcmp(p->row[i].name, name))
            return 0;
    if (opt_index("run|seed|override", name) >= 0)
        return 0;
    for (size_t n; at; at = at[n] ? at + n + 1 : NULL) {
        const char *part;

        n = whole ? strlen(at) : strcspn(at, ",");
        part = mem_keep_format("%.*s", (int)n, at);
        if (values.n && is_parameter(stage < 0 ? TRAIN : stage, name, part))
            values.word[values.n - 1] =
                mem_keep_format("%s,%s", values.word[values.n - 1], part);
        else
            word_list_add(&values, check_value(p, name, part));
    }
    option = mem_keep_format("%.*s", (int)strcspn(word, "="), word);
    if (word_list_has(&p->swept, option) ||
        (values.n > 1 && word_list_has(&p->fixed, option)))
        pipeline_misuse(p, "%s is given twice", option);
    if (values.n > 1)
        word_list_add(&p->swept, option);
    for (size_t i = 0; values.n > 1 && i < values.n; i++)
        set_var(p, "FOIL_GRID",
                mem_keep_format("%s%s\t%s\t%s\n", var(p, "FOIL_GRID"), option,
                                values.word[i],
                                word_list_text(values.word + i, 1)));
    if (values.n > 1)
        return 1;
    word_list_add(&p->fixed, option);
    word_list_join(&p->fixed, &values);
    if (pipeline_row_find(p, name) && stage < 0)
        set_var(p, name, value); // for the script
    return 1;
}

/* Takes the option in argv[*at]; its value may be the next word. */
static void
take_word(struct pipeline *p, char **argv, size_t *at)
{
    const char *word = argv[*at], *value = strchr(word, '=');
    const char *name =
        mem_keep_format("%.*s", (int)strcspn(word + 2, "="), word + 2);
    const struct pipeline_row *row;
    struct word_list words = {0};
    int stage = -1, flag = 0;

    value += value != NULL;
    if (word[1] == 'r') {
        name = "run";
        value = word[2] ? word + 2 : NULL;
    } else if (word[1] != '-') {
        refuse_letter(p, word);
    }
    row = pipeline_row_find(p, name);
    if (!is_own(p, name))
        stage = find_owner(p, &name, &flag);
    else if (row && !*row->arg)
        flag = 1;
    if (flag && value)
        pipeline_misuse(p, "--%s takes no value", name);
    if (!flag && !value && !(value = argv[++*at]))
        pipeline_misuse(p, "--%s needs a value", name);
    if (p->is_sweep && sweep_take_option(p, stage, word, name, value))
        return;
    if (stage >= 0) {
        word_list_put(&words, mem_keep_format("--%s", name), value);
        name = pipeline_stages[stage];
        value = word_list_text(words.word, words.n);
    }
    pipeline_take(p, name, flag && stage < 0 ? "yes" : value);
}

const char *
pipeline_arguments(struct pipeline *p, char **argv)
{
    const char *operand = "";

    for (size_t i = 0; argv[i]; i++)
        if (*argv[i] == '-' && argv[i][1])
            take_word(p, argv, &i);
        else if (*operand)
            die("unexpected '%s' after '%s'", argv[i], operand);
        else
            operand = argv[i];
    if (*var(p, "method"))
        method_apply(p, var(p, "method"));
    for (int i = 0; i < N_STAGES; i++) {
        struct word_list both = {0};

        update_spelling(i, &p->more[i], !p->lists);
        merge_items(i, &both, &p->defaults[i], &p->more[i]);
        p->defaults[i] = both;
    }
    return operand;
}

/* Returns 0 for the pipeline of a sweep, 1 for operands of a pipeline. */
static size_t
take_operand(struct pipeline *p, const char *word, size_t at)
{
    if (p->is_sweep && !*var(p, "PIPELINE")) {
        sweep_take_pipeline(p, word);
        check_defaults(p);
        return 0;
    }
    if (at >= p->operand.n)
        pipeline_misuse(p, "unexpected '%s': want %s", word,
                        *p->described ? p->described : "options alone");
    set_var(p, p->operand.word[at], word);
    setting_set(&p->cli, p->operand.word[at], "");
    word_list_add(&p->fixed, word);
    return 1;
}

/* Moves options of the pipeline out of --STAGE ARGS. */
static void
take_back(struct pipeline *p, int stage)
{
    const char *option = pipeline_stages[stage];
    const char *ours = stage == TRAIN    ? "--objective|--threads"
                       : stage == SELECT ? "--batch|--epochs"
                                         : "";
    struct word_list all = {0}, rest = {0};

    pipeline_split(p, &all, option, var(p, option));
    if (runs_foil_tool(p, stage))
        update_spelling(stage, &all, 1);
    for (size_t i = 0, end; i < all.n; i = end) {
        const size_t n = strcspn(all.word[i], "=");
        const char *name = mem_keep_format("%.*s", (int)n, all.word[i]), *value;

        end = item_end(&all, i);
        value = all.word[i][n] ? all.word[i] + n + 1
                : end == i + 2 ? all.word[i + 1]
                               : NULL;
        if (opt_index(ours, name) < 0 || !value || *value == ',') {
            for (; i < end; i++)
                word_list_add(&rest, all.word[i]);
            continue;
        }
        name += 2;
        if (setting_get(&p->cli, name))
            pipeline_misuse(p, "--%s is given twice: by itself and in --%s",
                            name, option);
        pipeline_take(p, name, value);
    }
    set_var(p, option, word_list_text(rest.word, rest.n));
}

static void
check_command_line(struct pipeline *p, size_t operands)
{
    char *methods, *name;

    if (p->config)
        configure_run(p);
    for (int i = 0; i < N_STAGES; i++)
        take_back(p, i);
    if (!p->resume && p->override.n)
        pipeline_misuse(p, "--override belongs to --resume");
    if (p->resume && !p->is_study)
        load_run(p);
    if (p->lists && p->is_study)
        pipeline_misuse(p, "a study has no --stages");
    if (p->is_sweep && !*var(p, "PIPELINE"))
        pipeline_misuse(p, "needs %s", p->described);
    methods = mem_keep_format(
        "%s", p->is_study && !p->is_sweep ? var(p, "methods") : "");
    while ((name = strtok_r(methods, ",", &methods)))
        method_check(p, name);
    if (whole_var(p, "augmenters") < 1)
        pipeline_misuse(p, "--augmenters '0': want one or more");
    for (size_t i = operands; i < p->needed; i++)
        if (!*var(p, p->operand.word[i]))
            pipeline_misuse(p, "needs %s%s", p->described,
                            p->resume ? ", or -r and the run to continue" : "");
}

/* Prints a paragraph of the script's comment; returns the next one, or NULL. */
static const char *
print_comment(const char *at, const char *lead)
{
    const char *text = "";

    for (; at[0] == '#' && at[1] == ' '; at += *at == '\n') {
        text = mem_keep_format("%s%s%.*s", text, *text ? " " : "",
                               (int)strcspn(at + 2, "\n"), at + 2);
        at += strcspn(at, "\n");
    }
    opt_paragraph(stdout, lead, text);
    putchar('\n');
    return at[0] == '#' && at[1] == '\n' ? at + 2 : NULL;
}

_Noreturn static void
print_help(const struct pipeline *p)
{
    const char *lead = mem_keep_format("%s:", p->command), *at = p->text;

    if (!strncmp(at, "#!", 2))
        at += strcspn(at, "\n") + 1;

    printf("usage: %s%s%s [OPTION ...]\n\n", p->command,
           *p->described ? " " : "", p->described);
    for (; at; lead = "")
        at = print_comment(at, lead);
    opt_row(stdout, "-r, --run RUN",
            mem_keep_format("run directory, created with mode 0700 [%s]",
                            var(p, "RUN")));
    for (size_t i = 0; i < p->rows; i++)
        opt_row(
            stdout,
            mem_keep_format("--%s%s%s", p->row[i].name,
                            *p->row[i].arg ? " " : "", p->row[i].arg),
            mem_keep_format("%s [%s]", p->row[i].what, var(p, p->row[i].name)));
    for (size_t i = 0; i < N_OTHERS; i++)
        opt_row(stdout,
                mem_keep_format("--%s%s", others[i].name, others[i].arg),
                others[i].what);
    close_stdout();
    exit(EXIT_OK);
}

void
pipeline_command_line(struct pipeline *p, char **argv)
{
    size_t operands = 0;
    int only_operands = 0;

    p->words = argv;
    for (size_t i = 0; argv[i]; i++) {
        if (only_operands || *argv[i] != '-' || !argv[i][1])
            operands += take_operand(p, argv[i], operands);
        else if (!strcmp(argv[i], "--"))
            only_operands = 1;
        else if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
            print_help(p);
        else if (!strcmp(argv[i], "--resume"))
            p->resume = 1;
        else if (!strcmp(argv[i], "--stages"))
            p->lists = 1;
        else if (!strcmp(argv[i], "--trace"))
            p->traces = 1;
        else if (!strcmp(argv[i], "--no-compare"))
            p->no_compare = 1;
        else
            take_word(p, argv, &i);
        if (!argv[i])
            break;
    }
    check_command_line(p, operands);
}
