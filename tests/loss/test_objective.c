/* Every objective of the table, from raw embeddings to their gradient. */
#include <stdlib.h>

#include "loss/book.h"
#include "loss/objective.h"
#include "t.h"
#include "util/mem.h"

/* A batch of noise; weights as a sampler might say them. */
struct example {
    struct loss_batch batch;
    size_t rows;
    double *z;
    float *weights, *zf, *dz, *work;
};

static void
example_init(struct example *e, size_t b, size_t extra, size_t d)
{
    size_t n = 2 * b;

    e->rows = n + extra;
    e->z = mem_array(e->rows * d, sizeof *e->z);
    e->zf = mem_array(e->rows * d, sizeof *e->zf);
    e->dz = mem_array(e->rows * d, sizeof *e->dz);
    e->weights = mem_array(n * e->rows, sizeof *e->weights);
    e->batch = (struct loss_batch){b, extra, d, e->weights};
    e->work = mem_array(loss_objective_size(&e->batch), sizeof *e->work);
    book_lcg(e->rows * d, 7 * b + d, e->z);
    for (size_t i = 0; i < e->rows * d; i++)
        e->z[i] = e->zf[i] = (float)e->z[i];
    for (size_t r = 0; r < n; r++) {
        e->weights[r * e->rows + (r + 1) % e->rows] = 0.75f;
        e->weights[r * e->rows + (r + 3) % e->rows] += 0.25f;
    }
}

static void
example_release(struct example *e)
{
    free(e->z);
    free(e->zf);
    free(e->dz);
    free(e->weights);
    free(e->work);
}

static double
by_the_book(const struct loss_objective *o, const struct example *e, double tau)
{
    if (o->wants_weights)
        return book_emc2(e->batch.b, e->rows, e->batch.d, e->z, tau,
                         e->weights);
    return book_simclr(e->batch.b, e->batch.d, e->z, tau);
}

static struct loss_report
run(const struct loss_objective *o, struct example *e, double tau)
{
    struct loss_param param = {.tau = tau};
    struct loss_report report;

    loss_objective_run(o, &param, &e->batch, e->zf, NULL, e->dz, e->work,
                       &report);
    return report;
}

/* Every element of the gradient against central differences in double. */
static void
gradient_is_the_slope(const struct loss_objective *o, size_t b, size_t extra,
                      size_t d, double tau)
{
    const double h = 1e-6;
    struct example e;
    double off = 0, largest = 0;

    example_init(&e, b, extra, d);
    T_NEAR(run(o, &e, tau).value, by_the_book(o, &e, tau), 1e-5,
           "%s: value, b %zu, extra %zu, d %zu, tau %g", o->name, b, extra, d,
           tau);
    for (size_t i = 0; i < e.rows * d; i++) {
        double z = e.z[i], up, down;

        e.z[i] = z + h;
        up = by_the_book(o, &e, tau);
        e.z[i] = z - h;
        down = by_the_book(o, &e, tau);
        e.z[i] = z;
        off = fmax(off, fabs(e.dz[i] - (up - down) / (2 * h)));
        largest = fmax(largest, fabs(e.dz[i]));
    }
    T(off < 2e-5 * largest, "%s: gradient, off by %.1e of %.1e", o->name, off,
      largest);
    example_release(&e);
}

static void
equal_rows_have_no_way_out(const struct loss_objective *o)
{
    struct example e;
    struct loss_report report;
    double sum = 0;

    example_init(&e, 5, 0, 8);
    for (size_t i = 0; i < e.rows * 8; i++)
        e.zf[i] = 0.1f;
    report = run(o, &e, 0.1);
    T_NEAR(report.infonce, log(9), 1e-6, "%s: equal rows: log(2b - 1)",
           o->name);
    for (size_t i = 0; i < e.rows * 8; i++)
        sum += fabs(e.dz[i]);
    T(sum < 1e-4, "%s: equal rows: no gradient", o->name);
    T_NEAR(report.cosine, 1, 1e-6, "%s: equal rows: cosine 1", o->name);
    T_NEAR(report.deviation, 0, 1e-3, "%s: equal rows: deviation 0", o->name);
    T_NEAR(report.positive, 1, 1e-6, "%s: equal rows: partners agree", o->name);
    example_release(&e);
}

/* Swapping the views of z, and of the weights, swaps those of the gradient. */
static void
views_are_alike(const struct loss_objective *o)
{
    enum { B = 4, D = 6, N = 2 * B };
    struct example e, f;
    double off = 0;

    example_init(&e, B, 0, D);
    example_init(&f, B, 0, D);
    for (size_t r = 0; r < N; r++) {
        size_t to = (r + B) % N;

        memcpy(f.zf + to * D, e.zf + r * D, D * sizeof *f.zf);
        for (size_t c = 0; c < N; c++)
            f.weights[to * N + (c + B) % N] = e.weights[r * N + c];
    }
    T_NEAR(run(o, &e, 0.2).value, run(o, &f, 0.2).value, 1e-6,
           "%s: views swapped, same value", o->name);
    for (size_t r = 0; r < N; r++)
        for (size_t k = 0; k < D; k++)
            off = fmax(off, fabs(e.dz[r * D + k] - f.dz[(r + B) % N * D + k]));
    T(off < 1e-5, "%s: views swapped, gradient swapped", o->name);
    example_release(&e);
    example_release(&f);
}

static void
the_edge(const struct loss_objective *o)
{
    struct example e;
    int finite = 1;

    example_init(&e, 2, 0, 1);
    run(o, &e, 1e-3);
    for (size_t i = 0; i < e.rows; i++)
        finite &= !!isfinite(e.dz[i]);
    T(finite, "%s: two images of width 1, cold", o->name);
    e.zf[0] = NAN;
    T(!isfinite(run(o, &e, 0.5).value), "%s: NaN in, not finite out", o->name);
    e.zf[0] = 0;
    T(isfinite(run(o, &e, 0.5).value), "%s: a row of zeros is bearable",
      o->name);
    example_release(&e);
}

static void
reports_the_spread(void)
{
    struct example e;
    struct loss_report report;

    // the axes of the plane, both ways: spread out, each opposite its partner
    example_init(&e, 2, 0, 2);
    memcpy(e.zf, (float[]){1, 0, 0, 1, -1, 0, 0, -1}, 8 * sizeof *e.zf);
    report = run(loss_objectives, &e, 0.5);
    T_NEAR(report.positive, -1, 1e-6, "partners are opposite");
    T_NEAR(report.cosine, -1.0 / 3, 1e-6, "mean cosine of the axes");
    T_NEAR(report.deviation, 1, 1e-6, "spread out");
    example_release(&e);
}

int
main(void)
{
    static const size_t shapes[][3] = {{2, 0, 3}, {3, 0, 16}, {8, 0, 16},
                                       {2, 1, 3}, {5, 4, 7},  {8, 9, 3},
                                       {20, 5, 3}};
    struct err err;

    for (const struct loss_objective *o = loss_objectives; o->name; o++) {
        T(loss_objective_find(o->name, &err) == o, "%s is found", o->name);
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            gradient_is_the_slope(o, shapes[i][0], shapes[i][1], shapes[i][2],
                                  0.1);
            gradient_is_the_slope(o, shapes[i][0], shapes[i][1], shapes[i][2],
                                  1);
        }
        equal_rows_have_no_way_out(o);
        views_are_alike(o);
        the_edge(o);
    }
    reports_the_spread();
    T(!loss_objective_find("simclear", &err) && strstr(err.msg, "simclr emc2"),
      "an unknown one is refused with a list");
    return t_done();
}
