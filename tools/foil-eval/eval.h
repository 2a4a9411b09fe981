#pragma once

#include <stddef.h>

#include "data/features.h"
#include "data/set.h"
#include "util/json.h"
#include "util/opt.h"
#include "util/plot.h"

/* The verbs of foil-eval: for each, its groups of options in order, ended by
 * NULL; and a function that takes the operands, reads its files and prints its
 * lines, or ends the process. */
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

/* Groups of options that several verbs take, and their values. */
extern const struct opt labels_opts[], plot_opts[], threads_opts[],
    output_opts[];

struct common {
    const char *labels[2];
    const char *plot; /* path of the picture, or NULL */
    long threads;
    int json, no_record;
};
extern struct common common_options;

/*
 * read_list() reads numbers from `least` to `most`, separated by commas, and
 * returns their number, or reports misuse of the option.
 *   range  these limits in words
 */
enum { LIST_MOST = 32 };
size_t read_list(const char *option, const char *text, long least, long most,
                 const char *range, size_t list[LIST_MOST]);

/* load() reads features, which the caller releases, with labels from
 * label_path unless that is NULL. */
void load(struct data_features *f, const char *path, const char *label_path);

/* origin() describes a file of features: its contents and how it was made. */
json_t *origin(const char *path, const struct data_features *f);

/* class_name() returns the name of a class, or its number in `text` if classes
 * have no names. */
const char *class_name(const struct data_classes *names, int64_t class,
                       char text[24]);

/* shuffled_rows() returns 0 .. n - 1, shuffled by the seed; the caller frees
 * it. */
int64_t *shuffled_rows(size_t n, long seed);

/* describe_numbers() adds mean and deviation of x [n], n >= 1, to an object,
 * and returns x sorted, which the caller frees. */
double *describe_numbers(json_t *object, size_t n, const double *x);

/*
 * print() takes a result and its protocol: on a terminal the result becomes a
 * row of a table, unless --json is set; otherwise both become a line of JSON.
 * Unless --no-record is set, it also adds them to the results of the encoder's
 * run.  Call print_end() last.
 */
void print(json_t *result, json_t *protocol);
void print_end(void);

/*
 * run_tool() runs a tool of foil with words up to NULL until it ends: 1 if it
 * succeeded, 0 if it failed, -1 at a signal.
 *   stop  when this descriptor is readable, the tool is asked to end; or -1
 */
int run_tool(int stop, const char *tool, const char *const *words);

/*
 * embed_both() runs foil-embed to write the features of both data sets; with
 * `captions`, embeddings of the images of the first and of the captions of the
 * second.  Returns as run_tool().
 *   average  1: with the averaged weights
 */
int embed_both(int stop, const char *checkpoint, const char *const data[2],
               int captions, int average, long threads, char *const output[2]);

/* plot() draws a picture by gnuplot (util/plot.h), or ends the process. */
void plot(struct plot *script, const char *picture);
