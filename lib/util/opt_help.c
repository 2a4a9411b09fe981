#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "opt_help.h"

enum { WIDTH = 78, HELP_COLUMN = 26 };

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

/* Print one word of the usage line, on a new line where it would not fit. */
static void
usage_word(int *column, int indent, const char *word)
{
    int n = (int)strlen(word);

    if (*column + 1 + n > WIDTH && *column > indent) {
        printf("\n%*s", indent, "");
        *column = indent;
    } else {
        putchar(' ');
        (*column)++;
    }
    fputs(word, stdout);
    *column += n;
}

static char *
spelt(const struct opt *o)
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
    int column = printf("%s%s", lead, tool->name), indent = column + 1;

    for (const struct opt *o = tool->opts; o->name; o++) {
        char *word = spelt(o);

        usage_word(&column, indent, word);
        free(word);
    }
    if (tool->operands)
        usage_word(&column, indent, tool->operands);
    putchar('\n');
}

static void
print_default(const struct opt *o)
{
    const char *text;
    int length;

    switch (o->kind) {
    case OPT_WHOLE:
        if (*(const long *)o->value != LONG_MIN)
            printf(" [%ld]", *(const long *)o->value);
        break;
    case OPT_REAL:
        if (!isnan(*(const double *)o->value))
            printf(" [%g]", *(const double *)o->value);
        break;
    case OPT_TEXT:
    case OPT_WORD:
        text = *(const char *const *)o->value;
        if (text)
            printf(" [%s]", text);
        break;
    case OPT_CHOICE:
        if (*(const int *)o->value >= 0) {
            text = opt_word(o->arg, *(const int *)o->value, &length);
            printf(" [%.*s]", length, text);
        }
        break;
    case OPT_FLAG:
    case OPT_LIST:
        break;
    }
}

/* The title of the group that begins with an option. */
static void
print_title(const struct opt *o)
{
    for (const struct opt_group *g = groups; g && g->title; g++)
        if (g->first == o->value)
            printf("\n%s:\n", g->title);
}

_Noreturn void
opt_print_help(const struct opt_tool *tool)
{
    print_usage("usage: ", tool);
    printf("\n%s: %s\n%s", tool->name, tool->summary, groups ? "" : "\n");
    for (const struct opt *o = tool->opts; o->name; o++) {
        int n;

        print_title(o);
        n = o->letter ? printf("  -%c, --%s", o->letter, o->name)
                      : printf("  --%s", o->name);

        if (o->kind != OPT_FLAG)
            n += printf(" %s", o->arg);
        if (n >= HELP_COLUMN)
            n = printf("\n") - 1;
        printf("%*s%s", HELP_COLUMN - n, "", o->help);
        print_default(o);
        putchar('\n');
    }
    printf("%s  --config FILE%*sfile of options, a line 'NAME VALUE' each\n",
           groups ? "\n" : "", HELP_COLUMN - 15, "");
    printf("  -h, --help%*sthis text\n", HELP_COLUMN - 12, "");
    printf("  --version%*sthe version of foil\n", HELP_COLUMN - 11, "");
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
        fprintf(out, "  %-*s%s\n", HELP_COLUMN - 2, opt_verb_name(verb),
                verb->summary);
}

_Noreturn void
opt_print_verbs(const struct opt_tool *tool, const struct opt_tool *verbs)
{
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        print_usage(verb == verbs ? "usage: " : "       ", verb);
    printf("\n%s: %s\n\n", tool->name, tool->summary);
    opt_list_verbs(verbs, stdout);
    printf("\n'%s VERB --help' lists the options of a verb.\n", tool->name);
    close_stdout();
    exit(EXIT_OK);
}
