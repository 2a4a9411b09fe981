#pragma once

#include <stddef.h>

#include "util/err.h"
#include "util/json.h"
#include "util/opt.h"

/*
 * Parameters: the numbers of a method (an objective, a strategy), written after
 * its name, "hcl,beta=0.5".  Each method has a table of them in its source,
 *
 *     enum { TAU, BETA };
 *     static const struct param params[] = {
 *         [TAU] = {PARAM_REAL("tau", 0.5, 1e-4, 1e4, "temperature")},
 *         [BETA] = {PARAM_REAL("beta", 0.5, 0, 100, "weight of hard ones")},
 *         {0},
 *     };
 *
 * and reads them from an array in the order of this table, value[BETA].  A
 * whole number is a double there, too, a flag is 0 or 1, and a choice is the
 * index of its word.  Options, --help, ranges, --list and the defaults in man
 * pages follow from the table.
 *
 * All functions except param_set_add() only read their tables: thread-safe.
 */
enum { PARAM_MOST = 16 }; /* parameters of one method */

/* Whether a schedule may change the value with the epoch. */
enum param_schedule {
    PARAM_FIXED,   /* no */
    PARAM_LEARNT,  /* no: the method learns it */
    PARAM_TO_END,  /* from the value to that of NAME-end */
    PARAM_INVERSE, /* as PARAM_TO_END, but a wave is one of 1 / value */
    PARAM_FROM_ONE /* from 1 to the value */
};

struct param {
    const char *name;   /* NULL ends the table */
    enum opt_kind kind; /* OPT_FLAG, OPT_WHOLE, OPT_REAL or OPT_CHOICE */
    double value;       /* default */
    double min, max;    /* OPT_WHOLE, OPT_REAL */
    const char *arg;    /* name of the value in --help; the words of a choice */
    const char *help;   /* half a sentence */
    enum param_schedule schedule; /* OPT_REAL */
    double end;                   /* default of NAME-end; NaN: it must be set */
};

#define PARAM_REAL(n, v, least, most, text)                      \
    .name = (n), .kind = OPT_REAL, .value = (v), .min = (least), \
    .max = (most), .arg = "X", .help = (text)
#define PARAM_WHOLE(n, v, least, most, text)                      \
    .name = (n), .kind = OPT_WHOLE, .value = (v), .min = (least), \
    .max = (most), .arg = "N", .help = (text)
#define PARAM_FLAG(n, text) .name = (n), .kind = OPT_FLAG, .help = (text)
#define PARAM_CHOICE(n, v, words, text)                            \
    .name = (n), .kind = OPT_CHOICE, .value = (v), .arg = (words), \
    .help = (text)

/* param_find() returns the parameter of that name, or NULL. */
const struct param *param_find(const struct param *own, const char *name);

/* param_at() returns the element of value [PARAM_MOST] for the parameter of
 * that name, or NULL. */
double *param_at(const struct param *own, double *value, const char *name);

/* param_defaults() writes the defaults:  value [PARAM_MOST]. */
void param_defaults(const struct param *own, double *value);

/* param_check() returns -1 if a value is out of its range or NaN. */
int param_check(const struct param *own, const double *value, struct err *err);

/* param_json() returns a value as JSON of its kind, a choice as its word. */
json_t *param_json(const struct param *own, double value);

/*
 * param_read() is the inverse: it sets the values that a JSON object names.
 *   text   {"tau": 0.2, "kl": true, "form": "word"}; NULL or "" names none
 *   value   [PARAM_MOST]; the others stay
 * -1 with a message: not an object, an unknown parameter, a wrong kind, a
 * value out of range.
 */
int param_read(const struct param *own, const char *text, double *value,
               struct err *err);

/*
 * param_read_words() does so from numbers and words, "tau=0.2,form=word,kl";
 * the name of a flag sets it.
 *   who    the method that has the parameters, for the message
 * -1 with a message: an unknown parameter, an invalid value, a value out of
 * range.
 */
int param_read_words(const struct param *own, const char *who,
                     const char *words, double *value, struct err *err);

/* param_list() returns the defaults as an object, by name; the caller calls
 * json_decref(). */
json_t *param_list(const struct param *own);

/* The parameters of all methods of a tool, as rows of its table.  Methods may
 * share a name: they share one row then, with the widest range; the help names
 * the methods if not all have it, or if their texts differ. */
enum { PARAM_SET = 48, PARAM_METHODS = 48 };

struct param_option {
    struct param param; /* name, kind, arg; the widest range */
    const char *of;     /* the option that names the methods, or several */
    size_t n;
    const char *method[PARAM_METHODS];      /* [n] methods with it ... */
    const struct param *own[PARAM_METHODS]; /* ... and their rows */
    union {
        double real;
        long whole;
        int flag, choice;
    } is;                 /* set by the command line, by kind */
    const char *schedule; /* NAME-schedule */
    double end;           /* NAME-end */
};

struct param_set {
    size_t methods, n;
    struct param_option option[PARAM_SET];
};

/* param_set_add() adds the parameters of a method of the option `of`,
 * "objective"; the set begins as {0}. Add a method with several tables once for
 * each, with the same pointer to its name: the help names it once. */
void param_set_add(struct param_set *set, const char *of, const char *method,
                   const struct param *own);

/*
 * param_set_opts() appends them to the first n rows of a command line's table,
 * as opt_append(): in the order in which they were added, each followed by its
 * schedule and end, and declares them by opt_parameters().  A default is shown
 * if all methods have the same.  The set must stay valid; the texts live as
 * long as the process.
 */
size_t param_set_opts(struct param_set *set, struct opt opts[OPT_MOST],
                      size_t n);

/* param_set_get() writes a method's values: from the command line, else the
 * defaults.  value [PARAM_MOST] */
void param_set_get(const struct param_set *set, const struct param *own,
                   double *value);

/* param_set_find() returns the parameter of that name, or NULL;
 * param_set_used() the name of one that is on the command line, or NULL. */
const struct param_option *param_set_find(const struct param_set *set,
                                          const char *name);
const char *param_set_used(const struct param_set *set);

/* param_set_check() returns -1 if the command line sets a parameter of the set
 * that this method does not have: "simclr has no parameter 'rho'". */
int param_set_check(const struct param_set *set, const char *method,
                    const struct param *own, struct err *err);
