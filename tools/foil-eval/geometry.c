#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "eval/geometry.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/rng.h"

static long rows = 10000, seed;

const struct opt geometry_opts[] = {
    {"rows", 0, OPT_WHOLE, &rows, 2, 1e9, "N",
     "most rows; of more, N are drawn"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of that draw"},
    THREADS_OPT(&given.threads),
    OUTPUT_OPTS,
    {0},
};

/* Rows of f: all, or no more than --rows drawn by the seed. */
static float *
draw_rows(const struct data_features *f, size_t *count)
{
    int64_t *order = mem_array(f->n, sizeof *order);
    struct rng rng;
    float *x;

    for (size_t i = 0; i < f->n; i++)
        order[i] = (int64_t)i;
    rng_init(&rng, (uint64_t)seed, RNG_SPLIT, 0, 0, 0);
    if (f->n > (size_t)rows)
        rng_shuffle(&rng, f->n, order);
    *count = f->n > (size_t)rows ? (size_t)rows : f->n;
    x = mem_array(*count * f->d, sizeof *x);
    for (size_t i = 0; i < *count; i++)
        memcpy(x + i * f->d, f->x + (size_t)order[i] * f->d, f->d * sizeof *x);
    free(order);
    return x;
}

/* Says which rows have no direction, or all the same. */
static void
tell_zeros(const char *path, size_t count, const struct eval_geometry *g)
{
    if (!g->dimensions)
        say("'%s' has collapsed: each of %zu rows %s", path, count,
            g->zero_rows ? "is zero" : "points the same way");
    else if (g->zero_rows)
        say("'%s': rows of zeros, which have no direction: %zu of %zu", path,
            g->zero_rows, count);
}

void
run_geometry(char **path)
{
    struct data_features one, two = {0};
    struct eval_geometry g;
    json_t *how, *line;
    size_t count;
    float *x;

    load(&one, path[0], NULL);
    if (one.n < 2)
        die("'%s' has one row, and geometry needs two", path[0]);
    x = draw_rows(&one, &count);
    eval_geometry(count, one.d, x, &g);
    tell_zeros(path[0], count, &g);
    line = json_pack("{s:s s:f s:f s:f s:f s:f s:b s:I}", "measure", "geometry",
                     "uniformity", g.uniformity, "cosine", g.cosine,
                     "deviation", g.deviation, "deviation_min", g.deviation_min,
                     "dimensions", g.dimensions, "collapsed", !g.dimensions,
                     "zero_rows", (json_int_t)g.zero_rows);
    how = json_pack("{s:I s:I s:I s:o}", "rows", (json_int_t)count, "seed",
                    (json_int_t)seed, "d", (json_int_t)one.d, "views",
                    json_pack("[o]", origin(path[0], &one)));
    if (path[1]) {
        load(&two, path[1], NULL);
        if (two.n != one.n || two.d != one.d)
            die("'%s' and '%s' differ in shape: they must hold two views of "
                "each image",
                path[0], path[1]);
        json_object_set_new(
            line, "alignment",
            json_real(eval_alignment(one.n, one.d, one.x, two.x)));
        json_array_append_new(json_object_get(how, "views"),
                              origin(path[1], &two));
    }
    print(line, how);
    free(x);
    data_features_release(&one);
    data_features_release(&two);
}
