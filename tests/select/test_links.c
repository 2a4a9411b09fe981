#include <stdlib.h>
#include <string.h>

#include "clusters.h"
#include "num/threads.h"
#include "permutation.h"
#include "select/links.h"
#include "t.h"

enum { N = 600, D = 12, LEAF = 60, K = SELECT_LINKS };

static int64_t point[N], sorted[N];
static uint32_t mine[N * K], other[N * K];

/* Points are rows in an order of their own. */
static void
scatter(void)
{
    for (size_t i = 0; i < N; i++)
        sorted[i] = point[i] = (int64_t)(i * 7 % N);
}

/* Where all points are in one region the lists are those of a full search. */
static void
lists_agree_with_naive(void)
{
    float *memory;
    struct select_features f = clusters(N, D, 30, 0.5, &memory);
    int wrong = 0;

    scatter();
    select_links_find(D, f.u, N, N, 1, 2, point, mine);
    for (size_t i = 0; i < N; i++)
        for (size_t l = 0; l < K; l++) {
            const float *row = f.u + (size_t)point[i] * D;
            uint32_t link = mine[i * K + l];
            double near = num_dot(D, row, f.u + (size_t)point[link] * D);
            size_t above = 0;

            for (size_t j = 0; j < N; j++)
                above += j != i && num_dot(D, row, f.u + (size_t)point[j] * D) >
                                       near + 1e-6;
            wrong += above > l || link == i;
        }
    T(!wrong, "one region: the nearest, and none nearer");
    free(memory);
}

/* 30 classes of 20, of which three fit a stretch. */
static void
lists_and_stretches(void)
{
    float *memory;
    struct select_features f = clusters(N, D, 30, 0.4, &memory);
    double found = 0, same = 0, pairs = 0;

    scatter();
    num_threads(1);
    select_links_find(D, f.u, N, LEAF, 1, 2, point, mine);
    num_threads(3);
    select_links_find(D, f.u, N, LEAF, 1, 2, point, other);
    num_threads(1);
    T(!memcmp(mine, other, sizeof mine), "three threads find what one does");
    for (size_t i = 0; i < N * K; i++)
        found += mine[i] != SELECT_NO_LINK &&
                 point[mine[i]] % 30 == point[i / K] % 30;
    T(found > 0.7 * N * K, "%.2f of the links stay in a class",
      found / (N * K));
    select_links_sort(N, LEAF, mine, sorted);
    T(is_permutation(N, sorted), "sorted: a permutation");
    for (size_t i = 0; i < N; i++)
        for (size_t j = i / LEAF * LEAF; j < i; j++) {
            same += sorted[i] % 30 == sorted[j] % 30;
            pairs++;
        }
    T(same / pairs > 0.24,
      "%.2f of the pairs in a stretch are of a class, "
      "where .32 is possible",
      same / pairs);
    free(memory);
}

static void
edges(void)
{
    static const float rows[N * D]; // all in one place
    int64_t two[2] = {5, 3};

    scatter();
    select_links_find(D, rows, N, LEAF, 1, 2, point, mine);
    select_links_sort(N, LEAF, mine, sorted);
    T(is_permutation(N, sorted), "points that are all one");
    select_links_find(D, rows, 2, LEAF, 1, 2, two, mine);
    T(mine[0] == 1 && mine[1] == SELECT_NO_LINK && mine[K] == 0,
      "two points: a list of one each");
    select_links_sort(2, LEAF, mine, two);
    T(two[0] == 5 && two[1] == 3, "in their order");
    select_links_find(D, rows, 0, LEAF, 1, 2, two, mine);
    select_links_sort(0, LEAF, mine, two);
    T(two[0] == 5, "no points");
}

int
main(void)
{
    num_threads(1);
    lists_agree_with_naive();
    lists_and_stretches();
    edges();
    return t_done();
}
