#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loss/objectives.h"
#include "t.h"
#include "util/mem.h"

enum { D = 4 };

/* L where both views of image i are the row z[i], and its gradient [2 b][D]. */
static double
run(double beta, size_t b, double z[][D], double slope[][D])
{
    const struct loss_batch batch = {.b = b, .dim = D};
    const struct loss_settings set = {{1 / beta}, 0};
    const size_t size = loss_objective_size(&loss_infonce, &batch);
    float *rows = mem_array(2 * 2 * b * D + size, sizeof *rows);
    float *dz = rows + 2 * b * D;
    struct loss_report report;

    for (size_t i = 0; i < 2 * b * D; i++)
        rows[i] = (float)z[i / D % b][i % D];
    loss_objective_run(&loss_infonce, &set, &batch, rows, NULL, dz,
                       dz + 2 * b * D, &report);
    for (size_t i = 0; i < 2 * b * D; i++)
        slope[i / D][i % D] = dz[i];
    free(rows);
    return report.value;
}

/* L at beta = 1, and the largest element of the gradient. */
static double
value(size_t b, double z[][D], double *slope)
{
    double dz[2 * 8][D];
    const double loss = run(1, b, z, dz);

    *slope = 0;
    for (size_t i = 0; i < 2 * b * D; i++)
        *slope = fmax(*slope, fabs(dz[i / D][i % D]));
    return loss;
}

/* At the minima of the theory the gradient is 0. */
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
    T(slope > 1e-2, "two at right angles are pushed apart");
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

/* The four images of the toy at an angle t from their axis, and the derivative
 * of each by t. */
static void
toy(double t, double z[4][D], double move[4][D])
{
    for (int i = 0; i < 4; i++) {
        const double x = i < 2 ? 1 : -1, y = i == 0 || i == 3 ? 1 : -1;

        z[i][0] = x * cos(t);
        z[i][1] = y * sin(t);
        move[i][0] = -x * sin(t);
        move[i][1] = y * cos(t);
    }
}

/*
 * The toy close to its axis: by how much do the angles grow in the mean, by
 * descent on a random pair and on the pair with the largest loss?  Theorem 6
 * and corollary 2 of the mini-batch paper, arXiv:2307.05906: the times that
 * both take are as T_OSGD / T_SGD = (e^2beta - 1) / (3 (e^2beta + 1)).
 */
static double
times(double beta)
{
    double z[4][D] = {{0}}, move[4][D] = {{0}}, most = 0, hard = 0, mean = 0;

    toy(1e-3, z, move);
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) {
            double pair[2][D], dz[4][D], loss, speed = 0;

            memcpy(pair[0], z[i], sizeof pair[0]);
            memcpy(pair[1], z[j], sizeof pair[1]);
            loss = run(beta, 2, pair, dz);
            for (int k = 0; k < D; k++)
                speed -= move[i][k] * (dz[0][k] + dz[2][k]) +
                         move[j][k] * (dz[1][k] + dz[3][k]);
            mean += speed / 6;
            if (loss > most) {
                most = loss;
                hard = speed;
            }
        }
    return mean / hard;
}

static void
the_hardest_pair_is_faster(void)
{
    T_NEAR(times(1), 0.253865, 2e-4, "the toy: four times at temperature 1");
    T_NEAR(times(2), (exp(4) - 1) / 3 / (exp(4) + 1), 2e-4,
           "three times at a half");
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
    the_hardest_pair_is_faster();
    the_edge();
    return t_done();
}
