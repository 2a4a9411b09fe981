#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/features.h"
#include "eval/geometry.h"
#include "eval/knn.h"
#include "eval/probe.h"
#include "eval/vote.h"
#include "num/threads.h"
#include "util/digest.h"
#include "util/json.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "util/progress.h"
#include "util/rng.h"

enum {
    MAX_LIST = 32,         // items of --neighbours
    MAX_CLASSES = 1 << 20, // labels are below
    QUERIES = 1024         // at a time, between two looks at the progress
};

static const char *k_list = "1,10", *metric = "cosine", *protocol = "lbfgs";
static const char *labels, *test_labels;
static double temperature = 0.07, l2, held_out = 0.1, tolerance = 1e-4;
static long iterations = 1000, seed, rows = 10000, threads;

static const struct opt knn_opts[] = {
    {"neighbours", 'k', OPT_TEXT, &k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "what is near"},
    {"temperature", 0, OPT_REAL, &temperature, 1e-3, 1e3, "X",
     "a weighted vote counts exp(cosine / X)"},
    {"labels", 0, OPT_TEXT, &labels, 0, 0, "FILE",
     "of TRAIN, instead of those beside it"},
    {"test-labels", 0, OPT_TEXT, &test_labels, 0, 0, "FILE",
     "of TEST, instead of those beside it"},
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "to use; 0: as many as there are cores"},
    {0},
};

static const struct opt probe_opts[] = {
    {"protocol", 0, OPT_CHOICE, &protocol, 0, 0, "lbfgs|emc2|isogclr|sogclr",
     "how the classifier is trained"},
    {"l2", 0, OPT_REAL, &l2, 0, 1e6, "X",
     "lbfgs: penalty; 0: chosen on rows held out"},
    {"held-out", 0, OPT_REAL, &held_out, 0.001, 0.9, "SHARE",
     "lbfgs: of the rows of TRAIN, to choose by"},
    {"iterations", 0, OPT_WHOLE, &iterations, 1, 1e6, "N",
     "lbfgs: at most, a fit"},
    {"tolerance", 0, OPT_REAL, &tolerance, 1e-9, 1, "X",
     "lbfgs: a fit ends when no slope is larger"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N",
     "of what is held out, of SGD"},
    {"labels", 0, OPT_TEXT, &labels, 0, 0, "FILE",
     "of TRAIN, instead of those beside it"},
    {"test-labels", 0, OPT_TEXT, &test_labels, 0, 0, "FILE",
     "of TEST, instead of those beside it"},
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "to use; 0: as many as there are cores"},
    {0},
};

static const struct opt geometry_opts[] = {
    {"rows", 0, OPT_WHOLE, &rows, 2, 1e9, "N", "of more, N are drawn"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "of that draw"},
    {"threads", 0, OPT_WHOLE, &threads, 0, 1024, "N",
     "to use; 0: as many as there are cores"},
    {0},
};

enum verb { KNN, PROBE, GEOMETRY };

static const struct opt_tool verbs[] = {
    [KNN] = {"foil-eval knn", "let nearest neighbours name the classes",
             "TRAIN [TEST]", 1, 2, knn_opts},
    [PROBE] = {"foil-eval probe", "let a linear classifier name them",
               "TRAIN TEST", 2, 2, probe_opts},
    [GEOMETRY] = {"foil-eval geometry",
                  "measure how features lie on the sphere", "VIEW [VIEW]", 1, 2,
                  geometry_opts},
    {0},
};

static const struct opt_tool tool = {.name = "foil-eval",
                                     .summary = "say how good features are"};

/* What --neighbours asks for. */
struct list {
    size_t k[MAX_LIST], n, most;
};

static struct list
neighbours(void)
{
    struct list list = {.n = 0};
    const char *at = k_list;

    do {
        char *end;
        long k;

        errno = 0;
        k = strtol(at, &end, 10);
        if (list.n == MAX_LIST || end == at || (*end && *end != ',') || errno ||
            k < 1 || k > 65536)
            opt_misuse("option '--neighbours': '%s' is no list of at most %d "
                       "numbers from 1 to 65536 with commas between",
                       k_list, MAX_LIST);
        list.k[list.n++] = (size_t)k;
        if ((size_t)k > list.most)
            list.most = (size_t)k;
        at = end + (*end == ',');
    } while (*at);
    return list;
}

/* Reads features, with labels from label_path where that is given. */
static void
load(struct data_features *f, const char *path, int labelled,
     const char *label_path)
{
    struct err err;

    if (data_features_read(f, path, &err))
        die("%s", err.msg);
    if (label_path) {
        free(f->labels);
        f->labels = data_labels_read(label_path, f->n, &err);
        if (!f->labels)
            die("%s", err.msg);
    }
    if (!labelled)
        return;
    if (!f->labels)
        die("'%s' has no labels: there is no .labels.npy beside it, and no "
            "option names one",
            path);
    for (size_t i = 0; i < f->n; i++)
        if (f->labels[i] < 0 || f->labels[i] >= MAX_CLASSES)
            die("row %zu of '%s' has the label %jd: want 0 .. %d", i, path,
                (intmax_t)f->labels[i], MAX_CLASSES - 1);
}

static size_t
classes_of(const struct data_features *train, const struct data_features *test)
{
    int64_t most = 0;

    for (size_t i = 0; i < train->n; i++)
        most = train->labels[i] > most ? train->labels[i] : most;
    for (size_t i = 0; i < test->n; i++)
        most = test->labels[i] > most ? test->labels[i] : most;
    return (size_t)most + 1;
}

/* A file of features, for the output line: what they are, how they came. */
static json_t *
origin(const char *path, const struct data_features *f)
{
    struct digest digest = digest_bytes(f->x, f->n * f->d * sizeof *f->x);
    char hex[DIGEST_HEX];

    return json_pack("{s:s s:I s:s s:O*}", "file", path, "n", (json_int_t)f->n,
                     "digest", digest_hex(&digest, hex), "made", f->about);
}

/* Prints one line: the result, then the protocol.  Takes both. */
static void
print(json_t *line, json_t *how)
{
    char *text;

    REQUIRE(line && how);
    json_object_update(line, how);
    json_object_set_new(line, "version", json_string(FOIL_VERSION));
    text = json_brief(line);
    fputs(text, stdout);
    free(text);
    json_decref(how);
    json_decref(line);
}

/* How many queries each k names right, by counts and by weighted votes. */
struct score {
    size_t plain[MAX_LIST], weighted[MAX_LIST];
};

/* Classifies `test` by its neighbours in `train`, which may be the same. */
static struct score
classify(const struct list *list, const struct data_features *train,
         const struct data_features *test, size_t classes)
{
    struct eval_knn *knn =
        eval_knn_new(train->n, train->d, train->x,
                     strcmp(metric, "cosine") ? EVAL_EUCLIDEAN : EVAL_COSINE);
    uint32_t *ids = mem_array(QUERIES * list->most, sizeof *ids);
    double *near = mem_array(QUERIES * list->most, sizeof *near);
    struct score score = {{0}, {0}};
    struct progress progress;

    progress_start(&progress, "queries", 0, (double)test->n);
    for (size_t first = 0; first < test->n; first += QUERIES) {
        size_t m = test->n - first < QUERIES ? test->n - first : QUERIES;

        eval_knn_find(knn, m, test->x + first * test->d, list->most,
                      test == train ? first : EVAL_NO_SELF, ids, near);
        eval_vote_count(m, list->most, ids, near, test->labels + first,
                        train->labels, classes, 0, list->n, list->k,
                        score.plain);
        eval_vote_count(m, list->most, ids, near, test->labels + first,
                        train->labels, classes, temperature, list->n, list->k,
                        score.weighted);
        progress_show(&progress, (double)(first + m), "");
    }
    progress_clear(&progress);
    free(near);
    free(ids);
    eval_knn_free(knn);
    return score;
}

/* Loads two sets of one width; without a second file the first serves twice. */
static const struct data_features *
load_both(char **path, struct data_features *train, struct data_features *test)
{
    load(train, path[0], 1, labels);
    if (!path[1])
        return train;
    load(test, path[1], 1, test_labels);
    if (test->d != train->d)
        die("'%s' has %zu columns and '%s' %zu", path[0], train->d, path[1],
            test->d);
    return test;
}

static void
run_knn(char **path)
{
    struct list list = neighbours();
    struct data_features train, other = {0};
    const struct data_features *test = load_both(path, &train, &other);
    size_t classes = classes_of(&train, test), most = train.n - !path[1];
    double n = (double)test->n;
    struct score score;
    json_t *how, *line;

    if (list.most > most)
        die("%zu neighbours cannot be had among %zu", list.most, most);
    score = classify(&list, &train, test, classes);
    how = json_pack("{s:s s:s s:b s:I s:I s:o s:o}", "metric", metric, "ties",
                    "lower id, smallest label", "leave_one_out", !path[1],
                    "classes", (json_int_t)classes, "d", (json_int_t)train.d,
                    "train", origin(path[0], &train), "test",
                    origin(path[!!path[1]], test));
    for (size_t i = 0; i < list.n; i++) {
        line = json_pack("{s:s s:I s:f}", "measure", "knn", "k",
                         (json_int_t)list.k[i], "accuracy",
                         (double)score.plain[i] / n);
        if (!strcmp(metric, "cosine"))
            json_object_update_new(line,
                                   json_pack("{s:f s:f}", "weighted",
                                             (double)score.weighted[i] / n,
                                             "temperature", temperature));
        print(line, json_incref(how));
    }
    json_decref(how);
    data_features_release(&train);
    data_features_release(&other);
}

/* How the logistic probe was run. */
static json_t *
logistic_protocol(const struct eval_probe *probe)
{
    json_t *how = json_pack(
        "{s:s s:s s:f s:f s:I s:I}", "protocol", protocol, "features",
        "standardised by mean and deviation of train", "l2", probe->l2,
        "tolerance", tolerance, "iterations", (json_int_t)probe->iterations,
        "most_iterations", (json_int_t)iterations);
    json_t *grid;

    if (l2 > 0)
        return how;
    grid = json_array();
    for (size_t i = 0; i < EVAL_PROBE_GRID; i++)
        json_array_append_new(grid, json_real(eval_probe_grid[i]));
    json_object_update_new(
        how, json_pack("{s:o s:f s:f}", "l2_grid", grid, "held_out_share",
                       held_out, "held_out_accuracy", probe->held_out));
    return how;
}

static json_t *
sgd_protocol(const struct eval_sgd *sgd, const struct eval_probe *probe)
{
    return json_pack("{s:s s:s s:f s:f s:I s:I s:I s:b s:b}", "protocol",
                     protocol, "features", "as they are", "rate", sgd->rate,
                     "momentum", 0.9, "batch", (json_int_t)sgd->batch, "epochs",
                     (json_int_t)sgd->epochs, "epoch", (json_int_t)probe->epoch,
                     "shuffled", sgd->shuffle, "best_epoch_on_test", sgd->best);
}

static void
run_probe(char **path)
{
    struct data_features train, other = {0};
    const struct data_features *test = load_both(path, &train, &other);
    size_t classes = classes_of(&train, test);
    const struct eval_rows fit = {train.n, train.d, train.x, train.labels};
    const struct eval_rows judge = {test->n, test->d, test->x, test->labels};
    const struct eval_probe_spec spec = {
        classes, l2, held_out, (uint64_t)seed, (size_t)iterations, tolerance,
    };
    const struct eval_sgd *sgd = NULL;
    struct eval_probe probe;
    struct err err;
    json_t *how;

    if (train.n < 2)
        die("'%s' has one row, and a probe needs two", path[0]);
    if (!strcmp(protocol, "lbfgs"))
        eval_probe_logistic(&spec, &fit, &judge, &probe);
    else if (!(sgd = eval_sgd_find(protocol, &err)) ||
             eval_probe_sgd(sgd, classes, spec.seed, &fit, &judge, &probe,
                            &err))
        die("%s", err.msg);
    how = sgd ? sgd_protocol(sgd, &probe) : logistic_protocol(&probe);
    json_object_update_new(
        how, json_pack("{s:I s:I s:I s:I s:o s:o}", "seed", (json_int_t)seed,
                       "threads", (json_int_t)threads, "classes",
                       (json_int_t)classes, "d", (json_int_t)train.d, "train",
                       origin(path[0], &train), "test", origin(path[1], test)));
    print(json_pack("{s:s s:f s:f s:f}", "measure", "probe", "accuracy",
                    probe.accuracy, "train_accuracy", probe.train, "loss",
                    probe.loss),
          how);
    data_features_release(&train);
    data_features_release(&other);
}

/* Rows of f, no more than --rows: all, or so many drawn by the seed. */
static float *
draw(const struct data_features *f, size_t *count)
{
    int64_t *order = mem_array(f->n, sizeof *order);
    struct rng rng;
    float *x;

    for (size_t i = 0; i < f->n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, (uint64_t)seed, RNG_SPLIT, 0, 0, 0);
    if (f->n > (size_t)rows)
        rng_shuffle(&rng, f->n, order);
    *count = f->n > (size_t)rows ? (size_t)rows : f->n;
    x = mem_array(*count * f->d, sizeof *x);
    for (size_t i = 0; i < *count; i++)
        memcpy(x + i * f->d, f->x + (size_t)order[i] * f->d, f->d * sizeof *x);
    free(order);
    return x;
}

static void
run_geometry(char **path)
{
    struct data_features one, two = {0};
    struct eval_geometry g;
    json_t *how, *line;
    size_t count;
    float *x;

    load(&one, path[0], 0, NULL);
    if (one.n < 2)
        die("'%s' has one row, and geometry needs two", path[0]);
    x = draw(&one, &count);
    eval_geometry(count, one.d, x, &g);
    line = json_pack("{s:s s:f s:f s:f s:f s:f}", "measure", "geometry",
                     "uniformity", g.uniformity, "cosine", g.cosine,
                     "deviation", g.deviation, "deviation_min", g.deviation_min,
                     "dimensions", g.dimensions);
    how = json_pack("{s:I s:I s:I s:o}", "rows", (json_int_t)count, "seed",
                    (json_int_t)seed, "d", (json_int_t)one.d, "views",
                    json_pack("[o]", origin(path[0], &one)));
    if (path[1]) {
        load(&two, path[1], 0, NULL);
        if (two.n != one.n || two.d != one.d)
            die("'%s' and '%s' differ in shape: they are to hold two views of "
                "each image",
                path[0], path[1]);
        json_object_set_new(
            line, "alignment",
            json_real(eval_alignment(one.n, one.d, one.x, two.x)));
        json_array_append_new(json_object_get(how, "views"),
                              origin(path[1], &two));
    }
    print(line, how);
    free(x);
    data_features_release(&one);
    data_features_release(&two);
}

int
main(int argc, char **argv)
{
    char **operand;
    enum verb verb =
        (enum verb)(opt_verb(&tool, verbs, argc, argv, &operand) - verbs);

    priority_low();
    threads = num_threads((int)threads);
    switch (verb) {
    case KNN:
        run_knn(operand);
        break;
    case PROBE:
        run_probe(operand);
        break;
    case GEOMETRY:
        run_geometry(operand);
        break;
    }
    close_stdout();
    return EXIT_OK;
}
