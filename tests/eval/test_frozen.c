#include <string.h>

#include "eval/bias.h"
#include "eval/frozen.h"
#include "loss/global.h"
#include "naive_rows.h"
#include "t.h"
#include "util/mem.h"

enum { SAMPLES = 12, D = 6, N = 2 * SAMPLES, MOST = 64 };

static float v[3 * SAMPLES * D];

static struct eval_frozen_settings
how_of(const char *objective, double tau, size_t batch, uint64_t seed)
{
    struct err err;
    struct eval_frozen_settings how = {.batch = batch, .seed = seed};

    how.objective = loss_objective_find(objective, &err);
    how.settings = loss_settings_of(how.objective);
    how.settings.value[LOSS_TAU] = tau;
    how.strategy = select_strategy_find("shuffle", &err);
    param_defaults(how.strategy->params, how.plan);
    return how;
}

/* Computes the mean gradient of the steps of some epochs, from epoch `from`
 * on. */
static void
mean_gradient(struct eval_frozen *frozen, size_t from, size_t to, float *mean,
              double *square)
{
    const size_t steps = eval_frozen_steps(frozen);
    const double share = 1 / (double)((to - from) * steps);
    struct eval_batch batch;
    struct err err;

    for (size_t epoch = 0; epoch < to; epoch++)
        for (size_t step = 0; step < steps; step++) {
            const float *dz;

            REQUIRE(!eval_frozen_next(frozen, epoch, step, &batch, &err));
            dz = eval_frozen_gradient(frozen);
            for (size_t i = 0; epoch >= from && i < batch.rows; i++)
                num_axpy(D, (float)share, dz + i * D, mean + batch.row[i] * D);
            if (epoch >= from)
                *square += share * num_dot(batch.rows * D, dz, dz);
        }
}

static double
distance(size_t n, const float *a, const float *b)
{
    double off = 0;

    for (size_t i = 0; i < n; i++)
        off = fmax(off, fabs((double)a[i] - b[i]));
    return off;
}

/* The gradient of a batch of all samples is that of the whole set. */
static void
all_at_once_is_exact(const char *objective, int inside, int cross)
{
    const struct eval_views rows = naive_rows(SAMPLES, 2, D, 3, v);
    const struct loss_global set = {SAMPLES, 2, D, 5, inside, cross};
    struct eval_frozen_settings how = how_of(objective, .2, SAMPLES, 1);
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    float exact[N * D], mean[N * D] = {0};
    struct err err = {""};
    double square = 0;
    struct eval_frozen *frozen = eval_frozen_new(&rows, &how, &err);

    loss_global(&set, v, exact, work);
    mean_gradient(frozen, 0, 1, mean, &square);
    T_NEAR(distance(N * D, mean, exact), 0, 1e-6, "%s: the exact gradient",
           objective);
    eval_frozen_free(frozen);
    free(work);
}

/* The mean over all batches of three of six samples. */
static void
shuffles_have_the_mean_of_all_batches(void)
{
    enum { SIX = 6, EPOCHS = 4000 };
    const struct eval_views rows = naive_rows(SIX, 2, D, 4, v);
    struct eval_frozen_settings how = how_of("simclr", .2, 3, 1);
    float want[2 * SIX * D] = {0}, mean[2 * SIX * D] = {0};
    struct loss_batch batch = {.b = 3, .dim = D};
    float *work =
        mem_array(loss_objective_size(how.objective, &batch), sizeof *work);
    struct loss_report report;
    struct err err;
    double square = 0;
    struct eval_frozen *frozen = eval_frozen_new(&rows, &how, &err);

    for (size_t set = 0; set < 1 << SIX; set++) {
        size_t id[SIX], n = 0;
        float z[6 * D], dz[6 * D];

        for (size_t i = 0; i < SIX; i++)
            if (set >> i & 1)
                id[n++] = i;
        if (n != 3)
            continue;
        for (size_t r = 0; r < 6; r++)
            memcpy(z + r * D, v + (r / 3 * SIX + id[r % 3]) * D, D * sizeof *z);
        loss_objective_run(how.objective, &how.settings, &batch, z, NULL, dz,
                           work, &report);
        for (size_t r = 0; r < 6; r++)
            num_axpy(D, 1 / 20.f, dz + r * D,
                     want + (r / 3 * SIX + id[r % 3]) * D);
    }
    mean_gradient(frozen, 0, EPOCHS, mean, &square);
    T_NEAR(distance(2 * SIX * D, mean, want), 0, .01,
           "the mean over all batches of three");
    eval_frozen_free(frozen);
    free(work);
}

/* Measures the bias of a method in batches of three. */
static struct eval_bias
measure_bias(const char *objective, const char *proposals, size_t epochs)
{
    const struct eval_views rows = naive_rows(SAMPLES, 2, D, 3, v);
    const struct loss_global set = {SAMPLES, 2, D, 5, 0, 0};
    struct eval_frozen_settings how = how_of(objective, .2, 3, 1);
    float *work = mem_array(loss_global_size(&set), sizeof *work);
    float *estimate = mem_array((size_t)MOST * N * D, sizeof *estimate);
    float exact[N * D];
    double step[MOST] = {0};
    struct sample_settings sampler;
    struct err err;
    struct eval_bias bias;

    loss_global(&set, v, exact, work);
    if (proposals) {
        sample_settings_init(&sampler,
                             sample_sampler_find("emc2", proposals, &err));
        how.sampler = &sampler;
    }
    for (size_t r = 0; r < MOST; r++) {
        struct eval_frozen *frozen;

        how.seed = r;
        frozen = eval_frozen_new(&rows, &how, &err);
        mean_gradient(frozen, 20, 20 + epochs, estimate + r * N * D, &step[r]);
        eval_frozen_free(frozen);
    }
    bias = eval_bias(
        &(struct eval_bias_data){MOST, N * D, 3, estimate, step, step, exact});
    free(estimate);
    free(work);
    return bias;
}

static void
chains_have_no_bias(void)
{
    const struct eval_bias simclr = measure_bias("simclr", NULL, 20);
    const struct eval_bias emc2 = measure_bias("emc2", "exact", 20);

    const struct eval_bias shared = measure_bias("emc2", "shared", 20);
    const struct eval_figure of_shared = shared.of[BIAS_SQUARE];
    const struct eval_figure of_simclr = simclr.of[BIAS_SQUARE];
    const struct eval_figure of_emc2 = emc2.of[BIAS_SQUARE];

    T(of_simclr.value > .05 && of_simclr.half < .02,
      "simclr in batches of three: %.3f +- %.3f", of_simclr.value,
      of_simclr.half);
    T(fabs(of_emc2.value) < .01 && of_emc2.half < .02,
      "emc2 by exact draws: %.3f +- %.3f", of_emc2.value, of_emc2.half);
    T(fabs(of_shared.value) < .02 && of_shared.half < .02,
      "emc2 by shared draws: %.3f +- %.3f", of_shared.value, of_shared.half);
    T(emc2.of[BIAS_VARIANCE].value > 1,
      "emc2 by exact draws has a variance: %.1f", emc2.of[BIAS_VARIANCE].value);
}

/* The share of dcl: that of the softmax over other images. */
static void
shares_are_of_the_softmax(void)
{
    const struct eval_views rows = naive_rows(SAMPLES, 2, D, 5, v);
    struct eval_frozen_settings how = how_of("dcl", .3, 5, 2);
    int64_t group[SAMPLES];
    struct err err;
    struct eval_frozen *frozen = eval_frozen_new(&rows, &how, &err);
    double same = 0, all = 0;
    struct loss_share share;
    struct eval_batch batch;

    for (size_t i = 0; i < SAMPLES; i++)
        group[i] = (int64_t)(i % 3) - 1;
    eval_frozen_next(frozen, 0, 0, &batch, &err);
    T(!eval_frozen_share(frozen, group, &share), "dcl has a share");
    for (size_t r = 0; r < 2 * batch.b; r++) {
        const int64_t own = group[batch.ids[r % batch.b]];
        double z = 0, near = 0;

        for (size_t c = 0; c < 2 * batch.b; c++) {
            const double e = exp(
                num_dot(D, v + batch.row[r] * D, v + batch.row[c] * D) / .3);

            z += c % batch.b == r % batch.b ? 0 : e;
            near += c % batch.b == r % batch.b || own < 0 ||
                            group[batch.ids[c % batch.b]] != own
                        ? 0
                        : e;
        }
        all += 1 / (.3 * 2 * (double)batch.b);
        same += near / z / (.3 * 2 * (double)batch.b);
    }
    T_NEAR(share.all, all, 1e-6 * all, "the weight of all negatives");
    T_NEAR(share.same_group_weight, same, 1e-6 * all, "that of a group");
    eval_frozen_free(frozen);
}

static void
pairs_are_two_different_views(void)
{
    const struct eval_views rows = naive_rows(SAMPLES, 3, D, 5, v);
    struct eval_frozen_settings how = how_of("simclr", .3, 4, 2);
    struct err err;
    struct eval_frozen *frozen = eval_frozen_new(&rows, &how, &err);
    int seen[3] = {0}, wrong = 0;

    for (size_t epoch = 0; epoch < 30; epoch++)
        for (size_t step = 0; step < 3; step++) {
            struct eval_batch b;

            eval_frozen_next(frozen, epoch, step, &b, &err);
            for (size_t i = 0; i < b.b; i++) {
                wrong += b.row[i] == b.row[b.b + i] ||
                         b.row[i] % SAMPLES != (size_t)b.ids[i] ||
                         b.row[b.b + i] % SAMPLES != (size_t)b.ids[i];
                seen[b.row[i] / SAMPLES]++;
            }
        }
    T(!wrong, "two views of each sample of a batch");
    T(seen[0] > 60 && seen[1] > 60 && seen[2] > 60,
      "all of them are used: %d %d %d", seen[0], seen[1], seen[2]);
    eval_frozen_free(frozen);
}

static void
refuses_what_needs_an_encoder(void)
{
    const struct eval_views rows = naive_rows(SAMPLES, 2, D, 5, v);
    struct eval_frozen_settings how = how_of("tau_simclr", .3, 4, 2);
    struct err err;

    T(!eval_frozen_new(&rows, &how, &err) &&
          strstr(err.msg, "needs more of an encoder"),
      "an objective with columns of its own: %s", err.msg);
}

int
main(void)
{
    all_at_once_is_exact("dcl", 0, 0);
    all_at_once_is_exact("simclr", 1, 0);
    all_at_once_is_exact("clip", 1, 1);
    shuffles_have_the_mean_of_all_batches();
    chains_have_no_bias();
    shares_are_of_the_softmax();
    pairs_are_two_different_views();
    refuses_what_needs_an_encoder();
    return t_done();
}
