#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "anchors.h"
#include "data/npy.h"
#include "eval/column.h"
#include "util/mem.h"

enum { TOGETHER = 64 }; // anchors between two updates of the progress line

static const double usual_tau = 0.2;

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

/* Reads a number for each sample from a file; the caller frees them. */
static float *
read_numbers(const char *path, size_t n)
{
    struct data_npy npy;
    struct err err;
    float *x;

    if (data_npy_read(path, &npy, &err))
        die("%s", err.msg);
    if (npy.shape[0] * npy.shape[1] != n)
        die("'%s' has %zu numbers, and there are %zu samples", path,
            npy.shape[0] * npy.shape[1], n);
    x = data_npy_reals(&npy, &err);
    if (!x)
        die("'%s': %s", path, err.msg);
    data_npy_release(&npy);
    return x;
}

/* The temperatures of a view's rows in a checkpoint: *each for every sample,
 * of which the first is used; NULL if there are none. */
static const float *
find_learnt(const struct instrument *in, const struct tables *tables,
            size_t view, size_t *each)
{
    const size_t n = in->rows.samples;
    char *side = mem_format("view%zu.%s", view, column);
    const float *x = tables_find(tables, in->bimodal ? side : column, n, each);

    free(side);
    return x && (*each == 1 || in->bimodal) ? x : NULL;
}

/* The learned temperatures, by row; NULL if there are none. */
static double *
read_learnt(const struct instrument *in)
{
    const size_t n = in->rows.samples, views = in->rows.views;
    const char *folder = in->encoder ? in->measured.model.folder : in->bimodal;
    float *own = learnt_file ? read_numbers(learnt_file, n) : NULL;
    struct tables tables = {0};
    double *learnt = mem_array(n * views, sizeof *learnt);
    const float *from = own;
    size_t each = 1;

    if (!own && folder)
        tables_open(&tables, folder);
    for (size_t r = 0; r < n * views; r++) {
        if (!own && folder && r % n == 0)
            from = find_learnt(in, &tables, r / n, &each);
        if (!from)
            break;
        learnt[r] = (double)from[r % n * each];
    }
    tables_release(&tables);
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
    uint8_t *taken = mem_array(n, 1);
    size_t *row, k = 0;

    *m = most && (size_t)most < n ? (size_t)most : n;
    row = mem_array(*m, sizeof *row);
    for (size_t i = 0; i < *m; i++)
        taken[order[i]] = 1;
    for (size_t r = 0; r < n; r++)
        if (taken[r])
            row[k++] = r;
    free(taken);
    free(order);
    return row;
}

/* The temperature of a row's softmax. */
static double
tau_of(const struct anchors *a, size_t r)
{
    const double own = a->learnt ? a->learnt[r] : 0;

    if (opt_is_set(&tau))
        return tau;
    return own >= 1e-4 && own <= 1e4 ? own : usual_tau;
}

static void
measure_anchors(struct anchors *a)
{
    const struct eval_anchors_settings how = {.rho = a->rho,
                                              .nearest = a->nearest};
    struct progress progress;
    double *at = mem_array(a->m, sizeof *at);

    a->out = mem_array(a->m, sizeof *a->out);
    for (size_t i = 0; i < a->m; i++)
        at[i] = tau_of(a, a->row[i]);
    progress_start(&progress, "anchors", 0, (double)a->m);
    for (size_t from = 0; from < a->m; from += TOGETHER) {
        const size_t m = a->m - from < TOGETHER ? a->m - from : TOGETHER;

        eval_anchors(&a->in->rows, &how, m, a->row + from, at + from,
                     a->out + from);
        progress_show(&progress, (double)(from + m), "");
    }
    progress_clear(&progress);
    free(at);
    a->of[0] = mem_array(MEASURES * a->m, sizeof *a->of[0]);
    for (size_t k = 1; k < MEASURES; k++)
        a->of[k] = a->of[0] + k * a->m;
    for (size_t i = 0; i < a->m; i++) {
        const double *figures = (const double *)&a->out[i];

        for (size_t k = 0; k < LEARNT; k++)
            a->of[k][i] = figures[k];
        a->of[LEARNT][i] = a->learnt ? a->learnt[a->row[i]] : 0;
    }
}

static json_t *
spread_of(const struct anchors *a, enum measure which)
{
    return spread(a->m, a->of[which]);
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
        if (a->out[i].exact > 0)
            ratio[n++] = a->of[LEARNT][i] / a->out[i].exact;
    json_object_update_new(
        line, json_pack("{s:o s:o*}", "learnt", spread_of(a, LEARNT),
                        "learnt_over_exact", n ? spread(n, ratio) : NULL));
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
    size_t *order = eval_order_by_key(samples, in->group);

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
        g->exact += a->out[i].exact;
        g->own += a->out[i].own;
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
    json_object_update_new(line, json_pack("{s:o s:o}", "same_class_weight",
                                           spread_of(a, OWN), "classes", list));
    free(exact);
    free(size);
    free(group);
    free(own);
}

static void
report_anchors(const struct anchors *a)
{
    double closest = 0; // to the bound
    size_t without = 0;
    json_t *line, *ranks;

    for (size_t i = 0; i < a->m; i++)
        if (a->out[i].exact > 0)
            closest = fmax(closest, a->out[i].exact / a->out[i].bound);
        else
            without++;
    line = json_pack("{s:s s:I s:f s:I s:o s:o s:f s:o s:o s:o s:o s:o}",
                     "measure", "anchors", "anchors", (json_int_t)a->m, "rho",
                     rho, "unattainable", (json_int_t)without, "exact",
                     spread_of(a, EXACT), "bound", spread_of(a, BOUND),
                     "closest_to_bound", closest, "tau", spread_of(a, TAU),
                     "kl", spread_of(a, KL), "effective",
                     spread_of(a, EFFECTIVE), "largest", spread_of(a, LARGEST),
                     "density", spread_of(a, DENSITY));
    ranks = json_pack("{s:f}", "density_exact", rank_of(a, DENSITY));
    if (a->learnt)
        add_learnt(line, ranks, a);
    if (a->in->group)
        add_groups(line, ranks, a);
    json_object_update_new(line, json_pack("{s:o s:o s:o}", "spearman", ranks,
                                           "lowest", anchors_ends(a, 0),
                                           "highest", anchors_ends(a, 1)));
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

/* Opens the data set of the rows, if it is known. */
static struct data_set *
open_images(const struct instrument *in)
{
    struct data_set *set = NULL;

    if (images && in->encoder)
        opt_misuse("--images is for features: with a checkpoint, DATA is used");
    if (sheet && !images && !in->encoder)
        opt_misuse("--sheet wants --images: the data set of the features");
    if (images)
        set = data_open_or_die(images, 0);
    for (size_t i = 0; set && i < in->rows.samples; i++)
        if (in->id[i] < 0 || (size_t)in->id[i] >= data_size(set))
            die("'%s' has no sample %jd", images, (intmax_t)in->id[i]);
    return set;
}

void
run_anchors(char **path)
{
    const int alone = opt_is_set(&one);
    struct instrument in;
    struct anchors a = {.in = &in,
                        .rho = rho,
                        .nearest = (size_t)nearest,
                        .extreme = (size_t)extreme};
    struct data_set *set;

    if (alone && (output || sheet))
        opt_misuse("--anchor prints one softmax: it goes without -o and "
                   "--sheet");
    instrument_open(&in, path, 0);
    if (in.bimodal)
        images = path[1];
    set = open_images(&in);
    a.set = in.encoder ? in.measured.set : set;
    if (a.nearest > eval_views_negatives(&in.rows))
        a.nearest = eval_views_negatives(&in.rows);
    a.learnt = read_learnt(&in);
    a.row = alone ? find_one(&in, &a.m) : draw_anchors(&in.rows, &a.m);
    measure_anchors(&a);
    if (alone) {
        anchors_one(&a);
    } else {
        if (output)
            anchors_csv(&a, output);
        if (common_options.plot)
            anchors_plot(&a);
        if (sheet)
            anchors_sheet(&a, sheet);
        report_anchors(&a);
    }
    free(a.row);
    free(a.of[0]);
    free(a.out);
    free(a.learnt);
    if (set)
        data_close(set);
    instrument_release(&in);
}
