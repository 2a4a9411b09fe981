#include <string.h>

#include "eval/probe.h"
#include "t.h"
#include "util/rng.h"

enum { N = 600, M = 300, D = 10, C = 3 };

static float train_x[N * D], test_x[M * D];
static int64_t train_y[N], test_y[M];
static const struct eval_rows train = {N, D, train_x, train_y};
static const struct eval_rows test = {M, D, test_x, test_y};
static const struct eval_probe_spec spec = {.classes = C,
                                            .share = 0.2,
                                            .seed = 1,
                                            .iterations = 300,
                                            .tolerance = 1e-6};

/*
 * Classes with means `apart` deviations along different axes, and features of
 * very different scales.
 */
static void
draw(struct rng *rng, size_t n, double apart, float *x, int64_t *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = (int64_t)rng_below(rng, C);
        for (int j = 0; j < D; j++) {
            double value = rng_normal(rng) + (j == y[i] ? apart : 0);

            x[i * D + (size_t)j] = (float)(value * pow(10, j - 3) + j);
        }
    }
}

static void
setup(uint64_t seed, double apart)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    draw(&rng, N, apart, train_x, train_y);
    draw(&rng, M, apart, test_x, test_y);
}

static void
separable_classes_are_classified(void)
{
    struct eval_probe probe;

    setup(1, 12);
    eval_probe_logistic(&spec, &train, &test, &probe);
    T_NEAR(probe.accuracy, 1, 1e-12, "12 deviations apart: all right");
    T_NEAR(probe.held_out, 1, 1e-12,
           "12 deviations apart: all validation rows right");
    T(probe.l2 == eval_probe_grid[0], "a tie goes to the strongest penalty");
}

static void
unlabelled_noise_is_chance(void)
{
    struct eval_probe probe;

    setup(2, 0);
    eval_probe_logistic(&spec, &train, &test, &probe);
    // 300 draws of 1/3: standard error .027
    T_NEAR(probe.accuracy, 1. / C, 0.11, "no signal: chance");
    T(probe.train < 0.5, "no signal: the penalty prevents overfitting");
}

static void
scale_does_not_matter(void)
{
    struct eval_probe before, after;

    setup(3, 1.5);
    eval_probe_logistic(&spec, &train, &test, &before);
    for (size_t i = 0; i < N * D; i++)
        train_x[i] *= 64;
    for (size_t i = 0; i < M * D; i++)
        test_x[i] *= 64;
    eval_probe_logistic(&spec, &train, &test, &after);
    T(!memcmp(&before, &after, sizeof before), "64 times the features: equal");
    T(before.accuracy > 0.5 && before.accuracy < 0.99, "a real task: %.3f",
      before.accuracy);
}

static void
fixed_penalty_is_used(void)
{
    struct eval_probe_spec fixed = spec;
    struct eval_probe strong, weak;

    setup(4, 1.5);
    fixed.l2 = 10;
    eval_probe_logistic(&fixed, &train, &test, &strong);
    fixed.l2 = 1e-3;
    eval_probe_logistic(&fixed, &train, &test, &weak);
    T(strong.l2 == 10 && weak.l2 == 1e-3, "the requested penalty");
    T(strong.loss > weak.loss + 0.1, "a strong one leaves a larger loss");
}

static void
constant_feature_is_harmless(void)
{
    struct eval_probe probe;

    setup(5, 12);
    for (size_t i = 0; i < N; i++)
        train_x[i * D + D - 1] = 5;
    eval_probe_logistic(&spec, &train, &test, &probe);
    T_NEAR(probe.accuracy, 1, 1e-12, "constant in train, not in test");
}

static void
protocols_learn(void)
{
    static const char *const name[] = {"emc2", "isogclr", "isogclr-paper",
                                       "sogclr"};
    struct eval_probe probe, again;
    struct err err;

    setup(6, 3);
    for (size_t i = 0; i < N * D; i++)
        train_x[i] =
            (float)((train_x[i] - (int)(i % D)) * pow(10, 3 - (double)(i % D)));
    for (size_t i = 0; i < M * D; i++)
        test_x[i] =
            (float)((test_x[i] - (int)(i % D)) * pow(10, 3 - (double)(i % D)));
    for (int p = 0; p < 4; p++) {
        const struct eval_sgd *sgd = &eval_sgd_protocols[p];

        T(!strcmp(sgd->name, name[p]) &&
              !eval_probe_sgd(sgd, &spec, &train, &test, &probe, &err),
          "%s runs", name[p]);
        // 100 steps of 1e-3 do not get far, as the papers' own probe
        T(probe.accuracy > (p ? 0.9 : 0.33), "%s: %.3f", name[p],
          probe.accuracy);
        eval_probe_sgd(sgd, &spec, &train, &test, &again, &err);
        T(!memcmp(&probe, &again, sizeof probe), "%s: the same again", name[p]);
        T(p == 1 || probe.epoch == sgd->epochs, "the last epoch counts");
    }
}

static void
count(void *self)
{
    ++*(size_t *)self;
}

static void
passes_are_reported(void)
{
    struct eval_probe_spec fixed = spec;
    size_t passes = 0;
    const struct eval_watch watch = {count, &passes};
    struct eval_probe probe;

    setup(4, 1.5);
    fixed.l2 = 1e-3;
    fixed.watch = &watch;
    eval_probe_logistic(&fixed, &train, &test, &probe);
    T(passes > probe.iterations, "a fit of %zu iterations reported %zu passes",
      probe.iterations, passes);
}

/* One row: the loss of the third epoch depends on rate, gradient, momentum. */
static void
three_steps_by_hand(int nesterov)
{
    static const float x[] = {1};
    static const int64_t y[] = {0};
    const struct eval_rows one = {1, 1, x, y};
    size_t passes = 0;
    const struct eval_watch watch = {count, &passes};
    const struct eval_probe_spec watched = {
        .classes = 2, .seed = 9, .watch = &watch};
    const struct eval_sgd once = {"",  0.5,     4, 1, 0, 0, EVAL_RATE_CONSTANT,
                                  0.1, nesterov};
    struct eval_sgd thrice = once;
    struct eval_probe probe;
    struct rng rng;
    struct err err;
    double w[2], v = 0, loss = 0, gap;

    rng_init(&rng, 9, RNG_INIT, 0, 0, 0);
    w[0] = 0.1 * rng_normal(&rng);
    w[1] = 0.1 * rng_normal(&rng);
    gap = w[0] - w[1]; // the logits' difference; b starts at 0
    thrice.epochs = 3;
    for (int epoch = 0; epoch < 3; epoch++) {
        double p = 1 / (1 + exp(gap));

        loss = log1p(exp(-gap));
        v = 0.9 * v + p; // of each of the four weights, up to the sign
        gap += 4 * 0.5 * (nesterov ? p + 0.9 * v : v);
    }
    T(!eval_probe_sgd(&thrice, &watched, &one, &one, &probe, &err),
      "three epochs%s", nesterov ? " with Nesterov momentum" : "");
    T_NEAR(probe.loss, loss, 1e-6, "the loss of the third one");
    T(passes == 3, "each epoch was reported as one pass");
}

static void
divergence_is_an_error(void)
{
    struct eval_probe probe;
    struct err err = {""};

    setup(7, 1);
    for (size_t i = 0; i < N * D; i++)
        train_x[i] *= 1e30f;
    T(eval_probe_sgd(&eval_sgd_protocols[1], &spec, &train, &test, &probe,
                     &err) == -1 &&
          strstr(err.msg, "diverged"),
      "weights that are not finite: %s", err.msg);
}

int
main(void)
{
    separable_classes_are_classified();
    unlabelled_noise_is_chance();
    scale_does_not_matter();
    fixed_penalty_is_used();
    passes_are_reported();
    constant_feature_is_harmless();
    protocols_learn();
    three_steps_by_hand(0);
    three_steps_by_hand(1);
    divergence_is_an_error();
    return t_done();
}
