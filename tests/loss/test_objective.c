/* Every objective of the table, from raw embeddings to their gradient. */
#include <omp.h>
#include <stdlib.h>

#include "loss/device.h"
#include "loss/naive_objectives.h"
#include "loss/objectives.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

/* A batch of noise, with weights and scale as of a sampler; every other image
 * was seen before. */
struct example {
    const struct loss_objective *objective;
    struct loss_settings set;
    struct loss_batch batch;
    size_t rows;
    double *z;
    float *weights, *scale, *zf, *dz, *work, *state, *before;
};

static void
example_init(struct example *e, const struct loss_objective *o, size_t b,
             size_t extra, size_t d)
{
    const size_t n = 2 * b, rows = n + extra;
    const size_t states = loss_objective_states(o, b);

    *e = (struct example){
        .objective = o, .set = loss_settings_of(o), .rows = rows};
    e->z = mem_array(rows * d, sizeof *e->z);
    e->zf = mem_array(rows * d, sizeof *e->zf);
    e->dz = mem_array(rows * d, sizeof *e->dz);
    e->weights = mem_array(n * rows, sizeof *e->weights);
    e->scale = mem_array(n * 2, sizeof *e->scale);
    e->batch = (struct loss_batch){.b = b,
                                   .extra = extra,
                                   .dim = d,
                                   .weights = e->weights,
                                   .scale = e->scale};
    e->work = mem_array(loss_objective_size(o, &e->batch), sizeof *e->work);
    e->state = mem_array(states * o->columns, sizeof *e->state);
    e->before = mem_array(states * o->columns, sizeof *e->before);
    for (size_t k = 0; k < states && o->columns; k++) {
        const float seen[] = {0.3f * (float)k, 1, 0.1f,
                              0.2f + 0.1f * (float)(k % 3)};

        if (k % 2)
            memcpy(e->before + k * o->columns, seen, o->columns * sizeof *seen);
    }
    naive_lcg(rows * d, 7 * b + d, e->z);
    for (size_t i = 0; i < rows * d; i++)
        e->z[i] = e->zf[i] = (float)e->z[i];
    for (size_t r = 0; r < n; r++) {
        e->weights[r * rows + (r + 1) % rows] = 0.75f;
        e->weights[r * rows + (r + 3) % rows] += 0.25f;
        e->scale[2 * r] = 1 / (1 + (float)(r % 5));
        e->scale[2 * r + 1] = e->scale[2 * r] * (0.5f + 0.3f * (float)(r % 4));
    }
}

static void
example_release(struct example *e)
{
    free(e->z);
    free(e->zf);
    free(e->dz);
    free(e->weights);
    free(e->scale);
    free(e->work);
    free(e->state);
    free(e->before);
}

/* Sets a parameter, if the objective has it. */
static void
set_param(struct example *e, const char *name, double value)
{
    double *at = param_at(e->objective->params, e->set.value, name);

    if (at)
        *at = value;
}

/* Moves the real parameters after tau off their defaults, a sixteenth of the
 * way to the end of their range, at most 0.1; not one that the others do not
 * allow. */
static void
move_params(struct example *e)
{
    struct err none;

    for (size_t k = LOSS_TAU + 1; e->objective->params[k].name; k++) {
        const struct param *p = e->objective->params + k;
        const double value = e->set.value[k], way = (p->max - value) / 16;

        if (p->kind != OPT_REAL)
            continue;
        e->set.value[k] += way > 0 ? fmin(way, 0.1) : (p->min - value) / 16;
        if (loss_objective_check(e->objective, &e->set, 0, 2, 0, &none))
            e->set.value[k] = value;
    }
}

/* Numbers of the state. */
static size_t
states(const struct example *e)
{
    return loss_objective_states(e->objective, e->batch.b) *
           e->objective->columns;
}

static struct loss_report
run(struct example *e)
{
    struct loss_report report;

    if (e->objective->columns)
        memcpy(e->state, e->before, states(e) * sizeof *e->state);
    loss_objective_run(e->objective, &e->set, &e->batch, e->zf, e->state, e->dz,
                       e->work, &report);
    return report;
}

static size_t
naive_find(const struct loss_objective *o)
{
    for (size_t i = 0; i < sizeof naive_objectives / sizeof *naive_objectives;
         i++)
        if (!strcmp(naive_objectives[i].name, o->name))
            return i;
    printf("Bail out! '%s' has no row in naive_objectives.h\n", o->name);
    exit(1);
}

/* Every element of the gradient against central differences in double. */
static void
gradient_is_the_slope(const struct loss_objective *o, const size_t shape[3],
                      double tau, int reference, int moved)
{
    const double h = 1e-6;
    const size_t row = naive_find(o);
    struct example e;
    struct naive k;
    double off = 0, largest = 0, value, *z0;

    example_init(&e, o, shape[0], shape[1], shape[2] + o->aux_columns);
    e.set.value[LOSS_TAU] = tau;
    e.set.reference = reference;
    if (moved)
        move_params(&e);
    if (reference) { // else the difference crosses a kink
        set_param(&e, "tau-plus", 0.6);
        for (size_t i = 0; i < e.rows * e.batch.dim; i += 2)
            e.z[i] = e.zf[i] *= 8;
    }
    z0 = mem_array(e.rows * e.batch.dim, sizeof *z0);
    memcpy(z0, e.z, e.rows * e.batch.dim * sizeof *z0);
    k = (struct naive){e.batch.b, e.rows,  e.batch.dim, o, &e.set,
                       e.weights, e.scale, e.before,    z0};
    value = (naive_objectives[row].value ? naive_objectives[row].value
                                         : naive_objectives[row].loss)(&k, e.z);
    T_NEAR(run(&e).value, value, 1e-5,
           "%s: value, b %zu, extra %zu, d %zu, tau %g, reference %d, moved %d",
           o->name, shape[0], shape[1], shape[2], tau, reference, moved);
    for (size_t i = 0; i < e.rows * e.batch.dim; i++) {
        double up, down;

        e.z[i] = z0[i] + h;
        up = naive_objectives[row].loss(&k, e.z);
        e.z[i] = z0[i] - h;
        down = naive_objectives[row].loss(&k, e.z);
        e.z[i] = z0[i];
        off = fmax(off, fabs(e.dz[i] - (up - down) / (2 * h)));
        largest = fmax(largest, fabs(e.dz[i]));
    }
    T(off < 2e-5 * largest, "%s: gradient, error %.1e of %.1e", o->name, off,
      largest);
    free(z0);
    example_release(&e);
}

static void
equal_rows_have_no_gradient(const struct loss_objective *o)
{
    struct example e;
    struct loss_report report;
    double sum = 0;
    int finite = 1;

    example_init(&e, o, 5, 0, 8 + o->aux_columns);
    e.set.value[LOSS_TAU] = 0.1;
    for (size_t i = 0; i < e.rows * e.batch.dim; i++)
        e.zf[i] = 0.1f;
    report = run(&e);
    T_NEAR(report.infonce, log(9), 1e-6, "%s: equal rows: log(2b - 1)",
           o->name);
    for (size_t i = 0; i < e.rows * e.batch.dim; i++) {
        sum += fabs(e.dz[i]);
        finite &= !!isfinite(e.dz[i]);
    }
    T(o->direct ? finite : sum < 1e-4, "%s: equal rows: no gradient", o->name);
    T_NEAR(report.cosine, 1, 1e-6, "%s: equal rows: cosine 1", o->name);
    T_NEAR(report.deviation, 0, 1e-3, "%s: equal rows: deviation 0", o->name);
    T_NEAR(report.positive, 1, 1e-6, "%s: equal rows: partners agree", o->name);
    example_release(&e);
}

/* Row r of e is row to[r] of f: so is the gradient, and the state. */
static void
rows_may_be_permuted(const struct loss_objective *o, const size_t *to,
                     const char *what)
{
    enum { B = 4, N = 2 * B };
    const size_t d = 6 + o->aux_columns, columns = o->columns;
    const size_t period = loss_objective_states(o, B);
    struct example e, f;
    double off = 0;

    example_init(&e, o, B, 0, d);
    example_init(&f, o, B, 0, d);
    for (size_t r = 0; r < N; r++) {
        memcpy(f.zf + to[r] * d, e.zf + r * d, d * sizeof *f.zf);
        memcpy(f.scale + 2 * to[r], e.scale + 2 * r, 2 * sizeof *f.scale);
        for (size_t c = 0; c < N; c++)
            f.weights[to[r] * N + to[c]] = e.weights[r * N + c];
        for (size_t k = 0; k < columns; k++)
            f.before[to[r] % period * columns + k] =
                e.before[r % period * columns + k];
    }
    T_NEAR(run(&e).value, run(&f).value, 2e-6, "%s: %s, same value", o->name,
           what);
    for (size_t r = 0; r < N; r++) {
        for (size_t k = 0; k < d; k++)
            off = fmax(off, fabs(e.dz[r * d + k] - f.dz[to[r] * d + k]));
        for (size_t k = 0; k < columns; k++)
            off = fmax(off, fabs(e.state[r % period * columns + k] -
                                 f.state[to[r] % period * columns + k]));
    }
    T(off < 2e-5, "%s: %s, same gradient: error %.1e", o->name, what, off);
    example_release(&e);
    example_release(&f);
}

static int
all_finite(const struct example *e)
{
    int finite = 1;

    for (size_t i = 0; i < e->rows * e->batch.dim; i++)
        finite &= !!isfinite(e->dz[i]);
    for (size_t i = 0; i < states(e); i++)
        finite &= !!isfinite(e->state[i]);
    return finite;
}

static void
the_edge(const struct loss_objective *o)
{
    struct example e;

    example_init(&e, o, 2, 0, 1 + o->aux_columns);
    e.set.value[LOSS_TAU] = 1e-4;
    T(isfinite(run(&e).value) && all_finite(&e),
      "%s: two images of width 1, cold", o->name);
    e.set.value[LOSS_TAU] = 0.5;
    e.zf[0] = NAN;
    T(!isfinite(run(&e).value), "%s: NaN in, not finite out", o->name);
    e.zf[0] = 0;
    T(isfinite(run(&e).value) && all_finite(&e),
      "%s: a row of zeros gives finite numbers", o->name);
    example_release(&e);
}

/* Scores that differ by a hundred thousand times the range of exp(). */
static void
large_beta_is_finite(const struct loss_objective *o)
{
    struct example e;

    example_init(&e, o, 8, 0, 16 + o->aux_columns);
    e.set.value[LOSS_TAU] = 1e-4;
    T(isfinite(run(&e).value) && all_finite(&e), "%s: beta of 10,000", o->name);
    e.set.value[LOSS_TAU] = 1e4;
    T(isfinite(run(&e).value) && all_finite(&e), "%s: and of 1/10,000",
      o->name);
    example_release(&e);
}

/* The same image twice in a batch: two images that look alike. */
static void
duplicates_are_accepted(const struct loss_objective *o)
{
    struct example e;
    const size_t d = 5 + o->aux_columns;

    example_init(&e, o, 3, 0, d);
    e.set.value[LOSS_TAU] = 0.01;
    for (size_t v = 0; v < 2; v++)
        memcpy(e.zf + (3 * v + 2) * d, e.zf + 3 * v * d, d * sizeof *e.zf);
    memcpy(e.before + 2 * o->columns, e.before, o->columns * sizeof *e.before);
    T(isfinite(run(&e).value) && all_finite(&e),
      "%s: an image twice in a batch", o->name);
    T(!memcmp(e.state + 2 * o->columns, e.state,
              o->columns * sizeof *e.state) ||
          fabs(e.state[2 * o->columns] - e.state[0]) < 1e-5,
      "%s: has one state afterwards", o->name);
    example_release(&e);
}

static void
defaults_are_accepted(const struct loss_objective *o)
{
    struct loss_settings set = loss_settings_of(o);
    struct err err = {""};

    T(!loss_objective_check(o, &set, 256, 2, 128, &err),
      "%s: its defaults are accepted %s", o->name, err.msg);
    T(loss_objective_check(o, &set, 1, 2, 128, &err) &&
          strstr(err.msg, "no negatives"),
      "%s: one image is refused", o->name);
    T(!o->aux_columns ||
          (loss_objective_check(o, &set, 256, 2, o->aux_columns, &err) &&
           strstr(err.msg, "more than")),
      "%s: an embedding of no column is refused", o->name);
    T(!strcmp(o->params[LOSS_TAU].name, "tau"),
      "%s: its first parameter is the temperature", o->name);
    for (size_t i = 0; o->params[i].name; i++) {
        if (o->params[i].kind == OPT_FLAG)
            continue;
        set = loss_settings_of(o);
        set.value[i] = o->params[i].max + 1;
        T(loss_objective_check(o, &set, 256, 2, 128, &err) &&
              strstr(err.msg, o->params[i].name),
          "%s: %s beyond its range is refused", o->name, o->params[i].name);
    }
}

/* rho = log(b - 1) - rho_gap is 0 .. log(b - 1), both ends excluded. */
static void
rho_has_a_range(void)
{
    struct err err;
    const struct loss_objective *o =
        loss_objective_find("isogclr_bimodal", &err);
    struct loss_settings set = loss_settings_of(o);
    double *gap = &set.value[param_find(o->params, "rho-gap") - o->params];

    T(!loss_objective_check(o, &set, 0, 2, 128, &err) &&
          !loss_objective_check(o, &set, 6, 2, 128, &err),
      "rho-gap 1.5 is accepted in batches of 6");
    T(loss_objective_check(o, &set, 5, 2, 128, &err) &&
          strstr(err.msg, "tau-max"),
      "rho-gap 1.5 is refused in batches of 5: %s", err.msg);
    *gap = log(255);
    T(loss_objective_check(o, &set, 256, 2, 128, &err),
      "rho-gap log(b - 1) is refused in batches of b");
    set.reference = 1;
    T(!loss_objective_check(o, &set, 256, 2, 128, &err),
      "the reference accepts any");
    set.reference = 0;
    *gap = 0;
    T(loss_objective_check(o, &set, 256, 2, 128, &err) &&
          strstr(err.msg, "tau-min"),
      "0 is refused: %s", err.msg);
}

/* FlatNCE's gradient is that of dcl, by its definition. */
static void
flatclr_has_the_weights_of_dcl(void)
{
    struct example e, f;

    example_init(&e, &loss_flatclr, 5, 0, 7);
    example_init(&f, &loss_dcl, 5, 0, 7);
    run(&e);
    run(&f);
    T(!memcmp(e.dz, f.dz, e.rows * e.batch.dim * sizeof *e.dz),
      "flatclr has the gradient of dcl to the bit");
    example_release(&e);
    example_release(&f);
}

/* dL/dx of each scalar against central differences of the formula. */
static void
scalar_gradients_are_slopes(const struct loss_objective *o, double tau)
{
    const double h = 1e-5;
    const size_t i_naive = naive_find(o);
    struct example e;
    struct loss_report report;

    example_init(&e, o, 6, 0, 9);
    e.set.value[LOSS_TAU] = tau;
    report = run(&e);
    for (size_t i = 0; o->scalars && o->scalars[i].name; i++) {
        const struct loss_scalar *scalar = o->scalars + i;
        const double x = loss_scalar_start(scalar, &e.set);
        struct loss_settings up = e.set, down = e.set;
        struct naive k = {e.batch.b, e.rows,  e.batch.dim, o,  &up,
                          e.weights, e.scale, e.before,    e.z};
        double slope;

        loss_scalar_apply(scalar, x + h, &up);
        loss_scalar_apply(scalar, x - h, &down);
        slope = naive_objectives[i_naive].loss(&k, e.z);
        k.set = &down;
        slope = (slope - naive_objectives[i_naive].loss(&k, e.z)) / (2 * h);
        T_NEAR(report.slope[i], slope, 1e-5 * fmax(1, fabs(slope)),
               "%s: slope along %s, tau %g", o->name, scalar->name, tau);
    }
    example_release(&e);
}

static void
scalars_replace_parameters(void)
{
    struct loss_settings set = loss_settings_of(&loss_clip);
    const struct loss_scalar *scale = &loss_clip.scalars[0];

    T_NEAR(loss_scalar_start(scale, &set), log(1 / 0.07), 1e-12,
           "the scale of clip begins at log(1 / 0.07)");
    loss_scalar_apply(scale, scale->max, &set);
    T_NEAR(set.value[LOSS_TAU], 0.01, 1e-12, "its bound is tau 0.01");
    T(loss_scalar_is_trained(scale, &set), "it is trained");
    *param_at(loss_clip.params, set.value, "fixed-tau") = 1;
    T(!loss_scalar_is_trained(scale, &set), "with fixed-tau it is not");
}

/* Radford's loss is the mean of both directions, van den Oord's their sum. */
static void
clip_is_half_of_infonce(void)
{
    struct example e, f;
    double off = 0;

    example_init(&e, &loss_clip, 7, 2, 6);
    example_init(&f, &loss_infonce, 7, 2, 6);
    e.set.value[LOSS_TAU] = f.set.value[LOSS_TAU] = 0.2;
    T_NEAR(2 * run(&e).value, run(&f).value, 1e-6, "clip is half of infonce");
    for (size_t i = 0; i < e.rows * e.batch.dim; i++)
        off = fmax(off, fabs(2 * e.dz[i] - f.dz[i]));
    T(off < 1e-6, "the gradient of clip is half of infonce's, error %.1e", off);
    example_release(&e);
    example_release(&f);
}

static void
reports_uniformity(void)
{
    struct example e;
    struct loss_report report;

    // the axes of the plane, both ways: spread out, each opposite its partner
    example_init(&e, &loss_simclr, 2, 0, 2);
    memcpy(e.zf, (float[]){1, 0, 0, 1, -1, 0, 0, -1}, 8 * sizeof *e.zf);
    report = run(&e);
    T_NEAR(report.positive, -1, 1e-6, "partners are opposite");
    T_NEAR(report.cosine, -1.0 / 3, 1e-6, "mean cosine of the axes");
    T_NEAR(report.deviation, 1, 1e-6, "spread out");
    example_release(&e);
}

/* With one, two and eight threads all results have the same bits.  The batch
 * has two blocks of rows in each view, and products that several threads would
 * share. */
static void
threads_change_no_bit(const struct loss_objective *o)
{
    enum { B = 301, D = 128 };
    static const int threads[] = {1, 2, 8};
    const int before = omp_get_max_threads();
    struct loss_report report[3];
    struct example e[3];

    for (int k = 0; k < 3; k++) {
        example_init(&e[k], o, B, 0, D + o->aux_columns);
        omp_set_num_threads(threads[k]);
        report[k] = run(&e[k]);
    }
    omp_set_num_threads(before);
    for (int k = 1; k < 3 && o->row; k++)
        T(isfinite(report[0].value) && report[0].value == report[k].value &&
              report[0].slope[0] == report[k].slope[0] &&
              report[0].infonce == report[k].infonce &&
              !memcmp(e[0].dz, e[k].dz,
                      e[0].rows * e[0].batch.dim * sizeof *e[0].dz) &&
              (!o->columns ||
               !memcmp(e[0].state, e[k].state, states(e) * sizeof *e->state)),
          "%s: one and %d threads give the same bits", o->name, threads[k]);
    for (int k = 0; k < 3; k++)
        example_release(&e[k]);
}

/* Compares two reports, numbers of the objective and shares included. */
static void
same_reports(const struct loss_objective *o, const struct loss_report *x,
             const struct loss_report *y)
{
    T_NEAR(x->value, y->value, 1e-6 * (1 + fabs(y->value)),
           "%s: row sums: value", o->name);
    T_NEAR(x->infonce, y->infonce, 1e-6 * (1 + y->infonce), "infonce");
    T_NEAR(x->positive, y->positive, 1e-6, "positive");
    T_NEAR(x->cosine, y->cosine, 1e-6, "cosine");
    T_NEAR(x->deviation, y->deviation, 1e-6, "deviation");
    T_NEAR(x->slope[0], y->slope[0], 1e-6 * (1 + fabs(y->slope[0])), "slope");
    T(x->share.same_group == y->share.same_group &&
          x->share.negatives == y->share.negatives,
      "%s: row sums: numbers of negatives", o->name);
    T_NEAR(x->share.same_group_weight / x->share.all,
           y->share.same_group_weight / y->share.all, 1e-6,
           "%s: row sums: share of a group", o->name);
    T(x->more.n == y->more.n, "%s: row sums: as many metrics", o->name);
    for (size_t i = 0; i < x->more.n; i++)
        T_NEAR(value_find(x->more.value, x->more.n, y->more.value[i].name),
               y->more.value[i].value,
               2e-6 * (1 + fabs(y->more.value[i].value)), "%s: row sums: %s",
               o->name, y->more.value[i].name);
}

/* From the sums of a device: the same value, state, metrics and gradient. */
static void
row_sums_are_enough(const struct loss_objective *o, int reference)
{
    enum { B = 9, N = 2 * B, D = 6 };
    static const double taus[] = {1, 0.1, 0.03};
    struct loss_sums sums[N];
    struct loss_report report, by_sums;
    int64_t sample[N], group[N];
    double tau[N], p[N * N];
    float coefficient[2 * N], dz[N * D];
    struct example e;

    for (size_t r = 0; r < N; r++) {
        sample[r] = (int64_t)(r % B);
        group[r] = sample[r] % 3 - 1;
    }
    for (size_t i = 0; i < 3 && loss_objective_takes_sums(o); i++) {
        double off = 0, largest = 0;
        float *state;

        example_init(&e, o, B, 0, D);
        e.set.reference = reference;
        e.set.value[LOSS_TAU] = taus[i];
        e.batch.sample = sample;
        e.batch.group = group;
        report = run(&e);
        num_unit_rows(N, D, e.zf, e.work, NULL);
        state = e.before;
        loss_objective_temperatures(o, &e.set, &e.batch, state, tau);
        device_sums(B, D, e.zf, o->mask[reference], tau, taus[i], group, p,
                    sums);
        loss_objective_sums(o, &e.set, &e.batch, e.work, tau, sums, state,
                            coefficient, &by_sums);
        same_reports(o, &by_sums, &report);
        device_gradient(B, D, e.zf, p, coefficient, dz);
        for (size_t k = 0; k < N * D; k++) {
            off = fmax(off, fabs(dz[k] - e.dz[k]));
            largest = fmax(largest, fabs(e.dz[k]));
        }
        T(off < 1e-5 * largest, "%s: row sums: gradient, error %.1e of %.1e",
          o->name, off, largest);
        for (size_t k = 0; k < states(&e); k++)
            T_NEAR(state[k], e.state[k], 1e-6 * (1 + fabs(e.state[k])),
                   "%s: row sums: state", o->name);
        example_release(&e);
    }
}

/* The list is complete, however long the unknown name. */
static void
is_listed(const struct loss_objective *o)
{
    char name[400];
    struct err err;

    snprintf(name, sizeof name, "%0399d", 0);
    T(!loss_objective_find(name, &err) && strstr(err.msg, o->name),
      "%s is in the list: %s", o->name, err.msg);
}

int
main(void)
{
    static const size_t shapes[][3] = {{2, 0, 3}, {3, 0, 16}, {8, 0, 16},
                                       {2, 1, 3}, {5, 4, 7},  {8, 9, 3},
                                       {20, 5, 3}};
    static const size_t swapped[] = {4, 5, 6, 7, 0, 1, 2, 3};
    static const size_t turned[] = {2, 0, 3, 1, 6, 4, 7, 5};
    struct err err;

    for (size_t k = 0; loss_objectives[k]; k++) {
        const struct loss_objective *o = loss_objectives[k];

        T(loss_objective_find(o->name, &err) == o, "%s is found", o->name);
        is_listed(o);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            gradient_is_the_slope(o, shapes[i], 0.1, 0, 0);
            gradient_is_the_slope(o, shapes[i], 1, 0, 0);
            gradient_is_the_slope(o, shapes[i], 0.5, 0, 1);
            gradient_is_the_slope(o, shapes[i], 0.5, 1, 0);
            gradient_is_the_slope(o, shapes[i], 0.03, 1, 0);
        }
        equal_rows_have_no_gradient(o);
        rows_may_be_permuted(o, swapped, "views swapped");
        rows_may_be_permuted(o, turned, "images moved");
        the_edge(o);
        large_beta_is_finite(o);
        duplicates_are_accepted(o);
        defaults_are_accepted(o);
        scalar_gradients_are_slopes(o, 0.1);
        scalar_gradients_are_slopes(o, 1);
        threads_change_no_bit(o);
        row_sums_are_enough(o, 0);
        row_sums_are_enough(o, 1);
    }
    scalars_replace_parameters();
    clip_is_half_of_infonce();
    rho_has_a_range();
    flatclr_has_the_weights_of_dcl();
    reports_uniformity();
    return t_done();
}
