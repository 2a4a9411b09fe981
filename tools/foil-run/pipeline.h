#ifndef FOIL_RUN_PIPELINE_H
#define FOIL_RUN_PIPELINE_H

#include "keep.h"
#include "list.h"
#include "util/json.h"
#include "util/setting.h"
#include "words.h"

/*
 * A pipeline: a shell script with a header that says what `foil run NAME`
 * takes; foil-run(1) describes it.
 *
 *     #!/usr/bin/env foil-run
 *     # SimCLR: the negatives of an image are the other images of its batch.
 *     #: operands DATA [TEST]
 *     #: default  warm 5
 *     #: train    --lr 0.5 --checkpoint-every 500
 *
 *     learn "$DATA"
 *     [ -z "$TEST" ] || evaluate "$DATA" "$TEST"
 *
 * Two kinds of process read it: `foil run NAME`, which takes the command line,
 * sets the environment and runs the script; and the commands of the script that
 * are in C (commands.h), which take their values from that environment.
 *
 * Everything here is for main(): it prints, and ends the process on errors with
 * a sentence.  One pipeline in a process.
 */

/* In the order of RUN/command. */
enum { EMBED, SELECT, TRAIN, NEGATIVES, AUGMENT, N_STAGES };
extern const char *const pipeline_stages[N_STAGES]; /* their names */

/* An option that has a value: its name, what --help calls the value, N or S for
 * a whole number, and says of it. */
struct pipeline_row {
    char *name, *arg, *what;
};

struct pipeline {
    char *name;               /* behind `foil run` */
    char *known;              /* what a run remembers it by */
    char *path, *text;        /* the script */
    const char *described;    /* operands as in "DATA [TEST]" */
    struct word_list operand; /* their names; the first `needed` are wanted */
    size_t needed;
    struct pipeline_row *row; /* options, those of all pipelines first */
    size_t rows, row_room;

    struct settings vars;      /* values of options, operands and others */
    struct settings said;      /* what the command line says */
    struct word_list override; /* options that may differ from the run's */
    const char *config;        /* a file of options; or NULL */
    int resume, lists, traces; /* --resume, --stages, --trace */
    int is_fresh;              /* each run has a folder of its own */
    int in_script;             /* this is a command of the script */

    struct word_list defaults[N_STAGES]; /* options that the header sets */
    struct word_list more[N_STAGES];     /* and a command of the script */
    struct word_list tuned;   /* of the trainer, with the usual objective */
    const char *usual;        /* that objective */
    json_t *selects, *trains; /* what both make of their options; or NULL */
    int learnt;               /* nothing is left to train */
    int selects_ours;         /* of programs of another kind ours is not told */
    int asks_elsewhere; /* the trainer's checkpoint is another program's */
    const char *stages; /* the list of stages; or NULL */

    const char *line;            /* of the header, "mine:9"; or NULL */
    struct settings set, set_at; /* by `default` lines: value, line */

    int is_study;            /* which remembers its settings in its own way */
    struct settings methods; /* METHOD.objective, METHOD.STAGE */
};

/* pipeline_is() returns 1 when a file is a pipeline, not a list of stages. */
int pipeline_is(const char *path);

/* pipeline_main() runs the pipeline argv[1]; it does not return. */
_Noreturn void pipeline_main(char **argv);

/* pipeline_load() reads the script at a path and its header, in p. */
void pipeline_load(struct pipeline *p, const char *path);

/* pipeline_misuse() says what is wrong and where to look, or in which line of
 * the header it is, and exits. */
_Noreturn void pipeline_misuse(const struct pipeline *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* header_read() takes the header of a script; errors begin with its name. */
void header_read(struct pipeline *p, const char *name, const char *text);

/* ------------------------------------------------- variables and options */

/* var() returns the value of a variable, "" where it is not set, which stays
 * when another is set. */
const char *var(const struct pipeline *p, const char *name);
long whole_var(const struct pipeline *p, const char *name);
void set_var(struct pipeline *p, const char *name, const char *value);

/*
 * variables_export() puts all variables into the environment, as the script and
 * its commands see them: `linear-rate` as LINEAR_RATE, what the user says of a
 * stage as FOIL_TRAIN.  variables_import() takes them from there.
 */
void variables_export(const struct pipeline *p);
void variables_import(struct pipeline *p);

/* pipeline_split() adds the words of a text, or says which option has it. */
void pipeline_split(const struct pipeline *p, struct word_list *list,
                    const char *option, const char *text);

/* pipeline_take() sets what an option is for; pipeline_command_line() takes all
 * words behind the script's path.  pipeline_arguments() takes the words of a
 * command of the script, and returns its operand, or "". */
void pipeline_take(struct pipeline *p, const char *name, const char *value);
void pipeline_command_line(struct pipeline *p, char **argv);
const char *pipeline_arguments(struct pipeline *p, char **argv);
void pipeline_help(const struct pipeline *p);

/* pipeline_absolute() returns a path from the root, "." and ".." resolved and
 * links kept. */
char *pipeline_absolute(const char *path);

/* pipeline_row_add() adds an option that has a value. */
void pipeline_row_add(struct pipeline *p, const char *name, const char *arg,
                      const char *what);

/* check_value() returns a value as the option of that name takes it, or refuses
 * it; check_defaults() sets what the header's `default` lines say, likewise. */
const char *check_value(const struct pipeline *p, const char *name,
                        const char *value);
void check_defaults(struct pipeline *p);

/* stage_named() returns the stage of a name of n characters, or -1. */
int stage_named(const char *name, size_t n);

/*
 * options_of_stage() returns the rows that the tool of a stage lists, none
 * where it is not there; option_of_stage() that of an option, also as
 * --no-FLAG, and of a parameter by its name as an option, or NULL.
 *
 * spelled_in() returns "objective ,tau=X" of what is a parameter of a stage,
 * and any other name as it is. spell_anew() puts the spelling of now into a
 * list of options, with a line for each where `says`; of several items with
 * parameters it makes one. merge_items() is word_list_merge() where the item of
 * both is one with parameters of the same method: these are merged by
 * merge_parameters(), which returns those of `was` that `is` does not name, and
 * those of `is`; a value that begins with a comma is of any method.
 *
 * same_method() compares two values up to their parameters; take_item() takes
 * the item of a name, with its value, out of a list and returns the value, or
 * NULL.
 */
const json_t *options_of_stage(int stage);
const json_t *option_of_stage(int stage, const char *name);
const char *spelled_in(int stage, const char *name);
void spell_anew(int stage, struct word_list *list, int says);
void merge_items(int stage, struct word_list *list, const struct word_list *own,
                 const struct word_list *theirs);
const char *merge_parameters(const char *was, const char *is);
int same_method(const char *one, const char *other);
const char *take_item(struct word_list *list, const char *name);

/* run_path() returns RUN/NAME, run_has() whether it is there. */
char *run_path(const struct pipeline *p, const char *name);
int run_has(const struct pipeline *p, const char *name);

/* method_get() returns the objective or the options of a stage of a method, or
 * NULL; method_check() refuses one that is not there; method_apply() puts its
 * objective and options in the place of the header's. */
const char *method_get(const struct pipeline *p, const char *method,
                       const char *what);
void method_check(const struct pipeline *p, const char *method);
void method_apply(struct pipeline *p, const char *method);

/* ------------------------------------------------- what a run remembers */

/* pipeline_keys() returns the names that a run remembers, in order. */
struct word_list pipeline_keys(const struct pipeline *p);
int pipeline_is_key(const struct pipeline *p, const char *name);

/* run_command_text() returns what RUN/command is to hold; recall_run() has the
 * run's command hold, but for what is overridden; configure_run() takes a file
 * of options. */
char *run_command_text(const struct pipeline *p);
void recall_run(struct pipeline *p);
void configure_run(struct pipeline *p);
int is_overridden(const struct pipeline *p, const char *name);

/* study_settings() prints what STUDY/settings is to hold: values that the
 * script names, up to NULL, and others.  It refuses a study with other
 * settings. */
_Noreturn void study_settings(struct pipeline *p, char **value);

/* ---------------------------------------------------------------- stages */

/* stages_ask() asks the trainer, and where there is data all other stages, what
 * they make of their options: a wrong one is refused before any is started.
 * stages_text() returns the list of stages.  merge_options() adds those of a
 * stage that the user's do not replace, and these. */
void stages_ask(struct pipeline *p, const char *data);
char *stages_text(struct pipeline *p, const char *data);
void merge_options(const struct pipeline *p, int stage,
                   const struct word_list *own, struct word_list *words);
int has_own_net(const struct pipeline *p);

/* runs_ours() returns 1 when the command of a stage ends in our tool, which
 * knows its options. */
int runs_ours(const struct pipeline *p, int stage);

#endif
