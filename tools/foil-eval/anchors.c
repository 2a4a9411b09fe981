#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/npy.h"
#include "data/sheet.h"
#include "eval/anchors.h"
#include "eval/column.h"
#include "image/codec.h"
#include "instrument.h"
#include "nn/safetensors.h"
#include "text/captions.h"
#include "util/file.h"
#include "util/mem.h"

enum {
    TOGETHER = 64, // anchors between two updates of the progress line
    SIZE = 96,     // of an image on a sheet
    MOST_NEIGHBOURS = 12,
    BINS = 40
};

static const double usual_tau = 0.2;

/* Measures of an anchor: the fields of struct eval_anchor in their order, and
 * the learnt temperature. */
enum measure {
    EXACT,
    BOUND,
    TAU,
    KL,
    EFFECTIVE,
    LARGEST,
    DENSITY,
    OWN,
    LEARNT,
    MEASURES
};
static const char *const names[MEASURES] = {
    "exact",     "bound",   "tau",     "kl",
    "effective", "largest", "density", "same_class_weight",
    "learnt"};

_Static_assert(sizeof(struct eval_anchor) == LEARNT * sizeof(double),
               "the measures are in the order of its fields");

static double tau = NAN, rho = 0.3;
static long most = 1000, nearest = 10, extreme = 6, one = LONG_MIN;
static const char *column = "tau", *learnt_file, *output, *sheet, *images;

static const struct opt anchors_own[] = {
    {"tau", 0, OPT_REAL, &tau, 1e-4, 1e4, "X",
     "temperature of the softmax [the learned one, else 0.2]"},
    {"rho", 0, OPT_REAL, &rho, 1e-6, 100, "X",
     "KL divergence from uniform at the exact temperature"},
    {"anchors", 0, OPT_WHOLE, &most, 0, 1e9, "N",
     "rows to measure, drawn by the seed; 0: all"},
    {"neighbours", 'k', OPT_WHOLE, &nearest, 1, EVAL_NEAREST_MAX, "K",
     "nearest negatives, for the density and for pictures"},
    {"column", 0, OPT_TEXT, &column, 0, 0, "NAME",
     "name of the temperature in the checkpoint"},
    {"learnt", 0, OPT_TEXT, &learnt_file, 0, 0, "FILE",
     "temperatures of the samples, .npy, instead of those"},
    {"anchor", 0, OPT_WHOLE, &one, 0, 1e15, "SAMPLE",
     "print and draw only the softmax of this sample's first view"},
    {"output", 'o', OPT_TEXT, &output, 0, 0, "FILE",
     "write all measures of each anchor, as .csv"},
    {"plot", 0, OPT_TEXT, &common_options.plot, 0, 0, "FILE",
     "draw as PNG, and save the script"},
    {"sheet", 0, OPT_TEXT, &sheet, 0, 0, "FILE",
     "draw the anchors of extreme temperature and their negatives, PNG"},
    {"extreme", 0, OPT_WHOLE, &extreme, 1, 100, "N",
     "anchors to list and draw at each end"},
    {"images", 0, OPT_TEXT, &images, 0, 0, "DATA",
     "the data set of the features, for images and captions"},
    {0},
};
verb_opts anchors_opts = {anchors_own, INSTRUMENT_GROUPS};

struct anchors {
    const struct instrument *in;
    struct data_set *set; /* of the samples, or NULL */
    size_t m, nearest;
    size_t *row;          /* [m] ascending */
    double *learnt;       /* [rows], or NULL */
    double *of[MEASURES]; /* [m] each */
};

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

/* Writes a line for each anchor. */
static void
write_csv(const struct anchors *a)
{
    static const enum measure order[MEASURES] = {
        EXACT, LEARNT, TAU, KL, EFFECTIVE, LARGEST, DENSITY, BOUND, OWN};
    struct file_draft draft = {0};
    struct err err;

    or_die(file_draft_open(&draft, output, &err), &err);
    fputs("sample,view,group", draft.file);
    for (size_t k = 0; k < MEASURES; k++)
        if (order[k] != LEARNT || a->learnt)
            fprintf(draft.file, ",%s", names[order[k]]);
    fputs("\n", draft.file);
    for (size_t i = 0; i < a->m; i++) {
        const size_t sample = sample_at(a, a->row[i]);

        fprintf(draft.file, "%jd,%zu,%jd", number_at(a, a->row[i]),
                view_at(a, a->row[i]),
                a->in->group ? (intmax_t)a->in->group[sample] : -1);
        for (size_t k = 0; k < MEASURES; k++)
            if (order[k] != LEARNT || a->learnt)
                fprintf(draft.file, ",%.6g", a->of[order[k]][i]);
        fputs("\n", draft.file);
    }
    or_die(file_draft_keep(&draft, &err), &err);
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

/* Draws distributions and correlations. */
static void
plot_anchors(const struct anchors *a)
{
    struct plot script;
    FILE *out = plot_open(&script);
    const double *exact = a->of[EXACT],
                 *learnt = a->of[a->learnt ? LEARNT : EXACT];
    double low = 1e9, high = 0;

    // histograms of exact and of learnt temperatures, on one scale
    for (size_t i = 0; i < a->m; i++) {
        low = fmin(low, fmin(exact[i], learnt[i]));
        high = fmax(high, fmax(exact[i], learnt[i]));
    }
    high = high > low ? high : low + 1;
    write_histogram(out, "exact", a->m, exact, low, high);
    write_histogram(out, "learnt", a->m, learnt, low, high);
    fputs("# exact, learnt, effective, density, same class\n$anchors << END\n",
          out);
    for (size_t i = 0; i < a->m; i++)
        fprintf(out, "%g %g %g %g %g\n", a->of[EXACT][i],
                a->of[a->learnt ? LEARNT : TAU][i], a->of[EFFECTIVE][i],
                a->of[DENSITY][i], a->of[OWN][i]);
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
            rho, a->learnt ? ", $learnt with lines lw 2 title \"learnt\"" : "",
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
    size_t *order = eval_order(a->m, a->of[EXACT], NULL), *at;

    *n = (size_t)extreme < a->m ? (size_t)extreme : a->m;
    at = mem_array(*n, sizeof *at);
    for (size_t k = 0; k < *n; k++)
        at[k] = order[highest ? a->m - 1 - k : k];
    free(order);
    return at;
}

static const char *
caption_of(const struct data_set *set, size_t id)
{
    struct err err;

    or_die(data_touch(set, id, &err), &err);
    return data_caption(set, id);
}

/* Lists the anchors with the lowest or the highest exact temperature. */
static json_t *
list_ends(const struct anchors *a, int highest)
{
    json_t *list = json_array();
    size_t n, *at = find_ends(a, highest, &n), len;

    for (size_t k = 0; k < n; k++) {
        const size_t row = a->row[at[k]], view = view_at(a, row);
        const size_t id = (size_t)number_at(a, row);
        const char *captions = a->set ? caption_of(a->set, id) : "";
        char group[24];
        json_t *item =
            json_pack("{s:I s:I s:f s:f s:s*}", "sample", (json_int_t)id,
                      "view", (json_int_t)view, "exact", a->of[EXACT][at[k]],
                      "effective", a->of[EFFECTIVE][at[k]], "group",
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

/* A list of a sheet: an anchor and its nearest negatives, with the names of
 * their classes, or their cosines if classes have no names. */
static void
fill_list(const struct anchors *a, size_t at, size_t neighbours,
          struct data_sheet_list *list)
{
    const size_t row = a->row[at], n = eval_views_count(&a->in->rows);
    size_t near[MOST_NEIGHBOURS];
    float *s = mem_array(n, sizeof *s);

    list->n = neighbours + 1;
    list->id = mem_array(list->n, sizeof *list->id);
    list->framed = mem_array(list->n, 1);
    list->name = mem_array(list->n, sizeof *list->name);
    eval_views_cosines(&a->in->rows, 1, &row, s);
    eval_views_nearest(n, s, neighbours, near);
    for (size_t k = 0; k <= neighbours; k++) {
        const size_t c = k ? near[k - 1] : row;
        char number[24];
        const char *name =
            a->in->classes.n ? instrument_group(a->in, sample_at(a, c), number)
                             : NULL;

        list->id[k] = (int64_t)number_at(a, c);
        if (!k)
            list->name[k] = mem_format("%.3g", a->of[EXACT][at]);
        else
            list->name[k] = name ? mem_text(name) : mem_format("%.2f", s[c]);
        if (k && eval_views_same_group(&a->in->rows, row, c))
            list->framed[k] = 1;
        else if (k && name)
            list->framed[k] = 2;
    }
    free(s);
}

/* Draws the images of these anchors, each with those of its nearest
 * negatives. */
static void
draw_sheet(const struct anchors *a)
{
    const struct data_pool_settings how = {
        .policy = IMAGE_ACCEPT,
        .max_pixels = (size_t)measured_settings.max_pixels};
    size_t n, *low = find_ends(a, 0, &n), *high = find_ends(a, 1, &n);
    struct data_sheet_list *list = mem_array(2 * n, sizeof *list);
    struct data_sheet show = {.rows = 2 * n, .columns = 1, .size = SIZE};
    struct data_pool *pool = data_pool_new(a->set, &how);
    struct err err;

    show.views = a->nearest < MOST_NEIGHBOURS ? a->nearest : MOST_NEIGHBOURS;
    for (size_t k = 0; k < 2 * n; k++) {
        fill_list(a, k < n ? low[k] : high[2 * n - 1 - k], show.views,
                  &list[k]);
        if (data_sheet_letters(&list[k]) > show.letters)
            show.letters = data_sheet_letters(&list[k]);
    }
    data_sheet_begin(&show);
    data_sheet_lists(&show, list, pool, pool);
    if (show.white)
        log_message("images that stay white: %zu; the last: %s", show.white,
                    show.why.msg);
    or_die(image_png_write(sheet, show.pixel, show.width, show.height, &err),
           &err);
    for (size_t k = 0; k < 2 * n; k++) {
        for (size_t i = 0; i < list[k].n; i++)
            free((void *)list[k].name[i]);
        mem_free(list[k].id, list[k].framed, list[k].name);
    }
    free(show.pixel);
    data_pool_free(pool);
    mem_free(list, high, low);
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
            number_at(a, *a->row), *a->of[TAU], *a->of[EFFECTIVE], k,
            1 / (double)m);
    plot(&script, common_options.plot);
    free(sorted);
}

/* Prints the softmax of the first anchor, and draws it with --plot. */
static void
print_softmax(const struct anchors *a)
{
    const struct eval_views *rows = &a->in->rows;
    const size_t n = eval_views_count(rows), k = a->nearest;
    float *s = mem_array(n, sizeof *s), *p = mem_array(n, sizeof *p);
    size_t *near = mem_array(k, sizeof *near);
    double sum = 0;
    json_t *line = json_pack("{s:s s:I}", "measure", "anchor", "sample",
                             (json_int_t)number_at(a, *a->row));

    for (enum measure i = EXACT; i <= OWN; i++)
        json_object_set_new(line, names[i], json_real(*a->of[i]));
    print(line, json_object());
    eval_views_cosines(rows, 1, a->row, s);
    eval_softmax(n, s, *a->of[TAU], p);
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
    mem_free(near, p, s);
}

/* The temperatures of a view's rows in a checkpoint: *each for every sample,
 * of which the first is used; NULL if there are none. */
static const float *
find_learnt(const struct instrument *in, const struct tables *tables,
            size_t view, size_t *each)
{
    const size_t n = in->rows.samples;
    const float *x = tables_find(
        tables, in->bimodal ? mem_temp("view%zu.%s", view, column) : column, n,
        each);

    return x && (*each == 1 || in->bimodal) ? x : NULL;
}

/* The learned temperatures, by row; NULL if there are none. */
static double *
read_learnt(const struct instrument *in)
{
    const size_t n = in->rows.samples, views = in->rows.views;
    const char *folder = in->encoder ? in->measured.model.folder : in->bimodal;
    struct tables tables = {0};
    double *learnt = mem_array(n * views, sizeof *learnt);
    const float *from;
    float *own = NULL;
    struct data_npy npy;
    struct err err;
    size_t each = 1;

    if (learnt_file) {
        or_die(data_npy_read(learnt_file, &npy, &err), &err);
        if (npy.shape[0] * npy.shape[1] != n)
            die("'%s' has %zu numbers, and there are %zu samples", learnt_file,
                npy.shape[0] * npy.shape[1], n);
        own = data_npy_reals(&npy, &err);
        if (!own)
            die("'%s': %s", learnt_file, err.msg);
        data_npy_release(&npy);
    }
    from = own;
    if (!own && folder)
        tables_open(&tables, folder);
    for (size_t r = 0; r < n * views; r++) {
        if (!own && folder && r % n == 0)
            from = find_learnt(in, &tables, r / n, &each);
        if (!from)
            break;
        learnt[r] = (double)from[r % n * each];
    }
    nn_arrays_free(tables.array, tables.n);
    free(own);
    if (from)
        return learnt;
    free(learnt);
    return NULL;
}

/* Draws the rows to measure, in ascending order. */
static size_t *
draw_anchors(const struct eval_views *rows, size_t *m)
{
    const size_t n = eval_views_count(rows);
    int64_t *order = shuffled_rows(n, measured_settings.seed);
    size_t *row;

    *m = most && (size_t)most < n ? (size_t)most : n;
    row = eval_order(*m, NULL, order);
    for (size_t i = 0; i < *m; i++)
        row[i] = (size_t)order[row[i]];
    free(order);
    return row;
}

static void
measure_anchors(struct anchors *a)
{
    const struct eval_anchors_settings how = {.rho = rho,
                                              .nearest = a->nearest};
    struct eval_anchor *out = mem_array(a->m, sizeof *out);
    struct progress progress;
    double *at = mem_array(a->m, sizeof *at);

    a->of[0] = mem_array(MEASURES * a->m, sizeof *a->of[0]);
    for (size_t k = 1; k < MEASURES; k++)
        a->of[k] = a->of[0] + k * a->m;
    for (size_t i = 0; i < a->m; i++) {
        const double own = a->learnt ? a->learnt[a->row[i]] : 0;

        a->of[LEARNT][i] = own;
        at[i] = own >= 1e-4 && own <= 1e4 ? own : usual_tau;
        if (opt_is_set(&tau))
            at[i] = tau;
    }
    progress_start(&progress, "anchors", 0, (double)a->m);
    for (size_t from = 0; from < a->m; from += TOGETHER) {
        const size_t m = a->m - from < TOGETHER ? a->m - from : TOGETHER;

        eval_anchors(&a->in->rows, &how, m, a->row + from, at + from,
                     out + from);
        progress_show(&progress, (double)(from + m), "");
    }
    progress_clear(&progress);
    free(at);
    for (size_t i = 0; i < a->m; i++)
        for (size_t k = 0; k < LEARNT; k++)
            a->of[k][i] = ((const double *)&out[i])[k];
    free(out);
}

/* Adds the distributions of some measures in a row. */
static void
add_spreads(json_t *line, const struct anchors *a, enum measure from,
            enum measure to)
{
    for (enum measure k = from; k <= to; k++)
        json_object_set_new(line, names[k], spread(a->m, a->of[k]));
}

/* The correlation of a measure with the exact temperature. */
static double
rank_of(const struct anchors *a, enum measure which)
{
    return eval_spearman(a->m, a->of[which], a->of[EXACT]);
}

/* Adds learned temperatures, and their ratio to exact ones. */
static void
add_learnt(json_t *line, json_t *ranks, const struct anchors *a)
{
    double *ratio = mem_array(a->m, sizeof *ratio);
    size_t n = 0;

    for (size_t i = 0; i < a->m; i++)
        if (a->of[EXACT][i] > 0)
            ratio[n++] = a->of[LEARNT][i] / a->of[EXACT][i];
    add_spreads(line, a, LEARNT, LEARNT);
    if (n)
        json_object_set_new(line, "learnt_over_exact", spread(n, ratio));
    json_object_set_new(ranks, "learnt_exact", json_real(rank_of(a, LEARNT)));
    free(ratio);
}

/* A group with its anchors. */
struct group {
    size_t sample, size, anchors; // sample: its first one
    double exact, own;
};

/* Lists all groups; own[sample] is the index of its group. */
static struct group *
list_groups(const struct instrument *in, size_t *n, size_t *own)
{
    const size_t samples = in->rows.samples;
    struct group *group = mem_array(samples, sizeof *group);
    size_t *order = eval_order(samples, NULL, in->group);

    for (size_t i = *n = 0; i < samples; i++) {
        const int64_t number = in->group[order[i]];

        if (!i || number != in->group[order[i - 1]] || number < 0)
            group[(*n)++].sample = order[i];
        group[*n - 1].size++;
        own[order[i]] = *n - 1;
    }
    free(order);
    return group;
}

/* Adds the weight on the own group, classes, and the correlation of both with
 * temperatures. */
static void
add_groups(json_t *line, json_t *ranks, const struct anchors *a)
{
    const size_t samples = a->in->rows.samples;
    size_t *own = mem_array(samples, sizeof *own), n, used = 0;
    struct group *group = list_groups(a->in, &n, own);
    double *size = mem_array(n, sizeof *size),
           *exact = mem_array(n, sizeof *exact);
    json_t *list = json_array();

    for (size_t i = 0; i < a->m; i++) {
        struct group *g = &group[own[a->row[i] % samples]];

        g->anchors++;
        g->exact += a->of[EXACT][i];
        g->own += a->of[OWN][i];
    }
    for (size_t k = 0; k < n; k++) {
        const struct group *g = &group[k];
        char text[24];
        const char *name = instrument_group(a->in, g->sample, text);

        if (!g->anchors || !name)
            continue;
        size[used] = (double)g->size;
        exact[used] = g->exact / (double)g->anchors;
        if (a->in->classes.n)
            json_array_append_new(
                list,
                json_pack("{s:s s:I s:I s:f s:f}", "class", name, "size",
                          (json_int_t)g->size, "anchors",
                          (json_int_t)g->anchors, "exact", exact[used],
                          "same_class_weight", g->own / (double)g->anchors));
        used++;
    }
    json_object_update_new(ranks,
                           json_pack("{s:f s:f}", "same_class_weight_exact",
                                     rank_of(a, OWN), "group_size_exact",
                                     eval_spearman(used, size, exact)));
    add_spreads(line, a, OWN, OWN);
    json_object_set_new(line, "classes", list);
    mem_free(exact, size, group, own);
}

static void
report_anchors(const struct anchors *a)
{
    double closest = 0; // to the bound
    size_t without = 0;
    json_t *line, *ranks;

    for (size_t i = 0; i < a->m; i++)
        if (a->of[EXACT][i] > 0)
            closest = fmax(closest, a->of[EXACT][i] / a->of[BOUND][i]);
        else
            without++;
    line = json_pack("{s:s s:I s:f s:I}", "measure", "anchors", "anchors",
                     (json_int_t)a->m, "rho", rho, "unattainable",
                     (json_int_t)without);
    add_spreads(line, a, EXACT, BOUND);
    json_object_set_new(line, "closest_to_bound", json_real(closest));
    add_spreads(line, a, TAU, DENSITY);
    ranks = json_pack("{s:f}", "density_exact", rank_of(a, DENSITY));
    if (a->learnt)
        add_learnt(line, ranks, a);
    if (a->in->group)
        add_groups(line, ranks, a);
    json_object_update_new(line, json_pack("{s:o s:o s:o}", "spearman", ranks,
                                           "lowest", list_ends(a, 0), "highest",
                                           list_ends(a, 1)));
    print(line, instrument_protocol(a->in));
}

/* Finds the row of --anchor. */
static size_t *
find_one(const struct instrument *in, size_t *m)
{
    size_t *row = mem_array(1, sizeof *row);

    while (*row < in->rows.samples && in->id[*row] != one)
        ++*row;
    if (*row == in->rows.samples)
        die("there is no sample %ld", one);
    *m = 1;
    return row;
}

void
run_anchors(char **path)
{
    const int alone = opt_is_set(&one);
    struct instrument in;
    struct anchors a = {.in = &in, .nearest = (size_t)nearest};
    struct data_set *set = NULL;

    if (alone && (output || sheet))
        opt_misuse("--anchor prints one softmax: it goes without -o and "
                   "--sheet");
    instrument_open(&in, path, 0);
    if (in.bimodal)
        images = path[1];
    // opens the data set of features, if it is known
    if (images && in.encoder)
        opt_misuse("--images is for features: with a checkpoint, DATA is used");
    if (sheet && !images && !in.encoder)
        opt_misuse("--sheet needs --images: the data set of the features");
    if (images)
        set = data_open_parts_or_die(images, 0);
    for (size_t i = 0; set && i < in.rows.samples; i++)
        if (in.id[i] < 0 || (size_t)in.id[i] >= data_size(set))
            die("'%s' has no sample %jd", images, (intmax_t)in.id[i]);
    a.set = in.encoder ? in.measured.set : set;
    if (a.nearest > eval_views_negatives(&in.rows))
        a.nearest = eval_views_negatives(&in.rows);
    a.learnt = read_learnt(&in);
    a.row = alone ? find_one(&in, &a.m) : draw_anchors(&in.rows, &a.m);
    measure_anchors(&a);
    if (alone) {
        print_softmax(&a);
    } else {
        if (output)
            write_csv(&a);
        if (common_options.plot)
            plot_anchors(&a);
        if (sheet)
            draw_sheet(&a);
        report_anchors(&a);
    }
    mem_free(a.row, a.of[0], a.learnt);
    if (set)
        data_close(set);
    instrument_release(&in);
}
