#include <stdio.h>
#include <stdlib.h>

#include "data/gather.h"
#include "util/clock.h"

/*
 * bench_augment DATA N SPEC: images a second of processor time, each read,
 * checked, decoded and made into two views.
 */
static void
give_up(const struct err *err)
{
    fprintf(stderr, "bench_augment: %s\n", err->msg);
    exit(1);
}

int
main(int argc, char **argv)
{
    struct data_pool_settings how = {.policy = IMAGE_REFUSE,
                                     .max_pixels = IMAGE_MAX_PIXELS};
    struct data_gather gather = {0};
    struct image_recipe recipe;
    struct data_pool *pool;
    struct data_set *set;
    struct err err;
    size_t n;
    double start;

    if (argc != 4)
        return 2;
    n = strtoul(argv[2], NULL, 10);
    set = data_open(argv[1], &err);
    if (!set || image_recipe_find(argv[3], &recipe, &err))
        give_up(&err);
    pool = data_pool_new(set, &how);
    start = clock_cpu();
    for (size_t i = 0; i < n; i++) {
        const int64_t id = (int64_t)(i % data_size(set));

        data_gather_begin(&gather, &(struct data_wanted){.batch.b = 1,
                                                         .batch.v = 2,
                                                         .size = recipe.size,
                                                         .batch.ids = &id});
        if (data_gather_next(&gather, pool, &recipe, 1, 0, &err) < 0)
            give_up(&err);
    }
    printf("%.0f\n", (double)n / (clock_cpu() - start));
    data_gather_release(&gather);
    data_pool_free(pool);
    data_close(set);
    return 0;
}
