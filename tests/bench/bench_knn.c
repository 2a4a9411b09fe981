#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/knn.h"
#include "num/maps.h"
#include "num/threads.h"
#include "shortest.h"
#include "util/mem.h"

/* Random rows in memory like that of features that are read. */
static float *
random_rows(size_t n, size_t d, uint64_t use)
{
    float *drawn = normal(n * d, use), *x = mem_aligned(n * d, sizeof *x);

    memcpy(x, drawn, n * d * sizeof *x);
    free(drawn);
    return x;
}

/*
 * bench_knn [M N D K THREADS]: seconds, of the processor with one thread, to
 * find the K nearest of N random references for each of M queries.
 */
int
main(int argc, char **argv)
{
    size_t size[5] = {10000, 50000, 128, 1, 1};
    struct eval_knn *knn;
    uint32_t *ids;
    float *query, *ref;
    double (*now)(void), start;

    for (int i = 1; i < argc && i <= 5; i++)
        size[i - 1] = strtoul(argv[i], NULL, 10);
    num_threads((int)size[4]);
    now = clock_for(argc > 5 ? argv[5] : "1");
    query = random_rows(size[0], size[2], 1);
    ref = random_rows(size[1], size[2], 2);
    ids = mem_array(size[0] * size[3], sizeof *ids);
    start = now();
    knn = eval_knn_new(size[1], size[2], ref, EVAL_COSINE);
    eval_knn_find(knn, size[0], query, size[3], EVAL_NO_SELF, ids, NULL);
    printf("%.4f\n", now() - start);
    eval_knn_free(knn);
    free(ids);
    free(ref);
    free(query);
    return 0;
}
