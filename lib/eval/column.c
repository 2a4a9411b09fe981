#include <math.h>
#include <stdlib.h>

#include "eval/column.h"
#include "util/err.h"
#include "util/mem.h"

/* An index with its number or its key; the other one is 0. */
struct item {
    double x;
    int64_t key;
    size_t at;
};

static int
compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void
eval_sort(size_t n, double *x)
{
    qsort(x, n, sizeof *x, compare_doubles);
}

static int
rising_items(const void *a, const void *b)
{
    const struct item *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->x < y->x || x->x > y->x)
        return x->x < y->x ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

size_t *
eval_order(size_t n, const double *x, const int64_t *key)
{
    struct item *item = mem_array(n, sizeof *item);
    size_t *order = mem_array(n, sizeof *order);

    for (size_t i = 0; i < n; i++)
        item[i] = (struct item){x ? x[i] : 0, key ? key[i] : 0, i};
    qsort(item, n, sizeof *item, rising_items);
    for (size_t i = 0; i < n; i++)
        order[i] = item[i].at;
    free(item);
    return order;
}

double
eval_quantile(size_t n, const double *sorted, double q)
{
    const double at = q * (double)(n - 1);
    const size_t i = (size_t)at;

    REQUIRE(n >= 1 && q >= 0 && q <= 1);
    if (i + 1 >= n)
        return sorted[n - 1];
    return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

void
eval_histogram(size_t n, const double *x, double low, double high, size_t bins,
               size_t *count)
{
    REQUIRE(low < high && bins >= 1);
    for (size_t b = 0; b < bins; b++)
        count[b] = 0;
    for (size_t i = 0; i < n; i++) {
        double at = floor((x[i] - low) / (high - low) * (double)bins);

        count[at < 0 ? 0 : at >= (double)bins - 1 ? bins - 1 : (size_t)at]++;
    }
}

double *
eval_mean_ranks(size_t n, const double *x)
{
    size_t *order = eval_order(n, x, NULL);
    double *rank = mem_array(n, sizeof *rank);

    for (size_t from = 0, to = 0; from < n; from = to) {
        while (to < n && x[order[to]] == x[order[from]])
            to++;
        for (size_t i = from; i < to; i++)
            rank[order[i]] = (double)(from + to - 1) / 2;
    }
    free(order);
    return rank;
}

double
eval_spearman(size_t n, const double *x, const double *y)
{
    double *a = eval_mean_ranks(n, x), *b = eval_mean_ranks(n, y);
    const double mean = ((double)n - 1) / 2;
    double ab = 0, aa = 0, bb = 0;

    for (size_t i = 0; i < n; i++) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) * (a[i] - mean);
        bb += (b[i] - mean) * (b[i] - mean);
    }
    mem_free(a, b);
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}
