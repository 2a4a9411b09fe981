#include <math.h>
#include <stdlib.h>

#include "num/exp.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "select/score.h"
#include "util/clones.h"
#include "util/mem.h"

/* Rows and columns of a square that is processed with its mirror image. */
enum { SQUARE = 32 };

/* Within these bounds e^z, e^-own and e^(4 (z - own)) are finite in f32. */
enum { TAME = 40, TAME_APART = 20 };

static void
gather_features(const float *table, size_t d, size_t n, const int64_t *ids,
                float *rows)
{
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * d, table + (size_t)ids[i] * d, d * sizeof *rows);
}

/* Z [n,n]; rows [2,n,d] is scratch. */
static void
compute_similarities(const struct select_features *f, double tau, size_t n,
                     const int64_t *ids, float *rows, float *z)
{
    const size_t d = f->d;
    float *other = rows + n * d;

    gather_features(f->u, d, n, ids, rows);
    if (f->u == f->v)
        other = rows;
    else
        gather_features(f->v, d, n, ids, other);
    num_gemm_nt(n, n, d, (float)(1 / tau), rows, other, 0, z);
}

/* The sum of -log softmax_j(Z_ij)_i over the rows. */
static UTIL_CLONES(double, row_losses, (size_t n, const float *z), (n, z))
{
    double total = 0;

    for (size_t i = 0; i < n; i++) {
        const float *row = z + i * n;
        float max = row[0], part[SQUARE] = {0};
        double sum = 0;
        size_t j = 0;

        for (size_t k = 1; k < n; k++)
            max = row[k] > max ? row[k] : max;
        for (; j + SQUARE <= n; j += SQUARE)
            for (size_t k = 0; k < SQUARE; k++)
                part[k] += num_exp(row[j + k] - max);
        for (size_t k = 0; k < SQUARE; k++)
            sum += part[k];
        for (; j < n; j++)
            sum += num_exp(row[j] - max);
        total += log(sum) + max - row[i];
    }
    return total;
}

size_t
select_batch_work(size_t b, size_t d)
{
    return b * b + 2 * b * d;
}

double
select_batch_loss(const struct select_features *f, double tau, size_t b,
                  const int64_t *ids, float *work)
{
    float *z = work;
    double loss;

    compute_similarities(f, tau, b, ids, work + b * b, z);
    loss = row_losses(b, z);
    for (size_t i = 0; i < b; i++) // transposes Z
        for (size_t j = i + 1; j < b; j++) {
            const float old = z[i * b + j];

            z[i * b + j] = z[j * b + i];
            z[j * b + i] = old;
        }
    loss += row_losses(b, z);
    return loss / (double)b;
}

/*
 * s(z - z1) + s(z - z2), with x = z - z1 + log(b-1), and y the same for z2:
 *
 *     max(x,0) + max(y,0) + log( (1 + e^-|x|) (1 + e^-|y|) )
 */
static inline float
two_terms(float z, float z1, float z2)
{
    const float x = z - z1, y = z - z2;
    const float up = num_choose(x > 0, x, 0), up2 = num_choose(y > 0, y, 0);
    const float e = num_exp(x - 2 * up), e2 = num_exp(y - 2 * up2);

    return up + up2 + num_log1p(e + e2 + e * e2);
}

/* The same for z and its mirror image together, from e^z, e^-z1 and so on: one
 * logarithm of a product of four. */
static inline float
four_terms(float z, float other, float z1, float z2)
{
    const float a = z * z1, b = z * z2, c = other * z1, d = other * z2;
    const float ab = a + b + a * b, cd = c + d + c * d;

    return num_log1p(ab + cd + ab * cd);
}

/* Replaces a square of Z and its mirror image by those of w.  The square is at
 * rows i.., columns j...
 *   own [n]  Z_ii - log(b-1); e^-own if `tame` */
static UTIL_CLONES(void, weigh_square,
                   (size_t n, int tame, const float *own, size_t i, size_t j,
                    size_t rows, size_t columns, float *z),
                   (n, tame, own, i, j, rows, columns, z))
{
    float mirror[SQUARE][SQUARE];

    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            mirror[r][c] = z[(j + c) * n + i + r];
    for (size_t r = 0; r < rows; r++) {
        float *row = z + (i + r) * n + j, *other = mirror[r];
        const float *theirs = own + j, mine = own[i + r];

        for (size_t c = 0; tame && c < columns; c++)
            row[c] = other[c] =
                four_terms(num_exp(row[c]), num_exp(other[c]), mine, theirs[c]);
        for (size_t c = 0; !tame && c < columns; c++)
            row[c] = other[c] = two_terms(row[c], mine, theirs[c]) +
                                two_terms(other[c], mine, theirs[c]);
    }
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < rows; r++)
            z[(j + c) * n + i + r] = mirror[r][c];
}

static double
longest_row(size_t n, size_t d, const float *x)
{
    double most = 0;

    for (size_t i = 0; i < n; i++)
        most = fmax(most, num_dot(d, x + i * d, x + i * d));
    return sqrt(most);
}

/* w [n,n]; rows [2,n,d] is scratch. */
static void
weigh_samples(const struct select_features *f, double tau, size_t batch,
              size_t n, const int64_t *ids, float *rows, float *w)
{
    double most;
    int tame;

    compute_similarities(f, tau, n, ids, rows, w);
    most = longest_row(n, f->d, rows);
    most *= f->u == f->v ? most : longest_row(n, f->d, rows + n * f->d);
    most /= tau;
    tame = most <= TAME;
    REQUIRE(batch >= 2);
    // replaces Z by w; |Z| <= most.  rows is scratch from here on.
    for (size_t i = 0; i < n; i++) {
        rows[i] = w[i * n + i] - (float)log((double)batch - 1);
        // false for NaN
        tame &= rows[i] >= -TAME && most - rows[i] <= TAME_APART;
    }
    for (size_t i = 0; tame && i < n; i++)
        rows[i] = num_exp(-rows[i]);
    for (size_t i = 0; i < n; i += SQUARE)
        for (size_t j = i; j < n; j += SQUARE)
            weigh_square(n, tame, rows, i, j, n - i < SQUARE ? n - i : SQUARE,
                         n - j < SQUARE ? n - j : SQUARE, w);
    for (size_t i = 0; i < n; i++)
        w[i * n + i] = 0;
}

double
select_batch_weight(const struct select_features *f, double tau, size_t batch,
                    size_t b, const int64_t *ids, float *work)
{
    float *w = work, *rest = work + b * b;
    double sum = 0;

    weigh_samples(f, tau, batch, b, ids, rest, w);
    for (size_t i = 0; i < b * b; i++)
        sum += w[i];
    return sum / 2;
}

void
select_affinity(const struct select_features *f, double tau, size_t batch,
                size_t n, const int64_t *ids, float *w)
{
    float *rows = mem_unset(2 * n * f->d, sizeof *rows);

    weigh_samples(f, tau, batch, n, ids, rows, w);
    free(rows);
}

struct select_score
select_score(const struct select_features *f, double tau,
             const struct select_layout *layout, size_t from, size_t to,
             const int64_t *ids)
{
    const size_t most = layout->batch + (layout->larger > 0);
    float *work = mem_unset(select_batch_work(most, f->d), sizeof *work);
    struct select_score score = {.least = INFINITY, .largest = -INFINITY};

    REQUIRE(from < to && to <= layout->steps);
    for (size_t step = from; step < to; step++) {
        const size_t b = select_layout_count(layout, step);
        const int64_t *mine = ids + select_layout_start(layout, step);
        const double loss = select_batch_loss(f, tau, b, mine, work);

        score.mean += loss / (double)(to - from);
        score.least = fmin(score.least, loss);
        score.largest = fmax(score.largest, loss);
        score.weight += select_batch_weight(f, tau, most, b, mine, work);
    }
    free(work);
    return score;
}
