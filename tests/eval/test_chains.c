#include "eval/chains.h"
#include "t.h"
#include "util/rng.h"

enum { R = 3, T_STATES = 2000 };

static double x[R * T_STATES];

/* Chains x_t = rho x_{t-1} + noise, around different means. */
static void
draw_series(double rho, double apart)
{
    struct rng rng;

    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    for (size_t r = 0; r < R; r++) {
        double now = rng_normal(&rng) / sqrt(1 - rho * rho);

        for (size_t t = 0; t < T_STATES; t++) {
            x[r * T_STATES + t] = now + apart * (double)r;
            now = rho * now + rng_normal(&rng);
        }
    }
}

static void
rhat_separates_chains(void)
{
    // Ranks of |x - 4.5| are 6.5 4.5 4.5 2.5 2.5 .. from 0: less than for x.
    // The ranks 0 .. 7 of x are 0 2 1 3 | 4 6 5 7, and their normal quantiles
    // q_k = Phi^-1((k + 5/8) / 8.25)
    static const double few[] = {1, 3, 2, 4, 5, 7, 6, 8};
    static const double q[] = {-1.4342, -.8524, -.4728, -.1523};
    static const double still[] = {1, 1, 1, 1, 2, 2, 2, 2};
    const double low = (q[0] + q[2]) / 2, high = (q[1] + q[3]) / 2;
    const double within =
        (pow(q[0] - q[2], 2) + pow(q[1] - q[3], 2)) / 4; // of two numbers each
    const double between = 2 * (low * low + high * high) / 3;
    double wide = 0;

    T_NEAR(eval_chains_rhat(2, 4, few), sqrt(.5 + between / within), 1e-3,
           "of two chains of four states");
    T(eval_chains_rhat(1, 4, still) == 1, "constant and equal halves: 1");
    T(isinf(eval_chains_rhat(2, 4, still)),
      "constant and different chains: infinite");
    draw_series(.5, 0);
    T(eval_chains_rhat(R, T_STATES, x) < 1.02, "chains of one mean: near 1");
    for (size_t i = 0; i < R * T_STATES; i++)
        x[i] = exp(8 * x[i]);
    T(eval_chains_rhat(R, T_STATES, x) < 1.02, "of any monotone scale");
    draw_series(.5, 0);
    for (size_t i = 0; i < T_STATES; i++)
        x[i] *= 3;
    wide = eval_chains_rhat(R, T_STATES, x);
    T(wide > 1.1, "one chain of larger variance and equal mean: above, %g",
      wide);
    draw_series(.5, 1);
    T(eval_chains_rhat(R, T_STATES, x) > 1.1, "of several means: above");
}

static void
lags_fall_as_they_should(void)
{
    static const double few[] = {1, -1, 1, -1};

    draw_series(.8, 0);
    T_NEAR(eval_chains_lagged(R, T_STATES, x, 0), 1, 1e-12, "lag 0: 1");
    T_NEAR(eval_chains_lagged(R, T_STATES, x, 1), .8, .05, "lag 1");
    T_NEAR(eval_chains_lagged(R, T_STATES, x, 3), .512, .08, "lag 3");
    T_NEAR(eval_chains_lagged(1, 4, few, 1), -1, 1e-12, "back and forth: -1");
}

static void
distances_of_distributions(void)
{
    static const float p[] = {.5f, .25f, .25f, 0}, q[] = {2, 2, 0, 4};
    enum { WIDE = 50, DRAWS = 40, TIMES = 400 };
    float wide[WIDE];
    double mean = 0;
    struct rng rng;

    T_NEAR(eval_chains_distance(4, p, q), .5, 1e-7, "in total variation");
    T(eval_chains_distance(4, p, p) == 0, "of itself: 0");
    // the mean distance of draws from a distribution
    rng_init(&rng, 8, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < WIDE; i++)
        wide[i] = i < 5 ? 9 : 1;
    for (int k = 0; k < TIMES; k++) {
        float count[WIDE] = {0};

        for (int draw = 0; draw < DRAWS; draw++) {
            const uint64_t at = rng_below(&rng, 90);

            count[at < 45 ? at / 9 : at - 40]++;
        }
        mean += eval_chains_distance(WIDE, wide, count) / TIMES;
    }
    T_NEAR(eval_chains_noise(WIDE, wide, DRAWS), mean, .06,
           "the distance of independent draws");
}

int
main(void)
{
    rhat_separates_chains();
    lags_fall_as_they_should();
    distances_of_distributions();
    return t_done();
}
