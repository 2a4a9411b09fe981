#include <math.h>
#include <string.h>

#include "loss/rows.h"
#include "num/gemm.h"
#include "num/vec.h"

/* Rows and columns that are added to their mirror image at a time. */
enum { SQUARE = 32 };

size_t
loss_partner(size_t b, size_t row)
{
    return row < b ? row + b : row - b;
}

size_t
loss_mask_count(size_t b, enum loss_mask mask)
{
    return mask == LOSS_BATCH       ? 2 * b - 1
           : mask == LOSS_NEGATIVES ? 2 * b - 2
           : mask == LOSS_CROSS     ? b
                                    : b - 1;
}

/* The columns that a row meets, as runs [from,to). */
enum { RUNS = 3 };

struct runs {
    size_t from[RUNS], to[RUNS];
};

static struct runs
runs_of(size_t b, size_t r, enum loss_mask mask)
{
    const size_t n = 2 * b, own = r % b, partner = loss_partner(b, r);
    const size_t other = r < b ? b : 0;

    switch (mask) {
    case LOSS_BATCH:
        return (struct runs){{0, r + 1, n}, {r, n, n}};
    case LOSS_NEGATIVES:
        return (struct runs){{0, own + 1, own + b + 1}, {own, own + b, n}};
    case LOSS_CROSS:
        return (struct runs){{other, n, n}, {other + b, n, n}};
    case LOSS_CROSS_NEGATIVES:
        break;
    }
    return (struct runs){{other, partner + 1, n}, {partner, other + b, n}};
}

static float
largest_of_runs(const struct runs *runs, const float *s)
{
    float max = -INFINITY;

    for (int i = 0; i < RUNS; i++)
        max =
            fmaxf(max, num_max(runs->to[i] - runs->from[i], s + runs->from[i]));
    return max;
}

/* p becomes softmax from exponentials, 0 in between. */
static void
normalise_runs(const struct runs *runs, size_t rows, double sum, float *p)
{
    size_t c = 0;

    for (int i = 0; i < RUNS; i++) {
        for (; c < runs->from[i]; c++)
            p[c] = 0;
        for (; c < runs->to[i]; c++)
            p[c] = (float)(p[c] / sum);
    }
    for (; c < rows; c++)
        p[c] = 0;
}

struct loss_row
loss_row_partition(size_t b, size_t rows, size_t r, double beta,
                   enum loss_mask mask, const float *s, float *p)
{
    const struct runs runs = runs_of(b, r, mask);
    const double max = largest_of_runs(&runs, s);
    double sum = 0, moment = 0;

    for (int i = 0; i < RUNS; i++)
        for (size_t c = runs.from[i]; c < runs.to[i]; c++) {
            const float x = s[c], e = expf((float)(beta * (x - max)));

            sum += e;
            moment += (double)e * x;
            if (p)
                p[c] = e;
        }
    if (p)
        normalise_runs(&runs, rows, sum, p);
    return (struct loss_row){log(sum) + beta * max, moment / sum};
}

double
loss_partition(size_t b, size_t rows, double beta, enum loss_mask mask,
               const float *s, float *p)
{
    double total = 0;

    for (size_t r = 0; r < 2 * b; r++, s += rows) {
        const double partner = s[loss_partner(b, r)];

        total += loss_row_partition(b, rows, r, beta, mask, s,
                                    p ? p + r * rows : NULL)
                     .log_z -
                 beta * partner;
    }
    return total;
}

void
loss_partner_balance(size_t rows, size_t partner, float *w)
{
    double others = 0;

    w[partner] = 0;
    for (size_t c = 0; c < rows; c++)
        others += w[c];
    w[partner] = (float)-others;
}

double
loss_log_add(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;

    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

/* w += w', the parts that mirror each other in a square at (top,left), of the
 * first `moved` rows and columns. */
static void
add_mirror(size_t moved, size_t rows, size_t top, size_t left, float *w)
{
    for (size_t r = top; r < moved && r < top + SQUARE; r++)
        for (size_t c = left; c <= r && c < left + SQUARE; c++) {
            const float sum = w[r * rows + c] + w[c * rows + r];

            w[r * rows + c] = w[c * rows + r] = sum;
        }
}

/* dv gets what constants add, which few of W weigh; these are taken out of W.
 */
static void
take_constants(size_t moved, size_t rows, size_t d, float *w, const float *v,
               float *dv)
{
    memset(dv, 0, moved * d * sizeof *dv);
    for (size_t r = 0; r < moved; r++) {
        const float *row = w + r * rows;

        for (size_t c = moved; c < rows; c++)
            if (row[c] != 0)
                num_axpy(d, row[c], v + c * d, dv + r * d);
        memmove(w + r * moved, row, moved * sizeof *w);
    }
}

void
loss_similarity_mirror(size_t n, size_t moved, size_t rows, float *w)
{
    memset(w + n * rows, 0, (moved - n) * rows * sizeof *w);
    // in squares: a column of W is a cache miss an element
    for (size_t top = 0; top < moved; top += SQUARE)
        for (size_t left = 0; left <= top; left += SQUARE)
            add_mirror(moved, rows, top, left, w);
}

void
loss_similarity_backward(size_t n, size_t moved, size_t rows, size_t d,
                         float *w, const float *v, float *dv)
{
    const int constants = moved < rows;

    loss_similarity_mirror(n, moved, rows, w);
    if (constants)
        take_constants(moved, rows, d, w, v, dv);
    num_gemm_nn(moved, d, moved, 1, w, v, (float)constants, dv);
}
