#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *
opt_word(const char *words, int index, int *length)
{
    for (; index > 0; index--)
        words += strcspn(words, "|") + 1;
    *length = (int)strcspn(words, "|");
    return words;
}

int
opt_index(const char *words, const char *word)
{
    const size_t n = strlen(word);

    for (int index = 0; n; index++) {
        const size_t len = strcspn(words, "|");

        if (len == n && !memcmp(words, word, n))
            return index;
        words += len;
        if (!*words++)
            break;
    }
    return -1;
}

/* The columns of a line: those of the terminal, within bounds, or 80. */
static int
line_width(FILE *out)
{
    const int columns = terminal_size(fileno(out), NULL);

    if (!columns)
        return 80;
    return columns < LEAST_WIDTH  ? LEAST_WIDTH
           : columns > MOST_WIDTH ? MOST_WIDTH
                                  : columns;
}

/* Lines of words: `column` bytes of the first one are there, and the others
 * begin with `indent` blanks.  Words are whole where a program may read them.
 */
struct lines {
    FILE *out;
    int width, column, indent, whole;
};

static struct lines
lines_of(FILE *out, int column, int indent)
{
    return (struct lines){out, line_width(out), column, indent,
                          !terminal_size(fileno(out), NULL)};
}

static void
start_line(struct lines *lines)
{
    fprintf(lines->out, "\n%*s", lines->indent, "");
    lines->column = lines->indent;
}

/* Print n bytes; those that are longer than a line are broken behind a '|'. */
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

/* Print n bytes behind a blank, or on a new line where they would not fit. */
static void
print_word(struct lines *lines, const char *word, int n)
{
    if (lines->column + 1 + n > lines->width && lines->column > lines->indent)
        start_line(lines);
    else
        lines->column += fprintf(lines->out, " ");
    print_parts(lines, word, n);
}

/* Print a sentence word by word. */
static void
print_words(struct lines *lines, const char *text)
{
    for (int n; *text; text += n + (text[n] == ' ')) {
        n = (int)strcspn(text, " ");
        print_word(lines, text, n);
    }
}

/* Print an option, and what it does in the column beside it, with its default
 * where it has one; or below, where the option is too long. */
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

static char *
spell_option(const struct opt *o)
{
    const char *more = o->kind == OPT_LIST ? " ..." : "";

    if (o->kind == OPT_FLAG)
        return o->letter ? mem_format("[-%c]", o->letter)
                         : mem_format("[--%s]", o->name);
    return o->letter ? mem_format("[-%c %s]%s", o->letter, o->arg, more)
                     : mem_format("[--%s %s]%s", o->name, o->arg, more);
}

static void
print_usage(const char *lead, const struct opt_tool *tool)
{
    const int column = printf("%s%s", lead, tool->name);
    struct lines lines = lines_of(stdout, column, column + 1);

    for (const struct opt *o = tool->opts; o->name; o++) {
        char *word = spell_option(o);

        print_word(&lines, word, (int)strlen(word));
        free(word);
    }
    if (tool->operands)
        print_word(&lines, tool->operands, (int)strlen(tool->operands));
    putchar('\n');
}

/* Returns "[DEFAULT]", to be given to free(), or NULL where there is none. */
static char *
default_of(const struct opt *o)
{
    const char *text;
    int length;

    switch (o->kind) {
    case OPT_WHOLE:
        if (*(const long *)o->value != LONG_MIN)
            return mem_format("[%ld]", *(const long *)o->value);
        break;
    case OPT_REAL:
        if (!isnan(*(const double *)o->value))
            return mem_format("[%g]", *(const double *)o->value);
        break;
    case OPT_TEXT:
    case OPT_METHOD:
    case OPT_WORD:
        text = *(const char *const *)o->value;
        if (text)
            return mem_format("[%s]", text);
        break;
    case OPT_CHOICE:
        if (*(const int *)o->value >= 0) {
            text = opt_word(o->arg, *(const int *)o->value, &length);
            return mem_format("[%.*s]", length, text);
        }
        break;
    case OPT_FLAG:
    case OPT_LIST:
        break;
    }
    return NULL;
}

static void
print_option(const struct opt *o)
{
    const int flag = o->kind == OPT_FLAG;
    char letter[] = {'-', o->letter, ',', ' ', 0};
    char *option = mem_format("%s--%s%s%s", o->letter ? letter : "", o->name,
                              flag ? "" : " ", flag ? "" : o->arg);
    char *usual = default_of(o);

    print_item(stdout, option, o->help, usual);
    free(option);
    free(usual);
}

/* The title of the group that begins with an option. */
static void
print_title(const struct opt *o)
{
    for (const struct opt_group *g = groups; g && g->title; g++)
        if (g->first == o->value)
            printf("\n%s:\n", g->title);
}

/* What a tool is, between its usage and its options. */
static void
print_summary(const struct opt_tool *tool)
{
    struct lines lines = lines_of(stdout, printf("\n%s:", tool->name) - 1, 2);

    print_words(&lines, tool->summary);
    putchar('\n');
}

_Noreturn void
opt_print_help(const struct opt_tool *tool)
{
    print_usage("usage: ", tool);
    print_summary(tool);
    if (!groups)
        putchar('\n');
    for (const struct opt *o = tool->opts; o->name; o++) {
        print_title(o);
        print_option(o);
    }
    if (groups)
        putchar('\n');
    print_item(stdout, "--config FILE",
               "file of options, a line 'NAME VALUE' each", NULL);
    print_item(stdout, "-h, --help", "this text", NULL);
    print_item(stdout, "--version", "the version of foil", NULL);
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

const char *
opt_verb_name(const struct opt_tool *verb)
{
    return strrchr(verb->name, ' ') + 1;
}

void
opt_list_verbs(const struct opt_tool *verbs, FILE *out)
{
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        print_item(out, opt_verb_name(verb), verb->summary, NULL);
}

_Noreturn void
opt_print_verbs(const struct opt_tool *tool, const struct opt_tool *verbs)
{
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        print_usage(verb == verbs ? "usage: " : "       ", verb);
    print_summary(tool);
    putchar('\n');
    opt_list_verbs(verbs, stdout);
    printf("\n'%s VERB --help' lists the options of a verb.\n", tool->name);
    close_stdout();
    exit(EXIT_OK);
}
