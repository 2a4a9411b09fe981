#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "eval.h"
#include "eval/pca.h"
#include "util/mem.h"
#include "util/opt.h"

/* All rows of all files, and where they are from. */
struct pool {
    size_t n, d, room;
    float *x;
    json_t *from;
};

static void
take_in(struct pool *pool, const char *path)
{
    struct data_features f;

    load(&f, path, NULL);
    if (pool->n && f.d != pool->d)
        die("'%s' has %zu columns, the files before it %zu", path, f.d,
            pool->d);
    pool->d = f.d;
    mem_grow(&pool->x, &pool->room, (pool->n + f.n) * f.d, sizeof *pool->x);
    memcpy(pool->x + pool->n * f.d, f.x, f.n * f.d * sizeof *f.x);
    pool->n += f.n;
    json_array_append_new(pool->from, origin(path, &f));
    data_features_release(&f);
}

void
run_pca(const struct options *options, char **path)
{
    struct pool pool = {.from = json_array()};
    const size_t k = (size_t)options->components;
    struct data_npy npy = {.type = DATA_F4, .rank = 2};
    struct eval_pca pca;
    struct err err;

    if (!options->output)
        opt_misuse("wants a file to write to, -o FILE");
    for (; *path; path++)
        take_in(&pool, *path);
    if (pool.n < 2 || k > pool.n || k > pool.d)
        die("%zu rows of %zu columns have no %zu components", pool.n, pool.d,
            k);
    npy.shape[0] = k + 1;
    npy.shape[1] = pool.d;
    npy.data = mem_array((k + 1) * pool.d, sizeof(float));
    pca = eval_pca(pool.n, pool.d, pool.x, k, npy.data);
    if (data_npy_write(options->output, &npy, &err))
        die("%s", err.msg);
    print(json_pack("{s:s s:s s:f s:f s:f s:f}", "measure", "pca", "basis",
                    options->output, "share", pca.share, "scale", pca.scale,
                    "first_deviation", pca.first, "last_deviation", pca.last),
          json_pack("{s:I s:I s:I s:o}", "components", (json_int_t)k, "d",
                    (json_int_t)pool.d, "rows", (json_int_t)pool.n, "from",
                    pool.from));
    data_npy_release(&npy);
    free(pool.x);
}
