#include <stdio.h>
#include <stdlib.h>

#include "data/pool.h"
#include "data/view.h"
#include "util/clock.h"
#include "util/mem.h"

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
    struct data_pool_how how = {.policy = DATA_REFUSE,
                                .max_pixels = DATA_MAX_PIXELS};
    struct data_scratch *scratch = NULL;
    struct data_recipe recipe;
    struct data_pool *pool;
    struct data_set *set;
    struct err err;
    uint8_t *out;
    size_t n;
    double start;

    if (argc != 4)
        return 2;
    n = strtoul(argv[2], NULL, 10);
    set = data_open(argv[1], &err);
    if (!set || data_recipe_find(argv[3], &recipe, &err))
        give_up(&err);
    pool = data_pool_new(set, &how);
    out = mem_array(recipe.size * recipe.size, 3);
    start = clock_cpu();
    for (size_t i = 0; i < n; i++) {
        size_t id = i % data_size(set);
        const struct data_image *image = data_pool_get(pool, id, &err);

        if (!image)
            give_up(&err);
        data_view(&recipe, image, 1, id, 0, 0, &scratch, out);
        data_view(&recipe, image, 1, id, 0, 1, &scratch, out);
    }
    printf("%.0f\n", (double)n / (clock_cpu() - start));
    free(out);
    data_pool_free(pool);
    data_scratch_free(scratch);
    data_close(set);
    return 0;
}
