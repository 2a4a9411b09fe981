#ifndef UTIL_OPT_H
#define UTIL_OPT_H

#include <stddef.h>
#include <stdio.h>

/*
 * Options and help from one table: a tool lists what it takes, and parsing,
 * --help, --version and the ranges follow.  These print and exit: they are
 * for main() alone.
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
 * "--tau 0.1", "--tau=0.1", "-t 0.1" and "-t0.1" are the same.  An option may
 * be given once, lists apart.  "--" ends the options; they may stand after
 * operands.
 *
 * "--config FILE" takes options from a file (util/setting.h), where a flag is
 * its name alone.  An option on the command line takes the place of one in the
 * file, and "--no-FLAG" takes back a flag of the file, where no option has that
 * name.  "-h" is --help where no option has that letter.  A wrong name is
 * answered with the one that was meant, as far as that can be seen.
 */

/* Exit codes, the same for every tool; a tool's man page names further ones. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum opt_kind {
    OPT_FLAG,   /* int: 1 when given */
    OPT_WHOLE,  /* long within min .. max; LONG_MIN: no default */
    OPT_REAL,   /* double within min .. max; NaN: no default */
    OPT_TEXT,   /* const char * */
    OPT_CHOICE, /* int or enum: the index of the word in arg, "a|b|c", from 0;
                   -1: no default */
    OPT_METHOD, /* const char *: the name of a method that has parameters */
    OPT_LIST    /* struct opt_list: may be given often */
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
    const char *arg;  /* what --help calls the value; the words of a choice */
    const char *help; /* half a sentence; the default is printed behind it */
};

enum { OPT_MOST = 128 }; /* rows of a table */

struct opt_tool {
    const char *name;     /* "foil-train" */
    const char *summary;  /* one line, small first letter, no full stop */
    const char *operands; /* as in the usage line, "DATA ..."; or NULL; "[RUN]"
                             sets --run */
    int at_least, at_most;
    const struct opt *opts;
};

/* The version of foil, in --version, hello messages and checkpoints. */
#define FOIL_VERSION "1.0.0"

/*
 * opt_parse() fills in the values and returns the operands, NULL behind the
 * last.  --help, in lines as wide as the terminal (60 to 200 columns; 80 where
 * there is none), and --version print to stdout and exit with 0; misuse exits
 * with EXIT_USAGE and says which option, what was wrong, what is wanted.
 * "--help all" prints all options; --help leaves some out in a tool with rare
 * groups (opt_groups()).
 */
char **opt_parse(const struct opt_tool *tool, int argc, char **argv);

/*
 * "--list options" prints the table as JSON and exits with 0, whatever else is
 * missing: "[", an object a line, "]".  An object has, in this order,
 *     verb      where opt_verb() lists all verbs: whose it is
 *     name      without dashes
 *     short     the letter
 *     kind      flag, whole, real, text, choice, method or list
 *     argument  what --help calls the value, the words of a choice; no flag
 *               has one
 *     least, most   of a whole or a real
 *     default   of its kind: false, 128, 0.5, "simclr", []
 *     group     the title above it
 *     of        of a parameter, which has no group: the option that it stands
 *               behind, or several, "proposals|method"
 *     was       its name as an option, where that is another one
 *     common    true: every tool takes it
 *     sentence  what it does
 * and has no field that does not apply.  The first object of a tool or a verb
 * has no name; it says what that does and has its operands.  The lines have no
 * blanks but in texts, so that '"name":"' is found before names alone, by sed,
 * too.
 */

/* opt_json() returns what an option is set to, its default before it is parsed;
 * null where there is none. */
struct json_t *opt_json(const struct opt *opt);

/*
 * opt_groups() gives --help titles, each before the option that sets *first; to
 * be called before opt_parse().  The table ends with a NULL title and must
 * stay.  "--help WORD" prints those groups whose titles begin with the word.
 */
struct opt_group {
    const char *title;
    const void *first;
    int rare; /* --help names its options, but does not say what they do */
};

void opt_groups(const struct opt_group *groups);

/*
 * opt_row() prints a row of a list as --help does: a name, and beside or below
 * it what it means, folded to the width of the terminal that `out` is, or to 80
 * columns.
 */
void opt_row(FILE *out, const char *name, const char *what);

/* opt_paragraph() prints a text behind its first word or words, `lead`, folded
 * as by opt_row(). */
void opt_paragraph(FILE *out, const char *lead, const char *text);

/*
 * opt_append() copies rows, up to the one without a name, behind the first n of
 * a table, and returns how many rows the table has then.
 *   opts [OPT_MOST]
 */
size_t opt_append(struct opt opts[OPT_MOST], size_t n, const struct opt *rows);

/*
 * Some rows of a table are no options of their own, but parameters of one, of
 * OPT_METHOD, OPT_CHOICE or OPT_TEXT, and stand behind its value: with
 * "--objective hcl,beta=0.5,old-mean" --objective is "hcl".  A list that begins
 * with a comma leaves that value as it is and may come in addition to another.
 * In a --config file the parameters that the command line does not set count
 * where it has the same method, or none.  As options of their own, "--beta
 * 0.5", parameters are taken still, with a line on stderr.
 *
 * opt_parameters() says which rows are: those that set `value`.  Before
 * opt_parse(); the table ends with a NULL value, and its texts must stay.
 */
struct opt_parameter {
    const void *value;
    const char *of;   /* the option, or several, "proposals|method" */
    const char *name; /* behind that; the row's own is the old option */
};

void opt_parameters(const struct opt_parameter *rows);

/* opt_parameters_of() ends a value before the parameters behind it, which begin
 * with a small letter behind a comma; returns these, or NULL. */
char *opt_parameters_of(char *value);

/* opt_spelled() returns "--lr" of an option and "--optim: momentum" of a
 * parameter, for a sentence, until the next call. */
const char *opt_spelled(const struct opt *o);

/*
 * Options with another spelling in older versions: they are taken still, with a
 * line on stderr.  opt_old_find() returns the row of an option of a tool with
 * that value, or that of one with any value where `value` is NULL; NULL where
 * it is not old.
 */
struct opt_old {
    const char *tool, *name;
    const char *is;  /* the value; NULL: any, which then goes behind `now` */
    const char *now; /* "--sampler trainer", words apart by one blank */
};

#define OPT_DROPPED "; 1.1 drops the old spelling"

const struct opt_old *opt_old_find(const char *tool, const char *name,
                                   const char *value);

/* opt_given() returns 1 when the option that sets `value` was on the command
 * line, and 0 when the value is the default. */
int opt_given(const void *value);

/*
 * opt_index() returns the index of a word in the words of a choice, "a|b|c",
 * from 0, or -1.  opt_word() returns where the word of an index begins, and its
 * length.
 */
int opt_index(const char *words, const char *word);
const char *opt_word(const char *words, int index, int *length);

/* opt_choice() returns the word of the OPT_CHOICE that sets `value`, as it is
 * set now, until the next call for that option; after opt_parse(). */
const char *opt_choice(const void *value);

/* opt_together() exits as opt_misuse() if one of two options was given without
 * the other; `one` and `other` are the variables that they set. */
void opt_together(const void *one, const void *other);

/*
 * opt_verb() is opt_parse() for a tool with verbs, as "foil-data index PATH":
 * each verb is a tool of its own, by the name "foil-data index", in a table
 * that ends with a NULL name.  Returns the verb that argv[1] is, its operands
 * in *operand.  Of the tool itself, name and summary are used.  An option that
 * other verbs have is refused with their names.
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

/*
 * opt_whole() reads an operand that is a whole number in min .. max, or reports
 * misuse of the operand that `what` names.
 */
long opt_whole(const char *what, const char *text, double min, double max);

/* opt_misuse() reports a misuse that the table cannot know and exits with
 * EXIT_USAGE. */
_Noreturn void opt_misuse(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* die() prints "tool: message" to stderr and exits with EXIT_FAILED. */
_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* say() prints "tool: message" to stderr and returns. */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* say_line() says a line, for a callback that prints lines; `tool` is
 * not looked at. */
void say_line(void *tool, const char *line);

/* say_stopped() says "stopped" where stderr is a terminal and the tool was
 * asked to stop: without a word the prompt would stand behind the ^C. */
void say_stopped(void);

/* say_as() makes messages begin with this name, which is kept, instead of the
 * tool's: for a tool that works for another. */
void say_as(const char *name);

/*
 * end_when_stopped() is for a tool that makes files or prints figures: from
 * here on the first signal of util/stop.h makes it die, with a sentence and
 * without a draft (util/file.h) left behind.  When its first file is in place
 * it goes on to its end instead, so that those that belong together are.
 * Before other threads are started.
 */
void end_when_stopped(void);

/* close_stdout() closes stdout, and dies when any output could not be
 * written. */
void close_stdout(void);

#endif
