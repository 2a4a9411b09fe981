/* Objectives of more than two views of an image. */
#include <stdlib.h>

#include "loss/naive_views.h"
#include "loss/objectives.h"
#include "t.h"
#include "util/mem.h"

enum { MOST = NAIVE_ROWS, D = 6, COLUMNS = 4 };

/* A batch of noise; every other image was seen before. */
struct example {
    const struct loss_objective *objective;
    struct loss_settings set;
    struct loss_batch batch;
    double z[MOST * D];
    float zf[MOST * D], dz[MOST * D], before[MOST * COLUMNS],
        state[MOST * COLUMNS];
};

static void
example_init(struct example *e, const struct loss_objective *o, size_t b,
             size_t v, size_t targets, double tau)
{
    *e = (struct example){
        .objective = o,
        .set = loss_settings_of(o),
        .batch = {.b = b, .v = v, .targets = targets, .dim = D}};
    e->set.value[LOSS_TAU] = tau;
    naive_lcg(MOST * D, 5 * b + v, e->z);
    for (size_t i = 0; i < MOST * D; i++)
        e->z[i] = e->zf[i] = (float)e->z[i];
    for (size_t k = 1; k < b; k += 2) {
        const float seen[COLUMNS] = {0.2f * (float)k, 1, 0.1f, 0.3f};

        memcpy(e->before + k * o->columns, seen, o->columns * sizeof *seen);
    }
}

static struct loss_report
run(struct example *e)
{
    struct loss_report report;
    float *work =
        mem_array(loss_objective_size(e->objective, &e->batch), sizeof *work);

    memcpy(e->state, e->before, sizeof e->state);
    loss_objective_run(e->objective, &e->set, &e->batch, e->zf, e->state, e->dz,
                       work, &report);
    free(work);
    return report;
}

static double
number_one(const struct naive_views *v, size_t r, size_t p)
{
    return v->s[r][p];
}

/* Value, report and each element of the gradient by the definition. */
static void
follows_the_definition(size_t i, const size_t shape[3], double tau)
{
    const struct loss_objective *o =
        loss_objective_find(naive_of_views[i].name, &(struct err){""});
    const double h = 1e-6;
    double z0[MOST * D], off = 0, largest = 0;
    struct loss_report report;
    struct naive_views v;
    struct example e;
    struct naive k;
    size_t n;

    example_init(&e, o, shape[0], shape[1], shape[2], tau);
    n = e.batch.b * e.batch.v;
    memcpy(z0, e.z, sizeof z0);
    k = (struct naive){
        .d = D, .objective = o, .set = &e.set, .state = e.before, .z0 = z0};
    v = (struct naive_views){.of = loss_views_of(&e.batch), .k = &k};
    report = run(&e);
    T_NEAR(report.value, naive_views_value(&v, e.z, naive_of_views[i].value),
           2e-6, "%s: %zu views of %zu images, %zu targets, tau %g", o->name,
           shape[1], shape[0], shape[2], tau);
    T_NEAR(report.infonce, naive_views_value(&v, e.z, naive_views_simclr), 2e-6,
           "%s: the report has the loss of simclr", o->name);
    T_NEAR(report.positive, naive_views_value(&v, e.z, number_one), 1e-6,
           "%s: and the cosine of positives", o->name);
    for (size_t j = 0; j < n * D; j++) {
        double up, down;

        e.z[j] = z0[j] + h;
        up = naive_views_value(&v, e.z, naive_of_views[i].loss);
        e.z[j] = z0[j] - h;
        down = naive_views_value(&v, e.z, naive_of_views[i].loss);
        e.z[j] = z0[j];
        off = fmax(off, fabs(e.dz[j] - (up - down) / (2 * h)));
        largest = fmax(largest, fabs(e.dz[j]));
    }
    T(off < 2e-5 * largest, "%s: its gradient, error %.1e of %.1e", o->name,
      off, largest);
}

/* The mean of infonce over all pairs of views. */
static void
infonce_is_the_mean_over_pairs(void)
{
    enum { B = 3, V = 4 };
    struct example all, pair;
    double sum = 0;

    example_init(&all, &loss_infonce, B, V, 0, 0.2);
    for (size_t u = 0; u < V; u++)
        for (size_t w = u + 1; w < V; w++) {
            example_init(&pair, &loss_infonce, B, 2, 0, 0.2);
            memcpy(pair.zf, all.zf + u * B * D, B * D * sizeof *pair.zf);
            memcpy(pair.zf + B * D, all.zf + w * B * D,
                   B * D * sizeof *pair.zf);
            sum += run(&pair).value;
        }
    T_NEAR(run(&all).value, sum / 6, 1e-6, "infonce: the mean of six pairs");
}

/* State of an image is the mean over its views: with equal views that of one.
 */
static void
state_is_a_mean(void)
{
    struct example two, four;

    example_init(&two, &loss_isogclr, 4, 2, 0, 0.3);
    example_init(&four, &loss_isogclr, 4, 4, 0, 0.3);
    for (size_t v = 0; v < 4; v++) {
        memcpy(four.zf + v * 4 * D, two.zf, 4 * D * sizeof *two.zf);
        if (v < 2)
            memcpy(two.zf + v * 4 * D, two.zf, 4 * D * sizeof *two.zf);
    }
    memcpy(four.before, two.before, sizeof two.before);
    run(&two);
    run(&four);
    for (size_t i = 0; i < 4 * COLUMNS; i++)
        T_NEAR(four.state[i], two.state[i], 1e-6,
               "equal views: number %zu of the state", i);
}

/* An objective takes any number of views, or says why not. */
static void
is_taken_or_refused(const struct loss_objective *o)
{
    struct loss_settings set = loss_settings_of(o);
    struct err err = {""};
    int known = 0;

    for (size_t i = 0; i < sizeof naive_of_views / sizeof *naive_of_views; i++)
        known |= !strcmp(naive_of_views[i].name, o->name);
    T(known == !o->pairs, "%s: its views have a definition here", o->name);
    T((loss_objective_check(o, &set, 256, 8, 128, &err) == 0) == known &&
          (known || strstr(err.msg, o->pairs)),
      "%s: 8 views: %s", o->name, err.msg);
    set.reference = 1;
    T(loss_objective_check(o, &set, 256, 8, 128, &err), "%s: %s", o->name,
      err.msg);
}

int
main(void)
{
    static const size_t shapes[][3] = {{5, 2, 2}, {2, 3, 3}, {3, 4, 4},
                                       {5, 8, 8}, {5, 8, 2}, {3, 4, 3}};
    struct err err;
    struct loss_settings set = loss_settings_of(&loss_isogclr);

    for (size_t i = 0; i < sizeof naive_of_views / sizeof *naive_of_views; i++)
        for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
            follows_the_definition(i, shapes[k], 0.1);
            follows_the_definition(i, shapes[k], 1);
        }
    infonce_is_the_mean_over_pairs();
    state_is_a_mean();
    for (size_t k = 0; loss_objectives[k]; k++)
        is_taken_or_refused(loss_objectives[k]);
    set.value[param_find(loss_isogclr.params, "rho") - loss_isogclr.params] = 2;
    T(loss_objective_check(&loss_isogclr, &set, 4, 2, 0, &err) &&
          !loss_objective_check(&loss_isogclr, &set, 4, 3, 0, &err),
      "rho 2 wants nine negatives: three views of four images");
    return t_done();
}
