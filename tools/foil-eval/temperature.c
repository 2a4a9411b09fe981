#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/column.h"
#include "instrument.h"
#include "nn/safetensors.h"
#include "text/captions.h"
#include "util/digest.h"
#include "util/mem.h"

enum { BINS = 40, LISTED = 10 };

static const char *column_name = "tau";
static long extreme = 600;

static const struct opt temperature_own[] = {
    {"column", 0, OPT_TEXT, &column_name, 0, 0, "NAME",
     "name of the per-sample number"},
    {"extreme", 0, OPT_WHOLE, &extreme, 1, 1e9, "N",
     "size of the group of smallest, and of largest, numbers"},
    {0},
};
verb_opts temperature_opts = {temperature_own, plot_opts, output_opts, NULL};

static const double quantiles[] = {0, .01, .05, .25, .5, .75, .95, .99, 1};

/* A class: its samples, those seen in training, the mean of their numbers, and
 * the shares of them among the smallest and the largest numbers. */
struct class
{
    size_t size, n;
    double mean, small, large;
};

/* A number for each sample or caption that has one, with its class. */
struct column {
    const char *name;
    size_t n;
    size_t each;        /* numbers per sample: 1, or one for each caption */
    size_t *item;       /* [n] each * id + caption */
    double *x, *size;   /* [n] the number; size of its class, 0 without one */
    struct class **own; /* [n] */
    int *mark;          /* [n] -1: among the smallest; 1: among the largest */
    size_t extreme;
    size_t classes;
    struct class *class; /* [classes + 1]; the last: samples without a class */
    size_t count[BINS];
    double low, high;
};

/* Collects all samples seen in training, and counts those of each class. */
static void
gather_seen(struct column *c, const struct data_set *set, const float *x,
            const float *seen)
{
    const size_t all = data_size(set) * c->each;

    c->x = mem_array(all, sizeof *c->x);
    c->item = mem_array(all, sizeof *c->item);
    c->own = mem_array(all, sizeof *c->own);
    c->size = mem_array(all, sizeof *c->size);
    c->mark = mem_array(all, sizeof *c->mark);
    for (size_t i = 0; i < data_size(set); i++)
        if (data_label(set, i) >= 0)
            c->class[data_label(set, i)].size++;
    for (size_t i = 0; i < all; i++) {
        const int label = data_label(set, i / c->each);

        if (seen && seen[i] == 0)
            continue;
        c->item[c->n] = i;
        c->x[c->n] = x[i];
        c->own[c->n] = &c->class[label < 0 ? c->classes : (size_t)label];
        c->size[c->n] = (double)c->own[c->n]->size;
        c->n++;
    }
}

/* Adds moments, quantiles and histogram. */
static void
describe_column(json_t *line, struct column *c)
{
    double *sorted = describe_numbers(line, c->n, c->x);
    json_t *at = json_object(), *counts = json_array();

    for (size_t q = 0; q < sizeof quantiles / sizeof *quantiles; q++) {
        char name[16];

        snprintf(name, sizeof name, "%g", quantiles[q]);
        json_object_set_new(
            at, name, json_real(eval_quantile(c->n, sorted, quantiles[q])));
    }
    c->low = sorted[0];
    c->high = sorted[c->n - 1] > c->low ? sorted[c->n - 1] : c->low + 1;
    eval_histogram(c->n, c->x, c->low, c->high, BINS, c->count);
    for (size_t b = 0; b < BINS; b++)
        json_array_append_new(counts, json_integer((json_int_t)c->count[b]));
    free(sorted);
    json_object_update_new(line, json_pack("{s:o s:{s:f s:f s:o}}", "quantiles",
                                           at, "histogram", "low", c->low,
                                           "high", c->high, "counts", counts));
}

static json_t *
list_classes(const struct data_set *set, const struct column *c)
{
    json_t *list = json_array();

    for (size_t k = 0; k < c->classes; k++) {
        const struct class *own = &c->class[k];

        json_array_append_new(list, json_pack("{s:s s:I s:f s:f s:f}", "class",
                                              data_class_name(set, k), "size",
                                              (json_int_t)own->size, "mean",
                                              own->mean, "small", own->small,
                                              "large", own->large));
    }
    return list;
}

/* The share of tail samples among all, the smallest and the largest numbers;
 * the tail is all classes smaller than the median one. */
static json_t *
measure_tail(const struct column *c)
{
    double *size = mem_array(c->classes, sizeof *size), all = 0, small = 0;
    double large = 0, median;
    size_t n = 0;

    for (size_t k = 0; k < c->classes; k++)
        if (c->class[k].size)
            size[n++] = (double)c->class[k].size;
    eval_sort(n, size);
    median = n ? eval_quantile(n, size, .5) : 0;
    for (size_t i = 0; i < c->n; i++) {
        const int in = c->size[i] > 0 && c->size[i] < median;

        all += in;
        small += in && c->mark[i] < 0;
        large += in && c->mark[i] > 0;
    }
    free(size);
    return json_pack("{s:f s:f s:f s:f}", "below", median, "share",
                     all / (double)c->n, "among_small",
                     c->extreme ? small / (double)c->extreme : 0, "among_large",
                     c->extreme ? large / (double)c->extreme : 0);
}

/* The rank correlation of class sizes with class means. */
static double
class_correlation(const struct column *c)
{
    double *size = mem_array(2 * c->classes, sizeof *size), rank;
    double *mean = size + c->classes;
    size_t n = 0;

    for (size_t k = 0; k < c->classes; k++)
        if (c->class[k].n) {
            size[n] = (double)c->class[k].size;
            mean[n++] = c->class[k].mean;
        }
    rank = eval_spearman(n, size, mean);
    free(size);
    return rank;
}

/* A caption and its number. */
struct caption {
    double x;
    size_t item, len, equal; /* equal: number of captions with this text */
    const char *text;
};

static int
by_text(const void *a, const void *b)
{
    const struct caption *s = a, *t = b;
    const size_t least = s->len < t->len ? s->len : t->len;
    const int differ = least ? memcmp(s->text, t->text, least) : 0;

    return differ ? differ : (s->len > t->len) - (s->len < t->len);
}

static int
by_number(const void *a, const void *b)
{
    const struct caption *s = a, *t = b;

    if (s->x != t->x)
        return s->x < t->x ? -1 : 1;
    return (s->item > t->item) - (s->item < t->item);
}

/* The captions of the column's items that have one, to be freed. */
static struct caption *
list_captions(const struct data_set *set, const struct column *c, size_t *n)
{
    struct caption *caption = mem_array(c->n, sizeof *caption);

    for (size_t i = *n = 0; i < c->n; i++) {
        const size_t id = c->item[i] / c->each, k = c->item[i] % c->each;
        struct caption *t = &caption[*n];

        if (k >= text_captions_count(data_caption(set, id)))
            continue;
        *t = (struct caption){.x = c->x[i], .item = c->item[i]};
        t->text = text_captions_get(data_caption(set, id), k, &t->len);
        (*n)++;
    }
    qsort(caption, *n, sizeof *caption, by_text);
    for (size_t from = 0, to = 0; from < *n; from = to) {
        while (to < *n && !by_text(caption + from, caption + to))
            to++;
        for (size_t i = from; i < to; i++)
            caption[i].equal = to - from;
    }
    return caption;
}

static json_t *
list_extremes(const struct column *c, size_t n, const struct caption *caption,
              int largest)
{
    json_t *list = json_array();

    for (size_t i = 0; i < n && i < LISTED; i++) {
        const struct caption *t = caption + (largest ? n - 1 - i : i);

        json_array_append_new(
            list, json_pack("{s:f s:I s:I s:I s:s%}", "value", t->x, "sample",
                            (json_int_t)(t->item / c->each), "caption",
                            (json_int_t)(t->item % c->each), "equal",
                            (json_int_t)t->equal, "text", t->text, t->len));
    }
    return list;
}

/* Describes which captions have the smallest and the largest numbers, and
 * whether captions that occur often have larger ones. */
static json_t *
describe_captions(const struct data_set *set, const struct column *c)
{
    size_t n;
    struct caption *caption = list_captions(set, c, &n);
    double *x = mem_array(n, sizeof *x), *equal = mem_array(n, sizeof *equal);
    json_t *json;

    qsort(caption, n, sizeof *caption, by_number);
    for (size_t i = 0; i < n; i++) {
        x[i] = caption[i].x;
        equal[i] = (double)caption[i].equal;
    }
    json = json_pack("{s:I s:f s:o s:o}", "n", (json_int_t)n, "equal_spearman",
                     n ? eval_spearman(n, equal, x) : 0, "smallest",
                     list_extremes(c, n, caption, 0), "largest",
                     list_extremes(c, n, caption, 1));
    mem_free(equal, x, caption);
    return json;
}

static void
draw_plot(const struct column *c)
{
    const double step = (c->high - c->low) / BINS;
    struct plot script;
    FILE *out = plot_open(&script);

    fprintf(out, "$histogram << END\n");
    for (size_t b = 0; b < BINS; b++)
        fprintf(out, "%g %zu\n", c->low + ((double)b + .5) * step, c->count[b]);
    fprintf(out, "END\n$classes << END\n");
    for (const struct class *k = c->class; k < c->class + c->classes; k++)
        if (k->n)
            fprintf(out, "%zu %g %g %g\n", k->size, k->mean, k->small,
                    k->large);
    fprintf(out,
            "END\nset terminal pngcairo size 1440,480\n"
            "set multiplot layout 1,3\nset grid\nset xlabel \"%s\"\n"
            "set ylabel \"samples\"\nset style fill solid 0.6\n"
            "set xtics rotate by 30 right\n"
            "plot $histogram using 1:2:(%g) with boxes notitle\n",
            c->name, step);
    if (c->classes)
        fprintf(out,
                "set xlabel \"size of the class\"\nset logscale x\n"
                "set ylabel \"mean %s of the class\"\n"
                "plot $classes using 1:2 with points pt 7 notitle\n"
                "set ylabel \"share of the class among the %zu\"\n"
                "plot $classes using 1:3 with points pt 7 title \"smallest\", "
                "$classes using 1:4 with points pt 6 title \"largest\"\n",
                c->name, c->extreme);
    plot(&script, common_options.plot);
}

static void
read_column(struct column *c, const struct tables *tables,
            const struct data_set *set)
{
    const char *dot = strrchr(c->name, '.');
    size_t seen_each;
    const float *x = tables_find(tables, c->name, data_size(set), &c->each);
    const float *seen = tables_find(
        tables,
        mem_temp("%.*sseen", dot ? (int)(dot + 1 - c->name) : 0, c->name),
        data_size(set), &seen_each);
    size_t *order;

    if (!x)
        die("'%s' has no '%s' for each sample: its objective does not learn "
            "one",
            tables->folder, c->name);
    gather_seen(c, set, x, seen_each == c->each ? seen : NULL);
    if (!c->n)
        die("'%s' has seen no sample yet", tables->folder);
    c->extreme = (size_t)extreme < c->n / 2 ? (size_t)extreme : c->n / 2;
    // marks the smallest and the largest numbers, of equal ones the earlier as
    // smaller, and sums up those of each class
    order = eval_order(c->n, c->x, NULL);
    for (size_t i = 0; i < c->extreme; i++) {
        c->mark[order[i]] = -1;
        c->mark[order[c->n - 1 - i]] = 1;
    }
    free(order);
    for (size_t i = 0; i < c->n; i++) {
        c->own[i]->n++;
        c->own[i]->mean += c->x[i];
        c->own[i]->small += c->mark[i] < 0;
        c->own[i]->large += c->mark[i] > 0;
    }
    for (struct class *k = c->class; k < c->class + c->classes; k++)
        if (k->n) {
            k->mean /= (double)k->n;
            k->small /= (double)k->n;
            k->large /= (double)k->n;
        }
}

/* Prints the measures of a column, and draws it with --plot. */
static void
measure_column(char **path, const char *name, const struct tables *tables,
               const struct nn_model *model, const struct data_set *set)
{
    const size_t classes = data_classes(set);
    struct data_facts facts;
    struct err err;
    struct column c = {.name = name,
                       .classes = classes,
                       .class = mem_array(classes + 1, sizeof *c.class)};
    json_t *line =
        json_pack("{s:s s:s}", "measure", "temperature", "column", name);

    read_column(&c, tables, set);
    describe_column(line, &c);
    if (classes)
        json_object_update_new(
            line, json_pack("{s:f s:f s:o s:o}", "spearman",
                            eval_spearman(c.n, c.size, c.x), "class_spearman",
                            class_correlation(&c), "tail", measure_tail(&c),
                            "classes", list_classes(set, &c)));
    or_die(data_facts(set, &facts, &err), &err);
    if (!strncmp(name, "view1.", 6) && facts.captions)
        json_object_set_new(line, "captions", describe_captions(set, &c));
    if (common_options.plot)
        draw_plot(&c);
    print(line, json_pack("{s:I s:I s:I s:O s:s}", "samples", (json_int_t)c.n,
                          "unseen", (json_int_t)(data_size(set) * c.each - c.n),
                          "extreme", (json_int_t)c.extreme, "encoder",
                          model->about, "data", path[1]));
    mem_free(c.item, c.x, c.own, c.size, c.mark, c.class);
}

void
run_temperature(char **path)
{
    struct err err;
    struct nn_model model;
    struct tables tables;
    struct data_set *set = data_open_or_die(path[1], 0);
    char *sides[] = {mem_format("view0.%s", column_name),  // of images
                     mem_format("view1.%s", column_name)}; // of texts
    const char *trained;
    char hex[DIGEST_HEX];
    size_t each;

    or_die(nn_model_read(&model, path[0], 0, &err), &err);
    or_die(json_get_text(json_object_get(model.config, "dataset"), "digest",
                         &trained, &err),
           &err);
    if (strcmp(trained, digest_hex(data_digest(set), hex)))
        die("'%s' is not the data set that the encoder was trained on: its "
            "digest is %s, not %s",
            path[1], hex, trained);
    tables_open(&tables, model.folder);
    if (tables_find(&tables, column_name, data_size(set), &each) ||
        !tables_find(&tables, sides[1], data_size(set), &each)) {
        measure_column(path, column_name, &tables, &model, set);
    } else if (common_options.plot) {
        opt_misuse("--plot draws one of '%s' and '%s': name it with --column",
                   sides[0], sides[1]);
    } else {
        measure_column(path, sides[0], &tables, &model, set);
        measure_column(path, sides[1], &tables, &model, set);
    }
    mem_free(sides[0], sides[1]);
    nn_arrays_free(tables.array, tables.n);
    nn_model_release(&model);
    data_close(set);
}
