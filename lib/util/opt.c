#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"
#include "util/guess.h"
#include "util/isa.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/setting.h"

#include "opt_help.h"

static const struct opt *tool_opts;
static const struct opt_tool *tool_verbs; // or NULL
static char times_set[OPT_MOST];          // the next five by index in tool_opts
static char set_by_cli[OPT_MOST];         // times_set, while a file is read
static char outdated[OPT_MOST];      // 1: a parameter was written as an option
static const char *values[OPT_MOST]; // the texts that set them
static char *words[OPT_MOST];        // of OPT_CHOICE, the word
static const char off[] = "no";      // the value of a flag that is unset

static const struct opt *
letter_of(const struct opt_tool *tool, char letter)
{
    for (const struct opt *o = tool->opts; o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

/* Refuses an option that only other verbs have, by name or letter. */
static void
refuse_for_verb(const char *name, char letter)
{
    char *have = NULL;

    for (const struct opt_tool *verb = tool_verbs; verb && verb->name; verb++) {
        const struct opt *o =
            name ? opt_named(verb, name) : letter_of(verb, letter);

        if (o)
            mem_append(&have, "%s%s", have ? ", " : "", opt_verb_name(verb));
    }
    if (have)
        opt_misuse("no option '%s%.*s': that is for %s", name ? "--" : "-",
                   name ? (int)strlen(name) : 1, name ? name : &letter, have);
}

/* Returns how the tool spells its option of a name, or NULL. */
static const char *
spell_option(void *tool, const char *name)
{
    const struct opt *o = opt_named(tool, name);

    if (!o)
        return NULL;
    return opt_parameter(o) ? opt_respell(tool, o, "", o->arg) : opt_spelled(o);
}

static const struct opt *
find_option(const struct opt_tool *tool, const char *name)
{
    struct guess guess = {.word = name, .lead = "--"};
    const struct opt *found = opt_named(tool, name);
    const struct opt_old *old;
    const char *ours;

    if (found)
        return found;
    old = opt_old_find(tool->name, name, NULL);
    if (old) {
        log_message("--%s is now %s" OPT_DROPPED, name, old->now);
        return opt_named(tool, old->now + 2);
    }
    refuse_for_verb(name, 0);
    ours = guess_other(name, spell_option, (void *)tool);
    if (ours)
        opt_misuse("no option '--%s': %s", name, ours);
    for (const struct opt *o = tool->opts; o->name; o++)
        if (!opt_parameter(o))
            guess_try(&guess, o->name);
    for (const struct opt *o = opt_common(tool); o->name; o++)
        guess_try(&guess, o->name);
    opt_misuse("no option '--%s'%s", name, guess_words(&guess));
}

long
opt_whole(const char *what, const char *text, double min, double max)
{
    char *end;
    long x;

    errno = 0;
    x = strtol(text, &end, 10);
    if (errno || end == text || *end || (double)x < min || (double)x > max)
        opt_misuse("%s '%s': want a whole number in %.0f .. %.0f", what, text,
                   min, max);
    return x;
}

static void
set_value(const struct opt_tool *tool, const struct opt *o, const char *text)
{
    struct opt_list *list = o->value;
    double x;
    char *end;

    switch (o->kind) {
    case OPT_FLAG:
        *(int *)o->value = text != off;
        break;
    case OPT_WHOLE:
        *(long *)o->value = opt_whole(opt_spelled(o), text, o->min, o->max);
        break;
    case OPT_REAL:
        x = strtod(text, &end);
        if (end == text || *end || !(x >= o->min && x <= o->max))
            opt_misuse("%s '%s': want a number in %g .. %g", opt_spelled(o),
                       text, o->min, o->max);
        *(double *)o->value = x;
        break;
    case OPT_CHOICE:
        if (!strcmp(o->name, "list") && !strcmp(text, "options"))
            opt_print_table(tool, NULL, text);
        if (opt_index(o->arg, text) < 0)
            opt_misuse("%s '%s': want one of %s", opt_spelled(o), text, o->arg);
        *(int *)o->value = opt_index(o->arg, text);
        break;
    case OPT_TEXT:
    case OPT_METHOD:
        *(const char **)o->value = text;
        break;
    case OPT_LIST:
        if (list->n == sizeof list->item / sizeof *list->item)
            opt_misuse("--%s is given too often", o->name);
        list->item[list->n++] = text;
        break;
    }
}

/* Sets an option to a value, or NULL.  An option of a file does not override
 * the command line. */
static void
set_option(const struct opt_tool *tool, const struct opt *o, const char *value)
{
    const size_t row = (size_t)(o - tool->opts);

    if (set_by_cli[row])
        return;
    if (o->kind == OPT_FLAG && value && value != off)
        opt_misuse("%s takes no value", opt_spelled(o));
    if (o->kind != OPT_FLAG && !value)
        opt_misuse("%s needs a value: %s", opt_spelled(o), o->arg);
    if (times_set[row]++ && o->kind != OPT_LIST && value && values[row])
        opt_misuse("%s is given twice: as '%s' and as '%s'", opt_spelled(o),
                   values[row], value);
    else if (times_set[row] > 1 && o->kind != OPT_LIST)
        opt_misuse("%s is given twice", opt_spelled(o));
    values[row] = value;
    set_value(tool, o, value);
}

/* Takes the parameter NAME, NAME=VALUE, or no-NAME of a flag, of the option
 * `of`. */
static void
take_parameter(const struct opt_tool *tool, const struct opt *of, char *word)
{
    const struct opt *row = opt_parameter_named(tool, of, word);
    char *value = strchr(word, '=');
    struct guess guess = {.word = word};
    const char *ours;

    if (value)
        *value++ = 0;
    if (!row && !strncmp(word, "no-", 3) && !value) {
        row = opt_parameter_named(tool, of, word + 3);
        row = row && row->kind == OPT_FLAG ? row : NULL;
    }
    for (const struct opt *o = tool->opts; !row && o->name; o++)
        if (opt_is_parameter_of(o, of))
            guess_try(&guess, opt_parameter(o)->name);
    ours = row ? NULL : guess_other(word, spell_option, (void *)tool);
    if (ours)
        opt_misuse("--%s has no parameter '%s': %s", of->name, word, ours);
    if (!row)
        opt_misuse("--%s has no parameter '%s'%s", of->name, word,
                   guess_words(&guess));
    set_option(tool, row, strcmp(word, opt_parameter(row)->name) ? off : value);
}

/* Takes an option's value and its parameters: those of a file only if the
 * command line has the same method, or none. */
static void
take_list(const struct opt_tool *tool, const struct opt *o, const char *text)
{
    const size_t row = (size_t)(o - tool->opts);
    char *method = mem_keep_format("%s", text),
         *list = opt_parameters_of(method);

    if (set_by_cli[row] && *method && strcmp(method, values[row]))
        return;
    if (*method || !list)
        set_option(tool, o, method);
    for (char *next; list; list = next) {
        next = opt_parameter_cut(tool, o, list);
        take_parameter(tool, o, list);
    }
}

/* Takes an option with its value, or NULL; replaces a deprecated spelling. */
static void
take_value(const struct opt_tool *tool, const struct opt *o, const char *value)
{
    const size_t row = (size_t)(o - tool->opts);
    const struct opt_old *old =
        value ? opt_old_find(tool->name, o->name, value) : NULL;
    char *now =
        old ? mem_keep_format("%s%s", old->now, value + strlen(old->is)) : NULL;
    char *rest = old ? mem_keep_format("%s", now) : NULL;

    outdated[row] |= opt_parameter(o) && !set_by_cli[row];
    if (!old && value && opt_has_parameters(tool, o))
        take_list(tool, o, value);
    else if (!old || set_by_cli[row])
        set_option(tool, o, value);
    else
        log_message("--%s %s is now %s" OPT_DROPPED, o->name, value, now);
    for (char *name; rest && (name = strtok_r(rest, " ", &rest));)
        take_value(tool, find_option(tool, name + 2),
                   strtok_r(rest, " ", &rest));
}

/* Returns the value in the next word, which must exist. */
static const char *
next_word(char **argv, int *at, const char *name, const char *arg)
{
    if (!argv[*at + 1])
        opt_misuse("--%s needs a value: %s", name, arg);
    return argv[++*at];
}

/* Returns the value of "--NAME VALUE" or "--NAME=VALUE" at argv[*at], or NULL
 * if that is another word. */
static const char *
value_of(const char *name, const char *arg, char **argv, int *at)
{
    const size_t n = strlen(name);
    const char *word = argv[*at];

    if (strncmp(word, "--", 2) || strncmp(word + 2, name, n))
        return NULL;
    word += 2 + n;
    return *word == '='    ? word + 1
           : *word == '\0' ? next_word(argv, at, name, arg)
                           : NULL;
}

/* Takes an option that every tool has, unless the tool's table has it: 1 if it
 * took --config. */
static int
take_common(const struct opt_tool *tool, char **argv, int *at,
            const char **config)
{
    const char *word = argv[*at], *next = argv[*at + 1], *value;

    if (!strcmp(word, "--help") ||
        (!strcmp(word, "-h") && !letter_of(tool, 'h')))
        opt_print_help(tool, next && *next != '-' ? next : NULL);
    if (!strcmp(word, "--version"))
        opt_print_version(tool);
    if (!opt_named(tool, "list") &&
        (value = value_of("list", "options", argv, at)))
        opt_print_table(tool, NULL, value);
    value = value_of("config", "FILE", argv, at);
    if (value && *config)
        opt_misuse("--config is given twice");
    *config = value ? value : *config;
    return value != NULL;
}

/* Takes the option at argv[*at]; its value may be in the next word. */
static void
take_option(const struct opt_tool *tool, char **argv, int *at)
{
    const char *word = argv[*at] + 1, *value;
    const struct opt *unset = NULL, *o;

    if (*word == '-') {
        const size_t n = strcspn(++word, "=");

        if (!strncmp(word, "no-", 3) && !opt_named(tool, word))
            unset = opt_named(tool, word + 3);
        if (unset && unset->kind != OPT_FLAG)
            unset = NULL;
        o = unset ? unset
                  : find_option(tool, mem_keep_format("%.*s", (int)n, word));
        value = word[n] ? word + n + 1 : NULL;
    } else {
        o = letter_of(tool, *word);
        if (!o) {
            refuse_for_verb(NULL, *word);
            opt_misuse("no option '-%c'", *word);
        }
        value = word[1] ? word + 1 : NULL;
    }
    if (o->kind != OPT_FLAG && !value)
        value = next_word(argv, at, o->name, o->arg);
    take_value(tool, o, unset ? off : value);
}

void
opt_config(const char *path,
           void (*take)(void *self, const char *name, const char *value),
           void *self)
{
    static struct settings settings; // static: values point into it
    struct err err;

    setting_release(&settings);
    or_die(setting_read(&settings, path, &err), &err);
    for (size_t i = 0; i < settings.n; i++) {
        opt_set_source(path, settings.item[i].line);
        take(self, settings.item[i].name, settings.item[i].value);
    }
    opt_set_source(NULL, 0);
}

static void
take_line(void *self, const char *name, const char *value)
{
    const struct opt_tool *const *tool = self;

    take_value(*tool, find_option(*tool, name), *value ? value : NULL);
}

char **
opt_parse(const struct opt_tool *tool, int argc, char **argv)
{
    const char *config = NULL;
    int n = 0, only_operands = 0;
    struct err err;

    set_tool_name(tool->name);
    tool_opts = tool->opts;
    for (int i = 1; i < argc; i++) {
        if (!only_operands && !strcmp(argv[i], "--"))
            only_operands = 1;
        else if (only_operands || argv[i][0] != '-' || !argv[i][1])
            argv[n++] = argv[i];
        else if (!take_common(tool, argv, &i, &config))
            take_option(tool, argv, &i);
    }
    if (n == 1 && tool->operands && !strcmp(tool->operands, "[RUN]"))
        set_option(tool, opt_named(tool, "run"), argv[--n]);
    if (config) {
        memcpy(set_by_cli, times_set, sizeof times_set);
        opt_config(config, take_line, &tool);
    }
    for (const struct opt *o = tool->opts; o->name; o++) {
        const char *value = values[o - tool->opts];
        const int unset = value == off;

        if (outdated[o - tool->opts]) // a parameter, written as an option
            log_message(
                "--%s%s%s%s is now %s" OPT_DROPPED, unset ? "no-" : "", o->name,
                unset || !value ? "" : " ", unset || !value ? "" : value,
                opt_respell(tool, o, unset ? "no-" : "", unset ? NULL : value));
    }
    argv[n] = NULL;
    if (util_isa_check(&err)) {
        log_message("%s", err.msg);
        exit(EXIT_USAGE);
    }
    if (n > tool->at_most)
        opt_misuse("unexpected '%s': want %s", argv[tool->at_most],
                   tool->operands ? tool->operands : "options alone");
    if (n < tool->at_least)
        opt_misuse("needs %s", tool->operands);
    return argv;
}

size_t
opt_append(struct opt opts[OPT_MOST], size_t n, const struct opt *rows)
{
    for (; rows->name; rows++) {
        REQUIRE(n + 1 < OPT_MOST);
        opts[n++] = *rows;
    }
    opts[n] = (struct opt){.name = NULL};
    return n;
}

static const struct opt *
option_of(const void *value)
{
    for (const struct opt *o = tool_opts; o && o->name; o++)
        if (o->value == value)
            return o;
    return NULL;
}

int
opt_is_set(const void *value)
{
    const struct opt *o = option_of(value);

    return o && times_set[o - tool_opts] != 0;
}

const char *
opt_choice(const void *value)
{
    const struct opt *o = option_of(value);
    char **word_copy = &words[o - tool_opts];
    int length;
    const char *word = opt_word(o->arg, *(const int *)value, &length);

    free(*word_copy);
    *word_copy = mem_format("%.*s", length, word);
    return *word_copy;
}

void
opt_together(const void *one, const void *other)
{
    if (opt_is_set(one) != opt_is_set(other))
        opt_misuse("--%s and --%s go together", option_of(one)->name,
                   option_of(other)->name);
}

const struct opt_tool *
opt_verb(const struct opt_tool *tool, const struct opt_tool *verbs, int argc,
         char **argv, char ***operand)
{
    struct guess guess = {.word = argc > 1 ? argv[1] : ""};
    const char *list;
    char *all = NULL;
    int at = 1;

    set_tool_name(tool->name);
    if (argc < 2) {
        log_message("needs a verb:");
        opt_list_verbs(verbs, stderr);
        exit(EXIT_USAGE);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        opt_print_verbs(tool, verbs);
    if (!strcmp(argv[1], "--version"))
        opt_print_version(tool);
    list = value_of("list", "options", argv, &at);
    if (list)
        opt_print_table(tool, verbs, list);
    if (argv[1][0] == '-')
        opt_misuse("no option '%s' before a verb", argv[1]);
    tool_verbs = verbs;
    for (const struct opt_tool *verb = verbs; verb->name; verb++) {
        guess_try(&guess, opt_verb_name(verb));
        if (!strcmp(argv[1], opt_verb_name(verb))) {
            *operand = opt_parse(verb, argc - 1, argv + 1);
            return verb;
        }
    }
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        mem_append(&all, "%s%s", all ? ", " : "", opt_verb_name(verb));
    if (*guess.best)
        opt_misuse("no verb '%s'%s", argv[1], guess_words(&guess));
    opt_misuse("no verb '%s': want one of %s", argv[1], all);
}
