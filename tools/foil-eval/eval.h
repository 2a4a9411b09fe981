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
 * The parts of foil-eval: a file for each verb, with the options that it takes,
 * and io.c for what they share.  A verb reads its files, prints its lines, or
 * ends the process.
 */
extern const struct opt knn_opts[], neighbours_opts[], probe_opts[],
    zero_shot_opts[], geometry_opts[], retrieve_opts[], cca_opts[], loss_opts[],
    pca_opts[], map_opts[], temperature_opts[], follow_opts[], anchors_opts[],
    chains_opts[], plan_opts[], false_negatives_opts[], bias_opts[];

void run_knn(char **path);
void run_neighbours(char **path);
void run_probe(char **path);
void run_zero_shot(char **path);
void run_geometry(char **path);
void run_retrieve(char **path);
void run_cca(char **path);
void run_loss(char **path);
void run_pca(char **path);
void run_map(char **path);
void run_temperature(char **path);
void run_follow(char **path);
void run_anchors(char **path);
void run_chains(char **path);
void run_plan(char **path);
void run_false_negatives(char **path);
void run_bias(char **path);

/* What several verbs take. */
struct common {
    const char *labels[2];
    long threads;
    int json, no_record;
};
extern struct common given;

#define THREADS_OPT(at)                            \
    {                                              \
        "threads", 0, OPT_WHOLE, at, 0, 1024, "N", \
            "threads to use; 0: all cores"         \
    }
#define LABELS_OPTS                                                         \
    {"labels", 0, OPT_TEXT, &given.labels[0],                               \
     0,        0, "FILE",   "labels of TRAIN, instead of those beside it"}, \
    {                                                                       \
        "test-labels", 0, OPT_TEXT, &given.labels[1], 0, 0, "FILE",         \
            "labels of TEST, instead of those beside it"                    \
    }
#define OUTPUT_OPTS                                                  \
    {"json", 0, OPT_FLAG, &given.json,                               \
     0,      0, NULL,     "print lines of JSON on a terminal, too"}, \
    {                                                                \
        "no-record", 0, OPT_FLAG, &given.no_record, 0, 0, NULL,      \
            "do not add the result to RUN/results.jsonl"             \
    }

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
void print_begin(void);
void print(json_t *result, json_t *protocol);
void print_end(void);

/* plot() has gnuplot draw a picture (util/plot.h), or ends the process. */
void plot(struct plot *script, const char *picture);

#endif
