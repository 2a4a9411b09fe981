#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

enum { WIDTH = 78, HELP_COLUMN = 26 };

static const char *tool_name = "foil";
static const struct opt *tool_opts;
static char given[OPT_MOST]; // by index in tool_opts

static void
message(const char *fmt, va_list ap)
{
    fflush(stdout);
    fprintf(stderr, "%s: ", tool_name);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
}

void
die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
    exit(EXIT_FAILED);
}

void
die_with(int code, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
    exit(code);
}

void
opt_misuse(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s: '%s --help' lists the options\n", tool_name,
            tool_name);
    exit(EXIT_USAGE);
}

void
say(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    message(fmt, ap);
    va_end(ap);
}

void
say_as(const char *name)
{
    tool_name = name;
}

/* Other threads run on, one of them perhaps within stdio: no stream is touched
 * and no exit handler runs. */
static void
end_now(void)
{
    const char *wipe = isatty(STDERR_FILENO) ? "\r\033[K" : "";
    char line[128];
    int n = snprintf(line, sizeof line, "%s%s: stopped: no file is written\n",
                     wipe, tool_name);
    ssize_t wrote;

    if (file_drafts_abandon())
        return;
    wrote = write(STDERR_FILENO, line, (size_t)n);
    (void)wrote; // there may be nobody to tell
    _exit(EXIT_FAILED);
}

void
end_when_stopped(void)
{
    struct err err;

    if (stop_calls(end_now, &err))
        die("%s", err.msg);
}

void
close_stdout(void)
{
    if (fflush(stdout) || ferror(stdout) || fclose(stdout))
        die("cannot write to standard output: %s", strerror(errno));
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

static void
print_help(const struct opt_tool *tool)
{
    print_usage("usage: ", tool);
    printf("\n%s: %s\n\n", tool->name, tool->summary);
    for (const struct opt *o = tool->opts; o->name; o++) {
        int n = o->letter ? printf("  -%c, --%s", o->letter, o->name)
                          : printf("  --%s", o->name);

        if (o->kind != OPT_FLAG)
            n += printf(" %s", o->arg);
        if (n >= HELP_COLUMN)
            n = printf("\n") - 1;
        printf("%*s%s", HELP_COLUMN - n, "", o->help);
        print_default(o);
        putchar('\n');
    }
    printf("  --help%*sthis text\n", HELP_COLUMN - 8, "");
    printf("  --version%*sthe version of foil\n", HELP_COLUMN - 11, "");
    close_stdout();
    exit(EXIT_OK);
}

_Noreturn static void
print_version(const struct opt_tool *tool)
{
    printf("%s (foil) %s\n", tool->name, FOIL_VERSION);
    close_stdout();
    exit(EXIT_OK);
}

static const struct opt *
find(const struct opt_tool *tool, const char *name, size_t n)
{
    for (const struct opt *o = tool->opts; o->name; o++)
        if (strlen(o->name) == n && !memcmp(o->name, name, n))
            return o;
    opt_misuse("no option '--%.*s'", (int)n, name);
}

static const struct opt *
find_letter(const struct opt_tool *tool, char letter)
{
    for (const struct opt *o = tool->opts; o->name; o++)
        if (o->letter == letter)
            return o;
    opt_misuse("no option '-%c'", letter);
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
set_number(const struct opt *o, const char *text)
{
    if (o->kind == OPT_WHOLE) {
        char name[64];

        snprintf(name, sizeof name, "--%s", o->name);
        *(long *)o->value = opt_whole(name, text, o->min, o->max);
    } else {
        char *end;
        double x = strtod(text, &end);

        if (end == text || *end || !(x >= o->min && x <= o->max))
            opt_misuse("--%s '%s': want a number in %g .. %g", o->name, text,
                       o->min, o->max);
        *(double *)o->value = x;
    }
}

static int
checked_index(const struct opt *o, const char *text)
{
    const int index = opt_index(o->arg, text);

    if (index < 0)
        opt_misuse("--%s '%s': want one of %s", o->name, text, o->arg);
    return index;
}

static void
set_value(const struct opt *o, const char *text)
{
    struct opt_list *list = o->value;

    switch (o->kind) {
    case OPT_FLAG:
        *(int *)o->value = 1;
        break;
    case OPT_WHOLE:
    case OPT_REAL:
        set_number(o, text);
        break;
    case OPT_CHOICE:
        *(int *)o->value = checked_index(o, text);
        break;
    case OPT_WORD:
        checked_index(o, text);
        *(const char **)o->value = text;
        break;
    case OPT_TEXT:
        *(const char **)o->value = text;
        break;
    case OPT_LIST:
        if (list->n == sizeof list->item / sizeof *list->item)
            opt_misuse("--%s is given too often", o->name);
        list->item[list->n++] = text;
        break;
    }
}

/* Take the option at argv[*at]; its value may stand in the next word. */
static void
take(const struct opt_tool *tool, char **argv, int *at)
{
    const char *word = argv[*at], *value = NULL;
    const struct opt *o;

    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");

        if (!strcmp(word, "--help"))
            print_help(tool);
        if (!strcmp(word, "--version"))
            print_version(tool);
        o = find(tool, word + 2, n);
        if (word[2 + n])
            value = word + 3 + n;
    } else {
        o = find_letter(tool, word[1]);
        if (word[2])
            value = word + 2;
    }
    if (o->kind == OPT_FLAG && value)
        opt_misuse("--%s takes no value", o->name);
    if (o->kind != OPT_FLAG && !value) {
        value = argv[*at + 1];
        if (!value)
            opt_misuse("--%s wants a value: %s", o->name, o->arg);
        ++*at;
    }
    if (given[o - tool->opts]++ && o->kind != OPT_LIST)
        opt_misuse("--%s is given twice", o->name);
    set_value(o, value);
}

char **
opt_parse(const struct opt_tool *tool, int argc, char **argv)
{
    int n = 0, only_operands = 0;

    tool_name = tool->name;
    tool_opts = tool->opts;
    for (int i = 1; i < argc; i++) {
        if (!only_operands && !strcmp(argv[i], "--"))
            only_operands = 1;
        else if (!only_operands && argv[i][0] == '-' && argv[i][1])
            take(tool, argv, &i);
        else
            argv[n++] = argv[i];
    }
    argv[n] = NULL;
    if (n > tool->at_most)
        opt_misuse("what is '%s' for?", argv[tool->at_most]);
    if (n < tool->at_least)
        opt_misuse("wants %s", tool->operands);
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

/* The option that sets `value`, or NULL. */
static const struct opt *
option_of(const void *value)
{
    for (const struct opt *o = tool_opts; o && o->name; o++)
        if (o->value == value)
            return o;
    return NULL;
}

int
opt_given(const void *value)
{
    const struct opt *o = option_of(value);

    return o && given[o - tool_opts] != 0;
}

void
opt_together(const void *one, const void *other)
{
    if (opt_given(one) != opt_given(other))
        opt_misuse("--%s and --%s go together", option_of(one)->name,
                   option_of(other)->name);
}

/* The last word of "foil-data index". */
static const char *
verb_of(const struct opt_tool *verb)
{
    return strrchr(verb->name, ' ') + 1;
}

_Noreturn static void
print_verbs(const struct opt_tool *tool, const struct opt_tool *verbs)
{
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        print_usage(verb == verbs ? "usage: " : "       ", verb);
    printf("\n%s: %s\n\n", tool->name, tool->summary);
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        printf("  %-*s%s\n", HELP_COLUMN - 2, verb_of(verb), verb->summary);
    printf("\n'%s VERB --help' lists the options of a verb.\n", tool->name);
    close_stdout();
    exit(EXIT_OK);
}

const struct opt_tool *
opt_verb(const struct opt_tool *tool, const struct opt_tool *verbs, int argc,
         char **argv, char ***operand)
{
    tool_name = tool->name;
    if (argc < 2)
        opt_misuse("wants a verb");
    if (!strcmp(argv[1], "--help"))
        print_verbs(tool, verbs);
    if (!strcmp(argv[1], "--version"))
        print_version(tool);
    if (argv[1][0] == '-')
        opt_misuse("no option '%s' before a verb", argv[1]);
    for (const struct opt_tool *verb = verbs; verb->name; verb++)
        if (!strcmp(argv[1], verb_of(verb))) {
            *operand = opt_parse(verb, argc - 1, argv + 1);
            return verb;
        }
    opt_misuse("no verb '%s'", argv[1]);
}
