/* Losses by tiles against their equations in double, for batches of several
 * blocks, of one, of an odd number of rows, and of two images. */
#include <stdlib.h>

#include "loss/device.h"
#include "loss/objectives.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

struct example {
    const struct loss_objective *objective;
    struct loss_settings set;
    struct loss_batch batch;
    float *z, *dz, *state;
    struct loss_report report;
};

static size_t
states_of(const struct example *e)
{
    return loss_objective_states(e->objective, e->batch.b) *
               e->objective->columns +
           1;
}

/* Runs a batch whose second views are near the first ones. */
static struct example
run(const struct loss_objective *o, size_t b, size_t d, double tau)
{
    struct example e = {.objective = o,
                        .set = loss_settings_of(o),
                        .batch = {.b = b, .dim = d}};
    double *x = mem_array(2 * b * d, sizeof *x);
    float *work = mem_array(loss_objective_size(o, &e.batch), sizeof *work);

    e.z = mem_array(2 * b * d, sizeof *e.z);
    e.dz = mem_array(2 * b * d, sizeof *e.dz);
    e.state = mem_array(states_of(&e), sizeof *e.state);
    e.set.value[LOSS_TAU] = tau;
    naive_lcg(2 * b * d, b + d, x);
    for (size_t i = 0; i < b * d; i++) {
        e.z[i] = (float)x[i];
        e.z[b * d + i] = (float)(x[i] + x[b * d + i] / 2);
    }
    loss_objective_run(o, &e.set, &e.batch, e.z, e.state, e.dz, work,
                       &e.report);
    mem_free(x, work);
    return e;
}

static void
release(struct example *e)
{
    mem_free(e->z, e->dz, e->state);
}

/* The gradient in double from coefficients [n,2], into dv [n,d], a row of the
 * softmax at a time. */
static void
push_rows(const struct example *e, const double *v, const double *tau,
          const struct loss_sums *sums, const float *coefficient, double *s,
          double *p, double *dv)
{
    const size_t b = e->batch.b, n = 2 * b, d = e->batch.dim;

    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < n; c++)
            s[c] = num_dot_doubles(d, v + r * d, v + c * d);
        for (size_t c = 0; c < n; c++) {
            const int in = naive_is_negative(b, r, c, e->objective->mask[0]);
            double w =
                in ? coefficient[2 * r] * exp(s[c] / tau[r] - sums[r].log_z)
                   : 0;

            w -= c == loss_partner(b, r) ? (double)coefficient[2 * r + 1] : 0;
            p[c] = w;
        }
        for (size_t c = 0; c < n; c++)
            for (size_t k = 0; k < d; k++) {
                dv[r * d + k] += p[c] * v[c * d + k];
                dv[c * d + k] += p[c] * v[r * d + k];
            }
    }
}

static void
follows_the_equation(const struct loss_objective *o, size_t b, size_t d,
                     double tau)
{
    struct example e = run(o, b, d, tau);
    const size_t n = 2 * b;
    double *v = mem_array(n * d, sizeof *v), *dv = mem_array(n * d, sizeof *dv);
    double *length = mem_array(n, sizeof *length);
    double *s = mem_array(n, sizeof *s), *p = mem_array(n, sizeof *p);
    double *taus = mem_array(n, sizeof *taus), off = 0, all = 0;
    float *vf = mem_array(n * d, sizeof *vf);
    float *coefficient = mem_array(2 * n, sizeof *coefficient);
    float *state = mem_array(states_of(&e), sizeof *state);
    struct loss_sums *sums = mem_array(n, sizeof *sums);
    struct loss_report report;

    device_unit(n, d, e.z, v, length);
    loss_objective_temperatures(o, &e.set, &e.batch, state, taus);
    for (size_t r = 0; r < n; r++) {
        for (size_t c = 0; c < n; c++)
            s[c] = num_dot_doubles(d, v + r * d, v + c * d);
        sums[r] = device_row(b, r, o->mask[0], taus[r], tau, NULL, s, p);
    }
    num_unit_rows(n, d, e.z, vf, NULL);
    loss_objective_sums(o, &e.set, &e.batch, vf, taus, sums, state, coefficient,
                        &report);
    push_rows(&e, v, taus, sums, coefficient, s, p, dv);
    for (size_t r = 0; r < n; r++) {
        const double along = num_dot_doubles(d, dv + r * d, v + r * d);

        for (size_t k = 0; k < d; k++) {
            const double want =
                (dv[r * d + k] - along * v[r * d + k]) / length[r];

            off += pow(e.dz[r * d + k] - want, 2);
            all += want * want;
        }
    }
    T_NEAR(e.report.value, report.value, 1e-6 * (1 + fabs(report.value)),
           "%s, %zu rows of %zu, tau %g: value", o->name, n, d, tau);
    T_NEAR(e.report.infonce, report.infonce, 1e-6 * (1 + report.infonce),
           "InfoNCE");
    // scores are f32: an error of 6e-8 times 1 / tau
    T(sqrt(off / all) <= (tau < 0.07 ? 1e-5 : 1e-6),
      "gradient: relative error %.1e", sqrt(off / all));
    mem_free(v, dv, length, s, p, taus, vf, coefficient, state, sums);
    release(&e);
}

/* SigLIP of many rows, by its equation. */
static void
stripes_follow_the_equation(size_t b, size_t d)
{
    struct example e =
        run(loss_objective_find("siglip", &(struct err){""}), b, d, 0.1);
    double *v = mem_array(2 * b * d, sizeof *v), want = 0;
    double *length = mem_array(2 * b, sizeof *length);

    device_unit(2 * b, d, e.z, v, length);
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            const double x =
                10 * num_dot_doubles(d, v + i * d, v + (b + j) * d) - 10;

            want += log1p(exp(i == j ? -x : x)) / (double)b;
        }
    T_NEAR(e.report.value, want, 1e-6 * want, "siglip, %zu rows", 2 * b);
    mem_free(v, length);
    release(&e);
}

int
main(void)
{
    static const size_t sizes[][2] = {{2, 3}, {129, 8}, {257, 5}, {301, 40}};
    struct err err;

    for (size_t k = 0; loss_objectives[k]; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            for (int cold = 0;
                 cold < 2 && loss_objective_takes_sums(loss_objectives[k]);
                 cold++)
                follows_the_equation(loss_objectives[k], sizes[i][0],
                                     sizes[i][1], cold ? 0.02 : 0.1);
    follows_the_equation(loss_objective_find("simclr", &err), 2048, 16, 0.1);
    follows_the_equation(loss_objective_find("clip", &err), 2048, 16, 0.07);
    stripes_follow_the_equation(130, 9);
    return t_done();
}
