#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loss/objective.h"
#include "num/vec.h"
#include "train/objective.h"
#include "train/samples.h"
#include "util/mem.h"

struct train_objective {
    const struct loss_objective *row;
    struct loss_settings settings;
    struct train_state state; /* only `total` is used */
    struct train_samples samples;
    struct loss_report report; /* of the last step */
    size_t n, captions;
    float *columns, *work; /* of a batch */
    int64_t *sorted;       /* its ids */
    size_t columns_room, work_room, sorted_room;
};

struct train_objective *
train_objective_open(const char *name, const char *params, size_t n,
                     size_t captions, struct err *err)
{
    const struct loss_objective *row = loss_objective_find(name, err);
    struct train_objective *o;

    if (!row)
        return NULL;
    if (row->columns && !n) {
        err_set(err, "%s has state of each sample: n must be at least 1", name);
        return NULL;
    }
    if (n > SIZE_MAX / sizeof(double) / (captions + 2) / (row->columns + 1)) {
        err_set(err, "n: %zu samples are too many", n);
        return NULL;
    }
    o = mem_array(1, sizeof *o);
    o->row = row;
    o->settings = loss_settings_of(row);
    o->n = n;
    o->captions = row->sides ? captions : 0;
    if (param_read(row->params, params, o->settings.value, err) ||
        loss_objective_check(row, &o->settings, 0, 2, 0, err)) {
        free(o);
        return NULL;
    }
    train_samples_init(&o->samples, row, row->columns ? n : 0, o->captions,
                       &o->state);
    return o;
}

void
train_objective_close(struct train_objective *o)
{
    if (!o)
        return;
    train_samples_release(&o->samples);
    mem_free(o->columns, o->work, o->sorted, o);
}

/* ---- a step ------------------------------------------------------------- */

static int
compare_ids(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static int
check_all_ids(struct train_objective *o,
              const struct train_objective_batch *batch, struct err *err)
{
    if (!o->row->columns)
        return 0;
    if (!batch->ids)
        return err_set(err, "ids: %s has state of each sample, want their ids",
                       o->row->name);
    mem_grow(&o->sorted, &o->sorted_room, batch->b, sizeof *o->sorted);
    memcpy(o->sorted, batch->ids, batch->b * sizeof *o->sorted);
    qsort(o->sorted, batch->b, sizeof *o->sorted, compare_ids);
    if (o->sorted[0] < 0 || (uint64_t)o->sorted[batch->b - 1] >= o->n)
        return err_set(err, "ids from %jd to %jd: want 0 .. %zu",
                       (intmax_t)o->sorted[0],
                       (intmax_t)o->sorted[batch->b - 1], o->n - 1);
    for (size_t i = 1; i < batch->b; i++)
        if (o->sorted[i] == o->sorted[i - 1])
            return err_set(err, "ids: sample %jd occurs twice",
                           (intmax_t)o->sorted[i]);
    return 0;
}

static int
check_captions(const struct train_objective *o,
               const struct train_objective_batch *batch, struct err *err)
{
    if (!o->captions)
        return 0;
    if (!batch->captions)
        return err_set(err,
                       "captions: want the number of each sample's caption");
    for (size_t i = 0; i < batch->b; i++)
        if (batch->captions[i] < 0 || (size_t)batch->captions[i] >= o->captions)
            return err_set(err, "captions[%zu] is %d: want 0 .. %zu", i,
                           batch->captions[i], o->captions - 1);
    return 0;
}

static int
check_batch(struct train_objective *o,
            const struct train_objective_batch *batch, struct err *err)
{
    const struct loss_objective *row = o->row;
    const size_t most = (size_t)1 << 31;
    const size_t views = batch->views ? batch->views : 2;

    if (batch->b < 2 || !batch->dim || batch->b > most || batch->dim > most ||
        batch->extra > most || batch->constant > batch->extra)
        return err_set(err,
                       "a batch of %zu samples, %zu further rows, %zu of them "
                       "constant, of %zu numbers each: want at least 2 samples "
                       "and 1 number",
                       batch->b, batch->extra, batch->constant, batch->dim);
    if (!row->needs_weights != !batch->weights)
        return err_set(err, "weights: %s %s", row->name,
                       batch->weights ? "takes none" : "needs some");
    if (views < 2 || views > LOSS_VIEWS_MAX || batch->positive_views == 1 ||
        batch->positive_views > views)
        return err_set(err,
                       "%zu views of a sample, %zu of them positives: want 2 "
                       "to %d, of them 2 or more",
                       views, batch->positive_views, LOSS_VIEWS_MAX);
    if (row->direct && batch->extra)
        return err_set(err, "%s takes no further rows", row->name);
    return loss_objective_check(row, &o->settings, batch->b, views, batch->dim,
                                err) ||
                   check_all_ids(o, batch, err) || check_captions(o, batch, err)
               ? -1
               : 0;
}

int
train_objective_step(struct train_objective *o,
                     const struct train_objective_batch *batch, float *dz,
                     double *value, struct err *err)
{
    const struct batch rows = {
        .b = batch->b, .ids = batch->ids, .captions = batch->captions};
    const struct loss_batch of = {.b = batch->b,
                                  .v = batch->views,
                                  .targets = batch->positive_views,
                                  .extra = batch->extra,
                                  .constant = batch->constant,
                                  .dim = batch->dim,
                                  .weights = batch->weights,
                                  .scale = batch->scale};
    size_t states, gradients, floats;

    if (check_batch(o, batch, err))
        return -1;
    states = loss_objective_states(o->row, batch->b) * o->row->columns;
    gradients =
        (loss_views_of(&of).v * batch->b + batch->extra - batch->constant) *
        batch->dim;
    mem_grow(&o->columns, &o->columns_room, states + 1, sizeof *o->columns);
    floats = loss_objective_size(o->row, &of);
    if (floats > o->work_room) {
        free(o->work);
        o->work = mem_aligned(floats, sizeof *o->work);
        o->work_room = floats;
    }
    train_samples_get(&o->samples, &rows, o->columns);
    loss_objective_run(o->row, &o->settings, &of, batch->z, o->columns, dz,
                       o->work, &o->report);
    *value = o->report.value;
    if (!isfinite(*value) || !num_finite(gradients, dz) ||
        !num_finite(states, o->columns))
        return 1;
    if (batch->look)
        return 0;
    train_samples_put(&o->samples, &rows, o->columns);
    o->state.total++;
    return 0;
}

/* ---- parameters and results --------------------------------------------- */

/* The i-th learnt scalar, or NULL. */
static const struct loss_scalar *
learnt_scalar(const struct train_objective *o, size_t i, size_t *slope)
{
    const struct loss_scalar *all = o->row->scalars;

    for (size_t k = 0; all && all[k].name; k++)
        if (loss_scalar_is_trained(all + k, &o->settings) && i-- == 0) {
            *slope = k;
            return all + k;
        }
    return NULL;
}

int
train_objective_set(struct train_objective *o, const char *name, double value,
                    struct err *err)
{
    struct loss_settings before = o->settings;
    const struct loss_scalar *scalar;
    double *at = param_at(o->row->params, o->settings.value, name);
    size_t slope;

    for (size_t i = 0; (scalar = learnt_scalar(o, i, &slope)); i++)
        if (!strcmp(scalar->name, name)) {
            if (!isfinite(value))
                return err_set(err, "%s is not finite", name);
            loss_scalar_apply(scalar,
                              fmin(fmax(value, scalar->min), scalar->max),
                              &o->settings);
            return 0;
        }
    if (!at)
        return err_set(err, "%s has no parameter '%s'", o->row->name, name);
    *at = value;
    if (!param_check(o->row->params, o->settings.value, err) &&
        !loss_objective_check(o->row, &o->settings, 0, 2, 0, err))
        return 0;
    o->settings = before;
    return -1;
}

int
train_objective_metric(const struct train_objective *o, size_t i,
                       const char **name, double *value)
{
    const struct loss_report *r = &o->report;
    static const char *const names[] = {"infonce", "positive", "cosine",
                                        "deviation"};
    const double all[] = {r->infonce, r->positive, r->cosine, r->deviation};
    const size_t n = sizeof all / sizeof *all;

    if (i >= n + r->more.n)
        return 0;
    *name = i < n ? names[i] : r->more.value[i - n].name;
    *value = i < n ? all[i] : r->more.value[i - n].value;
    return 1;
}

int
train_objective_scalar(const struct train_objective *o, size_t i,
                       const char **name, double *value, double *slope)
{
    size_t k;
    const struct loss_scalar *scalar = learnt_scalar(o, i, &k);

    if (!scalar)
        return 0;
    *name = scalar->name;
    *value = loss_scalar_start(scalar, &o->settings);
    *slope = o->report.slope[k];
    return 1;
}

int
train_objective_column(const struct train_objective *o, size_t i,
                       const char **name, size_t *count, float *out)
{
    const size_t columns = o->row->columns, sides = o->row->sides ? 2 : 1,
                 side = columns ? i / columns : 0;
    const float *at = o->samples.column + side * o->n * columns;

    if (!columns || side >= sides)
        return 0;
    *name = o->row->column[i % columns];
    *count = o->n * (side && o->captions ? o->captions : 1);
    for (size_t r = 0; out && r < *count; r++)
        out[r] = at[r * columns + i % columns];
    return 1;
}

int
train_objective_save(const struct train_objective *o, const char *folder,
                     struct err *err)
{
    return train_samples_save((void *)&o->samples, folder, err);
}

int
train_objective_load(struct train_objective *o, const char *folder,
                     struct err *err)
{
    return train_samples_load(&o->samples, folder, err);
}

const char *
train_objective_name(size_t i)
{
    size_t n = 0;

    while (loss_objectives[n])
        n++;
    return i < n ? loss_objectives[i]->name : NULL;
}
