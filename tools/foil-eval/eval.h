#ifndef FOIL_EVAL_H
#define FOIL_EVAL_H

#include <stddef.h>

#include "data/features.h"
#include "data/set.h"
#include "util/json.h"

/*
 * The parts of foil-eval: a file for each measure, and io.c for what they
 * share.  A measure reads its files, prints its lines, or ends the process.
 */
struct options {
    const char *k_list, *metric, *protocol, *labels, *test_labels, *within;
    const char *recipe, *output, *column, *plot;
    double temperature, l2, held_out, tolerance, tau;
    long iterations, seed, rows, threads, views, batch, max_pixels;
    long components, extreme;
};

void run_knn(const struct options *options, char **path);
void run_probe(const struct options *options, char **path);
void run_geometry(const struct options *options, char **path);
void run_retrieve(const struct options *options, char **path);
void run_loss(const struct options *options, char **path);
void run_pca(const struct options *options, char **path);
void run_temperature(const struct options *options, char **path);

/* open_set() opens a data set, or ends the process; that its index is out of
 * date is said. */
struct data_set *open_set(const char *path);

/*
 * load() reads features, to be released; with labels from label_path where that
 * is not NULL.
 */
void load(struct data_features *f, const char *path, const char *label_path);

/*
 * load_both() loads two sets of one width whose rows are all labelled, and
 * returns the second; without path[1] the first serves twice.  The number of
 * classes goes to *classes.
 */
const struct data_features *load_both(const struct options *options,
                                      char **path, struct data_features *train,
                                      struct data_features *test,
                                      size_t *classes);

/* origin() describes a file of features: what it is, how it came about. */
json_t *origin(const char *path, const struct data_features *f);

/* print() writes one line, the result before the protocol, and takes both. */
void print(json_t *result, json_t *protocol);

/* plot() keeps a script beside a picture, x.gp beside x.png, and has gnuplot
 * draw it; `set output` is added. */
void plot(const char *picture, const char *script);

#endif
