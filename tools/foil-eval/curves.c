#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "curves.h"
#include "eval.h"
#include "util/mem.h"

static const double least_drawn = 1e-6;

void
curves_add(struct curves *curves, char *name, size_t batch,
           const struct eval_figure figure[CURVES_PANELS])
{
    struct curves_point *point;

    mem_grow(&curves->point, &curves->room, curves->n + 1, sizeof *point);
    point = &curves->point[curves->n++];
    *point = (struct curves_point){.name = name, .batch = batch};
    memcpy(point->figure, figure, sizeof point->figure);
}

/* Whether no point before this one has its name. */
static int
begins_line(const struct curves *curves, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(curves->point[k].name, curves->point[i].name))
            return 0;
    return 1;
}

/* The points of a line; what is drawn by logarithms stays above zero. */
static void
write_curve(FILE *out, const struct curves *curves, size_t first,
            const struct curves_panel *panel)
{
    fprintf(out, "$p%zu << END\n", first);
    for (size_t i = first; i < curves->n; i++) {
        const struct curves_point *p = &curves->point[i];

        if (strcmp(p->name, curves->point[first].name))
            continue;
        fprintf(out, "%zu", p->batch);
        for (int k = 0; k < CURVES_PANELS; k++) {
            const struct eval_figure f = p->figure[k];
            const double least = panel[k].logarithms ? least_drawn : -INFINITY;

            fprintf(out, " %g %g %g", fmax(f.value, least),
                    fmax(f.value - f.half, least),
                    fmax(f.value + f.half, least));
        }
        fputs("\n", out);
    }
    fputs("END\n", out);
}

static void
write_panel(FILE *out, const struct curves *curves, int which,
            const struct curves_panel *panel)
{
    const int column = 2 + 3 * which;
    size_t hue = 0;

    fprintf(out, "set ylabel \"%s\"\n%s\nplot ", panel->label,
            panel->logarithms ? "set logscale y\nset format y \"10^{%T}\""
                              : "unset logscale y\nset format y \"%g\"");
    for (size_t i = 0; i < curves->n; i++) {
        if (!begins_line(curves, i))
            continue;
        fprintf(out,
                "%s$p%zu using 1:%d:%d:%d with yerrorlines lw 2 pt 7 lc "
                "rgb \"#%s\" title ",
                hue ? ", " : "", i, column, column + 1, column + 2,
                plot_hue(hue));
        plot_text(out, curves->point[i].name);
        hue++;
    }
    fputs("\n", out);
}

/* All sizes of batches, with room beside the first and the last. */
static void
write_range(FILE *out, const struct curves *curves)
{
    double low = INFINITY, high = 0;

    for (size_t i = 0; i < curves->n; i++) {
        low = fmin(low, (double)curves->point[i].batch);
        high = fmax(high, (double)curves->point[i].batch);
    }
    fprintf(out, "set xrange [%g:%g]\n", low / 1.2, high * 1.2);
}

void
curves_draw(struct curves *curves,
            const struct curves_panel panel[CURVES_PANELS], const char *picture)
{
    struct plot script;
    FILE *out = picture ? plot_open(&script) : NULL;

    for (size_t i = 0; out && i < curves->n; i++)
        if (begins_line(curves, i))
            write_curve(out, curves, i, panel);
    if (out) {
        fputs("set terminal pngcairo size 1440,480\n"
              "set multiplot layout 1,3\nset grid\nset logscale x 2\n"
              "set xlabel \"images in a batch\"\n"
              "set key outside top center horizontal noenhanced\n",
              out);
        write_range(out, curves);
        for (int k = 0; k < CURVES_PANELS; k++)
            write_panel(out, curves, k, &panel[k]);
        plot(&script, picture);
    }
    for (size_t i = 0; i < curves->n; i++)
        free(curves->point[i].name);
    free(curves->point);
}
