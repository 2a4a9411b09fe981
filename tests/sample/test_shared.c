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

enum { A = 3 }; /* fixed views, if any */

/* A copy of the bank before a step is weighed, and the temperature of the draw.
 */
struct bank_copy {
    size_t views; /* rows of an image */
    float row[N * A * D];
    int written[N * A];
    double beta;
};

static void
copy_bank(const struct run *run, int t, struct bank_copy *copy)
{
    const struct sample_bank *bank = &run->source.memory.bank;

    *copy = (struct bank_copy){.beta = sample_source_beta(&run->source, t),
                               .views = run->A ? run->A : 1};
    for (size_t k = 0; bank->rows && k < N * copy->views; k++) {
        copy->written[k] = bank->when[k] >= 0;
        memcpy(copy->row + k * D, bank->rows + k * D, D * sizeof(float));
    }
}

/* The row of the bank of a column. */
static size_t
row_of_column(const struct run *run, int t, const struct bank_copy *bank,
              size_t c)
{
    const struct sample_state is = view_of(run, t, c);

    return bank->views == 1 ? (size_t)is.id
                            : (size_t)is.id * bank->views + (size_t)is.view;
}

/* sum_k exp(beta x.e_k) over the written rows of other images. */
static double
partition(const struct bank_copy *bank, double beta, const float *x,
          size_t image)
{
    double z = 0;

    for (size_t k = 0; k < N * bank->views; k++)
        if (k / bank->views != image && bank->written[k])
            z += exp(beta * dot(x, bank->row + k * D));
    return z;
}

/* How often row k comes with the batch or by a draw, in expectation. */
static double
expected(const struct run *run, int t, const struct bank_copy *bank, int draws,
         size_t k)
{
    const size_t queries = bank->views == 1 ? B : V * B;
    double m = (2. * B - 2) / (double)bank->views / (N - 1);

    for (size_t r = 0; r < queries; r++) {
        const size_t own = row_of_column(run, t, bank, r);
        const size_t image = own / bank->views;
        const float *e = bank->row + own * D;
        // an image's draws are shared by its rows, the first one has the odd
        // one
        const int each = bank->views == 1 ? draws : (draws + (r < B)) / 2;

        if (bank->written[own] && bank->written[k] && k / bank->views != image)
            m += each * exp(bank->beta * dot(e, bank->row + k * D)) /
                 partition(bank, bank->beta, e, image);
    }
    return m;
}

/* The largest error of the weights and factors of a step of `shared`. */
static double
error_of_shared(const struct run *run, int t, const struct weights *w,
                const struct bank_copy *bank, int draws)
{
    const struct batch *step = &run->last;
    const size_t n = V * B;
    double m[V * B + EXTRA], worst = 0;

    for (size_t c = 0; c < w->columns; c++)
        m[c] = expected(run, t, bank, draws, row_of_column(run, t, bank, c));
    for (size_t r = 0; r < n; r++) {
        const float *x = run->z + r * D;
        const size_t image = (size_t)step->ids[r % B];
        double want[V * B + EXTRA] = {0}, sum = 0, by_bank = 0;
        const double z = partition(bank, step->beta, x, image);

        for (size_t c = 0; c < w->columns; c++) {
            const size_t k = row_of_column(run, t, bank, c);

            if (k / bank->views == image)
                continue;
            want[c] = exp(step->beta * dot(x, run->z + c * D)) / m[c];
            sum += want[c];
            if (bank->written[k])
                by_bank += exp(step->beta * dot(x, bank->row + k * D)) / m[c];
        }
        for (size_t c = 0; c < w->columns; c++)
            worst = fmax(worst, fabs(w->w[r * w->columns + c] - want[c] / sum));
        if (bank->views == 1 || !(by_bank > 0))
            by_bank = z;
        worst = fmax(worst,
                     z > 0 ? fabs((double)w->scale[2 * r + 1] * z / by_bank - 1)
                           : 0);
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
        const float *x = run->z + r * D;
        const size_t image = (size_t)step->ids[r % B];
        const double z = partition(bank, step->beta, x, image);
        double others = 0;

        for (size_t k = 0; k < N * bank->views; k++)
            others += k / bank->views != image && bank->written[k];
        for (size_t c = 0; c < n; c++) {
            const double score = step->beta * dot(x, run->z + c * D);
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
follow_the_formula(const char *words, size_t fixed, int draws)
{
    struct run *run = mem_array(1, sizeof *run);
    double worst = 0;
    size_t full = 0;
    int good = 1, drawn = 0, own = 0;

    begin(run, words, fixed);
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
        for (size_t e = 0; !fixed && draws && e < run->extras[t].n; e++)
            own += run->extra[t][e] == run->ids[t][e / (size_t)draws] &&
                   run->extras[t].n == (size_t)(draws * B);
        T(run->extras[t].n <= (size_t)run->extras[t].most || !draws,
          "%zu draws of at most %d", run->extras[t].n, draws * B);
    }
    T(good && worst < 2e-6, "%s, %zu views: off by at most %g", words, fixed,
      worst);
    T(full > STEPS / 6 && full <= STEPS, "%zu steps have all draws", full);
    T(!own, "no image draws itself");
    sample_source_release(&run->source);
    free(run);
}

int
main(void)
{
    follow_the_formula("emc2 shared horizon=3", 0, 2);
    follow_the_formula("emc2 shared horizon=3 draws=5", A, 5);
    follow_the_formula("emc2 zbank horizon=3", 0, 0);
    follow_the_formula("emc2 zbank horizon=3", A, 0);
    return t_done();
}
