#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "num/threads.h"
#include "permutation.h"
#include "select/links.h"
#include "t.h"

enum { N = 1000, D = 12, LEAF = 60 };

static int64_t point[N], other[N];

static void
in_order(int64_t *x)
{
    for (int64_t i = 0; i < N; i++)
        x[i] = i;
}

/* The share of pairs within a leaf that are of one class. */
static double
purity(size_t classes)
{
    double same = 0, pairs = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t j = i / LEAF * LEAF; j < i; j++) {
            same += point[i] % (int64_t)classes == point[j] % (int64_t)classes;
            pairs++;
        }
    return same / pairs;
}

static void
near_points_come_together(void)
{
    enum { CLASSES = 50 }; // of 20: three to a leaf
    float *memory;
    struct select_features f = clusters(N, D, CLASSES, 0.3, &memory);

    in_order(point);
    T(purity(CLASSES) < 0.02, "in order: %.3f of the pairs are of a class",
      purity(CLASSES));
    select_region_sort(D, f.u, N, LEAF, 1, 2, 3, point);
    T(is_permutation(N, point), "a permutation");
    T(purity(CLASSES) > 0.15, "sorted: %.2f, where .33 is possible",
      purity(CLASSES));
    for (int threads = 2; threads <= 3; threads++) {
        num_threads(threads);
        in_order(other);
        select_region_sort(D, f.u, N, LEAF, 1, 2, 3, other);
        T(!memcmp(point, other, sizeof point), "with %d threads the same",
          threads);
    }
    num_threads(1);
    in_order(other);
    select_region_sort(D, f.u, N, LEAF, 1, 2, 4, other);
    T(memcmp(point, other, sizeof point), "another round is another order");
    free(memory);
}

static void
edges(void)
{
    static const float rows[N * D]; // all in one place
    int64_t few[2] = {7, 3};

    in_order(point);
    select_region_sort(D, rows, N, LEAF, 1, 2, 3, point);
    T(is_permutation(N, point), "points that are all one");
    select_region_sort(D, rows, 2, LEAF, 1, 2, 3, few);
    T(few[0] == 7 && few[1] == 3, "fewer points than a leaf: as they were");
    select_region_sort(D, rows, 0, LEAF, 1, 2, 3, few);
    T(few[0] == 7, "no points");
}

int
main(void)
{
    num_threads(1);
    near_points_come_together();
    edges();
    return t_done();
}
