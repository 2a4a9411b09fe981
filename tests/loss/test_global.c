#include <stdlib.h>
#include <string.h>

#include "loss/global.h"
#include "loss/naive.h"
#include "loss/objective.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* Rows with their gradient; z in double for the naive. */
struct example {
    struct loss_global set;
    size_t n;
    double *z;
    float *zf, *dz, *work;
};

static struct example
make(size_t images, size_t views, size_t d, double beta, int inside, int cross)
{
    struct example e = {{images, views, d, beta, inside, cross},
                        images * views,
                        NULL,
                        NULL,
                        NULL,
                        NULL};
    struct rng rng;

    e.z = mem_array(e.n * d, sizeof *e.z);
    e.zf = mem_array(e.n * d, sizeof *e.zf);
    e.dz = mem_array(e.n * d, sizeof *e.dz);
    e.work = mem_array(loss_global_size(&e.set), sizeof *e.work);
    rng_init(&rng, 1, RNG_TEST, images, views, d);
    for (size_t i = 0; i < e.n * d; i++)
        e.z[i] = e.zf[i] = (float)rng_normal(&rng);
    for (size_t i = images * d; i < e.n * d; i++) // views have much in common
        e.z[i] = e.zf[i] = 0.5f * e.zf[i] + e.zf[i % (images * d)];
    return e;
}

static void
release(struct example *e)
{
    free(e->z);
    free(e->zf);
    free(e->dz);
    free(e->work);
}

/* L of the header, in double. */
static double
naive(const struct example *e, const double *z)
{
    const size_t images = e->set.images, d = e->set.d;
    double total = 0;

    for (size_t r = 0; r < e->n; r++) {
        double sum = 0;

        for (size_t c = 0; c < e->n; c++)
            if (c % images != r % images &&
                !(e->set.cross && c / images == r / images))
                sum += exp(e->set.beta * naive_cosine(d, z + r * d, z + c * d));
        for (size_t p = r % images; p < e->n; p += images) {
            double s = e->set.beta * naive_cosine(d, z + r * d, z + p * d);

            if (p != r)
                total += log(sum + (e->set.inside ? exp(s) : 0)) - s;
        }
    }
    return total / (double)(e->n * (e->set.views - 1));
}

static void
gradient_is_the_slope(size_t images, size_t views, double beta, int inside,
                      int cross)
{
    struct example e = make(images, views, 5, beta, inside, cross);
    const double h = 1e-6;
    double off = 0, largest = 0, value;

    value = loss_global(&e.set, e.zf, e.dz, e.work);
    T_NEAR(value, naive(&e, e.z), 2e-6 + 2e-8 * beta,
           "%zu images, %zu views, beta %g, %s", images, views, beta,
           inside  ? cross ? "inside, other views" : "inside"
           : cross ? "outside, other views"
                   : "outside");
    for (size_t i = 0; i < e.n * e.set.d; i++) {
        double was = e.z[i], up, down;

        e.z[i] = was + h;
        up = naive(&e, e.z);
        e.z[i] = was - h;
        down = naive(&e, e.z);
        e.z[i] = was;
        off = fmax(off, fabs(e.dz[i] - (up - down) / (2 * h)));
        largest = fmax(largest, fabs(e.dz[i]));
    }
    T(off <= 1e-5 * largest + 1e-8, "its gradient, error %.1e of %.1e", off,
      largest);
    T(loss_global(&e.set, e.zf, NULL, e.work) == value, "the value alone");
    release(&e);
}

/* More rows than a tile has: the slope along one direction. */
static void
tiles_add_up(void)
{
    struct example e = make(301, 2, 8, 25, 1, 0);
    double *side = mem_array(e.n * 8, sizeof *side);
    double want = 0, got[2], value;
    struct rng rng;

    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    value = loss_global(&e.set, e.zf, e.dz, e.work);
    T_NEAR(value, naive(&e, e.z), 2e-6, "602 rows");
    for (size_t i = 0; i < e.n * 8; i++) {
        double u = rng_normal(&rng);

        want += u * e.dz[i];
        side[i] = u;
    }
    for (int s = 0; s < 2; s++) {
        double *z = mem_array(e.n * 8, sizeof *z);

        for (size_t i = 0; i < e.n * 8; i++)
            z[i] = e.z[i] + (s ? 1e-6 : -1e-6) * side[i];
        got[s] = naive(&e, z);
        free(z);
    }
    T_NEAR((got[1] - got[0]) / 2e-6 / want, 1, 1e-4, "their gradient");
    free(side);
    release(&e);
}

/* Of one batch of all images it equals the objectives. */
static void
equals_objectives_of_one_batch(const char *name, int inside, int cross)
{
    struct example e = make(9, 2, 6, 5, inside, cross);
    struct err err;
    const struct loss_objective *o = loss_objective_find(name, &err);
    const struct loss_batch batch = {.b = 9, .dim = 6};
    struct loss_settings set = loss_settings_of(o);
    float dz[18 * 6];
    float *work = mem_array(loss_objective_size(o, &batch), sizeof *work);
    struct loss_report report = {0};
    double value = loss_global(&e.set, e.zf, e.dz, e.work), off = 0;

    set.value[LOSS_TAU] = 0.2;
    loss_objective_run(o, &set, &batch, e.zf, NULL, dz, work, &report);
    for (size_t i = 0; i < 18 * 6; i++)
        off = fmax(off, fabs(dz[i] - e.dz[i]));
    T_NEAR(value, report.value, 1e-6, "a batch of all: %s", name);
    T_NEAR(off, 0, 1e-6, "its gradient");
    free(work);
    release(&e);
}

static void
equal_rows_have_no_gradient(void)
{
    struct example e = make(300, 2, 4, 5, 0, 0);
    double most = 0;

    for (size_t i = 0; i < e.n * 4; i++)
        e.zf[i] = 1;
    T_NEAR(loss_global(&e.set, e.zf, e.dz, e.work), log(598), 1e-6,
           "equal rows: log(n - 2)");
    for (size_t i = 0; i < e.n * 4; i++)
        most = fmax(most, fabs(e.dz[i]));
    T(most < 1e-7, "equal rows: no gradient");
    release(&e);
}

/* s between the two of an image is 1, and -1 to the other: beta 0.5 / tau
 * overflows any plain exponential. */
static void
large_beta_does_not_overflow(void)
{
    struct example e = make(2, 2, 1, 1e4, 1, 0);

    for (size_t i = 0; i < 4; i++)
        e.zf[i] = i % 2 ? 1 : -1;
    T_NEAR(loss_global(&e.set, e.zf, e.dz, e.work), 0, 1e-9,
           "beta 10000, positive inside: 0");
    e.set.inside = 0;
    T_NEAR(loss_global(&e.set, e.zf, e.dz, e.work), log(2) - 2e4, 1e-9,
           "outside: log 2 - 2 beta");
    release(&e);
}

int
main(void)
{
    static const double beta[] = {1, 5, 25, 400};

    for (size_t i = 0; i < sizeof beta / sizeof *beta; i++)
        for (int inside = 0; inside < 2; inside++) {
            gradient_is_the_slope(4, 2, beta[i], inside, 0);
            gradient_is_the_slope(3, 3, beta[i], inside, 0);
        }
    gradient_is_the_slope(2, 2, 5, 0, 0);
    for (int inside = 0; inside < 2; inside++) {
        gradient_is_the_slope(4, 2, 5, inside, 1);
        gradient_is_the_slope(3, 3, 25, inside, 1);
    }
    tiles_add_up();
    equals_objectives_of_one_batch("clip", 1, 1);
    equals_objectives_of_one_batch("dcl", 0, 0);
    equals_objectives_of_one_batch("simclr", 1, 0);
    equal_rows_have_no_gradient();
    large_beta_does_not_overflow();
    return t_done();
}
