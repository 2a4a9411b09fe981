#ifndef TESTS_CONFORM_LOSS_H
#define TESTS_CONFORM_LOSS_H

/*
 * For tests/conformance.c: steps of an objective.  step<i>.z1 and .z2 are the
 * embeddings, .loss, .grad_z1 and .grad_z2 what the reference made of them.
 */
#include <math.h>
#include <stdlib.h>

#include "conform_file.h"
#include "loss/objective.h"
#include "loss/rows.h"
#include "num/gemm.h"
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
        if (!(fabs(got[i] - want[i]) <= off))
            off = fabs(got[i] - want[i]);
    }
    note(file, what, off / (largest > 0 ? largest : 1), 0);
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

/*
 * One step of an objective that is a function of the similarities alone.  The
 * references take the gradient at rows that are of unit length already: not
 * through a normalisation.
 */
static int
similarity_step(struct file *file, const struct loss_objective *objective,
                const struct loss_param *param, size_t step, struct err *err)
{
    struct loss_report report;
    size_t b, d;
    float *z = rows_get(file, step, &b, &d, err), *s, *dz, *work, value;
    struct loss_batch batch;
    int rc;

    if (!z)
        return -1;
    batch = (struct loss_batch){.b = b, .d = d};
    s = mem_array(4 * b * b, sizeof *s);
    work = mem_array(4 * b * b, sizeof *work);
    dz = mem_array(2 * b * d, sizeof *dz);
    num_gemm_nt(2 * b, 2 * b, d, 1, z, z, 0, s);
    objective->run(&batch, param, NULL, s, &report);
    loss_spread(2 * b, 2 * b, d, s, z, dz, work);
    value = (float)report.value;
    rc = compare(file, step, "loss", 1, &value, err) ||
         compare(file, step, "grad_z1", b * d, dz, err) ||
         compare(file, step, "grad_z2", b * d, dz + b * d, err);
    free(z);
    free(s);
    free(work);
    free(dz);
    return rc ? -1 : 0;
}

static inline int
simclr(struct file *file, struct err *err)
{
    const struct loss_objective *objective = loss_objective_find("simclr", err);
    struct loss_param param;
    double steps;

    if (!objective || real_get(file, "tau", &param.tau, err) ||
        real_get(file, "steps", &steps, err))
        return -1;
    if (!(param.tau > 0) || !(steps >= 1 && steps < 1e6))
        return err_set(err, "metadata: tau or steps are out of range");
    for (size_t step = 0; step < (size_t)steps; step++)
        if (similarity_step(file, objective, &param, step, err))
            return -1;
    return 0;
}

#endif
