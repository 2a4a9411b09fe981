#include "eval/probe.h"
#include "t.h"

enum { N = 12 };

/* sum_i (i + 1) (w_i - i)^2 / 2: the minimum is at w_i = i. */
static double
bowl(void *self, const double *w, double *g)
{
    double f = 0;

    (void)self;
    for (int i = 0; i < N; i++) {
        g[i] = (i + 1) * (w[i] - i);
        f += g[i] * (w[i] - i) / 2;
    }
    return f;
}

/* Rosenbrock 1960: a bent valley with its minimum, 0, at (1, 1). */
static double
valley(void *self, const double *w, double *g)
{
    double along = 1 - w[0], off = w[1] - w[0] * w[0];

    (void)self;
    g[0] = -2 * along - 400 * w[0] * off;
    g[1] = 200 * off;
    return along * along + 100 * off * off;
}

/* A function without a minimum. */
static double
slide(void *self, const double *w, double *g)
{
    (void)self;
    g[0] = -exp(-w[0]);
    return exp(-w[0]);
}

int
main(void)
{
    double w[N] = {0}, two[2] = {-1.2, 1}, one[1] = {0}, g[N];
    double f, start, worst = 0;
    size_t taken = eval_lbfgs(N, bowl, NULL, 200, 1e-9, w, &f);

    for (int i = 0; i < N; i++)
        worst = fmax(worst, fabs(w[i] - i));
    T(worst < 1e-6, "a bowl: the minimum, to %g", worst);
    T(taken < 40, "in fewer than 40 steps: %zu", taken);
    T_NEAR(f, 0, 1e-12, "the value there");
    T(eval_lbfgs(N, bowl, NULL, 200, 1e-5, w, NULL) == 0,
      "nothing to do at the minimum");
    for (int i = 0; i < N; i++)
        w[i] = 1;
    start = bowl(NULL, w, g);
    T(eval_lbfgs(N, bowl, NULL, 3, 1e-9, w, &f) == 3,
      "no more iterations than allowed");
    T(f < start, "the value is lower than at the start");

    taken = eval_lbfgs(2, valley, NULL, 200, 1e-9, two, &f);
    T_NEAR(two[0], 1, 1e-6, "Rosenbrock's valley, after %zu steps", taken);
    T_NEAR(two[1], 1, 1e-6, "its other coordinate");

    taken = eval_lbfgs(1, slide, NULL, 1000, 1e-6, one, &f);
    T(fabs(f) <= 1e-6 && taken < 100,
      "a slope without a minimum ends where it is flat");
    return t_done();
}
