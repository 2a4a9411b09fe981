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

enum { A = 3 }; /* fixed views, if any; an image and two captions */

/* Which pairs of columns are compared: all, or those across two views, where
 * images draw images, or captions. */
enum across { WITHIN, IMAGES, TEXTS };

/* A copy of the bank before a step is weighed, and the temperature of the draw.
 */
struct bank_copy {
    enum across across;
    size_t views; /* rows of an image */
    float row[N * A * D];
    int written[N * A];
    double beta;
};

static void
copy_bank(const struct run *run, int t, enum across across,
          struct bank_copy *copy)
{
    const struct sample_bank *bank = &run->source.memory.bank;

    *copy = (struct bank_copy){.across = across,
                               .beta = sample_source_beta(&run->source, t),
                               .views = run->A             ? run->A
                                        : across == WITHIN ? 1
                                                           : V};
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

/* 1 if the rows of the bank are of two images, and of two kinds if those are
 * compared. */
static int
compared(const struct bank_copy *bank, size_t k, size_t l)
{
    const size_t views = bank->views;

    return k / views != l / views &&
           (bank->across == WITHIN || (k % views > 0) != (l % views > 0));
}

/* sum_k exp(beta x.e_k) over the written rows that row `own` is compared with.
 */
static double
partition(const struct bank_copy *bank, double beta, const float *x, size_t own)
{
    double z = 0;

    for (size_t k = 0; k < N * bank->views; k++)
        if (compared(bank, k, own) && bank->written[k])
            z += exp(beta * dot(x, bank->row + k * D));
    return z;
}

/* How often row k comes with the batch or by a draw, in expectation. */
static double
expected(const struct run *run, int t, const struct bank_copy *bank, int draws,
         size_t k)
{
    const int images = bank->views == 1 || bank->across == TEXTS;
    const size_t queries = images ? B : V * B;
    double m = (2. * B - 2) / (double)bank->views / (N - 1), captions = 0;

    if (bank->across != WITHIN) {
        for (size_t l = k / bank->views * bank->views + 1;
             k % bank->views && l < (k / bank->views + 1) * bank->views; l++)
            captions += bank->written[l];
        m = (B - 1.) / (N - 1) / fmax(captions, 1);
    }
    for (size_t r = 0; r < queries; r++) {
        const size_t own = row_of_column(run, t, bank, r);
        const float *e = bank->row + own * D;
        // an image's draws are shared by its rows, the first one has the odd
        // one
        const int each = images ? draws : (draws + (r < B)) / 2;

        if (bank->written[own] && bank->written[k] && compared(bank, k, own))
            m += each * exp(bank->beta * dot(e, bank->row + k * D)) /
                 partition(bank, bank->beta, e, own);
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
        const size_t own = row_of_column(run, t, bank, r);
        double want[V * B + EXTRA] = {0}, sum = 0, by_bank = 0;
        const double z = partition(bank, step->beta, x, own);

        for (size_t c = 0; c < w->columns; c++) {
            const size_t k = row_of_column(run, t, bank, c);

            if (!compared(bank, k, own))
                continue;
            want[c] = exp(step->beta * dot(x, run->z + c * D)) / m[c];
            sum += want[c];
            if (bank->written[k])
                by_bank += exp(step->beta * dot(x, bank->row + k * D)) / m[c];
        }
        for (size_t c = 0; c < w->columns; c++)
            worst = fmax(worst, fabs(w->w[r * w->columns + c] - want[c] / sum));
        if (!run->A || !(by_bank > 0))
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
        const size_t own = (size_t)step->ids[r % B] * bank->views;
        const double z = partition(bank, step->beta, x, own);
        double others = 0;

        for (size_t k = 0; k < N * bank->views; k++)
            others += compared(bank, k, own) && bank->written[k];
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
follow_the_formula(const char *words, size_t fixed, int draws,
                   enum across across)
{
    struct run *run = mem_array(1, sizeof *run);
    double worst = 0;
    size_t full = 0;
    int good = 1, drawn = 0, own = 0;

    begin(run, words, fixed);
    for (size_t t = 0; across == TEXTS && t < STEPS; t++)
        for (size_t r = 0; r < V * B; r++)
            run->variant[t][r] = r < B ? 0 : 1 + (int64_t)(t + r) % (A - 1);
    run->texts = across == TEXTS;
    for (int t = 0; t < STEPS; t++) {
        struct bank_copy bank;
        struct weights w;
        struct err err;

        for (; drawn < STEPS && drawn <= t + 2; drawn++)
            draw(run, drawn);
        copy_bank(run, t, across, &bank);
        good &= !weigh(run, t, &w, &err);
        if (draws)
            worst = fmax(worst, error_of_shared(run, t, &w, &bank, draws));
        else
            worst = fmax(worst, error_of_zbank(run, &w, &bank));
        full += run->extras[t].n == (size_t)(draws * B);
        for (size_t e = 0; (across == TEXTS || (!fixed && across == WITHIN)) &&
                           draws && e < run->extras[t].n;
             e++)
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
    follow_the_formula("emc2 shared horizon=3", 0, 2, WITHIN);
    follow_the_formula("emc2 shared horizon=3 draws=5", A, 5, WITHIN);
    follow_the_formula("emc2 zbank horizon=3", 0, 0, WITHIN);
    follow_the_formula("emc2 zbank horizon=3", A, 0, WITHIN);
    follow_the_formula("emc2_bimodal shared horizon=3 draws=3", 0, 3, IMAGES);
    follow_the_formula("emc2_bimodal shared horizon=3 captions=1", A, 2, TEXTS);
    return t_done();
}
