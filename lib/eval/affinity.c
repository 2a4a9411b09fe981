#include "affinity.h"

#include <math.h>
#include <stdlib.h>

#include "eval/knn.h"
#include "util/mem.h"

enum { HALVINGS = 100 };

/* The k nearest rows of each, and their squared distances. */
static void
find_near(size_t n, size_t d, const float *x, size_t k, uint32_t *ids,
          double *square)
{
    struct eval_knn *knn = eval_knn_new(n, d, x, EVAL_EUCLIDEAN);

    eval_knn_find(knn, n, x, k, 0, ids, square);
    for (size_t i = 0; i < n * k; i++)
        square[i] = -square[i];
    eval_knn_free(knn);
}

/* p(j|i) of the neighbours for a b: returns the entropy. */
static double
weigh_near(size_t k, const double *square, double b, double *p)
{
    double sum = 1, mean = 0;

    p[0] = 1;
    for (size_t j = 1; j < k; j++) {
        const double further = square[j] - square[0];

        p[j] = exp(-b * further);
        sum += p[j];
        mean += b * further * p[j];
    }
    for (size_t j = 0; j < k; j++)
        p[j] /= sum;
    return mean / sum + log(sum);
}

/* p(j|i) of the perplexity; in place of the squared distances, which rise.
 * Where all are equal, or too few differ, the nearest that b there is. */
static void
choose_width(size_t k, double *square, double perplexity, double *p)
{
    double low = 0, high = INFINITY,
           b = 1 / (square[k / 3] - square[0] + 1e-12);

    for (int i = 0; i < HALVINGS; i++) {
        const double gap = weigh_near(k, square, b, p) - log(perplexity);

        if (fabs(gap) < 1e-9)
            break;
        if (gap > 0)
            low = b;
        else
            high = b;
        b = isinf(high) ? 2 * b : (low + high) / 2;
    }
    for (size_t j = 0; j < k; j++)
        square[j] = p[j];
}

static int
compare_columns(const void *a, const void *b)
{
    const struct affinity_pair *one = a, *other = b;

    return (one->column > other->column) - (one->column < other->column);
}

/* Each pair goes to the rows of both. */
static void
share_pairs(struct affinity *to, size_t n, size_t k, const uint32_t *ids,
            const double *p)
{
    size_t *end = mem_array(n, sizeof *end);

    for (size_t i = 0; i < n * k; i++)
        to->start[ids[i] + 1]++;
    for (size_t i = 0; i < n; i++) {
        to->start[i + 1] += to->start[i] + k;
        end[i] = to->start[i];
    }
    to->pair = mem_array(to->start[n], sizeof *to->pair);
    for (size_t i = 0; i < n * k; i++) {
        const uint32_t row = (uint32_t)(i / k);
        const float half = (float)(p[i] / (2 * (double)n));

        to->pair[end[row]++] = (struct affinity_pair){ids[i], half};
        to->pair[end[ids[i]]++] = (struct affinity_pair){row, half};
    }
    free(end);
}

/* Equal columns of a row become one. */
static void
merge_pairs(struct affinity *affinity, size_t n)
{
    size_t to = 0, first = 0;

    for (size_t i = 0; i < n; i++) {
        const size_t end = affinity->start[i + 1], begin = to;
        struct affinity_pair *pair = affinity->pair;

        qsort(pair + first, end - first, sizeof *pair, compare_columns);
        affinity->start[i] = to;
        for (; first < end; first++)
            if (to > begin && pair[to - 1].column == pair[first].column)
                pair[to - 1].p += pair[first].p;
            else
                pair[to++] = pair[first];
    }
    affinity->start[n] = to;
}

void
eval_affinity_find(struct affinity *affinity, size_t n, size_t d,
                   const float *x, size_t k, double perplexity)
{
    uint32_t *ids = mem_array(n * k, sizeof *ids);
    double *square = mem_array(n * k, sizeof *square);
    double *p = mem_array(k, sizeof *p);

    find_near(n, d, x, k, ids, square);
    for (size_t i = 0; i < n; i++)
        choose_width(k, square + i * k, perplexity, p);
    affinity->start = mem_array(n + 1, sizeof *affinity->start);
    share_pairs(affinity, n, k, ids, square);
    merge_pairs(affinity, n);
    free(p);
    free(square);
    free(ids);
}

void
eval_affinity_release(struct affinity *affinity)
{
    free(affinity->start);
    free(affinity->pair);
}
