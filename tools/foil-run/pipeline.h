#pragma once

#include "list.h"
#include "util/json.h"
#include "util/setting.h"
#include "words.h"

/*
 * A pipeline: a shell script with a header that declares the operands and
 * options of `foil run NAME`; see foil-run(1).
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
 * Two kinds of process read it: `foil run NAME`, which parses the command
 * line, sets the environment and runs the script; and the script's commands in
 * C (commands_main()), which read their values from that environment.
 *
 * Everything here is for main(): it prints, and ends the process on errors.
 * One pipeline in a process.
 */

/* In the order of RUN/command. */
enum { EMBED, SELECT, TRAIN, NEGATIVES, AUGMENT, N_STAGES };
extern const char *const pipeline_stages[N_STAGES]; /* their names */

/* An option with a value: its name, the value in --help (N or S: an integer),
 * and its description. */
struct pipeline_row {
    const char *name, *arg, *what;
};

struct pipeline {
    char *name;               /* for `foil run NAME` */
    const char *command;      /* the command, for messages */
    char *known;              /* in RUN/command */
    char *path, *text;        /* the script */
    const char *described;    /* operands as in "DATA [TEST]" */
    struct word_list operand; /* their names; the first `needed` are required */
    size_t needed;
    struct pipeline_row *row; /* options, those of all pipelines first */
    size_t rows, row_room;

    struct settings vars;      /* values of options, operands and others */
    struct settings cli;       /* options and operands of the command line */
    struct word_list override; /* options that may differ from the run's */
    char **words;              /* the command line; NULL in a script */
    const char *config;        /* a file of options; or NULL */
    int resume, lists, traces; /* --resume, --stages, --trace */
    int no_compare;            /* --no-compare */
    int evaluates;             /* 1: an evaluator follows the trainer */
    int is_fresh;              /* 1: each run gets a new directory */
    int in_script;             /* 1: this process is a command of the script */

    struct word_list defaults[N_STAGES]; /* options that the header sets */
    struct word_list more[N_STAGES];     /* of the script's command */
    struct word_list tuned;   /* of the trainer, with the default objective */
    const char *usual;        /* the default objective */
    json_t *selects, *trains; /* output of both with --dry-run; or NULL */
    int trained;              /* 1: nothing is left to train */
    int query_own_select;     /* 1: skip options for foreign programs */
    int foreign_trainer;      /* 1: the trainer is a foreign program */
    const char *stages;       /* the list of stages; or NULL */

    const char *line;            /* of the header, "mine:9"; or NULL */
    struct settings set, set_at; /* by `default` lines: value, line */

    int is_study;            /* 1: a study; it stores settings in its own way */
    struct settings methods; /* METHOD.objective, METHOD.STAGE */

    int is_sweep; /* 1: a study of another pipeline, its first operand, with
                   * several values of options */
    size_t sweep_rows[2];   /* begin and end of its own options */
    struct word_list swept; /* options with several values */
    struct word_list fixed; /* operands, and options with one value */
};

/* pipeline_is() returns 1 if a file is a pipeline, not a list of stages;
 * pipeline_main() runs the pipeline argv[1]. */
int pipeline_is(const char *path);
_Noreturn void pipeline_main(char **argv);

/* pipeline_load() reads the script at a path and its header into p;
 * header_read() a header, whose errors begin with `name`. */
void pipeline_load(struct pipeline *p, const char *path);
void header_read(struct pipeline *p, const char *name, const char *text);

/* pipeline_misuse() prints an error with its line in the header, or with a
 * hint to --help, and exits. */
_Noreturn void pipeline_misuse(const struct pipeline *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* var() returns the value of a variable, "" if it is not set; the text is
 * never freed. */
const char *var(const struct pipeline *p, const char *name);
long whole_var(const struct pipeline *p, const char *name);
void set_var(struct pipeline *p, const char *name, const char *value);

/* variables_export() puts all variables into the environment of the script:
 * `linear-rate` as LINEAR_RATE, the user's options for a stage as FOIL_TRAIN;
 * variables_import() reads them from there. */
void variables_export(const struct pipeline *p);
void variables_import(struct pipeline *p);

/* pipeline_split() adds the words of a text; errors name its option. */
void pipeline_split(const struct pipeline *p, struct word_list *list,
                    const char *option, const char *text);

/* pipeline_take() sets an option; pipeline_command_line() parses all words
 * after the script's path.  pipeline_arguments() parses the words of a command
 * of the script, and returns its operand, or "". */
void pipeline_take(struct pipeline *p, const char *name, const char *value);
void pipeline_command_line(struct pipeline *p, char **argv);
const char *pipeline_arguments(struct pipeline *p, char **argv);

/* pipeline_absolute() returns an absolute path, with "." and ".." resolved,
 * but not links. */
char *pipeline_absolute(const char *path);

/* pipeline_row_add() adds an option of texts that are never freed, a flag if
 * `arg` is ""; pipeline_row_find() returns one by name, or NULL. */
void pipeline_row_add(struct pipeline *p, const char *name, const char *arg,
                      const char *what);
const struct pipeline_row *pipeline_row_find(const struct pipeline *p,
                                             const char *name);

/* check_value() returns a normalised value for an option, or refuses it;
 * check_defaults() does so for the header's `default` lines, and sets them. */
const char *check_value(const struct pipeline *p, const char *name,
                        const char *value);
void check_defaults(struct pipeline *p);

/* stage_named() returns the stage with a name of n characters, or -1. */
int stage_named(const char *name, size_t n);

/*
 * options_of_stage() returns the options that the tool of a stage lists, none
 * if there is no tool; option_of_stage() returns one by name, also as
 * --no-FLAG, or for a parameter by its name as an option; or NULL.
 *
 * spelled_in() returns "objective ,tau=X" for a parameter of a stage, and any
 * other name unchanged.  update_spelling() replaces old spellings in a list of
 * options, and prints a line for each if `says`; it also joins items with
 * parameters of the same option.  update_objective() returns the new spelling
 * of a value of --objective, likewise.  merge_items() is word_list_merge(), but
 * merges parameters of the same method by merge_parameters().  That returns the
 * parameters of `was` that `is` does not name, and those of `is`; a value that
 * begins with a comma fits any method.
 *
 * is_parameter() returns 1 if a word, "beta=0.5" or "no-nesterov", begins with
 * a parameter of an option; with NULL if the option has any.
 *
 * same_method() compares two values without their parameters; take_item()
 * removes an item with its value from a list and returns the value, or NULL.
 */
const json_t *options_of_stage(int stage);
const json_t *option_of_stage(int stage, const char *name);
const char *spelled_in(int stage, const char *name);
void update_spelling(int stage, struct word_list *list, int says);
const char *update_objective(const char *value, int says);
void merge_items(int stage, struct word_list *list, const struct word_list *own,
                 const struct word_list *theirs);
const char *merge_parameters(const char *was, const char *is);
int is_parameter(int stage, const char *option, const char *word);
int same_method(const char *one, const char *other);
const char *take_item(struct word_list *list, const char *name);

/* run_path() returns RUN/NAME; run_has() returns 1 if that exists. */
char *run_path(const struct pipeline *p, const char *name);
int run_has(const struct pipeline *p, const char *name);

/* method_check() refuses an unknown method; method_apply() replaces the
 * header's objective and options by the method's. */
void method_check(const struct pipeline *p, const char *method);
void method_apply(struct pipeline *p, const char *method);

/* pipeline_keys() returns the names in RUN/command, in order. */
struct word_list pipeline_keys(const struct pipeline *p);
int pipeline_is_key(const struct pipeline *p, const char *name);

/* run_command_text() returns the text for RUN/command; load_run() applies
 * the stored settings of a run, except those of --override (is_overridden());
 * configure_run() applies --config FILE. */
char *run_command_text(const struct pipeline *p);
void load_run(struct pipeline *p);
int is_overridden(const struct pipeline *p, const char *name);
void configure_run(struct pipeline *p);

/* study_settings() prints what STUDY/settings is to hold: values that the
 * script names, up to NULL, and others.  It refuses a study with other
 * settings. */
_Noreturn void study_settings(struct pipeline *p, char **value);

/* stages_dry_run() runs the trainer, and if there is data all other stages,
 * with --dry-run: wrong options are refused before any stage starts.
 * stages_text() returns the list of stages; an evaluator uses `test`, or "".
 * merge_options() adds a stage's own options that the user's do not replace,
 * then the user's. */
void stages_dry_run(struct pipeline *p, const char *data);
char *stages_text(struct pipeline *p, const char *data, const char *test);
void merge_options(const struct pipeline *p, int stage,
                   const struct word_list *own, struct word_list *words);

/* has_own_net() returns 1 if the encoder is a program with its own tensors;
 * runs_foil_tool() if the command of a stage ends in foil's tool, with known
 * options. */
int has_own_net(const struct pipeline *p);
int runs_foil_tool(const struct pipeline *p, int stage);

/* With --stages, a script ends with this exit code once its list is printed. */
enum { EXIT_LISTED = 99 };

/* commands_main() runs argv[1] if it is a command of a script, and does not
 * return then.  Each is a file of pipelines/bin that executes `foil-run --NAME
 * ARG...`; see foil-run(1). */
void commands_main(char **argv);
