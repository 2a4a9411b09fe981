#include <math.h>

#include "loss/rows.h"
#include "num/gemm.h"

size_t
loss_partner(size_t b, size_t row)
{
    return row < b ? row + b : row - b;
}

/* One row over the columns [from,to) of it; see loss_partition(). */
static void
largest(const float *s, size_t from, size_t to, float *max)
{
    for (size_t c = from; c < to; c++)
        *max = fmaxf(*max, s[c]);
}

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

void
loss_spread(size_t n, size_t rows, size_t d, const float *w, const float *v,
            float *dv, float *work)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < rows; c++)
            work[r * rows + c] =
                (r < n ? w[r * rows + c] : 0) + (c < n ? w[c * rows + r] : 0);
    num_gemm_nn(rows, d, rows, 1, work, v, 0, dv);
}
