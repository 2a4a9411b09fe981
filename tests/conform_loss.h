#pragma once

/*
 * For tests/conformance.c: steps of an objective.  step<i>.z1 and .z2 are the
 * embeddings, .loss, .grad_z1 and .grad_z2 what the reference made of them.
 */
#include <math.h>
#include <stdlib.h>

#include "conform_file.h"
#include "loss/objective.h"
#include "loss/objectives.h"
#include "util/mem.h"

/* The relative error of an array: "step<step>.<what>" of the file. */
static int
compare(struct file *file, size_t step, const char *what, size_t count,
        const float *got, struct err *err)
{
    double largest = 0, off = 0;
    const struct nn_array *a;
    const double *want;
    char name[128];

    snprintf(name, sizeof name, "step%zu.%s", step, what);
    a = array_get(file, "F64", name, err);
    if (!a)
        return -1;
    if (a->count != count)
        return err_set(err, "'%s' has %zu numbers, not %zu", name, a->count,
                       count);
    want = a->data;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(want[i]));
        off = worse(off, fabs(got[i] - want[i]));
    }
    note(file, what, off / (largest > 0 ? largest : 1), RELATIVE);
    return 0;
}

static int
real_get(const struct file *file, const char *key, double *value,
         struct err *err)
{
    const char *text;
    char *end;

    if (json_get_text(file->metadata, key, &text, err))
        return -1;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value))
        return err_set(err, "metadata: '%s' is no number", key);
    return 0;
}

/* The embeddings of a step: z1 above z2, [2b,d] in single precision. */
static float *
rows_get(const struct file *file, size_t step, size_t *b, size_t *d,
         struct err *err)
{
    const struct nn_array *z[2];
    float *rows;

    for (size_t v = 0; v < 2; v++) {
        char name[64];

        snprintf(name, sizeof name, "step%zu.z%zu", step, v + 1);
        z[v] = array_get(file, "F64", name, err);
        if (!z[v])
            return NULL;
    }
    if (z[0]->rank != 2 || z[1]->rank != 2 || z[0]->shape[0] < 2 ||
        z[0]->shape[1] < 1 || z[0]->shape[0] != z[1]->shape[0] ||
        z[0]->shape[1] != z[1]->shape[1]) {
        err_set(err, "step %zu: z1 and z2 are not two equal matrices", step);
        return NULL;
    }
    *b = z[0]->shape[0];
    *d = z[0]->shape[1];
    rows = mem_array(2 * z[0]->count, sizeof *rows);
    for (size_t v = 0; v < 2; v++)
        for (size_t i = 0; i < z[v]->count; i++)
            rows[v * z[v]->count + i] = (float)((const double *)z[v]->data)[i];
    return rows;
}

/* What a run of steps needs. */
struct steps {
    const struct loss_objective *objective;
    struct loss_settings set;
    size_t steps, samples; /* rows of a table */
    float *table; /* [samples,columns]; with sides that of view 1 behind it */
};

/* 1, or 2 where each side has a table of its own. */
static size_t
sides_of(const struct steps *all)
{
    return loss_objective_states(all->objective, 1);
}

/* Hyper-parameters as the files call them. */
static const struct {
    const char *key, *name;
} metadata[] = {
    {"tau", "tau"},           {"tau_init", "tau"},    {"t", "tau"},
    {"intra", "tau"},         {"inter", "tau-inter"}, {"gamma", "gamma"},
    {"rho", "rho"},           {"eta", "eta"},         {"beta_u", "beta-u"},
    {"tau_min", "tau-min"},   {"tau_max", "tau-max"}, {"beta", "beta"},
    {"tau_plus", "tau-plus"}, {"mu", "mu"},           {"lambd", "lambda"},
    {"sim", "invariance"},    {"std", "variance"},    {"cov", "covariance"},
    {"lambda1", "within"},    {"lambda2", "across"},
};

/* rho as this objective has it: log(b - 1) less a gap. */
static int
gap_get(struct steps *all, const struct file *file, struct err *err)
{
    double *gap = param_at(all->objective->params, all->set.value, "rho-gap");
    double rho, b;

    if (!gap)
        return 0;
    if (real_get(file, "rho", &rho, err) || real_get(file, "b", &b, err))
        return -1;
    *gap = log(b - 1) - rho;
    return 0;
}

static int
steps_init(struct steps *all, const struct file *file, const char *name,
           struct err *err)
{
    double steps, samples = 0;

    *all = (struct steps){.objective = loss_objective_find(name, err)};
    if (!all->objective)
        return -1;
    all->set = loss_settings_of(all->objective);
    for (size_t i = 0; i < sizeof metadata / sizeof *metadata; i++) {
        double *value =
            param_at(all->objective->params, all->set.value, metadata[i].name);

        if (value && json_object_get(file->metadata, metadata[i].key) &&
            real_get(file, metadata[i].key, value, err))
            return -1;
    }
    // SupCon's scale is in none of the files
    all->set.reference = all->objective != &loss_simclr;
    if (gap_get(all, file, err) || real_get(file, "steps", &steps, err) ||
        (all->objective->columns && real_get(file, "N", &samples, err)) ||
        loss_objective_check(all->objective, &all->set, 0, 2, 0, err))
        return -1;
    if (!(all->set.value[LOSS_TAU] > 0) || !(steps >= 1 && steps < 1e6) ||
        !(samples >= 0 && samples < 1e9))
        return err_set(err, "metadata: tau, steps or N are out of range");
    all->steps = (size_t)steps;
    all->samples = (size_t)samples;
    all->table =
        mem_array(sides_of(all) * all->samples * all->objective->columns,
                  sizeof *all->table);
    return 0;
}

/* The rows of the table that a step's images have, [states,columns]: copied out
 * of it, or into it. */
static int
table_copy(const struct steps *all, const struct file *file, size_t step,
           size_t b, int into, float *state, struct err *err)
{
    const size_t columns = all->objective->columns;
    const struct nn_array *a;
    char name[64];

    if (!columns)
        return 0;
    snprintf(name, sizeof name, "step%zu.index", step);
    a = array_get(file, "I64", name, err);
    if (!a)
        return -1;
    if (a->count != b)
        return err_set(err, "'%s' does not have %zu numbers", name, b);
    for (size_t k = 0; k < sides_of(all) * b; k++) {
        const int64_t id = ((const int64_t *)a->data)[k % b];
        float *mine = state + k * columns, *row;

        if (id < 0 || (uint64_t)id >= all->samples)
            return err_set(err, "'%s' holds what is no sample", name);
        row = all->table + (k / b * all->samples + (size_t)id) * columns;
        memcpy(into ? row : mine, into ? mine : row, columns * sizeof *row);
    }
    return 0;
}

/* A column of the table, as the reference keeps it. */
static int
compare_column(struct file *file, const struct steps *all, size_t step,
               const char *what, size_t column, struct err *err)
{
    const size_t columns = all->objective->columns;
    float *x = mem_array(all->samples, sizeof *x);
    int rc;

    for (size_t i = 0; i < all->samples; i++) {
        const float *row = all->table + i * columns;
        const int seen = row[1] != 0;

        x[i] = seen ? row[column] : 0;
        if (column == 0) // log u
            x[i] = seen ? expf(row[0]) : 0;
        if (column == 3 && !seen) // the temperature at the start
            x[i] = (float)all->set.value[LOSS_TAU];
    }
    rc = compare(file, step, what, all->samples, x, err);
    free(x);
    return rc;
}

/* log u of a side against log s + b of the reference, which keeps two numbers
 * for it: the largest score so far, and a mean that is scaled by it. */
static int
compare_means(struct file *file, const struct steps *all, size_t step,
              size_t side, struct err *err)
{
    static const char *const what[][2] = {{"s_image", "b_image"},
                                          {"s_text", "b_text"}};
    const float *table =
        all->table + side * all->samples * all->objective->columns;
    const struct nn_array *a[2];
    double off = 0;

    for (size_t i = 0; i < 2; i++) {
        char name[64];

        snprintf(name, sizeof name, "step%zu.state.%s", step, what[side][i]);
        a[i] = array_get(file, "F64", name, err);
        if (!a[i] || a[i]->count != all->samples)
            return a[i] ? err_set(err, "'%s' has another size", name) : -1;
    }
    for (size_t i = 0; i < all->samples; i++) {
        const float *row = table + i * all->objective->columns;
        const double s = ((const double *)a[0]->data)[i];
        const double b = ((const double *)a[1]->data)[i];

        off = row[1] ? worse(off, fabs(row[0] - (log(s) + b))) : worse(off, s);
    }
    note(file, what[side][0], off, RELATIVE);
    return 0;
}

static int
compare_sides(struct file *file, const struct steps *all, size_t step,
              struct err *err)
{
    static const char *const what[][2] = {{"state.u_image", "state.tau_image"},
                                          {"state.u_text", "state.tau_text"}};

    for (size_t side = 0; side < 2; side++) {
        struct steps one = *all;

        one.table += side * all->samples * all->objective->columns;
        if (compare_means(file, all, step, side, err) ||
            (all->objective->columns == 4 &&
             (compare_column(file, &one, step, what[side][0], 2, err) ||
              compare_column(file, &one, step, what[side][1], 3, err))))
            return -1;
    }
    return 0;
}

static int
compare_state(struct file *file, const struct steps *all, size_t step,
              struct err *err)
{
    if (all->objective->columns && all->objective->sides)
        return compare_sides(file, all, step, err);
    if (all->objective->columns == 2)
        return compare_column(file, all, step, "state.u", 0, err);
    if (all->objective->columns == 4 &&
        (compare_column(file, all, step, "state.s", 0, err) ||
         compare_column(file, all, step, "state.u", 2, err) ||
         compare_column(file, all, step, "state.tau", 3, err)))
        return -1;
    return 0;
}

/*
 * The gradient of a step.  For rows that the file says are of unit length the
 * references of these objectives take it there: not through a normalisation.
 */
static void
gradient(const struct steps *all, const struct loss_batch *batch, int unit,
         const float *z, float *state, float *dz, struct loss_report *report)
{
    const size_t n = 2 * batch->b;
    float *work =
        mem_array(loss_objective_size(all->objective, batch), sizeof *work);

    *report = (struct loss_report){0};
    memset(dz, 0, n * batch->dim * sizeof *dz);
    if (unit && all->objective->run) {
        all->objective->run(batch, &all->set, state, z, dz, report);
    } else if (unit) {
        loss_objective_weigh(all->objective, &all->set, batch, z, state, dz,
                             work, report);
    } else {
        loss_objective_run(all->objective, &all->set, batch, z, state, dz, work,
                           report);
    }
    free(work);
}

static int
objective_step(struct file *file, const struct steps *all, size_t step,
               int unit, struct err *err)
{
    const json_t *note = json_object_get(file->metadata, "note");
    const int shows_nothing =
        note && strstr(json_string_value(note), "identically 1");
    struct loss_report report;
    size_t b, d;
    float *z = rows_get(file, step, &b, &d, err), *dz, *state, value;
    int rc;

    if (!z)
        return -1;
    dz = mem_array(2 * b * d, sizeof *dz);
    state =
        mem_array(sides_of(all) * b * all->objective->columns, sizeof *state);
    rc = table_copy(all, file, step, b, 0, state, err);
    if (!rc) {
        gradient(all, &(struct loss_batch){.b = b, .dim = d}, unit, z, state,
                 dz, &report);
        value = (float)report.value;
        rc = table_copy(all, file, step, b, 1, state, err) ||
             (!shows_nothing && compare(file, step, "loss", 1, &value, err)) ||
             compare(file, step, "grad_z1", b * d, dz, err) ||
             compare(file, step, "grad_z2", b * d, dz + b * d, err) ||
             compare_state(file, all, step, err);
    }
    free(z);
    free(dz);
    free(state);
    return rc ? -1 : 0;
}

static int
objective_steps(struct file *file, const char *name, int unit, struct err *err)
{
    const json_t *epoch = json_object_get(file->metadata, "epoch");
    struct steps all;
    double was = 1, *gamma = NULL;
    int rc = steps_init(&all, file, name, err);

    if (!rc && epoch &&
        (gamma = param_at(all.objective->params, all.set.value, "gamma")))
        was = *gamma;
    for (size_t step = 0; !rc && step < all.steps; step++) {
        if (gamma) // "epoch 0 sets s=g"
            *gamma = step == 0 ? 1 : was;
        rc = objective_step(file, &all, step, unit, err);
    }
    if (all.objective)
        free(all.table);
    return rc;
}

/* Objectives on similarities, with gradients at unit rows. */
static inline int
at_unit_rows(struct file *file, const char *name, struct err *err)
{
    return objective_steps(file, name, 1, err);
}

/* Objectives whose references normalise within, or not at all. */
static inline int
at_given_rows(struct file *file, const char *name, struct err *err)
{
    return objective_steps(file, name, 0, err);
}
