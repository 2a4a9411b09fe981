#include "anchors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/sheet.h"
#include "eval/column.h"
#include "image/codec.h"
#include "text/captions.h"
#include "util/file.h"
#include "util/mem.h"

enum { SIZE = 96, MOST_NEIGHBOURS = 12, BINS = 40 };

static size_t
sample_at(const struct anchors *a, size_t row)
{
    return row % a->in->rows.samples;
}

static intmax_t
number_at(const struct anchors *a, size_t row)
{
    return (intmax_t)a->in->id[sample_at(a, row)];
}

static size_t
view_at(const struct anchors *a, size_t row)
{
    return row / a->in->rows.samples;
}

void
anchors_csv(const struct anchors *a, const char *path)
{
    static const enum measure column[] = {
        EXACT, LEARNT, TAU, KL, EFFECTIVE, LARGEST, DENSITY, BOUND, OWN};
    struct file_draft draft = {0};
    struct err err;

    if (file_draft_open(&draft, path, &err))
        die("%s", err.msg);
    fprintf(draft.file,
            "sample,view,group,exact,%stau,kl,effective,largest,"
            "density,bound,same_class_weight\n",
            a->learnt ? "learnt," : "");
    for (size_t i = 0; i < a->m; i++) {
        const size_t sample = sample_at(a, a->row[i]);

        fprintf(draft.file, "%jd,%zu,%jd", number_at(a, a->row[i]),
                view_at(a, a->row[i]),
                a->in->group ? (intmax_t)a->in->group[sample] : -1);
        for (size_t k = 0; k < sizeof column / sizeof *column; k++)
            if (column[k] != LEARNT || a->learnt)
                fprintf(draft.file, ",%.6g", a->of[column[k]][i]);
        fputs("\n", draft.file);
    }
    if (file_draft_keep(&draft, &err))
        die("%s", err.msg);
}

static void
write_histogram(FILE *out, const char *name, size_t n, const double *x,
                double low, double high)
{
    size_t count[BINS];
    const double step = (high - low) / BINS;

    eval_histogram(n, x, low, high, BINS, count);
    fprintf(out, "$%s << END\n", name);
    for (size_t b = 0; b < BINS; b++)
        fprintf(out, "%g %g\n", low + ((double)b + .5) * step,
                (double)count[b] / (double)n);
    fputs("END\n", out);
}

/* Histograms of exact and of learnt temperatures, on one scale. */
static void
write_temperatures(FILE *out, const struct anchors *a)
{
    const double *exact = a->of[EXACT],
                 *learnt = a->of[a->learnt ? LEARNT : EXACT];
    double low = 1e9, high = 0;

    for (size_t i = 0; i < a->m; i++) {
        low = fmin(low, fmin(exact[i], learnt[i]));
        high = fmax(high, fmax(exact[i], learnt[i]));
    }
    high = high > low ? high : low + 1;
    write_histogram(out, "exact", a->m, exact, low, high);
    write_histogram(out, "learnt", a->m, learnt, low, high);
}

void
anchors_plot(const struct anchors *a)
{
    struct plot script;
    FILE *out = plot_open(&script);

    write_temperatures(out, a);
    fputs("# exact, learnt, effective, density, same class\n$anchors << END\n",
          out);
    for (size_t i = 0; i < a->m; i++) {
        const struct eval_anchor *at = &a->out[i];

        fprintf(out, "%g %g %g %g %g\n", at->exact,
                a->learnt ? a->learnt[a->row[i]] : at->tau, at->effective,
                at->density, at->own);
    }
    fprintf(out,
            "END\nset terminal pngcairo size 1200,840\n"
            "set multiplot layout 2,2\nset grid\nset style fill solid 0.5\n"
            "set key outside top center horizontal\n"
            "set xlabel \"temperature\"\nset ylabel \"share of the anchors\"\n"
            "plot $exact with boxes title \"exact, KL = %g\"%s\n"
            "unset key\nset xlabel \"exact temperature\"\n"
            "set ylabel \"%s temperature\"\n"
            "plot $anchors using 1:2 with points pt 7 ps .4, x lc rgb "
            "\"#999999\"\n"
            "set ylabel \"mean cosine of the %zu nearest negatives\"\n"
            "plot $anchors using 1:4 with points pt 7 ps .4\n"
            "set xlabel \"effective number of negatives\"\n"
            "set ylabel \"%s\"\n"
            "plot $anchors using 3:%d with points pt 7 ps .4\n",
            a->rho,
            a->learnt ? ", $learnt with lines lw 2 title \"learnt\"" : "",
            a->learnt ? "learnt" : "measured", a->nearest,
            a->in->group ? "share of the weight on the own group"
                         : "mean cosine of the nearest negatives",
            a->in->group ? 5 : 4);
    plot(&script, common_options.plot);
}

/* The *n most extreme anchors of one end, the most extreme first. */
static size_t *
find_ends(const struct anchors *a, int highest, size_t *n)
{
    size_t *order = eval_order(a->m, a->of[EXACT]), *at;

    *n = a->extreme < a->m ? a->extreme : a->m;
    at = mem_array(*n, sizeof *at);
    for (size_t k = 0; k < *n; k++)
        at[k] = order[highest ? a->m - 1 - k : k];
    free(order);
    return at;
}

json_t *
anchors_ends(const struct anchors *a, int highest)
{
    json_t *list = json_array();
    size_t n, *at = find_ends(a, highest, &n), len;

    for (size_t k = 0; k < n; k++) {
        const size_t row = a->row[at[k]], view = view_at(a, row);
        const size_t id = (size_t)number_at(a, row);
        const char *captions = a->set ? data_caption(a->set, id) : "";
        char group[24];
        json_t *item =
            json_pack("{s:I s:I s:f s:f s:s*}", "sample", (json_int_t)id,
                      "view", (json_int_t)view, "exact", a->out[at[k]].exact,
                      "effective", a->out[at[k]].effective, "group",
                      instrument_group(a->in, sample_at(a, row), group));

        if (*captions) {
            const char *caption = text_captions_get(captions, 0, &len);

            json_object_set_new(item, "caption", json_stringn(caption, len));
        }
        json_array_append_new(list, item);
    }
    free(at);
    return list;
}

/* The cosines of one row with all others, which the caller frees. */
static float *
compare_row(const struct anchors *a, size_t row)
{
    float *s = mem_array(eval_views_count(&a->in->rows), sizeof *s);
    float *work = mem_array(a->in->rows.d, sizeof *work);

    eval_views_compare(&a->in->rows, 1, &row, work, s);
    free(work);
    return s;
}

/* A list of a sheet: an anchor and its nearest negatives, with the names of
 * their classes, or their cosines if classes have no names.
 */
static void
fill_list(const struct anchors *a, size_t at, size_t neighbours,
          struct data_sheet_list *list)
{
    const size_t row = a->row[at];
    size_t near[MOST_NEIGHBOURS];
    float *s = compare_row(a, row);

    list->n = neighbours + 1;
    list->id = mem_array(list->n, sizeof *list->id);
    list->framed = mem_array(list->n, 1);
    list->name = mem_array(list->n, sizeof *list->name);
    eval_views_nearest(eval_views_count(&a->in->rows), s, neighbours, near);
    for (size_t k = 0; k <= neighbours; k++) {
        const size_t c = k ? near[k - 1] : row;
        char number[24];
        const char *name =
            a->in->classes.n ? instrument_group(a->in, sample_at(a, c), number)
                             : NULL;

        list->id[k] = (int64_t)number_at(a, c);
        if (!k)
            list->name[k] = mem_format("%.3g", a->out[at].exact);
        else
            list->name[k] = name ? mem_text(name) : mem_format("%.2f", s[c]);
        if (k && eval_views_same_group(&a->in->rows, row, c))
            list->framed[k] = 1;
        else if (k && name)
            list->framed[k] = 2;
    }
    free(s);
}

static void
release_list(struct data_sheet_list *list)
{
    for (size_t k = 0; k < list->n; k++)
        free((void *)list->name[k]);
    free(list->id);
    free(list->framed);
    free(list->name);
}

static void
draw_lists(const struct anchors *a, struct data_sheet *show,
           const struct data_sheet_list *list, const char *path)
{
    const struct data_pool_settings how = {
        .policy = IMAGE_ACCEPT,
        .max_pixels = (size_t)measured_settings.max_pixels};
    struct data_pool *pool = data_pool_new((struct data_set *)a->set, &how);
    struct err err;

    for (size_t i = 0; i < show->rows; i++)
        if (data_sheet_letters(&list[i]) > show->letters)
            show->letters = data_sheet_letters(&list[i]);
    data_sheet_begin(show);
    data_sheet_lists(show, list, pool, pool);
    if (show->white)
        log_message("images that stay white: %zu; the last: %s", show->white,
                    show->why.msg);
    if (image_png_write(path, show->pixel, show->width, show->height, &err))
        die("%s", err.msg);
    free(show->pixel);
    data_pool_free(pool);
}

void
anchors_sheet(const struct anchors *a, const char *path)
{
    const size_t negatives = eval_views_negatives(&a->in->rows);
    size_t neighbours = a->nearest, n, many;
    size_t *low = find_ends(a, 0, &n), *high = find_ends(a, 1, &many);
    struct data_sheet_list *list = mem_array(2 * n, sizeof *list);
    struct data_sheet show = {.rows = 2 * n, .columns = 1, .size = SIZE};

    neighbours = neighbours < MOST_NEIGHBOURS ? neighbours : MOST_NEIGHBOURS;
    show.views = neighbours < negatives ? neighbours : negatives;
    for (size_t k = 0; k < n; k++) {
        fill_list(a, low[k], show.views, &list[k]);
        fill_list(a, high[n - 1 - k], show.views, &list[n + k]);
    }
    draw_lists(a, &show, list, path);
    for (size_t k = 0; k < 2 * n; k++)
        release_list(&list[k]);
    free(list);
    free(high);
    free(low);
}

/* Draws all p of a row, in descending order, against their rank. */
static void
plot_softmax(const struct anchors *a, const float *p, const size_t *near)
{
    const size_t n = eval_views_count(&a->in->rows);
    const size_t m = eval_views_negatives(&a->in->rows), k = a->nearest;
    double *sorted = mem_array(n, sizeof *sorted);
    struct plot script;
    FILE *out = plot_open(&script);

    for (size_t c = 0; c < n; c++)
        sorted[c] = -(double)p[c];
    eval_sort(n, sorted);
    fputs("# rank, p\n$softmax << END\n", out);
    for (size_t c = 0; c < m; c += c < 1000 ? 1 : c / 1000)
        fprintf(out, "%zu %g\n", c + 1, -sorted[c]);
    fputs("END\n# rank, p of those of the own group\n$own << END\n0 0\n", out);
    for (size_t c = 0; c < k; c++)
        if (eval_views_same_group(&a->in->rows, *a->row, near[c]))
            fprintf(out, "%zu %g\n", c + 1, (double)p[near[c]]);
    fprintf(out,
            "END\nset terminal pngcairo size 800,480\nset logscale xy\n"
            "set grid\nset key bottom left Left reverse\n"
            "set xrange [1:%zu]\nset yrange [%g:]\n"
            "set format y \"10^{%%T}\"\n"
            "set xlabel \"negatives of sample %jd, the heaviest first\"\n"
            "set ylabel \"weight in the softmax\"\n"
            "plot $softmax with lines lw 2 title \"temperature %.3g: %.4g "
            "effective\", $own with points pt 7 lc rgb \"#009e73\" "
            "title \"of the own group, among the first %zu\", %g with lines "
            "dt 2 lc rgb \"#999999\" title \"uniform\"\n",
            m < 2 ? 2 : m, fmax(-sorted[m - 1], 1e-12) / 2,
            number_at(a, *a->row), a->out->tau, a->out->effective, k,
            1 / (double)m);
    plot(&script, common_options.plot);
    free(sorted);
}

void
anchors_one(const struct anchors *a)
{
    const struct eval_views *rows = &a->in->rows;
    const struct eval_anchor *at = a->out;
    const size_t n = eval_views_count(rows), k = a->nearest;
    float *s = compare_row(a, *a->row), *p = mem_array(n, sizeof *p);
    size_t *near = mem_array(k, sizeof *near);
    double sum = 0;

    print(json_pack("{s:s s:I s:f s:f s:f s:f s:f s:f s:f s:f}", "measure",
                    "anchor", "sample", (json_int_t)number_at(a, *a->row),
                    "exact", at->exact, "bound", at->bound, "tau", at->tau,
                    "kl", at->kl, "effective", at->effective, "largest",
                    at->largest, "density", at->density, "same_class_weight",
                    at->own),
          json_object());
    eval_softmax(n, s, at->tau, p);
    eval_views_nearest(n, s, k, near);
    for (size_t c = 0; c < k; c++) {
        const size_t row = near[c];
        char group[24];

        sum += p[row];
        print(json_pack("{s:s s:I s:I s:I s:f s:f s:f s:s*}", "measure",
                        "negative", "rank", (json_int_t)c + 1, "sample",
                        (json_int_t)number_at(a, row), "view",
                        (json_int_t)view_at(a, row), "cosine", (double)s[row],
                        "p", (double)p[row], "sum", sum, "group",
                        instrument_group(a->in, sample_at(a, row), group)),
              json_object());
    }
    if (common_options.plot)
        plot_softmax(a, p, near);
    free(near);
    free(p);
    free(s);
}
