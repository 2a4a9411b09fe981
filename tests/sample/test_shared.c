/* The samplers without chains: their formulas in double, from the bank. */
#include <math.h>
#include <stdlib.h>

#include "t.h"

#include "source_run.h"

static double
dot(const float *a, const float *b)
{
    double sum = 0;

    for (size_t k = 0; k < D; k++)
        sum += (double)a[k] * (double)b[k];
    return sum;
}

/* A copy of the bank before a step is weighed, and the temperature of the draw.
 */
struct bank_copy {
    float row[N * D];
    int written[N];
    double beta;
};

static void
copy_bank(const struct run *run, int t, struct bank_copy *copy)
{
    const struct sample_bank *bank = &run->source.memory.bank;

    *copy = (struct bank_copy){.beta = sample_source_beta(&run->source, t)};
    for (size_t j = 0; bank->rows && j < N; j++) {
        copy->written[j] = bank->when[j] >= 0;
        memcpy(copy->row + j * D, bank->rows + j * D, D * sizeof(float));
    }
}

/* How often image j comes with the batch or by a draw, in expectation, as rows
 * of an image. */
static double
expected(const struct bank_copy *bank, const struct batch *step, int draws,
         int64_t j)
{
    double m = (2. * B - 2) / (N - 1);

    for (size_t i = 0; i < B; i++) {
        const int64_t own = step->ids[i];
        double z = 0;

        if (!bank->written[own] || own == j || !bank->written[j])
            continue;
        for (size_t k = 0; k < N; k++)
            if ((int64_t)k != own && bank->written[k])
                z += exp(bank->beta *
                         dot(bank->row + own * D, bank->row + k * D));
        m += draws *
             exp(bank->beta * dot(bank->row + own * D, bank->row + j * D)) / z;
    }
    return m;
}

/* The largest error of the weights of a step of `shared`. */
static double
error_of_shared(const struct run *run, int t, const struct weights *w,
                const struct bank_copy *bank, int draws)
{
    const struct batch *step = &run->last;
    const size_t n = V * B;
    double worst = 0;

    for (size_t r = 0; r < n; r++) {
        double want[V * B + EXTRA] = {0}, sum = 0;

        for (size_t c = 0; c < w->columns; c++) {
            const int64_t j = c < n ? step->ids[c % B] : run->extra[t][c - n];

            if (j == step->ids[r % B])
                continue;
            want[c] = exp(step->beta * dot(run->z + r * D, run->z + c * D)) /
                      expected(bank, step, draws, j);
            sum += want[c];
        }
        for (size_t c = 0; c < w->columns; c++)
            worst = fmax(worst, fabs(w->w[r * w->columns + c] - want[c] / sum));
    }
    return worst;
}

/* The largest relative error of W of a step of `zbank`, with its factor. */
static double
error_of_zbank(const struct run *run, const struct weights *w,
               const struct bank_copy *bank)
{
    const struct batch *step = &run->last;
    const size_t n = V * B;
    double worst = 0;

    for (size_t r = 0; r < n; r++) {
        double z = 0, others = 0;

        for (size_t k = 0; k < N; k++)
            if ((int64_t)k != step->ids[r % B] && bank->written[k]) {
                z += exp(step->beta * dot(run->z + r * D, bank->row + k * D));
                others++;
            }
        for (size_t c = 0; c < n; c++) {
            const double score =
                step->beta * dot(run->z + r * D, run->z + c * D);
            const double want =
                c % B == r % B ? 0 : exp(score) / z * others / (2 * B - 2);
            const double got =
                (double)w->w[r * w->columns + c] * (double)w->scale[2 * r + 1];

            if (others > 0)
                worst = fmax(worst, fabs(got - want) / fmax(want, 1e-3));
        }
    }
    return worst;
}

/* Plays a run, in which draws come two steps early. */
static void
follow_the_formula(const char *words, size_t A, int draws)
{
    struct run *run = mem_array(1, sizeof *run);
    double worst = 0;
    size_t full = 0;
    int good = 1, drawn = 0, own = 0;

    begin(run, words, A);
    for (int t = 0; t < STEPS; t++) {
        struct bank_copy bank;
        struct weights w;
        struct err err;

        for (; drawn < STEPS && drawn <= t + 2; drawn++)
            draw(run, drawn);
        copy_bank(run, t, &bank);
        good &= !weigh(run, t, &w, &err);
        if (draws)
            worst = fmax(worst, error_of_shared(run, t, &w, &bank, draws));
        else
            worst = fmax(worst, error_of_zbank(run, &w, &bank));
        full += run->extras[t].n == (size_t)(draws * B);
        for (size_t e = 0; draws && e < run->extras[t].n; e++)
            own += run->extra[t][e] == run->ids[t][e / (size_t)draws] &&
                   run->extras[t].n == (size_t)(draws * B);
        T(run->extras[t].n <= (size_t)run->extras[t].most || !draws,
          "%zu draws of at most %d", run->extras[t].n, draws * B);
    }
    T(good && worst < 2e-6, "%s, %zu views: off by at most %g", words, A,
      worst);
    T(full > STEPS / 2 && full <= STEPS, "%zu steps have all draws", full);
    T(!own, "no image draws itself");
    sample_source_release(&run->source);
    free(run);
}

int
main(void)
{
    follow_the_formula("emc2 shared horizon=3", 0, 2);
    follow_the_formula("emc2 shared horizon=3 draws=5", 3, 5);
    follow_the_formula("emc2 zbank horizon=3", 0, 0);
    return t_done();
}
