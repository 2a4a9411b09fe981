#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "eval.h"
#include "eval/pca.h"
#include "num/vec.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const char *output, *coordinates;
static long components = 64;

const struct opt pca_opts[] = {
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "output, .npy; must be given"},
    {"coordinates", 0, OPT_TEXT, &coordinates, 0, 0, "FILE",
     "of the rows, too, as foil-train --rows reads them"},
    {"components", 'k', OPT_WHOLE, &components, 1, 65536, "N",
     "number of directions"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* All rows of all files, and where they are from. */
struct pool {
    size_t n, d, room;
    size_t each; /* rows of a file; 0: not the same of all */
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
    pool->each = !pool->n || pool->each == f.n ? f.n : 0;
    mem_grow(&pool->x, &pool->room, (pool->n + f.n) * f.d, sizeof *pool->x);
    memcpy(pool->x + pool->n * f.d, f.x, f.n * f.d * sizeof *f.x);
    pool->n += f.n;
    json_array_append_new(pool->from, origin(path, &f));
    data_features_release(&f);
}

/* <row i, x - m> of all x, where the rows of the files are views: all of the
 * first sample, then all of the second. */
static void
write_coordinates(const struct pool *pool, size_t k, const float *basis,
                  const char *path)
{
    const size_t views = json_array_size(pool->from), d = pool->d,
                 samples = pool->n / views;
    struct data_npy npy = {.type = DATA_F4, .rank = 2, .shape = {pool->n, k}};
    float *y = mem_array(pool->n * k, sizeof *y);
    struct err err;

    if (pool->each != samples)
        die("--coordinates wants as many rows in each file: they are views of "
            "the same samples");
    for (size_t r = 0; r < pool->n; r++)
        for (size_t i = 0; i < k; i++)
            y[(r % samples * views + r / samples) * k + i] =
                (float)(num_dot(d, basis + i * d, pool->x + r * d) -
                        num_dot(d, basis + i * d, basis + k * d));
    npy.data = y;
    if (data_npy_write(path, &npy, &err))
        die("%s", err.msg);
    free(y);
}

static void
spare_input(const char *made, const char *path)
{
    if (made && file_same(made, path))
        opt_misuse("'%s' is read from: it would be lost", made);
}

void
run_pca(char **path)
{
    struct pool pool = {.from = json_array()};
    const size_t k = (size_t)components;
    struct data_npy npy = {.type = DATA_F4, .rank = 2};
    struct eval_pca pca;
    struct err err;

    if (!output)
        opt_misuse("wants a file to write to, -o FILE");
    for (; *path; path++) {
        spare_input(output, *path);
        spare_input(coordinates, *path);
        take_in(&pool, *path);
    }
    if (pool.n < 2 || k > pool.n || k > pool.d)
        die("%zu rows of %zu columns have no %zu components", pool.n, pool.d,
            k);
    npy.shape[0] = k + 1;
    npy.shape[1] = pool.d;
    npy.data = mem_array((k + 1) * pool.d, sizeof(float));
    pca = eval_pca(pool.n, pool.d, pool.x, k, npy.data);
    if (data_npy_write(output, &npy, &err))
        die("%s", err.msg);
    if (coordinates)
        write_coordinates(&pool, k, npy.data, coordinates);
    print(json_pack("{s:s s:s s:f s:f s:f s:f}", "measure", "pca", "basis",
                    output, "share", pca.share, "scale", pca.scale,
                    "first_deviation", pca.first, "last_deviation", pca.last),
          json_pack("{s:I s:I s:I s:o}", "components", (json_int_t)k, "d",
                    (json_int_t)pool.d, "rows", (json_int_t)pool.n, "from",
                    pool.from));
    data_npy_release(&npy);
    free(pool.x);
}
