/* Parameters that tokens share: rows of a table, vectors of positions, sums of
 * columns. */
#include <string.h>

#include "halves.h"
#include "maps.h"
#include "num/threads.h"
#include "num/tokens.h"
#include "t.h"

enum { ROWS = 7, N = 500, D = 70 };

/* Row r of dtable by the definition, in f32 and in the order of tokens. */
static int
table_row_is(size_t r, const int32_t *ids, const float *dy, const float *start,
             const float *got)
{
    int same = 1;

    for (size_t c = 0; c < D; c++) {
        float sum = start ? start[r * D + c] : 0;

        for (size_t i = 0; i < N; i++)
            if ((size_t)ids[i] == r)
                sum += dy[i * D + c];
        same &= sum == got[r * D + c];
    }
    return same;
}

static void
rows_are_looked_up_and_summed(void)
{
    float *table = normal(ROWS * D, 1), *dy = normal(N * D, 2);
    float *y = mem_array(N * D, sizeof *y), *start = normal(ROWS * D, 3);
    float *once = normal(ROWS * D, 4), *more = normal(ROWS * D, 3);
    uint32_t *order = mem_array(num_embed_scratch(N, ROWS), sizeof *order);
    int32_t ids[N];
    int same = 1, overwritten = 1, added = 1;

    for (size_t i = 0; i < N; i++) // no token has id 6
        ids[i] = (int32_t)(i * i % 11 % 6);
    num_embed(N, D, 0, ids, table, y);
    for (size_t i = 0; i < N; i++)
        same &= !memcmp(y + i * D, table + ids[i] * D, D * sizeof *y);
    T(same, "each token gets the row of its id");
    for (int threads = 1; threads <= 3; threads += 2) {
        num_threads(threads);
        num_embed_back(N, D, 0, ROWS, ids, dy, 0, once, order);
        memcpy(more, start, ROWS * D * sizeof *more);
        num_embed_back(N, D, 0, ROWS, ids, dy, 1, more, order);
        for (size_t r = 0; r < ROWS; r++) {
            overwritten &= table_row_is(r, ids, dy, NULL, once);
            added &= table_row_is(r, ids, dy, start, more);
        }
    }
    T(overwritten, "a row's gradient is the sum in the order of tokens, zero "
                   "without one");
    T(added, "with add = 1 the gradient of a row is added");
    num_threads(1);
    num_embed_back(1, D, 0, ROWS, ids, dy, 0, once, order);
    T(table_row_is(0, ids, dy, NULL, once) == 0 &&
          !memcmp(once, dy, D * sizeof *dy),
      "of a single token too");
    free(table);
    free(dy);
    free(y);
    free(start);
    free(once);
    free(more);
    free(order);
}

static void
positions_count_from_each_text(void)
{
    const size_t offsets[] = {0, 1, 4, 12}, longest = 10;
    float *x = normal(12 * D, 1), *p = normal(longest * D, 2);
    float *y = mem_array(12 * D, sizeof *y), *dp = normal(longest * D, 3);
    int same = 1, back = 1;

    num_position(3, offsets, D, 0, p, x, y);
    for (size_t i = 0; i < 3; i++)
        for (size_t t = offsets[i]; t < offsets[i + 1]; t++)
            for (size_t c = 0; c < D; c++)
                same &=
                    y[t * D + c] == x[t * D + c] + p[(t - offsets[i]) * D + c];
    T(same, "a token gets the vector of its position in the text");
    num_position(3, offsets, D, 0, p, x, x);
    T(!memcmp(x, y, 12 * D * sizeof *x), "in place as well");
    num_position_back(3, offsets, longest, D, 0, y, 0, dp);
    for (size_t c = 0; c < D; c++) {
        back &= dp[c] == y[c] + y[D + c] + y[4 * D + c];
        back &= dp[2 * D + c] == y[3 * D + c] + y[6 * D + c];
        back &= dp[7 * D + c] == y[11 * D + c] && dp[8 * D + c] == 0;
    }
    T(back, "its gradient is the sum over texts with that position");
    num_position_back(3, offsets, longest, D, 0, y, 1, dp);
    T(dp[7 * D] == 2 * y[11 * D] && dp[9 * D] == 0,
      "with add = 1 the gradient of a position is added");
    free(x);
    free(p);
    free(y);
    free(dp);
}

static void
columns_are_summed_in_double(void)
{
    float *x = normal(N * D, 1), *sum = normal(D, 2), *more = normal(D, 2);
    int same = 1;

    x[0] = 1e8f; // in f32 the others would be lost
    num_column_sums(N, D, 0, x, 0, sum);
    num_column_sums(N, D, 0, x, 1, more);
    free(x);
    x = normal(N * D, 1);
    for (size_t c = 0; c < D; c++) {
        float *start = normal(D, 2);
        double all = c ? x[c] : 1e8;

        for (size_t i = 1; i < N; i++)
            all += x[i * D + c];
        same &= sum[c] == (float)all && more[c] == start[c] + (float)all;
        free(start);
    }
    T(same, "columns are summed in double, in the order of rows");
    free(x);
    free(sum);
    free(more);
}

/* Rows of bfloat16: rounded when written, summed in f32. */
static void
halves_are_f32_rounded(void)
{
    const size_t offsets[] = {0, 1, 4, 12}, longest = 10;
    const int32_t ids[12] = {3, 1, 4, 1, 5, 1, 2, 6, 5, 3, 5, 0};
    float *table = normal(ROWS * D, 1), *p = normal(longest * D, 2);
    float *x = normal(12 * D, 3), *y = mem_array(12 * D, sizeof *y);
    float *sum[2], *dp[2], *dtable[2];
    uint32_t *order = mem_array(num_embed_scratch(12, ROWS), sizeof *order);
    void *half = halves_of(12 * D, x), *to = mem_array(12 * D, 2);

    num_embed(12, D, 0, ids, table, y);
    num_embed(12, D, 1, ids, table, to);
    T(halves_equal(12 * D, to, y), "rows of a table, of bfloat16, are rounded");
    num_position(3, offsets, D, 0, p, x, y);
    num_position(3, offsets, D, 1, p, half, to);
    T(halves_equal(12 * D, to, y),
      "tokens with positions, of bfloat16, are rounded");
    for (int bf16 = 0; bf16 < 2; bf16++) {
        const void *dy = bf16 ? half : x;

        sum[bf16] = normal(D, 4);
        dp[bf16] = normal(longest * D, 4);
        dtable[bf16] = normal(ROWS * D, 4);
        num_column_sums(12, D, bf16, dy, 1, sum[bf16]);
        num_position_back(3, offsets, longest, D, bf16, dy, 0, dp[bf16]);
        num_embed_back(12, D, bf16, ROWS, ids, dy, 1, dtable[bf16], order);
    }
    T(!memcmp(sum[0], sum[1], D * sizeof **sum) &&
          !memcmp(dp[0], dp[1], longest * D * sizeof **dp) &&
          !memcmp(dtable[0], dtable[1], ROWS * D * sizeof **dtable),
      "gradients of shared parameters are the same sums in f32");
    for (int bf16 = 0; bf16 < 2; bf16++) {
        free(sum[bf16]);
        free(dp[bf16]);
        free(dtable[bf16]);
    }
    free(table);
    free(p);
    free(x);
    free(y);
    free(order);
    free(half);
    free(to);
}

int
main(void)
{
    num_threads(1);
    rows_are_looked_up_and_summed();
    positions_count_from_each_text();
    columns_are_summed_in_double();
    halves_are_f32_rounded();
    return t_done();
}
