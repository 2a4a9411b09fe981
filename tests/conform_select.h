#pragma once

/*
 * For tests/conformance.c: batches out of features u, v [N,d].
 * reference_labels [N] are the batches of the reference's spectral clustering;
 * ours are compared with them by their mean loss.  `weight` is what each pair
 * weighs (select/score.h), if it is there.
 */
#include <math.h>
#include <stdlib.h>

#include "conform_loss.h"
#include "select/score.h"
#include "select/strategies.h"

/* What is tried; the loss, in terms of the reference's, is to be at least so
 * on small files and on those of a thousand samples and more. */
static const struct {
    const char *what, *strategy;
    enum spectral_variant variant;
    int refine;
    double small, large;
} tried[] = {
    {"spectral code", "spectral", SPECTRAL_CODE, 0, 0.99, 0.99},
    {"spectral njw", "spectral", SPECTRAL_NJW, 0, 0.98, 0.98},
    {"spectral njw refined", "spectral", SPECTRAL_NJW, 1, 1, 1.015},
    {"swap", "swap", SPECTRAL_NJW, 0, 1, 1.015},
};

enum { LARGE = 1000, EPOCHS = 5 };

struct selection {
    size_t n, b;
    double tau;
    struct select_features features;
    float *u, *v, *work;
    const int64_t *label;
    double loss, weight; /* of the reference's batches */
};

/* u or v, in single precision. */
static float *
features_get(const struct file *file, const char *name, size_t *n, size_t *d,
             struct err *err)
{
    const struct nn_array *a = array_get(file, "F32", name, err);
    float *rows;

    if (!a)
        return NULL;
    if (a->rank != 2 || a->shape[0] < 2 || a->shape[1] < 1 ||
        (*n && (a->shape[0] != *n || a->shape[1] != *d))) {
        err_set(err, "'%s' is no matrix, or not of the size of the other",
                name);
        return NULL;
    }
    *n = a->shape[0];
    *d = a->shape[1];
    rows = mem_array(a->count, sizeof *rows);
    memcpy(rows, a->data, a->count * sizeof *rows);
    return rows;
}

static int
selection_get(struct selection *s, const struct file *file, struct err *err)
{
    const struct nn_array *label;
    double b;

    if (real_get(file, "tau", &s->tau, err) || real_get(file, "B", &b, err))
        return -1;
    s->u = features_get(file, "u", &s->n, &s->features.d, err);
    s->v = s->u ? features_get(file, "v", &s->n, &s->features.d, err) : NULL;
    label = s->v ? array_get(file, "I64", "reference_labels", err) : NULL;
    if (!label)
        return -1;
    if (!(s->tau > 0) || !(b >= 2 && b <= (double)s->n) ||
        label->count != s->n || s->n > 20000)
        return err_set(err, "tau, B or the labels are out of range");
    s->b = (size_t)b;
    s->label = label->data;
    s->features.u = s->u;
    s->features.v = s->v;
    s->work =
        mem_array(select_batch_work(s->n, s->features.d), sizeof *s->work);
    return 0;
}

/* Loss and weight of the reference's batches. */
static int
check_reference(struct selection *s, struct err *err)
{
    int64_t *ids = mem_array(s->n, sizeof *ids);
    size_t batches = 0, placed = 0;

    for (size_t c = 0; c < s->n && placed < s->n; c++) {
        size_t b = 0;

        for (size_t i = 0; i < s->n; i++)
            if (s->label[i] == (int64_t)c)
                ids[b++] = (int64_t)i;
        if (!b)
            continue;
        placed += b;
        batches++;
        s->loss += select_batch_loss(&s->features, s->tau, b, ids, s->work);
        s->weight +=
            select_batch_weight(&s->features, s->tau, s->b, b, ids, s->work);
    }
    free(ids);
    if (placed < s->n || !batches)
        return err_set(err, "reference_labels: not 0, 1 and so on");
    s->loss /= (double)batches;
    return 0;
}

/* The reference said what it reached: do we measure the same? */
static int
compare_reference(const struct selection *s, struct file *file, struct err *err)
{
    const struct {
        const char *key, *name;
        double value;
    } item[] = {
        {"reference_mean_batch_loss", "mean batch loss", s->loss},
        {"reference_intra_weight", "weight within", s->weight},
    };

    for (size_t i = 0; i < sizeof item / sizeof *item; i++) {
        double want;

        if (!json_object_get(file->metadata, item[i].key))
            continue;
        if (real_get(file, item[i].key, &want, err))
            return -1;
        note(file, item[i].name, fabs(item[i].value - want) / fabs(want),
             RELATIVE);
    }
    return 0;
}

static int
compare_weight(const struct selection *s, struct file *file, struct err *err)
{
    const size_t n = s->n;
    const struct nn_array *a;
    int64_t *ids;
    float *w;
    double off = 0, largest = 0;

    if (!nn_arrays_find(file->array, file->n, "weight"))
        return 0;
    a = array_get(file, "F64", "weight", err);
    if (!a)
        return -1;
    if (a->count != n * n)
        return err_set(err, "'weight' is not [%zu,%zu]", n, n);
    ids = mem_array(n, sizeof *ids);
    w = mem_array(n * n, sizeof *w);
    for (size_t i = 0; i < n; i++)
        ids[i] = (int64_t)i;
    select_affinity(&s->features, s->tau, s->b, n, ids, w);
    for (size_t i = 0; i < n * n; i++) {
        const double want = ((const double *)a->data)[i];

        if (i % (n + 1) == 0) // the diagonal is not used
            continue;
        largest = fmax(largest, fabs(want));
        off = worse(off, fabs(w[i] - want));
    }
    note(file, "weight", off / largest, RELATIVE);
    quantity_get(file, "weight", RELATIVE)->limit = 1e-6;
    free(ids);
    free(w);
    return 0;
}

/* The mean batch loss of some epochs, each planned as one block. */
static int
plan_loss(const struct selection *s, size_t i, double *loss, struct err *err)
{
    const struct select_strategy *strategy =
        select_strategy_find(tried[i].strategy, err);
    struct select_task task = {.seed = 1, .features = &s->features};
    int64_t *ids;

    *loss = 0;
    if (!strategy)
        return -1;
    param_defaults(strategy->params, task.value);
    task.value[SELECT_TAU] = s->tau;
    task.value[SELECT_REFINE] = tried[i].refine;
    if (strategy == &select_strategy_spectral)
        task.value[SPECTRAL_VARIANT] = tried[i].variant;
    if (select_layout_make(s->n, s->b, SELECT_KEEP, &task.layout, err))
        return -1;
    task.value[SELECT_BLOCK] = (double)task.layout.steps;
    if (task.layout.steps < 2 ||
        select_strategy_fit(strategy, &task.layout, task.value, err))
        return task.layout.steps < 2 ? err_set(err, "one batch only") : -1;
    ids = mem_array(select_layout_total(&task.layout), sizeof *ids);
    for (; task.epoch < EPOCHS; task.epoch++) {
        select_strategy_order(strategy, &task, ids);
        *loss += select_score(&s->features, s->tau, &task.layout, 0,
                              task.layout.steps, ids)
                     .mean /
                 EPOCHS;
    }
    free(ids);
    return 0;
}

static int
selection_run(struct selection *s, struct file *file, struct err *err)
{
    if (selection_get(s, file, err) || check_reference(s, err) ||
        compare_reference(s, file, err) || compare_weight(s, file, err))
        return -1;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        double loss;

        if (plan_loss(s, i, &loss, err))
            return -1;
        note_ratio(file, tried[i].what, loss / s->loss,
                   s->n < LARGE ? tried[i].small : tried[i].large);
    }
    return 0;
}

static int
selection(struct file *file, const char *name, struct err *err)
{
    struct selection s = {0};
    const int rc = selection_run(&s, file, err);

    (void)name;
    free(s.u);
    free(s.v);
    free(s.work);
    return rc;
}
