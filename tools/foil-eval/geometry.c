#include <stdlib.h>
#include <string.h>

#include "eval.h"
#include "eval/geometry.h"
#include "util/mem.h"

static long rows = 10000, seed;
static const char *picture;

enum { BINS = 100 };

static const struct opt geometry_own[] = {
    {"rows", 0, OPT_WHOLE, &rows, 2, 1e9, "N",
     "at most N rows; of more, draws N"},
    {"seed", 's', OPT_WHOLE, &seed, 0, 1e15, "N", "seed of the draw"},
    {"histogram", 0, OPT_TEXT, &picture, 0, 0, "FILE",
     "draw cosines of positive and of other pairs, as PNG"},
    {0},
};
verb_opts geometry_opts = {geometry_own, threads_opts, output_opts, NULL};

/* All rows of f, or --rows of them drawn by the seed. */
static float *
draw_rows(const struct data_features *f, size_t *count)
{
    const int few = f->n > (size_t)rows;
    int64_t *order = few ? shuffled_rows(f->n, seed) : NULL;
    float *x;

    *count = few ? (size_t)rows : f->n;
    x = mem_array(*count * f->d, sizeof *x);
    for (size_t i = 0; i < *count; i++)
        memcpy(x + i * f->d, f->x + (few ? (size_t)order[i] : i) * f->d,
               f->d * sizeof *x);
    free(order);
    return x;
}

/* Draws a histogram of at most --rows rows, the same of both views.
 *   two  NULL: all pairs of one file */
static void
draw_histogram(const struct data_features *one, const struct data_features *two)
{
    size_t own[BINS] = {0}, others[BINS] = {0}, count;
    double own_sum = 0, others_sum = 0;
    float *x = draw_rows(one, &count), *y = two ? draw_rows(two, &count) : NULL;
    struct plot script;
    FILE *out = plot_open(&script);

    eval_cosines(count, one->d, x, y, BINS, own, others);
    for (size_t b = 0; b < BINS; b++) {
        own_sum += (double)own[b];
        others_sum += (double)others[b];
    }
    // counts, and shares so that both curves are visible
    fputs("# cosine, pairs: own, others; their shares\n$cosines << END\n", out);
    for (size_t b = 0; b < BINS; b++)
        fprintf(out, "%.4g %zu %zu %.6g %.6g\n",
                ((double)b + .5) * 2 / BINS - 1, own[b], others[b],
                own_sum > 0 ? (double)own[b] / own_sum : 0,
                others_sum > 0 ? (double)others[b] / others_sum : 0);
    fputs("END\n", out);
    fprintf(out,
            "set terminal pngcairo size 900,480\nset xrange [-1:1]\n"
            "set xlabel \"cosine\"\nset ylabel \"share of the pairs\"\n"
            "set grid\nset key top left\nset style fill solid 0.55\n"
            "plot $cosines using 1:5:(%g) with boxes lc rgb \"#999999\" title "
            "\"%s\"",
            2. / BINS, two ? "views of different images" : "different rows");
    if (two)
        fprintf(out,
                ", \\\n    $cosines using 1:4:(%g) with boxes lc rgb "
                "\"#0072b2\" title \"two views of an image\"",
                2. / BINS);
    fputs("\n", out);
    plot(&script, picture);
    mem_free(x, y);
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
    if (!g.dimensions)
        log_message("'%s' has collapsed: each of %zu rows %s", path[0], count,
                    g.zero_rows ? "is zero" : "points the same way");
    else if (g.zero_rows)
        log_message("'%s': rows of zeros, which have no direction: %zu of %zu",
                    path[0], g.zero_rows, count);
    line = json_pack("{s:s s:f s:f s:f s:f s:f s:b s:I s:f}", "measure",
                     "geometry", "uniformity", g.uniformity, "cosine", g.cosine,
                     "deviation", g.deviation, "deviation_min", g.deviation_min,
                     "dimensions", g.dimensions, "collapsed", !g.dimensions,
                     "zero_rows", (json_int_t)g.zero_rows, "rankme", g.rankme);
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
    if (picture)
        draw_histogram(&one, path[1] ? &two : NULL);
    print(line, how);
    free(x);
    data_features_release(&one);
    data_features_release(&two);
}
