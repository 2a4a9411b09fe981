#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "eval/knn.h"
#include "util/mem.h"
#include "util/progress.h"

enum { QUERIES = 1024 }; // at a time, between two looks at the progress

static long nearest = 10;
static enum eval_metric metric;

const struct opt neighbours_opts[] = {
    {"neighbours", 'k', OPT_WHOLE, &nearest, 1, 65536, "K",
     "how many of each row"},
    {"metric", 0, OPT_CHOICE, &metric, 0, 0, "cosine|euclidean",
     "measure of distance"},
    THREADS_OPT(&given.threads),
    {0},
};

/* The number of the sample that a row is of, or of the row. */
static int64_t
sample_of(const struct data_features *f, size_t row)
{
    return f->ids ? f->ids[row] : (int64_t)row;
}

/* A line for each of m rows from `first` on: its sample, and its neighbours'.
 */
static void
print_lists(const struct data_features *from, const struct data_features *to,
            size_t first, size_t m, size_t k, const uint32_t *ids)
{
    for (size_t i = 0; i < m; i++) {
        printf("%" PRId64, sample_of(from, first + i));
        for (size_t j = 0; j < k; j++)
            printf("\t%" PRId64, sample_of(to, ids[i * k + j]));
        putchar('\n');
    }
}

static void
find_all(const struct data_features *from, const struct data_features *to,
         size_t k)
{
    struct eval_knn *knn = eval_knn_new(to->n, to->d, to->x, metric);
    uint32_t *ids = mem_array(QUERIES * k, sizeof *ids);
    struct progress progress;

    progress_start(&progress, "queries", 0, (double)from->n);
    for (size_t first = 0; first < from->n; first += QUERIES) {
        size_t m = from->n - first < QUERIES ? from->n - first : QUERIES;

        eval_knn_find(knn, m, from->x + first * from->d, k,
                      from == to ? first : EVAL_NO_SELF, ids, NULL);
        progress_clear(&progress);
        print_lists(from, to, first, m, k, ids);
        progress_show(&progress, (double)(first + m), "");
    }
    progress_clear(&progress);
    free(ids);
    eval_knn_free(knn);
}

void
run_neighbours(char **path)
{
    struct data_features train = {0}, test = {0};
    const struct data_features *from = path[1] ? &test : &train;
    const size_t k = (size_t)nearest;
    size_t most;

    load(&train, path[0], NULL);
    if (path[1])
        load(&test, path[1], NULL);
    if (from->d != train.d)
        die("'%s' has %zu columns and '%s' has %zu: they must be features of "
            "one encoder",
            path[0], train.d, path[1], from->d);
    most = train.n - !path[1];
    if (k > most)
        die("cannot find %zu neighbour%s among %zu row%s", k, plural(k), most,
            plural(most));
    find_all(from, &train, k);
    data_features_release(&test);
    data_features_release(&train);
}
