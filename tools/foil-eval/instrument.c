#include "instrument.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eval/column.h"
#include "num/vec.h"
#include "util/mem.h"

struct instrument_how instrument_how;

/* Whether an operand is a file of features, by its name. */
static int
is_features(const char *path)
{
    const size_t n = strlen(path);

    return n > 4 && !strcmp(path + n - 4, ".npy");
}

/* -------------------------------------------------------------- features */

/* A sample's number and the row that it has. */
struct place {
    int64_t id;
    size_t row;
};

static int
by_id(const void *a, const void *b)
{
    const struct place *p = a, *q = b;

    if (p->id != q->id)
        return p->id < q->id ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* The rows of a file, sorted by the samples that they are of. */
static struct place *
sort_places(const struct data_features *f)
{
    struct place *place = mem_array(f->n, sizeof *place);

    for (size_t i = 0; i < f->n; i++)
        place[i] = (struct place){f->ids[i], i};
    qsort(place, f->n, sizeof *place, by_id);
    return place;
}

/* The first row of a sample; n where it has none. */
static size_t
find_row(const struct place *place, size_t n, int64_t id)
{
    size_t low = 0, high = n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (place[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && place[low].id == id ? place[low].row : n;
}

/* The row of each sample of the first file in another; of several that a sample
 * has, such as captions, the first. */
static size_t *
rows_of_samples(char **path, size_t view, const struct data_features *first,
                const struct data_features *f)
{
    const int by_number = !first->ids || !f->ids;
    struct place *place = by_number ? NULL : sort_places(f);
    size_t *row = mem_array(first->n, sizeof *row);

    if (by_number && f->n != first->n)
        die("'%s' has %zu rows and '%s' has %zu, and not both have .ids.npy "
            "beside them",
            path[0], first->n, path[view], f->n);
    for (size_t i = 0; i < first->n; i++) {
        row[i] = by_number ? i : find_row(place, f->n, first->ids[i]);
        if (row[i] == f->n)
            die("'%s' has no row of sample %jd, which '%s' has", path[view],
                (intmax_t)first->ids[i], path[0]);
    }
    free(place);
    return row;
}

/* Copies the rows of a view in the order of the samples.  Where samples have no
 * labels, those whose captions are equal belong together. */
static void
take_view(struct instrument *in, char **path, size_t view,
          const struct data_features *first, const struct data_features *f)
{
    const size_t samples = in->rows.samples, d = in->rows.d;
    size_t *row;

    if (f->d != d)
        die("'%s' has %zu columns and '%s' has %zu: they must be of one "
            "encoder",
            path[0], d, path[view], f->d);
    row = rows_of_samples(path, view, first, f);
    for (size_t i = 0; i < samples; i++)
        memcpy(in->z + (view * samples + i) * d, f->x + row[i] * d,
               d * sizeof *in->z);
    if (f->same && !in->group) {
        in->group = mem_array(samples, sizeof *in->group);
        for (size_t i = 0; i < samples; i++)
            in->group[i] = f->same[row[i]];
    }
    free(row);
}

/* The samples are those of the first file. */
static void
take_first(struct instrument *in, const struct data_features *f, size_t views)
{
    in->rows = (struct eval_views){.samples = f->n, .views = views, .d = f->d};
    in->id = mem_array(f->n, sizeof *in->id);
    for (size_t i = 0; i < f->n; i++)
        in->id[i] = f->ids ? f->ids[i] : (int64_t)i;
    in->z = mem_array(f->n * views * f->d, sizeof *in->z);
}

static void
open_features(struct instrument *in, char **path)
{
    struct data_features first, f;
    json_t *files = json_array();
    size_t views = 0;

    while (path[views])
        views++;
    load(&first, path[0], given.labels[0]);
    take_first(in, &first, views);
    if (first.labels) {
        in->group = mem_array(first.n, sizeof *in->group);
        memcpy(in->group, first.labels, first.n * sizeof *in->group);
    }
    for (size_t k = 0; k < views; k++) {
        if (!is_features(path[k]))
            die("'%s' is no file of features as '%s' is: want .npy files, a "
                "view each, or CHECKPOINT DATA",
                path[k], path[0]);
        load(&f, path[k], NULL);
        take_view(in, path, k, &first, &f);
        json_array_append_new(files, origin(path[k], &f));
        data_features_release(&f);
    }
    in->classes = first.classes;
    first.classes = (struct data_classes){0};
    data_features_release(&first);
    in->origin = json_pack("{s:o}", "rows", files);
}

/* ------------------------------------------------------------ checkpoint */

static void
take_labels(struct instrument *in, const struct data_set *set)
{
    const size_t n = in->rows.samples;
    struct err err;

    if (given.labels[0]) {
        in->group = data_labels_read(given.labels[0], n, &err);
        if (!in->group)
            die("%s", err.msg);
    } else if (data_classes(set)) {
        in->classes = data_classes_of(set);
        in->group = data_labels_of(set);
    }
}

static void
open_checkpoint(struct instrument *in, char **path, int train)
{
    struct measured *m = &in->measured;

    measured_open(m, path, train);
    progress_start(&m->progress, "rows", 0, (double)m->n);
    measured_embed(m);
    progress_clear(&m->progress);
    in->encoder = 1;
    in->rows = (struct eval_views){
        .samples = m->images, .views = m->n / m->images, .d = m->dim};
    in->z = m->z;
    in->id = mem_array(m->images, sizeof *in->id);
    for (size_t i = 0; i < m->images; i++)
        in->id[i] = (int64_t)i;
    take_labels(in, m->set);
    in->origin = measured_origin(m, path);
}

/* ------------------------------------------------------------------ both */

/* What is said of views has no meaning where they are there already. */
static void
refuse_views(const char *what)
{
    const void *const of_views[] = {&measured_how.views, &measured_how.recipe,
                                    &measured_how.chunk,
                                    &measured_how.max_pixels};

    for (size_t i = 0; i < sizeof of_views / sizeof *of_views; i++)
        if (opt_given(of_views[i]))
            opt_misuse("--views, --recipe, --chunk and --max-pixels are of "
                       "random views, not of %s",
                       what);
}

/* Images and captions, by the two encoders of a checkpoint. */
static void
open_towers(struct instrument *in, char **path)
{
    const char *const names[] = {"images", "captions"};
    json_t *files;

    refuse_views("images and captions");
    towers_embed(&in->towers, path[1], measured_how.average, given.threads);
    open_features(in, in->towers.file);
    towers_remove(&in->towers);
    files = json_object_get(in->origin, "rows");
    for (size_t k = 0; k < 2; k++)
        json_object_set_new(json_array_get(files, k), "file",
                            json_string(names[k]));
    json_object_set_new(in->origin, "data", json_string(path[1]));
    if (!opt_given(&instrument_how.negatives))
        instrument_how.negatives = 1;
}

/* A checkpoint of one kind or the other. */
static void
open_any_checkpoint(struct instrument *in, char **path, int train)
{
    if (!path[1] || path[2])
        opt_misuse("wants CHECKPOINT DATA, or files of features, which end in "
                   ".npy");
    if (towers_find(&in->towers, path[0])) {
        open_towers(in, path);
        return;
    }
    towers_release(&in->towers);
    in->towers = (struct towers){.checkpoint = NULL};
    open_checkpoint(in, path, train);
}

void
instrument_open(struct instrument *in, char **path, int train)
{
    const size_t bytes = sizeof *in->v;
    size_t n;

    *in = (struct instrument){.encoder = 0};
    if (is_features(path[0])) {
        refuse_views("features");
        if (opt_given(&measured_how.average))
            opt_misuse("--average is of CHECKPOINT DATA, not of features");
        open_features(in, path);
    } else {
        open_any_checkpoint(in, path, train);
    }
    n = eval_views_count(&in->rows);
    in->rows.cross = instrument_how.negatives;
    if (in->rows.samples < 2)
        die("'%s' has one sample: contrast wants two", path[0]);
    if (in->rows.cross && in->rows.views < 2)
        opt_misuse("--negatives cross wants two views");
    in->v = mem_array(n * in->rows.d, bytes);
    num_unit_rows(n, in->rows.d, in->z, in->v, NULL);
    in->rows.v = in->v;
    in->rows.group = in->group;
}

void
instrument_release(struct instrument *in)
{
    if (in->encoder)
        measured_release(&in->measured);
    else
        free(in->z);
    towers_release(&in->towers);
    data_classes_release(&in->classes);
    json_decref(in->origin);
    free(in->v);
    free(in->id);
    free(in->group);
}

json_t *
instrument_protocol(const struct instrument *in)
{
    json_t *how = json_pack(
        "{s:I s:I s:I s:s s:I}", "samples", (json_int_t)in->rows.samples,
        "views", (json_int_t)in->rows.views, "d", (json_int_t)in->rows.d,
        "negatives", opt_choice(&instrument_how.negatives), "seed",
        (json_int_t)measured_how.seed);

    json_object_update(how, in->origin);
    return how;
}

const char *
instrument_group(const struct instrument *in, size_t sample, char text[24])
{
    const int64_t group = in->group ? in->group[sample] : -1;

    if (group < 0)
        return NULL;
    if ((uint64_t)group < in->classes.n)
        return in->classes.name[group];
    snprintf(text, 24, "%jd", (intmax_t)group);
    return text;
}

json_t *
spread(size_t n, const double *x)
{
    double *sorted = mem_array(n, sizeof *sorted), mean = 0, square = 0;
    json_t *out;

    REQUIRE(n);
    memcpy(sorted, x, n * sizeof *sorted);
    eval_sort(n, sorted);
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean) / (double)n;
    out = json_pack("{s:f s:f s:f s:f s:f}", "mean", mean, "deviation",
                    sqrt(square), "low", eval_quantile(n, sorted, .05),
                    "median", eval_quantile(n, sorted, .5), "high",
                    eval_quantile(n, sorted, .95));
    free(sorted);
    return out;
}

json_t *
show_figure(struct eval_figure figure)
{
    return json_pack("{s:f s:f}", "value", figure.value, "half", figure.half);
}
