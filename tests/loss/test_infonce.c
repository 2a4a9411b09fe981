#include <math.h>
#include <stdlib.h>

#include "loss/infonce.h"
#include "t.h"
#include "util/mem.h"

enum { D = 4 };

/* L at beta = 1 where both views of image i are the row z[i], and the largest
 * element of the gradient. */
static double
value(size_t b, double z[][D], double *slope)
{
    const struct loss_batch batch = {.b = b, .d = D};
    const struct loss_settings set = {{1}, 0};
    const size_t size = loss_objective_size(&loss_infonce_objective, &batch);
    float *rows = mem_array(2 * 2 * b * D + size, sizeof *rows);
    float *dz = rows + 2 * b * D;
    struct loss_report report;

    for (size_t i = 0; i < 2 * b * D; i++)
        rows[i] = (float)z[i / D % b][i % D];
    loss_objective_run(&loss_infonce_objective, &set, &batch, rows, NULL, dz,
                       dz + 2 * b * D, &report);
    *slope = 0;
    for (size_t i = 0; i < 2 * b * D; i++)
        *slope = fmax(*slope, fabs(dz[i]));
    free(rows);
    return report.value;
}

/* Where the theory says that it is least, nothing pulls. */
static void
optima(void)
{
    double simplex[4][D] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    double cross[4][D] = {{1}, {0, 1}, {-1}, {0, -1}};
    double octahedron[8][D] = {{1},  {0, 1},  {0, 0, 1},  {0, 0, 0, 1},
                               {-1}, {0, -1}, {0, 0, -1}, {0, 0, 0, -1}};
    double slope;

    T_NEAR(value(4, simplex, &slope), 1.165315306, 1e-6, "simplex of 4");
    T(slope < 1e-6, "no gradient");
    T_NEAR(value(4, cross, &slope), 1.253046750, 1e-6, "cross-polytope of 4");
    T(slope < 1e-6, "no gradient");
    T_NEAR(value(8, octahedron, &slope), 2.413505033, 1e-6,
           "cross-polytope of 8");
    T(slope < 1e-6, "no gradient");
    T_NEAR(value(2, cross, &slope), 0.626523375, 1e-6, "two at right angles");
    T(slope > 1e-2, "are pushed apart");
}

/* The toy of four angles: the losses of its pairs at 0.1745. */
static void
angles(void)
{
    const double c = cos(0.1745), s = sin(0.1745);
    double near[2][D] = {{c, s}, {c, -s}}, far[2][D] = {{c, s}, {-c, -s}};
    double across[2][D] = {{c, s}, {-c, s}};
    double slope;

    T_NEAR(value(2, near, &slope), 1.326917931, 1e-6, "neighbours");
    T_NEAR(value(2, far, &slope), 0.253856022, 1e-6, "antipodes");
    T_NEAR(value(2, across, &slope), 0.268615741, 1e-6, "mirror images");
}

static void
the_edge(void)
{
    double same[8][D] = {{1}, {1}, {1}, {1}, {1}, {1}, {1}, {1}};
    double slope;

    T_NEAR(value(8, same, &slope), 2 * log(8), 1e-6, "all rows equal");
}

int
main(void)
{
    optima();
    angles();
    the_edge();
    return t_done();
}
