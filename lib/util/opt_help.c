#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/json.h"
#include "util/mem.h"
#include "util/terminal.h"

#include "opt_help.h"

enum {
    HELP_COLUMN = 26,
    BROKEN_COLUMN = 10,
    LEAST_WIDTH = 60,
    MOST_WIDTH = 200
};

static const struct opt_group *groups;

void
opt_groups(const struct opt_group *of)
{
    groups = of;
}

/* Folded lines: `column` bytes of the first are written, and the others begin
 * with `indent` blanks.  Words stay whole if a program may read them. */
struct lines {
    FILE *out;
    int width, column, indent, whole;
};

/* The width is that of the terminal, within bounds, or 80. */
static struct lines
lines_of(FILE *out, int column, int indent)
{
    const int columns = terminal_size(fileno(out), NULL);
    const int width = columns < LEAST_WIDTH  ? LEAST_WIDTH
                      : columns > MOST_WIDTH ? MOST_WIDTH
                                             : columns;

    return (struct lines){out, columns ? width : 80, column, indent, !columns};
}

static void
start_line(struct lines *lines)
{
    fprintf(lines->out, "\n%*s", lines->indent, "");
    lines->column = lines->indent;
}

/* Prints n bytes; a word longer than a line is broken after a '|'. */
static void
print_parts(struct lines *lines, const char *word, int n)
{
    while (n > 0) {
        const char *bar = memchr(word, '|', (size_t)n);
        const int part = bar && !lines->whole ? (int)(bar - word) + 1 : n;

        if (lines->column + part > lines->width &&
            lines->column > lines->indent)
            start_line(lines);
        fprintf(lines->out, "%.*s", part, word);
        lines->column += part;
        word += part;
        n -= part;
    }
}

/* Prints n bytes after a blank, or on a new line if they do not fit. */
static void
print_word(struct lines *lines, const char *word, int n)
{
    if (lines->column + 1 + n > lines->width && lines->column > lines->indent)
        start_line(lines);
    else
        lines->column += fprintf(lines->out, " ");
    print_parts(lines, word, n);
}

static void
print_words(struct lines *lines, const char *text)
{
    for (int n; *text; text += n + (text[n] == ' ')) {
        n = (int)strcspn(text, " ");
        print_word(lines, text, n);
    }
}

/* Prints an option, with its description and default in the next column, or
 * below if the option is too long. */
static void
print_item(FILE *out, const char *option, const char *does, const char *usual)
{
    struct lines lines = lines_of(out, fprintf(out, " "), BROKEN_COLUMN);
    int column;

    print_word(&lines, option, (int)strlen(option));
    column = lines.column;
    if (column >= HELP_COLUMN)
        column = fprintf(out, "\n") - 1;
    column += fprintf(out, "%*s", HELP_COLUMN - 1 - column, "");
    lines = lines_of(out, column, HELP_COLUMN);
    print_words(&lines, does);
    if (usual)
        print_word(&lines, usual, (int)strlen(usual));
    putc('\n', out);
}

void
opt_row(FILE *out, const char *name, const char *what)
{
    print_item(out, name, what, NULL);
}

static const char *
spell_option(const struct opt *o)
{
    const char *more = o->kind == OPT_LIST ? " ..." : "";

    if (o->kind == OPT_FLAG)
        return o->letter ? mem_keep_format("[-%c]", o->letter)
                         : mem_keep_format("[--%s]", o->name);
    return o->letter ? mem_keep_format("[-%c %s]%s", o->letter, o->arg, more)
                     : mem_keep_format("[--%s %s]%s", o->name, o->arg, more);
}

/* Returns the group of an option; `before` is the group of the option before
 * it. */
static const struct opt_group *
group_of(const struct opt *o, const struct opt_group *before)
{
    for (const struct opt_group *g = groups; g && g->title; g++)
        if (g->first == o->value)
            return g;
    return before;
}

/* Returns 1 if help for a word after --help, or NULL, describes the options of
 * a group. */
static int
describes_group(const char *word, const struct opt_group *group)
{
    if (!word || !group)
        return !group || !group->rare;
    return !strcmp(word, "all") ||
           !strncasecmp(word, group->title, strlen(word));
}

/* Returns 1 if help for that word, or NULL, describes each option. */
static int
describes_all(const char *word, const struct opt_tool *tool)
{
    const struct opt_group *group = NULL;
    int all = 1;

    for (const struct opt *o = tool->opts; o->name; o++) {
        group = group_of(o, group);
        all &= describes_group(word, group);
    }
    return all;
}

static void
print_usage(const char *lead, const struct opt_tool *tool, int all)
{
    const int column =
        printf("%s%s%s", lead, tool->name, all ? "" : " [OPTION ...]");
    struct lines lines = lines_of(stdout, column, column + 1);

    for (const struct opt *o = tool->opts; all && o->name; o++) {
        const char *word = spell_option(o);

        if (!opt_parameter(o))
            print_word(&lines, word, (int)strlen(word));
    }
    if (tool->operands)
        print_word(&lines, tool->operands, (int)strlen(tool->operands));
    putchar('\n');
}

/* Returns "[DEFAULT]", or NULL if there is none. */
static const char *
default_of(const struct opt *o)
{
    json_t *usual = opt_json(o);
    const char *text = NULL;

    if (json_is_string(usual))
        text = mem_keep_format("[%s]", json_string_value(usual));
    else if (json_is_number(usual))
        text = mem_keep_format(json_is_real(usual) ? "[%g]" : "[%.0f]",
                               json_number_value(usual));
    json_decref(usual);
    return text;
}

/* Prints an option, or a parameter with its range. */
static void
print_option(const struct opt *o)
{
    const struct opt_parameter *p = opt_parameter(o);
    const int number = o->kind == OPT_WHOLE || o->kind == OPT_REAL;
    const char letter[] = {'-', o->letter, ',', ' ', 0};
    const char *option =
        mem_keep_format("%s%s%s%s%s", o->letter && !p ? letter : "",
                        p ? "" : "--", p ? p->name : o->name,
                        o->kind == OPT_FLAG ? ""
                        : p                 ? "="
                                            : " ",
                        o->kind == OPT_FLAG ? "" : o->arg);
    const char *does =
        p && number ? mem_keep_format("%s, %g .. %g", o->help, o->min, o->max)
                    : o->help;

    print_item(stdout, option, does, default_of(o));
}

static void
print_names(const struct opt *o, const struct opt_group *group)
{
    struct lines lines = lines_of(stdout, printf(" "), 2);

    for (; o->name && group_of(o, group) == group; o++) {
        const char *name = mem_keep_format("--%s", o->name);

        if (!opt_parameter(o))
            print_word(&lines, name, (int)strlen(name));
    }
    putchar('\n');
}

/* Returns 1 if help for a word describes the parameters of an option. */
static int
describes_parameters(const char *word, const struct opt *of)
{
    char title[64];

    snprintf(title, sizeof title, "Parameters of --%s", of->name);
    return !strcmp(word, "all") || !strncasecmp(word, title, strlen(word)) ||
           !strncasecmp(word, of->name, strlen(word));
}

/* Prints the parameters of each option; --help without a word only names them
 * in a tool with groups.  Returns 1 if there are any. */
static int
print_parameters(const struct opt_tool *tool, const char *which)
{
    const int names = !which && groups;
    int printed = 0;

    for (const struct opt *of = tool->opts; of->name; of++) {
        struct lines lines;

        if (!opt_has_parameters(tool, of) ||
            (which && !describes_parameters(which, of)))
            continue;
        if (names)
            printf("%s  --%s:", printed ? "" : "\nParameters:\n", of->name);
        else
            printf("\nParameters of --%s:\n", of->name);
        printed = 1;
        lines = lines_of(stdout, 5 + (int)strlen(of->name), 4);
        for (const struct opt *o = tool->opts; o->name; o++)
            if (opt_is_parameter_of(o, of) && names)
                print_word(&lines, opt_parameter(o)->name,
                           (int)strlen(opt_parameter(o)->name));
            else if (opt_is_parameter_of(o, of))
                print_option(o);
        if (names)
            putchar('\n');
    }
    return printed;
}

/* Prints the options, under the titles of their groups; --help without a word
 * only names those that it does not describe. */
static void
print_options(const struct opt_tool *tool, const char *which)
{
    const struct opt_group *group = NULL;

    for (const struct opt *o = tool->opts; o->name; o++) {
        const struct opt_group *begun = group_of(o, group);
        const int first = begun != group,
                  described = describes_group(which, begun);

        if (opt_parameter(o))
            continue;
        group = begun;
        if (first && (described || !which))
            printf("\n%s:\n", group->title);
        if (described)
            print_option(o);
        else if (first && !which)
            print_names(o, group);
    }
}

/* Refuses a word after --help that is neither `all` nor begins a title. */
static void
check_group(const struct opt_tool *tool, const char *which)
{
    int known = !groups || !strcmp(which, "all");

    for (const struct opt_group *g = groups; g && g->title; g++)
        known |= describes_group(which, g);
    for (const struct opt *of = tool->opts; of->name; of++)
        known |=
            opt_has_parameters(tool, of) && describes_parameters(which, of);
    if (!known)
        opt_misuse("--help '%s': want 'all' or a title of --help", which);
}

void
opt_paragraph(FILE *out, const char *lead, const char *text)
{
    struct lines lines = lines_of(out, fprintf(out, "%s", lead), 2);

    print_words(&lines, text);
    putc('\n', out);
}

/* Prints the summary, between usage and options. */
static void
print_summary(const struct opt_tool *tool)
{
    putchar('\n');
    opt_paragraph(stdout, mem_keep_format("%s:", tool->name), tool->summary);
}

_Noreturn void
opt_print_help(const struct opt_tool *tool, const char *which)
{
    const int all = describes_all(which, tool);

    if (which)
        check_group(tool, which);
    print_usage("usage: ", tool, all);
    print_summary(tool);
    if (!groups)
        putchar('\n');
    print_options(tool, which);
    if (print_parameters(tool, which) || groups)
        putchar('\n');
    for (const struct opt *o = opt_common(tool); o->name; o++) {
        print_option(o);
        if (all || strcmp(o->name, "help"))
            continue;
        opt_row(stdout, "--help all", "describes all options");
        opt_row(stdout, "--help TITLE", "describes those under a title");
    }
    close_stdout();
    exit(EXIT_OK);
}

_Noreturn void
opt_print_version(const struct opt_tool *tool)
{
    printf("%s (foil) %s\n", tool->name, FOIL_VERSION);
    close_stdout();
    exit(EXIT_OK);
}

void
opt_list_verbs(const struct opt_tool *verbs, FILE *out)
{
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        opt_row(out, opt_verb_name(verb), verb->summary);
}

_Noreturn void
opt_print_verbs(const struct opt_tool *tool, const struct opt_tool *verbs)
{
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        print_usage(verb == verbs ? "usage: " : "       ", verb, 1);
    print_summary(tool);
    putchar('\n');
    opt_list_verbs(verbs, stdout);
    printf("\n'%s VERB --help' lists the options of a verb.\n", tool->name);
    close_stdout();
    exit(EXIT_OK);
}

/* Returns a bound of a number, an integer without a point; NULL for other
 * kinds. */
static json_t *
bound_of(const struct opt *o, double bound)
{
    if (o->kind != OPT_WHOLE && o->kind != OPT_REAL)
        return NULL;
    return bound == floor(bound) && fabs(bound) < 1e18
               ? json_integer((json_int_t)bound)
               : json_real(bound);
}

static void
add_option(json_t *rows, const char *verb, const struct opt *o,
           const struct opt_group *group, int common)
{
    static const char *const kinds[] = {
        [OPT_FLAG] = "flag", [OPT_WHOLE] = "whole",   [OPT_REAL] = "real",
        [OPT_TEXT] = "text", [OPT_CHOICE] = "choice", [OPT_METHOD] = "method",
        [OPT_LIST] = "list",
    };
    const char letter[] = {o->letter, 0};
    const struct opt_parameter *p = opt_parameter(o);
    const char *was = p && strcmp(p->name, o->name) ? o->name : NULL;
    json_t *usual = opt_json(o);
    json_t *row = json_pack(
        "{s:s* s:s s:s* s:s s:s* s:o* s:o* s:o* s:s* s:s* s:s* s:o* s:s}",
        "verb", verb, "name", p ? p->name : o->name, "short",
        *letter ? letter : NULL, "kind", kinds[o->kind], "argument",
        o->kind == OPT_FLAG ? NULL : o->arg, "least", bound_of(o, o->min),
        "most", bound_of(o, o->max), "default",
        json_is_null(usual) ? NULL : usual, "group",
        group && !p ? group->title : NULL, "of", p ? p->of : NULL, "was", was,
        "common", common ? json_true() : NULL, "sentence", o->help);

    REQUIRE(row);
    json_array_append_new(rows, row);
}

static void
add_tool(json_t *rows, const char *verb, const struct opt_tool *tool)
{
    const struct opt_group *group = NULL;

    json_array_append_new(rows,
                          json_pack("{s:s* s:s* s:s}", "verb", verb, "operands",
                                    tool->operands, "sentence", tool->summary));
    for (const struct opt *o = tool->opts; o->name; o++) {
        group = group_of(o, group);
        add_option(rows, verb, o, group, 0);
    }
    for (const struct opt *o = opt_common(tool); o->name; o++)
        add_option(rows, verb, o, NULL, 1);
}

_Noreturn void
opt_print_table(const struct opt_tool *tool, const struct opt_tool *verbs,
                const char *what)
{
    json_t *rows = json_array();

    if (strcmp(what, "options"))
        opt_misuse("--list '%s': want options", what);
    if (!verbs)
        add_tool(rows, NULL, tool);
    for (; verbs && verbs->name; verbs++)
        add_tool(rows, opt_verb_name(verbs), verbs);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char *text = json_text(json_array_get(rows, i), JSON_COMPACT);

        printf("%s\n%s", i ? "," : "[", text);
        free(text);
    }
    puts("\n]");
    json_decref(rows);
    close_stdout();
    exit(EXIT_OK);
}
