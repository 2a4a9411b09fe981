#include <math.h>

#include "loss/rows.h"
#include "num/gemm.h"

/* Rows and columns that are added to their mirror image at a time. */
enum { SQUARE = 32 };

size_t
loss_partner(size_t b, size_t row)
{
    return row < b ? row + b : row - b;
}

/* The columns [from,to) of a row: their largest score, taken into *max. */
static void
largest(const float *s, size_t from, size_t to, float *max)
{
    for (size_t c = from; c < to; c++)
        *max = fmaxf(*max, s[c]);
}

/* Sum of exp(beta (s - max)) over them; each goes to p, if there is one. */
static double
exponentials(const float *s, size_t from, size_t to, double beta, float max,
             float *p)
{
    double sum = 0;

    for (size_t c = from; c < to; c++) {
        float e = expf((float)(beta * ((double)s[c] - max)));

        sum += e;
        if (p)
            p[c] = e;
    }
    return sum;
}

double
loss_partition(size_t b, size_t rows, double beta, enum loss_mask mask,
               const float *s, float *p)
{
    const size_t n = 2 * b;
    double total = 0;

    for (size_t r = 0; r < n; r++, s += rows, p = p ? p + rows : NULL) {
        // the columns that remain are three runs around the masked ones
        const size_t own = r % b, partner = loss_partner(b, r);
        const size_t first = mask == LOSS_FAMILY ? own : r;
        const size_t second = mask == LOSS_FAMILY ? own + b : r;
        const size_t run[4] = {first, first + 1, second, second + 1};
        const double partner_score = s[partner];
        float max = -INFINITY;
        double sum;

        largest(s, 0, run[0], &max);
        largest(s, run[1], run[2], &max);
        largest(s, run[3], n, &max);
        sum = exponentials(s, 0, run[0], beta, max, p);
        sum += exponentials(s, run[1], run[2], beta, max, p);
        sum += exponentials(s, run[3], n, beta, max, p);
        total += log(sum) + beta * (max - partner_score);
        if (!p)
            continue;
        p[first] = p[second] = 0;
        for (size_t c = 0; c < n; c++)
            p[c] = (float)(p[c] / sum);
        for (size_t c = n; c < rows; c++)
            p[c] = 0;
    }
    return total;
}

/* W extended by zeros to [rows,rows], at (r,c). */
static float
extended(size_t n, size_t rows, const float *w, size_t r, size_t c)
{
    return r < n ? w[r * rows + c] : 0;
}

void
loss_spread(size_t n, size_t rows, size_t d, const float *w, const float *v,
            float *dv, float *work)
{
    // in squares: a column of W is a cache miss an element
    for (size_t top = 0; top < rows; top += SQUARE)
        for (size_t left = 0; left < rows; left += SQUARE)
            for (size_t r = top; r < rows && r < top + SQUARE; r++)
                for (size_t c = left; c < rows && c < left + SQUARE; c++)
                    work[r * rows + c] =
                        extended(n, rows, w, r, c) + extended(n, rows, w, c, r);
    num_gemm_nn(rows, d, rows, 1, work, v, 0, dv);
}
