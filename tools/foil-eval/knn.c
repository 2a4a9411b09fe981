#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "confusion.h"
#include "eval.h"
#include "eval/knn.h"
#include "eval/vote.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"

enum {
    MAX_LIST = 32, // items of --neighbours
    QUERIES = 1024 // at a time, between two looks at the progress
};

static const char *k_list = "1,10";
static enum eval_metric metric;
static double temperature = 0.07;
static const char *picture;

const struct opt knn_opts[] = {
    {"neighbours", 'k', OPT_TEXT, &k_list, 0, 0, "K,...",
     "how many neighbours vote"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    {"temperature", 0, OPT_REAL, &temperature, 1e-3, 1e3, "X",
     "a weighted vote counts exp(cosine / X)"},
    {"confusion", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "which class is taken for which by the first K, as PNG"},
    LABELS_OPTS,
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* What --neighbours asks for. */
struct list {
    size_t k[MAX_LIST], n, most;
};

static struct list
read_counts(const char *text)
{
    struct list list = {.n = 0};
    const char *at = text;

    do {
        char *end;
        long k;

        errno = 0;
        k = strtol(at, &end, 10);
        if (list.n == MAX_LIST || end == at || (*end && *end != ',') || errno ||
            k < 1 || k > 65536)
            opt_misuse("option '--neighbours': '%s' is no list of at most %d "
                       "numbers from 1 to 65536 with commas between",
                       text, MAX_LIST);
        list.k[list.n++] = (size_t)k;
        if ((size_t)k > list.most)
            list.most = (size_t)k;
        at = end + (*end == ',');
    } while (*at);
    return list;
}

/* How many queries each k names right, by counts and by weighted votes. */
struct score {
    size_t plain[MAX_LIST], weighted[MAX_LIST];
};

/* Classifies test by its neighbours in train, which may be the same.
 *   confusion  of no classes: not wanted */
static struct score
classify_test(const struct list *list, const struct pair *pair,
              struct confusion *confusion)
{
    const struct data_features *train = &pair->train, *test = pair->test;
    struct eval_knn *knn = eval_knn_new(train->n, train->d, train->x, metric);
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
                        train->labels, pair->classes, 0, list->n, list->k,
                        score.plain);
        eval_vote_count(m, list->most, ids, near, test->labels + first,
                        train->labels, pair->classes, temperature, list->n,
                        list->k, score.weighted);
        if (confusion->classes)
            confusion_vote(confusion, m, list->most, ids, test->labels + first,
                           train->labels, list->k[0]);
        progress_show(&progress, (double)(first + m), "");
    }
    progress_clear(&progress);
    free(near);
    free(ids);
    eval_knn_free(knn);
    return score;
}

/* The protocol, with the shares of classes. */
static json_t *
add_classes(json_t *how, const struct confusion *confusion,
            const struct pair *pair)
{
    json_t *copy = json_copy(how);

    json_object_set_new(copy, "by_class",
                        confusion_show(confusion, &pair->train.classes));
    return copy;
}

void
run_knn(char **path)
{
    struct list list = read_counts(k_list);
    struct confusion confusion = {0};
    struct pair pair;
    struct score score;
    json_t *how, *line;
    size_t most;
    double n;

    pair_load(&pair, given.labels, path);
    most = pair.train.n - !path[1];
    n = (double)pair.test->n;
    if (list.most > most)
        die("cannot find %zu neighbour%s among %zu row%s", list.most,
            plural(list.most), most, plural(most));
    if (picture)
        confusion_init(&confusion, pair.classes);
    score = classify_test(&list, &pair, &confusion);
    if (picture)
        confusion_plot(&confusion, &pair.train.classes, picture);
    how = json_pack("{s:s s:s s:b}", "metric", opt_choice(&metric), "ties",
                    "lower id, smallest label", "leave_one_out", !path[1]);
    json_object_update_new(how, pair_origin(&pair, path));
    for (size_t i = 0; i < list.n; i++) {
        line = json_pack("{s:s s:I s:f}", "measure", "knn", "k",
                         (json_int_t)list.k[i], "accuracy",
                         (double)score.plain[i] / n);
        if (metric == EVAL_COSINE)
            json_object_update_new(line,
                                   json_pack("{s:f s:f}", "weighted",
                                             (double)score.weighted[i] / n,
                                             "temperature", temperature));
        print(line, i || !picture ? json_incref(how)
                                  : add_classes(how, &confusion, &pair));
    }
    json_decref(how);
    confusion_release(&confusion);
    pair_release(&pair);
}
