#define _XOPEN_SOURCE 700 // realpath()
#include "samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/column.h"
#include "json_number.h"
#include "nn/safetensors.h"
#include "util/clock.h"
#include "util/mem.h"

/* Pause between reads, as a multiple of the time that a read takes. */
static const double pause_per_read = 20;

struct file {
    struct nn_array *array;
    size_t n;
};

/* Numbers of the samples that were trained. */
struct column {
    size_t n, each;
    double *x;
    size_t *item; /* id each + caption */
};

/* Returns the array "seen" with the prefix of another array; or NULL. */
static const float *
find_seen(const struct file *file, const struct nn_array *of)
{
    const char *dot = strrchr(of->name, '.');
    const struct nn_array *seen = nn_arrays_find(
        file->array, file->n,
        mem_temp("%.*sseen", dot ? (int)(dot + 1 - of->name) : 0, of->name));

    return seen && !strcmp(seen->dtype, "F32") && seen->count == of->count
               ? seen->data
               : NULL;
}

static struct column
gather_column(const struct file *file, const struct nn_array *of)
{
    const float *x = of->data, *seen = find_seen(file, of);
    struct column c = {.each = of->rank == 2 ? of->shape[1] : 1,
                       .x = mem_array(of->count, sizeof *c.x),
                       .item = mem_array(of->count, sizeof *c.item)};

    for (size_t i = 0; i < of->count; i++)
        if (isfinite(x[i]) && (!seen || seen[i] > 0)) {
            c.x[c.n] = (double)x[i];
            c.item[c.n++] = i;
        }
    return c;
}

static json_t *
label_json(struct pictures *pictures, int64_t id)
{
    return json_integer(batch_view_label(pictures_set(pictures, NULL), id));
}

/* Finds the places of the least sign * x, in rising order, and returns their
 * number. */
static size_t
find_extremes(const struct column *c, double sign,
              size_t place[SAMPLES_EXTREMES])
{
    size_t m = 0;

    for (size_t i = 0; i < c->n; i++) {
        size_t at;

        if (m == SAMPLES_EXTREMES &&
            sign * c->x[i] >= sign * c->x[place[m - 1]])
            continue;
        at = m < SAMPLES_EXTREMES ? m++ : m - 1;
        for (; at && sign * c->x[place[at - 1]] > sign * c->x[i]; at--)
            place[at] = place[at - 1];
        place[at] = i;
    }
    return m;
}

/* Returns caption k of a sample; null if there is none or it is not UTF-8. */
static json_t *
caption_json(struct pictures *pictures, int64_t id, size_t k)
{
    const struct data_set *set = pictures_set(pictures, NULL);
    const int there = set && id >= 0 && (size_t)id < data_size(set);
    const char *line = there ? data_caption(set, (size_t)id) : "";
    json_t *text;

    for (; k && *line; k--) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    text = *line ? json_stringn(line, strcspn(line, "\n")) : NULL;
    return text ? text : json_null();
}

static json_t *
extremes_json(const struct column *c, double sign, struct pictures *pictures)
{
    size_t place[SAMPLES_EXTREMES];
    const size_t m = find_extremes(c, sign, place);
    json_t *list = json_array();

    for (size_t i = 0; i < m; i++) {
        const int64_t id = (int64_t)(c->item[place[i]] / c->each);

        json_t *one = json_pack("{s:I s:o s:o}", "id", (json_int_t)id, "label",
                                label_json(pictures, id), "x",
                                json_number_or_null(c->x[place[i]]));

        if (c->each > 1)
            json_object_set_new(
                one, "caption",
                caption_json(pictures, id, c->item[place[i]] % c->each));
        json_array_append_new(list, one);
    }
    return list;
}

/* NULL if no sample was trained. */
static json_t *
column_json(const struct file *file, const struct nn_array *of,
            struct pictures *pictures)
{
    struct column c = gather_column(file, of);
    double low = INFINITY, high = -INFINITY, mean = 0;
    size_t count[SAMPLES_BINS];
    json_t *counts = json_array(), *json = NULL;

    for (size_t i = 0; i < c.n; i++) {
        low = fmin(low, c.x[i]);
        high = fmax(high, c.x[i]);
        mean += c.x[i] / (double)c.n;
    }
    if (c.n) {
        eval_histogram(c.n, c.x, low, high > low ? high : low + 1, SAMPLES_BINS,
                       count);
        for (size_t b = 0; b < SAMPLES_BINS; b++)
            json_array_append_new(counts, json_integer((json_int_t)count[b]));
        json = json_pack("{s:s s:I s:I s:o s:o s:o s:O s:o s:o}", "name",
                         of->name, "each", (json_int_t)c.each, "n",
                         (json_int_t)c.n, "mean", json_number_or_null(mean),
                         "low", json_number_or_null(low), "high",
                         json_number_or_null(high), "counts", counts,
                         "smallest", extremes_json(&c, 1, pictures), "largest",
                         extremes_json(&c, -1, pictures));
    }
    json_decref(counts);
    mem_free(c.x, c.item);
    return json;
}

static json_t *
columns_json(const struct file *file, struct pictures *pictures)
{
    json_t *list = json_array();

    for (size_t i = 0; i < file->n; i++) {
        const struct nn_array *a = &file->array[i];

        const char *dot = strrchr(a->name, '.');

        // "tau", or "tau" after a prefix and a dot
        if (!strcmp(dot ? dot + 1 : a->name, "tau") &&
            !strcmp(a->dtype, "F32") &&
            (a->rank == 1 || (a->rank == 2 && a->shape[1]))) {
            json_t *column = column_json(file, a, pictures);

            if (column)
                json_array_append_new(list, column);
        }
    }
    return list;
}

/* Returns why a sample cannot be read; null if it can. */
static json_t *
find_reason(struct pictures *pictures, int64_t id)
{
    struct err err;
    uint8_t *view;
    size_t side;
    int rc;

    if (!pictures_set(pictures, &err))
        return json_null();
    side = run_views_size(pictures->views);
    view = mem_array(side * side, 3);
    rc = run_views_plain(pictures->views, id, view, &err);
    free(view);
    return rc ? json_name(err.msg) : json_null();
}

/* Returns the newest entry of each replaced sample, newest first. */
static json_t *
replaced_json(const struct file *file, struct pictures *pictures)
{
    const struct nn_array *a =
        nn_arrays_find(file->array, file->n, "quarantine");
    const int64_t(*entry)[4] = a ? a->data : NULL;
    const int fits =
        a && !strcmp(a->dtype, "I64") && a->rank == 2 && a->shape[1] == 4;
    json_t *list = json_array(), *known = json_object(), *n;

    for (size_t i = fits ? a->shape[0] : 0; i-- > 0;) {
        const char *key = mem_temp("%jd", (intmax_t)entry[i][0]);
        json_t *one = json_object_get(known, key);
        json_t *times = json_object_get(one, "times");

        if (one) {
            json_integer_set(times, json_integer_value(times) + 1);
        } else {
            const int listed = json_array_size(list) < SAMPLES_REPLACED;

            one = listed
                      ? json_pack("{s:I s:o s:I s:I s:I s:i s:o}", "id",
                                  (json_int_t)entry[i][0], "label",
                                  label_json(pictures, entry[i][0]), "used",
                                  (json_int_t)entry[i][1], "epoch",
                                  (json_int_t)entry[i][2], "step",
                                  (json_int_t)entry[i][3], "times", 1, "reason",
                                  find_reason(pictures, entry[i][0]))
                      : json_object();
            json_object_set_new(known, key, one);
            if (listed)
                json_array_append(list, one);
        }
    }
    n = json_integer((json_int_t)json_object_size(known));
    json_decref(known);
    return json_pack("{s:o s:o}", "n", n, "list", list);
}

/* Returns 1 if there is a new checkpoint, and sets samples->checkpoint. */
static int
find_checkpoint(struct samples *samples, const char *run)
{
    char *path = realpath(mem_temp("%s/latest", run), NULL);
    const int is_new = path && (!samples->checkpoint ||
                                strcmp(path, samples->checkpoint) != 0);

    if (!is_new) {
        free(path);
        return 0;
    }
    free(samples->checkpoint);
    samples->checkpoint = path;
    return 1;
}

int
samples_read(struct samples *samples, const char *run,
             struct pictures *pictures)
{
    const double begin = clock_now();
    struct file file = {0};
    struct err ignored;

    if (begin < samples->due || !find_checkpoint(samples, run))
        return 0;
    json_decref(samples->json);
    samples->json = NULL;
    // a checkpoint may be deleted during this: then the next one is read
    if (!nn_arrays_read(mem_temp("%s/samples.safetensors", samples->checkpoint),
                        &file.array, &file.n, NULL, &ignored)) {
        samples->json = json_pack("{s:s s:o s:o}", "checkpoint",
                                  strrchr(samples->checkpoint, '/') + 1,
                                  "columns", columns_json(&file, pictures),
                                  "replaced", replaced_json(&file, pictures));
        nn_arrays_free(file.array, file.n);
    }
    samples->due = clock_now() + pause_per_read * (clock_now() - begin);
    return samples->json != NULL;
}

json_t *
samples_json(const struct samples *samples)
{
    return samples->json ? json_incref(samples->json) : json_null();
}

void
samples_release(struct samples *samples)
{
    free(samples->checkpoint);
    json_decref(samples->json);
    *samples = (struct samples){0};
}
