#include <math.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "objectives.h"

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

/* Scratch: v and lengths, S or W with a row of scratch, and that of direct().
 */
size_t
loss_objective_size(const struct loss_objective *objective,
                    const struct loss_batch *batch)
{
    const size_t n = loss_views_of(batch).v * batch->b;
    const size_t rows = n + batch->extra, d = batch->dim;
    const size_t own = objective->direct ? LOSS_DIRECT_SIZE(n, d) : 0;

    return rows * d + rows + (rows - batch->constant + 1) * rows + own;
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
    float *v = work, *length = v + rows * batch->dim, *s = length + rows;
    float *scratch = s + (moved + 1) * rows;
    double sum = 0;

    REQUIRE(batch->b >= 2 && batch->dim > objective->aux_columns &&
            set->value[LOSS_TAU] > 0);
    REQUIRE(views.v == 2 || !objective->pairs);
    REQUIRE(views.targets >= 2 && views.targets <= views.v);
    REQUIRE(!batch->s || !objective->aux_columns);
    for (size_t r = 0; r < rows; r++) // without auxiliary columns
        memcpy(v + r * d, z + r * batch->dim, d * sizeof *z);
    num_unit_rows(rows, d, v, v, length);
    if (batch->s) {
#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
        for (size_t r = 0; r < n; r++)
            memcpy(s + r * rows, batch->s + r * rows, rows * sizeof *s);
    } else {
        num_gemm_nt(n, rows, d, 1, v, v, 0, s);
    }
    *report = (struct loss_report){0};
    loss_report_spread(n, d, v, report);
    // the mean score of positives
    for (size_t r = 0; r < n; r++)
        sum += loss_positives_mean(&views, r, s + r * rows);
    report->positive = sum / (double)n;
    report->infonce = loss_simclr_value(batch, set->value[LOSS_TAU], s);
    if (objective->direct) {
        objective->direct(batch, set, z, dz, scratch, report);
        memset(dz + n * batch->dim, 0, (moved - n) * batch->dim * sizeof *dz);
    } else {
        loss_objective_weigh(objective, set, batch, state, s, report);
        if (batch->group)
            loss_share_add(&report->share, n, moved, rows, batch->sample,
                           batch->group, s);
        loss_similarity_backward(n, moved, rows, d, s, v, dz);
        num_unit_rows_back(moved, d, v, length, dz, dz);
    }
}
