#pragma once

#include <stddef.h>
#include <stdio.h>

#include "util/err.h"

/*
 * Options and help from one table: a tool lists its options, and parsing,
 * --help, --version and the checks of ranges follow.  These functions print and
 * exit: only for main().
 *
 *     static double tau = 0.5;
 *     static const struct opt opts[] = {
 *         {"tau", 't', OPT_REAL, &tau, 1e-3, 100, "X", "temperature"},
 *         {0},
 *     };
 *     static const struct opt_tool tool = {
 *         "foil-train", "train an encoder by contrast", "DATA", 1, 1, opts,
 *     };
 *     int main(int argc, char **argv)
 *     {
 *         char **operand = opt_parse(&tool, argc, argv);
 *
 * "--tau 0.1", "--tau=0.1", "-t 0.1" and "-t0.1" are the same.  An option other
 * than a list may occur once.  "--" ends the options; they may follow operands.
 *
 * "--config FILE" reads options from a file (util/setting.h), in which a flag
 * is a name without a value.  An option on the command line overrides one in
 * the file, and "--no-FLAG" unsets a flag of the file unless an option has that
 * name.  "-h" is --help unless an option has that letter.  The message about a
 * wrong name suggests a similar one.
 */

/* Exit codes, the same for every tool; a tool's man page names further ones. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum opt_kind {
    OPT_FLAG,   /* int: 1 if set */
    OPT_WHOLE,  /* long within min .. max; LONG_MIN: no default */
    OPT_REAL,   /* double within min .. max; NaN: no default */
    OPT_TEXT,   /* const char * */
    OPT_CHOICE, /* int or enum: the index of the word in arg, "a|b|c", from 0;
                   -1: no default */
    OPT_METHOD, /* const char *: the name of a method with parameters */
    OPT_LIST    /* struct opt_list: may occur several times */
};

struct opt_list {
    const char *item[64];
    size_t n;
};

struct opt {
    const char *name; /* long name without dashes; NULL ends the table */
    char letter;      /* short form, or 0 */
    enum opt_kind kind;
    void *value;      /* holds the default when opt_parse() is called */
    double min, max;  /* OPT_WHOLE, OPT_REAL */
    const char *arg;  /* name of the value in --help; the words of a choice */
    const char *help; /* half a sentence; the default is printed after it */
};

enum { OPT_MOST = 128 }; /* rows of a table */

struct opt_tool {
    const char *name;     /* "foil-train" */
    const char *summary;  /* one line, small first letter, no full stop */
    const char *operands; /* for the usage line, "DATA ...", or NULL; "[RUN]"
                             sets --run */
    int at_least, at_most;
    const struct opt *opts;
};

/* The version of foil, in --version, hello messages and checkpoints. */
#define FOIL_VERSION "1.0.0"

/*
 * opt_parse() fills in the values and returns the operands, which NULL ends.
 * --help, in lines as wide as the terminal (60 to 200 columns; 80 without a
 * terminal), and --version print to stdout and exit with 0; misuse exits with
 * EXIT_USAGE and prints the option, the fault and the accepted values.  "--help
 * all" prints all options; --help omits some in a tool with rare groups
 * (opt_groups()).
 */
char **opt_parse(const struct opt_tool *tool, int argc, char **argv);

/*
 * "--list options" prints the table as JSON and exits with 0, even if operands
 * are missing: "[", an object a line, "]".  An object has, in this order,
 *     verb      its verb, if opt_verb() lists all verbs
 *     name      without dashes
 *     short     the letter
 *     kind      flag, whole, real, text, choice, method or list
 *     argument  name of the value in --help, the words of a choice; not for
 *               a flag
 *     least, most   of a whole or a real
 *     default   of its kind: false, 128, 0.5, "simclr", []
 *     group     the title above it
 *     of        of a parameter, which has no group: the option that it
 *               belongs to, or several, "proposals|method"
 *     was       its name as an option, if that differs
 *     common    true: every tool has it
 *     sentence  what it does
 * and omits fields that do not apply.  The first object of a tool or a verb has
 * no name; it describes the tool or verb and its operands.  Lines have blanks
 * only in texts, so that sed, too, finds names by '"name":"'.
 */

/* opt_json() returns the value of an option, its default before opt_parse();
 * null if there is none. */
struct json_t *opt_json(const struct opt *opt);

/*
 * opt_groups() adds titles to --help, each before the option that sets *first;
 * call it before opt_parse().  The table ends with a NULL title and must stay
 * valid.  "--help WORD" prints the groups with titles that begin with the word.
 */
struct opt_group {
    const char *title;
    const void *first;
    int rare; /* --help lists its options without descriptions */
};

void opt_groups(const struct opt_group *groups);

/* opt_row() prints a row of a list as --help does: a name, followed on the same
 * line or below by its description, folded to the width of the terminal `out`,
 * or to 80 columns. */
void opt_row(FILE *out, const char *name, const char *what);

/* opt_paragraph() prints `lead` and a text, folded as by opt_row(). */
void opt_paragraph(FILE *out, const char *lead, const char *text);

/*
 * opt_append() copies rows, up to the one without a name, to a table after its
 * first n rows, and returns the new number of rows.
 *   opts [OPT_MOST]
 */
size_t opt_append(struct opt opts[OPT_MOST], size_t n, const struct opt *rows);

/*
 * Some rows of a table are not options but parameters of an option of
 * OPT_METHOD, OPT_CHOICE or OPT_TEXT, and follow its value: with "--objective
 * hcl,beta=0.5,old-mean" --objective is "hcl".  A list that begins with a comma
 * leaves the value unchanged and may be added to another list.  Parameters in a
 * --config file apply if the command line does not set them and names the same
 * method, or none.  Parameters as options, "--beta 0.5", are deprecated: they
 * work, with a line on stderr.
 *
 * opt_parameters() declares the rows that set `value` as parameters.  Call it
 * before opt_parse(); a NULL value ends the table, and its texts must stay
 * valid.
 */
struct opt_parameter {
    const void *value;
    const char *of;   /* the option, or several, "proposals|method" */
    const char *name; /* in its list; the row's own name is the old option */
};

void opt_parameters(const struct opt_parameter *rows);

/* opt_parameters_of() cuts a value before its parameters, which begin with a
 * lower-case letter after a comma; returns these, or NULL. */
char *opt_parameters_of(char *value);

/* opt_spelled() returns "--lr" for an option and "--optim: momentum" for a
 * parameter, for use in a message, valid until the next call. */
const char *opt_spelled(const struct opt *o);

/*
 * Deprecated spellings of options: they work, with a line on stderr.
 * opt_old_find() returns the row for an option of a tool with that value (NULL:
 * the row for any value), or NULL if it is not deprecated.  Parameters of the
 * value, from its first comma on, are added to `now`.
 */
struct opt_old {
    const char *tool, *name;
    const char *is;  /* the value; NULL: any, which is then added to `now` */
    const char *now; /* "--sampler trainer", words separated by one blank */
};

#define OPT_DROPPED "; 1.1 drops the old spelling"

const struct opt_old *opt_old_find(const char *tool, const char *name,
                                   const char *value);

/* opt_old_name() returns the old name of an option, or NULL. */
const char *opt_old_name(const char *name);

/* opt_is_set() returns 1 if the option that sets `value` was on the command
 * line, and 0 if the value is the default. */
int opt_is_set(const void *value);

/* opt_index() returns the index of a word in the words of a choice, "a|b|c",
 * from 0, or -1. opt_word() returns the start of the word with an index, and
 * its length. */
int opt_index(const char *words, const char *word);
const char *opt_word(const char *words, int index, int *length);

/* opt_choice() returns the current word of the OPT_CHOICE that sets `value`,
 * valid until the next call for that option; after opt_parse(). */
const char *opt_choice(const void *value);

/* opt_together() calls opt_misuse() if only one of two options is set; `one`
 * and `other` are the variables that they set. */
void opt_together(const void *one, const void *other);

/*
 * opt_verb() is opt_parse() for a tool with verbs, such as "foil-data index
 * PATH": each verb is a struct opt_tool, with the name "foil-data index", in a
 * table that ends with a NULL name.  Returns the verb argv[1] and its operands
 * in *operand.  Of `tool` only name and summary are used.  The message about an
 * option that only other verbs have names these.
 */
const struct opt_tool *opt_verb(const struct opt_tool *tool,
                                const struct opt_tool *verbs, int argc,
                                char **argv, char ***operand);

/*
 * opt_config() reads a file of options (util/setting.h), for opt_parse() and
 * for a tool with a table of its own: it calls take() with each name and value,
 * "" where there is none.  Texts are valid until the next call.  While take()
 * runs, messages begin with file and line.  A file that cannot be read ends the
 * tool by die().
 */
void opt_config(const char *path,
                void (*take)(void *self, const char *name, const char *value),
                void *self);

/* opt_whole() reads an operand that is a whole number in min .. max, or reports
 * misuse of the operand that `what` names. */
long opt_whole(const char *what, const char *text, double min, double max);

/* opt_misuse() reports a misuse that the table cannot detect and exits with
 * EXIT_USAGE. */
_Noreturn void opt_misuse(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* die() prints "tool: message" to stderr and exits with EXIT_FAILED. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* or_die() ends the process by die() with err's sentence unless rc is 0. */
void or_die(int rc, const struct err *err);

/* log_message() prints "tool: message" to stderr and returns. */
void log_message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* log_line() prints a line, as a callback; it ignores `tool`. */
void log_line(void *tool, const char *line);

/* log_stopped() prints "stopped" if stderr is a terminal and the tool was asked
 * to stop: otherwise the shell's prompt would follow the ^C. */
void log_stopped(void);

/* set_tool_name() makes messages begin with this name instead of the tool's,
 * for a tool that works for another.  The name must stay valid. */
void set_tool_name(const char *name);

/*
 * end_when_stopped() is for a tool that makes files or prints figures: from now
 * on the first signal of util/stop.h makes it die, with a message and without
 * leaving a draft (util/file.h).  If its first file is in place the tool
 * finishes instead, so that files that belong together are complete.  Call it
 * before other threads start.
 */
void end_when_stopped(void);

/* export_variable() sets a variable of the environment, or dies. */
void export_variable(const char *name, const char *value);

/* close_stdout() closes stdout, and dies if any output could not be written. */
void close_stdout(void);
