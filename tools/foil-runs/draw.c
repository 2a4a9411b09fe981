#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/metrics.h"
#include "run/results.h"
#include "runs.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/plot.h"

/* Maximum points of a curve.  With more steps, each point is a bucket of steps
 * with its minimum and maximum, so no peak is lost. */
enum { POINTS = 1000, WIDTH = 1000, HEIGHT = 440, MARGIN = 22 };

/* The values of one name in a run. */
struct curve {
    size_t n, room;
    struct point {
        double x, y;
    } * point;
    int figures; /* 1: values are of results, not of steps */
};

static void
add_point(struct curve *curve, double x, double y)
{
    mem_grow(&curve->point, &curve->room, curve->n + 1, sizeof *curve->point);
    curve->point[curve->n++] = (struct point){x, y};
}

static double
find_value(const struct run_metrics *step, const char *name)
{
    return value_find(step->value, step->n, name);
}

/* The place of a step on the axis; *minutes is the sum over steps so far. */
static double
place_step(const struct run_metrics *step, enum runs_axis by, double *minutes)
{
    static const char *const name[] = {"total", "images"}; // by enum runs_axis
    const double seconds = find_value(step, "seconds");
    const double waited = find_value(step, "waited");

    *minutes +=
        ((isfinite(seconds) ? seconds : 0) + (isfinite(waited) ? waited : 0)) /
        60;
    return by == RUNS_BY_TIME ? *minutes : find_value(step, name[by]);
}

/* Reads metrics of the steps into curve[] and the place of each into *place. */
static void
read_steps(const char *run, const struct runs_drawing *how, struct curve *curve,
           struct curve *place)
{
    struct run_metrics step = {.n = 0};
    double minutes = 0;

    while (run_metrics_next(&step, run)) {
        const double x = place_step(&step, how->by, &minutes);

        if (isfinite(x))
            add_point(place, find_value(&step, "total"), x);
        for (size_t i = 0; i < how->n && isfinite(x); i++) {
            const double y = find_value(&step, how->name[i]);

            if (isfinite(y))
                add_point(&curve[i], x, y);
        }
    }
    run_lines_release(&step.lines);
}

/* The place of the last step up to `total`. */
static double
find_place(const struct curve *place, double total)
{
    size_t low = 0, high = place->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (place->point[middle].x <= total)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? place->point[low - 1].y : 0;
}

/* Reads figures of results, for names that are no metrics. */
static void
read_results(const char *run, const struct runs_drawing *how,
             struct curve *curve, const struct curve *place)
{
    struct err err;
    json_t *all = run_results_read(run, &err), *one;
    char label[64];
    double figure;
    size_t at;

    or_die(!all, &err);
    json_array_foreach(all, at, one)
    {
        if (!runs_label(one, label, &figure))
            continue;
        for (size_t i = 0; i < how->n; i++)
            if ((curve[i].figures || !curve[i].n) &&
                !strcmp(label, how->name[i])) {
                curve[i].figures = 1;
                add_point(&curve[i],
                          find_place(place, json_number_value(
                                                json_object_get(one, "step"))),
                          figure);
            }
    }
    json_decref(all);
}

static int
compare_places(const void *one, const void *other)
{
    const struct point *a = one, *b = other;

    return (a->x > b->x) - (a->x < b->x);
}

/* The mean of a 40th of all values: those around value `at`.
 *   sums  [n + 1], sums[i] of the first i values */
static double
average_around(const double *sums, size_t n, size_t at)
{
    const size_t side = n / 80, first = at < side ? 0 : at - side;
    const size_t end = n - at > side ? at + side + 1 : n;

    return (sums[end] - sums[first]) / (double)(end - first);
}

/* Writes a data block: place, minimum, maximum and moving mean. */
static void
write_curve(FILE *out, const struct curve *curve)
{
    const size_t n = curve->n, buckets = n < POINTS ? n : POINTS;
    double *sums = mem_array(n + 1, sizeof *sums);

    for (size_t i = 0; i < n; i++)
        sums[i + 1] = sums[i] + curve->point[i].y;
    for (size_t b = 0; b < buckets; b++) {
        const size_t first = b * n / buckets, end = (b + 1) * n / buckets;
        double least = INFINITY, most = -INFINITY;

        for (size_t i = first; i < end; i++) {
            least = fmin(least, curve->point[i].y);
            most = fmax(most, curve->point[i].y);
        }
        fprintf(out, "%.9g %.7g %.7g %.7g\n", curve->point[end - 1].x, least,
                most, curve->figures ? most : average_around(sums, n, end - 1));
    }
    free(sums);
}

/* Writes the plot command of a curve: with more values than points, a band
 * from minimum to maximum, else faint values; and their moving mean. */
static void
write_command(FILE *out, const struct curve *curve, size_t i, const char *run)
{
    const char *hue = plot_hue(i);

    if (curve->n > POINTS)
        fprintf(out,
                "$r%zu using 1:2:3 with filledcurves lc rgb \"#c8%s\" notitle, "
                "\\\n    ",
                i, hue);
    else if (!curve->figures)
        fprintf(out,
                "$r%zu using 1:2 with lines lw 1 lc rgb \"#a0%s\" notitle, "
                "\\\n    ",
                i, hue);
    fprintf(out, "$r%zu using 1:4 with %s lw 2 dt %zu lc rgb \"#%s\" title ", i,
            curve->figures ? "linespoints pt 7 ps 0.8" : "lines",
            i / PLOT_HUES + 1, hue);
    plot_text(out, run);
    fputs(" noenhanced", out);
}

/* Writes the plot of a name, with all runs that have it.  Dies if none has: the
 * name is misspelt, or was not measured. */
static void
write_plot(FILE *out, const struct runs_drawing *how, size_t k,
           const json_t *runs, struct curve *const *curve)
{
    const char *between = "plot ";
    size_t with = 0;

    fputs("set ylabel ", out);
    plot_text(out, how->name[k]);
    fputs(" noenhanced\n", out);
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (curve[i][k].n) {
            fprintf(out, "$r%zu << END\n", i);
            write_curve(out, &curve[i][k]);
            fputs("END\n", out);
            with++;
        }
    if (!with)
        die("no run has '%s': --of needs names of metrics in metrics.jsonl, "
            "such as 'loss', or of measures, such as 'knn 10'",
            how->name[k]);
    for (size_t i = 0; i < json_array_size(runs); i++)
        if (curve[i][k].n) {
            fputs(between, out);
            write_command(out, &curve[i][k], i,
                          json_string_value(json_array_get(runs, i)));
            between = ", \\\n    ";
        }
    fputs("\n", out);
}

static void
write_script(struct plot *script, const struct runs_drawing *how,
             const json_t *runs, struct curve *const *curve)
{
    static const char *const axes[] = {"steps", "images", "minutes"};
    const size_t rows = json_array_size(runs);
    FILE *out = plot_open(script);

    fprintf(
        out,
        "set terminal pngcairo size %d,%zu\n"
        "set multiplot layout %zu,1\nset grid back lt 1 lc rgb \"#dddddd\"\n"
        "set tics out nomirror\nset border 3\n"
        "set key outside bottom center horizontal\nset xlabel \"%s\"\n",
        WIDTH, how->n * (HEIGHT + MARGIN * (rows / 4)), how->n, axes[how->by]);
    for (size_t k = 0; k < how->n; k++)
        write_plot(out, how, k, runs, curve);
    fputs("unset multiplot\n", out);
}

void
runs_draw(const char *picture, const struct runs_drawing *how,
          const json_t *runs)
{
    const size_t n = json_array_size(runs);
    struct curve **curve = mem_array(n, sizeof *curve);
    struct err err;
    struct plot script;

    for (size_t i = 0; i < n; i++) {
        const char *run = json_string_value(json_array_get(runs, i));
        struct curve place = {0};

        curve[i] = mem_array(how->n, sizeof **curve);
        read_steps(run, how, curve[i], &place);
        read_results(run, how, curve[i], &place);
        for (size_t k = 0; k < how->n; k++)
            if (curve[i][k].figures)
                qsort(curve[i][k].point, curve[i][k].n, sizeof(struct point),
                      compare_places);
        free(place.point);
    }
    write_script(&script, how, runs, curve);
    or_die(plot_draw(&script, picture, &err), &err);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < how->n; k++)
            free(curve[i][k].point);
        free(curve[i]);
    }
    free(curve);
}
