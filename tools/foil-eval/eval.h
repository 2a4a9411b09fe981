#ifndef FOIL_EVAL_H
#define FOIL_EVAL_H

#include <stddef.h>

#include "data/features.h"
#include "data/open.h"
#include "util/json.h"
#include "util/opt.h"

/*
 * The parts of foil-eval: a file for each measure, options.c, and io.c for what
 * they share.  A measure reads its files, prints its lines, or ends the
 * process.
 */
struct options {
    const char *k_list, *metric, *protocol, *labels[2], *within;
    const char *recipe, *output, *coordinates, *column, *plot;
    const char *run, *events, *keys, *allow, *best, *answers;
    const char *command; /* that judges; or NULL */
    double limit;        /* seconds that it has for a checkpoint */
    double temperature, l2, held_out, tolerance, tau, ridge;
    long iterations, seed, rows, threads, views, batch, max_pixels;
    long components, extreme, principal, nearest;
    int captions, json, no_record, once, average;
};

/* options.c: what each verb takes, with its defaults. */
extern struct options given;
extern long follow_threads, directions;
extern const struct opt knn_opts[], probe_opts[], zero_shot_opts[];
extern const struct opt neighbours_opts[];
extern const struct opt geometry_opts[], retrieve_opts[], loss_opts[];
extern const struct opt pca_opts[], temperature_opts[], follow_opts[];
extern const struct opt cca_opts[], map_opts[];

void run_knn(const struct options *options, char **path);
void run_neighbours(const struct options *options, char **path);
void run_probe(const struct options *options, char **path);
void run_zero_shot(const struct options *options, char **path);
void run_geometry(const struct options *options, char **path);
void run_retrieve(const struct options *options, char **path);
void run_captions(const struct options *options, char **path);
void run_cca(const struct options *options, char **path);
void run_loss(const struct options *options, char **path);
void run_pca(const struct options *options, char **path);
void run_map(const struct options *options, char **path);
void run_follow(const struct options *options, char **path);
void run_temperature(const struct options *options, char **path);

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

/*
 * report.c: what is said of results.  print() takes a result and its protocol:
 * on a terminal the result becomes a row of a table, unless --json was given;
 * elsewhere both are a line of JSON.  It is added to the results of the run
 * that the encoder is of, unless --no-record was given.  print_end() comes
 * last.
 */
void print_begin(const struct options *options);
void print(json_t *result, json_t *protocol);
void print_end(void);

/* plot() keeps a script beside a picture, x.gp beside x.png, and has gnuplot
 * draw it; `set output` is added. */
void plot(const char *picture, const char *script);

#endif
