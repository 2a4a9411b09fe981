#include <stdio.h>
#include <stdlib.h>

#include "eval/knn.h"
#include "num/maps.h"
#include "num/threads.h"
#include "shortest.h"
#include "util/mem.h"

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
    query = normal(size[0] * size[2], 1);
    ref = normal(size[1] * size[2], 2);
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
