#include "train/scalars.h"

#include <math.h>
#include <string.h>

#include "nn/safetensors.h"
#include "util/mem.h"

static const char file_name[] = "objective.safetensors";
static const char steps_name[] = "steps", pending_name[] = "pending";

int
train_scalars_open(struct train_scalars *scalars,
                   const struct loss_objective *objective,
                   const struct loss_settings *settings,
                   const struct nn_optim_spec *optim, struct err *err)
{
    const struct loss_scalar *all = objective->scalars;
    struct nn_optim_spec spec = *optim;

    *scalars = (struct train_scalars){0};
    for (size_t i = 0; all && all[i].name; i++) {
        const size_t k = scalars->n;

        if (!loss_scalar_is_trained(all + i, settings))
            continue;
        scalars->of[k] = all + i;
        scalars->slope[k] = i;
        scalars->x[k] = (float)loss_scalar_start(all + i, settings);
        scalars->tensor[k] =
            (struct nn_tensor){.name = all[i].name, .offset = k, .count = 1};
        scalars->n++;
    }
    if (!scalars->n)
        return 0;
    spec.weight_decay = 0;
    scalars->optim =
        nn_optim_new(&spec, scalars->tensor, scalars->n, scalars->n, err);
    return scalars->optim ? 0 : -1;
}

void
train_scalars_close(struct train_scalars *scalars)
{
    nn_optim_free(scalars->optim);
    *scalars = (struct train_scalars){0};
}

void
train_scalars_apply(const struct train_scalars *scalars,
                    struct loss_settings *settings)
{
    for (size_t k = 0; k < scalars->n; k++)
        loss_scalar_apply(scalars->of[k], scalars->x[k], settings);
}

int
train_scalars_finite(const struct train_scalars *scalars,
                     const struct loss_report *report)
{
    int finite = 1;

    for (size_t k = 0; k < scalars->n; k++)
        finite &= !!isfinite(report->slope[scalars->slope[k]]);
    return finite;
}

void
train_scalars_update(struct train_scalars *scalars,
                     const struct loss_report *report, double rate)
{
    float slope[LOSS_SCALARS];

    if (!scalars->n)
        return;
    for (size_t k = 0; k < scalars->n; k++)
        slope[k] = (float)report->slope[scalars->slope[k]];
    nn_optim_step(scalars->optim, rate, scalars->x, slope);
    for (size_t k = 0; k < scalars->n; k++)
        scalars->x[k] = (float)fmin(fmax(scalars->x[k], scalars->of[k]->min),
                                    scalars->of[k]->max);
}

/* ------------------------------------------------------------- checkpoint */

/* Arrays in the file: each scalar with its moments, and two counts. */
enum { ARRAYS = LOSS_SCALARS * (1 + NN_MAX_MOMENTS) + 2 };

static int
scalars_save(void *self, const char *folder, struct err *err)
{
    struct train_scalars *scalars = self;
    struct nn_array *array;
    struct nn_moments m;
    int64_t steps, pending;
    size_t n = 0;
    int rc;

    if (!scalars->n)
        return 0;
    array = mem_array(ARRAYS, sizeof *array);
    m = nn_optim_moments(scalars->optim);
    steps = *m.steps;
    pending = m.pending ? *m.pending : 0;
    for (size_t k = 0; k < scalars->n; k++) {
        nn_array_init(array + n++, scalars->of[k]->name, "F32", 0, NULL,
                      scalars->x + k);
        for (size_t i = 0; i < m.n; i++)
            nn_array_init(array + n++,
                          mem_temp("%s.%s", scalars->of[k]->name, m.name[i]),
                          "F32", 0, NULL, m.block[i] + k);
    }
    nn_array_init(array + n++, steps_name, "I64", 0, NULL, &steps);
    nn_array_init(array + n++, pending_name, "I64", 0, NULL, &pending);
    rc = nn_arrays_write(mem_temp("%s/%s", folder, file_name), array, n, NULL,
                         err);
    nn_arrays_free(array, n);
    return rc;
}

/* Returns the scalar tensor of that name. */
static const void *
find_number(const struct nn_array *array, size_t n, const char *name,
            const char *dtype, struct err *err)
{
    const struct nn_array *a = nn_arrays_find(array, n, name);

    if (a && !a->rank && !strcmp(a->dtype, dtype))
        return a->data;
    err_set(err, "no number '%s' of type %s", name, dtype);
    return NULL;
}

static int
take_scalars(struct train_scalars *scalars, const struct nn_array *array,
             size_t n, struct err *err)
{
    const struct nn_moments m = nn_optim_moments(scalars->optim);
    const int64_t *steps = find_number(array, n, steps_name, "I64", err);
    const int64_t *pending = find_number(array, n, pending_name, "I64", err);

    if (!steps || !pending)
        return -1;
    for (size_t k = 0; k < scalars->n; k++) {
        const char *name = scalars->of[k]->name;
        const float *x = find_number(array, n, name, "F32", err);

        if (!x || !isfinite(*x))
            return x ? err_set(err, "'%s' is not finite", name) : -1;
        scalars->x[k] = *x;
        for (size_t i = 0; i < m.n; i++) {
            x = find_number(array, n, mem_temp("%s.%s", name, m.name[i]), "F32",
                            err);
            if (!x)
                return -1;
            m.block[i][k] = *x;
        }
    }
    *m.steps = (long)*steps;
    if (m.pending)
        *m.pending = (long)*pending;
    return 0;
}

static int
scalars_load(void *self, const char *folder, struct err *err)
{
    struct train_scalars *scalars = self;
    struct nn_array *array;
    struct err why;
    const char *path = mem_temp("%s/%s", folder, file_name);
    size_t n;
    int rc;

    if (!scalars->n)
        return 0;
    rc = nn_arrays_read(path, &array, &n, NULL, err);
    if (!rc) {
        rc = take_scalars(scalars, array, n, &why);
        if (rc)
            err_set(err, "'%s/%s': %s", folder, file_name, why.msg);
        nn_arrays_free(array, n);
    }
    return rc;
}

struct train_part
train_scalars_part(struct train_scalars *scalars)
{
    return (struct train_part){.self = scalars,
                               .save = scalars_save,
                               .load = scalars_load,
                               .revert = scalars_load};
}
