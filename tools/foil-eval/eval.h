#ifndef FOIL_EVAL_H
#define FOIL_EVAL_H

#include <stddef.h>
#include <stdio.h>

#include "data/features.h"
#include "data/set.h"
#include "util/json.h"
#include "util/opt.h"
#include "util/plot.h"

/*
 * The verbs of foil-eval: of each the groups of options that it takes, in this
 * order, NULL behind the last; and what it does with its operands: it reads its
 * files and prints its lines, or ends the process.
 */
typedef const struct opt *const verb_opts[];
typedef void verb_run(char **path);

extern verb_opts knn_opts, neighbours_opts, probe_opts, zero_shot_opts,
    geometry_opts, retrieve_opts, cca_opts, loss_opts, pca_opts, map_opts,
    temperature_opts, anchors_opts, bias_opts, false_negatives_opts, plan_opts,
    chains_opts, follow_opts;
verb_run run_knn, run_neighbours, run_probe, run_zero_shot, run_geometry,
    run_retrieve, run_cca, run_loss, run_pca, run_map, run_temperature,
    run_anchors, run_bias, run_false_negatives, run_plan, run_chains,
    run_follow;

/* Groups of options that several verbs take, and what is given by them. */
extern const struct opt labels_opts[], plot_opts[], threads_opts[],
    output_opts[];

struct common {
    const char *labels[2];
    const char *plot; /* the picture, or NULL */
    long threads;
    int json, no_record;
};
extern struct common given;

/*
 * read_list() reads numbers from `least` to `most` with commas between, and
 * returns how many there are; or reports misuse of the option.
 *   range  these limits in words
 */
enum { LIST_MOST = 32 };
size_t read_list(const char *option, const char *text, long least, long most,
                 const char *range, size_t list[LIST_MOST]);

/*
 * load() reads features, to be released; with labels from label_path where that
 * is not NULL.
 */
void load(struct data_features *f, const char *path, const char *label_path);

/* Features to learn by, and those to be judged. */
struct pair {
    struct data_features train, other;
    const struct data_features *test; /* other, or train where it is alone */
    size_t classes;
    const char *matched; /* by what labels are: names or numbers; or NULL */
    size_t unseen;       /* rows of test of classes that train has no row of */
    size_t shared;       /* rows of test that train has, too, to the bit */
};

/*
 * pair_load() loads path[0] and path[1], of one width, whose rows are all
 * labelled; without path[1] the first serves twice.  Labels of two files mean
 * the same afterwards, or the process ends.
 *   labels  files of the labels of either, which the user may name by --labels
 *           and --test-labels; NULL, of a verb without: those beside the rows
 */
void pair_load(struct pair *pair, const char *const *labels, char **path);
void pair_release(struct pair *pair);

/* pair_origin() describes the two. */
json_t *pair_origin(const struct pair *pair, char **path);

/* origin() describes a file of features: what it is, how it came about. */
json_t *origin(const char *path, const struct data_features *f);

/* shuffled_rows() returns 0 .. n - 1 in the order of a seed; to be given to
 * free(). */
int64_t *shuffled_rows(size_t n, long seed);

/* save_matrix() writes an .npy of rows x columns, or ends the process. */
void save_matrix(const char *path, size_t rows, size_t columns, float *x);

/* refuse_input() ends the process where a file that is to be made is one that
 * is read; `made` may be NULL. */
void refuse_input(const char *made, const char *path);

/* coordinate() returns <e_i, x - m> of a row and a basis of k directions [k,d],
 * the mean m behind them. */
float coordinate(size_t d, const float *basis, size_t k, size_t i,
                 const float *x);

/* describe_numbers() adds mean and deviation of x [n], n >= 1, to an object,
 * and returns x sorted, to be given to free(). */
double *describe_numbers(json_t *object, size_t n, const double *x);

/*
 * print() takes a result and its protocol: on a terminal the result becomes a
 * row of a table, unless --json was given; elsewhere both are a line of JSON.
 * It is added to the results of the run that the encoder is of, unless
 * --no-record was given.  print_end() comes last.
 */
void print_begin(void);
void print(json_t *result, json_t *protocol);
void print_end(void);

/* plot() has gnuplot draw a picture (util/plot.h), or ends the process. */
void plot(struct plot *script, const char *picture);

#endif
