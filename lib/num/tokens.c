#include <string.h>

#include "num/half.h"
#include "num/tokens.h"
#include "util/err.h"

#include "lanes.h"

enum { COLUMNS = 64, ROWS_AHEAD = 8 };

void
num_embed(size_t n, size_t d, int bf16, const int32_t *ids, const float *table,
          void *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        num_half_put(d, bf16, table + (size_t)ids[i] * d,
                     num_half_at(y, i * d, bf16));
}

size_t
num_embed_scratch(size_t n, size_t rows)
{
    return n + rows + 1;
}

/* Sorts rows by id; first [rows] is the index of the first row of each id. */
static void
sort_by_id(size_t n, size_t rows, const int32_t *ids, uint32_t *first,
           uint32_t *sorted)
{
    memset(first, 0, (rows + 1) * sizeof *first);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(ids[i] >= 0 && (size_t)ids[i] < rows);
        first[ids[i] + 1]++;
    }
    for (size_t r = 0; r < rows; r++)
        first[r + 1] += first[r];
    for (size_t i = 0; i < n; i++) // afterwards first[id] is the end of id
        sorted[first[ids[i]]++] = (uint32_t)i;
    for (size_t r = rows; r > 0; r--)
        first[r] = first[r - 1];
    first[0] = 0;
}

void
num_embed_back(size_t n, size_t d, int bf16, size_t rows, const int32_t *ids,
               const void *dy, int add, float *dtable, uint32_t *order)
{
    uint32_t *first = order, *sorted = order + rows + 1;

    sort_by_id(n, rows, ids, first, sorted);
#pragma omp parallel for schedule(static)
    for (size_t r = 0; r < rows; r++) {
        float *to = dtable + r * d;

        if (!add)
            memset(to, 0, d * sizeof *to);
        for (uint32_t k = first[r]; k < first[r + 1]; k++)
            num_half_axpy(d, bf16, 1, num_half_at(dy, sorted[k] * d, bf16), to);
    }
}

static NUM_CLONES(add_row,
                  (size_t d, const float *row, const void *x, void *y,
                   int bf16),
                  d, row, x, y)
{
    for (size_t c = 0; c < d; c++)
        number_to(y, c, number_at(x, c, bf16) + row[c], bf16);
}

void
num_position(size_t n, const size_t *offsets, size_t d, int bf16,
             const float *p, const void *x, void *y)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < n; i++)
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            add_row(d, p + (t - offsets[i]) * d, num_half_at(x, t * d, bf16),
                    num_half_at(y, t * d, bf16), bf16);
}

void
num_position_back(size_t n, const size_t *offsets, size_t longest, size_t d,
                  int bf16, const void *dy, int add, float *dp)
{
#pragma omp parallel for schedule(dynamic)
    for (size_t place = 0; place < longest; place++) {
        float *to = dp + place * d;

        if (!add)
            memset(to, 0, d * sizeof *to);
        for (size_t i = 0; i < n; i++)
            if (place < offsets[i + 1] - offsets[i])
                num_half_axpy(d, bf16, 1,
                              num_half_at(dy, (offsets[i] + place) * d, bf16),
                              to);
    }
}

/* Sums at most COLUMNS columns from `from` on. */
static NUM_CLONES(sum_columns,
                  (size_t n, size_t d, size_t from, const void *x, int add,
                   float *sum, int bf16),
                  n, d, from, x, add, sum)
{
    const size_t wide = num_least(COLUMNS, d - from);
    double all[COLUMNS] = {0};

    for (size_t i = 0; i < n; i++) {
        if (i + ROWS_AHEAD < n)
            lanes_prefetch(num_half_at(x, (i + ROWS_AHEAD) * d + from, bf16),
                           num_half_bytes(wide, bf16));
        for (size_t j = 0; j < wide; j++)
            all[j] += number_at(x, i * d + from + j, bf16);
    }
    for (size_t j = 0; j < wide; j++)
        sum[from + j] = (add ? sum[from + j] : 0) + (float)all[j];
}

void
num_column_sums(size_t n, size_t d, int bf16, const void *x, int add,
                float *sum)
{
#pragma omp parallel for schedule(static)
    for (size_t from = 0; from < d; from += COLUMNS)
        sum_columns(n, d, from, x, add, sum, bf16);
}
