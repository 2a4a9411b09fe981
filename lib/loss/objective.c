#include <math.h>
#include <string.h>

#include "num/vec.h"

#include "objectives.h"
#include "tiles.h"

#define POINT_AT(row) &loss_##row,
const struct loss_objective *const loss_objectives[] = {
    LOSS_OBJECTIVES(POINT_AT) NULL};

static const char *
name_objective(size_t i)
{
    return loss_objectives[i] ? loss_objectives[i]->name : NULL;
}

const struct loss_objective *
loss_objective_find(const char *name, struct err *err)
{
    for (size_t i = 0; loss_objectives[i]; i++)
        if (!strcmp(loss_objectives[i]->name, name))
            return loss_objectives[i];
    err_name(err, "objective", name, strlen(name), name_objective);
    return NULL;
}

struct loss_settings
loss_settings_of(const struct loss_objective *objective)
{
    struct loss_settings set = {.reference = 0};

    param_defaults(objective->params, set.value);
    return set;
}

int
loss_objective_check(const struct loss_objective *objective,
                     const struct loss_settings *set, size_t b, size_t v,
                     size_t d, struct err *err)
{
    const struct loss_views views = {b, v, v};

    if (b == 1)
        return err_set(err, "a batch of one image has no negatives: want two "
                            "images or more");
    if (v > 2 && (objective->pairs || set->reference))
        return err_set(err, "%s needs 2 views of each image, not %zu: %s",
                       objective->name, v,
                       objective->pairs ? objective->pairs
                                        : "the authors' code takes two");
    if (d && d <= objective->aux_columns)
        return err_set(err, "%s needs embeddings of more than %zu columns",
                       objective->name, objective->aux_columns);
    if (param_check(objective->params, set->value, err))
        return -1;
    return objective->check ? objective->check(set, &views, err) : 0;
}

double
loss_objective_scale(const struct loss_objective *objective,
                     const struct loss_settings *set)
{
    return (objective->scale > 0 ? objective->scale : 1) *
           (objective->scale_by_tau ? set->value[LOSS_TAU] : 1);
}

double
loss_scalar_start(const struct loss_scalar *scalar,
                  const struct loss_settings *set)
{
    const double value = set->value[scalar->param];

    return scalar->inverse ? -log(value) : value;
}

void
loss_scalar_apply(const struct loss_scalar *scalar, double x,
                  struct loss_settings *set)
{
    set->value[scalar->param] = scalar->inverse ? exp(-x) : x;
}

int
loss_scalar_is_trained(const struct loss_scalar *scalar,
                       const struct loss_settings *set)
{
    return scalar->fixed == LOSS_NEVER_FIXED || !set->value[scalar->fixed];
}

/* Scratch: v and lengths; then tiles, or that of direct(). */
size_t
loss_objective_size(const struct loss_objective *objective,
                    const struct loss_batch *batch)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * batch->b, d = batch->dim;
    const struct loss_tiles tiles = {.b = views.b,
                                     .v = views.v,
                                     .d = d,
                                     .cross =
                                         objective->mask[0] >= LOSS_CROSS &&
                                         objective->mask[1] >= LOSS_CROSS};

    return (n + batch->extra) * (d + 1) +
           (objective->row      ? loss_tiles_size(&tiles)
            : objective->direct ? LOSS_DIRECT_SIZE(n, d)
                                : 0);
}

void
loss_objective_run(const struct loss_objective *objective,
                   const struct loss_settings *set,
                   const struct loss_batch *batch, const float *z, float *state,
                   float *dz, float *work, struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * views.b, rows = n + batch->extra;
    const size_t moved = rows - batch->constant;
    const size_t d = batch->dim - objective->aux_columns;
    float *v = work, *length = v + rows * batch->dim, *scratch = length + rows;
    const size_t aux = objective->aux_columns;
    struct loss_batch inner = *batch; // without auxiliary columns

    REQUIRE(batch->b >= 2 && batch->dim > objective->aux_columns &&
            set->value[LOSS_TAU] > 0);
    REQUIRE(views.v == 2 || !objective->pairs);
    REQUIRE(views.targets >= 2 && views.targets <= views.v);
    inner.dim = d;
    inner.aux = v + rows * d;
    for (size_t r = 0; r < rows; r++) {
        memcpy(v + r * d, z + r * batch->dim, d * sizeof *z);
        memcpy(inner.aux + r * aux, z + r * batch->dim + d, aux * sizeof *z);
    }
    num_unit_rows(rows, d, v, v, length);
    *report = (struct loss_report){0};
    loss_report_spread(n, d, v, report);
    memset(dz, 0, moved * batch->dim * sizeof *dz);
    if (objective->row) {
        loss_objective_weigh(objective, set, &inner, v, state, dz, scratch,
                             report);
    } else {
        loss_report_infonce(&inner, set->value[LOSS_TAU], v, report);
        if (objective->run)
            objective->run(batch, set, state, v, dz, report);
        else
            objective->direct(batch, set, z, dz, scratch, report);
    }
    if (!objective->direct)
        num_unit_rows_back(moved, d, v, length, dz, dz);
    for (size_t r = n; aux && r-- > 0;) {
        memmove(dz + r * batch->dim, dz + r * d, d * sizeof *dz);
        memcpy(dz + r * batch->dim + d, inner.aux + r * aux, aux * sizeof *dz);
    }
}
