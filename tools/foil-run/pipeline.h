#ifndef FOIL_RUN_PIPELINE_H
#define FOIL_RUN_PIPELINE_H

#include <stdio.h>

#include "keep.h"
#include "list.h"
#include "util/json.h"
#include "util/setting.h"
#include "words.h"

/*
 * A pipeline: a list with a header, which says what `foil run NAME` takes, and
 * with steps that run one after another; foil-run(1) describes it.
 *
 *     # SimCLR: the negatives of an image are the other images of its batch.
 *     pipeline DATA [TEST]
 *     default  warm 5
 *     train    --lr 0.5 --checkpoint-every 500
 *     learn    $DATA $TEST
 *     if $judge use judge
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

/* A list of parts/ that a line of another one uses. */
struct pipeline_part {
    const char *path;
    struct word_list word; /* its name, and $1 .. */
    const struct pipeline_part *before;
};

enum pipeline_learnt { LEARNT_NOT, LEARNT_BEFORE, LEARNT_NOW };

struct pipeline {
    char *name;               /* behind `foil run` */
    char *known;              /* what a run remembers it by */
    char *path, *text;        /* the list */
    const char *described;    /* operands as in "DATA [TEST]" */
    struct word_list operand; /* their names; the first `needed` are wanted */
    size_t needed;
    struct pipeline_row *row; /* options, those of all pipelines first */
    size_t rows, row_room;

    struct settings vars; /* values of options, operands and others */
    const struct pipeline_part *part; /* the innermost; or NULL */
    struct settings said;             /* what the command line says */
    struct word_list override; /* options that may differ from the run's */
    const char *config;        /* a file of options; or NULL */
    int resume, lists;         /* --resume, --stages */

    struct word_list defaults[N_STAGES]; /* options that the list sets */
    struct word_list tuned;   /* of the trainer, with the usual objective */
    json_t *selects, *trains; /* what both make of their options; or NULL */
    enum pipeline_learnt learnt;
    int judge_anew;
    int selects_ours;     /* of programs of another kind ours is not told */
    int asks_elsewhere;   /* the trainer's checkpoint is another program's */
    const char *prepared; /* of what pipeline_prepare() was the last; or NULL */
    const char *stages;   /* the list of stages that it made; or NULL */

    int is_study;            /* which remembers its settings in its own way */
    struct settings methods; /* METHOD.objective, METHOD.STAGE */
    int lock;                /* of the study's folder, or 0 */

    int held;          /* a descriptor that keeps others out of the run */
    const char *holds; /* the run that it is for; or NULL */
    const char *to;    /* where the output of a step goes; NULL: our own */
    int to_append;     /* behind what is there */
};

/* pipeline_is() returns 1 when a file is a pipeline, not a list of stages. */
int pipeline_is(const char *path);

/* pipeline_main() runs the pipeline argv[1]; it does not return. */
_Noreturn void pipeline_main(char **argv);

/* pipeline_misuse() says what is wrong and where to look, and exits. */
_Noreturn void pipeline_misuse(const struct pipeline *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------- variables and options */

/* pipeline_value() returns the value of a variable, or $1 .. of a part, or
 * NULL; var() that of a variable, "" where it is not set.  A value that var()
 * returned stays when another is set. */
const char *pipeline_value(const void *pipeline, const char *name);
const char *var(const struct pipeline *p, const char *name);
long whole_var(const struct pipeline *p, const char *name);
void set_var(struct pipeline *p, const char *name, const char *value);

/* pipeline_split() adds the words of a text, or says which option has it. */
void pipeline_split(const struct pipeline *p, struct word_list *list,
                    const char *option, const char *text);

/* pipeline_take() sets what an option is for; pipeline_command_line() takes all
 * words behind the list's path; pipeline_help() prints and exits. */
void pipeline_take(struct pipeline *p, const char *name, const char *value);
void pipeline_command_line(struct pipeline *p, char **argv);
void pipeline_help(const struct pipeline *p);

/* pipeline_absolute() returns a path from the root, "." and ".." resolved and
 * links kept. */
char *pipeline_absolute(const char *path);

/* pipeline_row_add() adds an option that has a value. */
void pipeline_row_add(struct pipeline *p, const char *name, const char *arg,
                      const char *what);

/* stage_named() returns the stage of a name of n characters, or -1. */
int stage_named(const char *name, size_t n);

/* run_path() returns RUN/NAME, run_has() whether it is there. */
char *run_path(const struct pipeline *p, const char *name);
int run_has(const struct pipeline *p, const char *name);

/* ------------------------------------------------------ what a run remembers
 */

/* pipeline_keys() returns the names that a run remembers, in order. */
struct word_list pipeline_keys(const struct pipeline *p);
int pipeline_is_key(const struct pipeline *p, const char *name);

/* remember_run() writes RUN/command; recall_run() has the run's command hold,
 * but for what is overridden; configure_run() takes a file of options. */
void remember_run(struct pipeline *p);
void recall_run(struct pipeline *p);
void configure_run(struct pipeline *p);
int is_overridden(const struct pipeline *p, const char *name);

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

/* -------------------------------------------------------- learning, judging */

void pipeline_prepare(struct pipeline *p, const char *data, const char *test);
void pipeline_learn(struct pipeline *p, const char *data, const char *test);
void pipeline_index(struct pipeline *p, const char *data);

/* ------------------------------------------------------------------ steps */

/* script_declare() takes the header of a text, script_run() runs its steps. */
void script_declare(struct pipeline *p, const char *name, const char *text);
void script_run(struct pipeline *p, const char *name, const char *text);

/* ---------------------------------------------------------------- studies */

/*
 * A study is the same training by several methods with several seeds, judged
 * alike.  Its folder holds a run for each, METHOD-SEED, and in it, once it is
 * judged, result.tsv: what has results is not trained again.  These are steps
 * of a list, described in foil-run(1); study_lock() keeps other calls out of
 * the folder.
 */
void study_declare(struct pipeline *p, const struct word_list *word);
void study_method(struct pipeline *p, const struct word_list *word);
void study_set_method(struct pipeline *p, const struct word_list *word);
void study_open(struct pipeline *p, const struct word_list *word);
void study_lock(struct pipeline *p);
void study_unlock(struct pipeline *p);

/* study_said() returns the objective or the options that a method says of a
 * stage, or NULL. */
const char *study_said(const struct pipeline *p, const char *method,
                       const char *what);

/* study_begin() has steps work for a method in a folder, until study_end();
 * variables and options that they set are theirs alone. */
struct study_before {
    struct settings vars;
    struct word_list defaults[N_STAGES];
};
void study_begin(struct pipeline *p, struct study_before *before,
                 const char *method, const char *folder);
void study_end(struct pipeline *p, struct study_before *before);

/* ---------------------------------------------------------------- processes */

/* step_watch() has signals handed on; before the others. */
void step_watch(void);

/*
 * step_list() runs a list to its end, with logs in RUN/log, and returns unless
 * it ended badly; step_run() one command on the terminal.  step_capture()
 * returns what a command prints, without new lines at its end, unless it ends
 * badly.
 */
void step_list(struct pipeline *p, const char *text);
void step_run(struct pipeline *p, const struct word_list *word);
char *step_capture(char *const *word);

/* step_finally() has a command run when we end, however that is but for a kill;
 * the words stay. */
void step_finally(char *const *word);

/* hold_run() keeps every other foil run out of the run directory, once it is
 * there. */
void hold_run(struct pipeline *p);

#endif
