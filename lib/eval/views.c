#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/views.h"
#include "num/gemm.h"
#include "util/err.h"
#include "util/mem.h"

size_t
eval_views_count(const struct eval_views *rows)
{
    return rows->samples * rows->views;
}

size_t
eval_views_negatives(const struct eval_views *rows)
{
    return (rows->samples - 1) * (rows->views - (rows->cross != 0));
}

int
eval_views_same_group(const struct eval_views *rows, size_t r, size_t c)
{
    const int64_t *group = rows->group;

    return group && group[r % rows->samples] >= 0 &&
           group[r % rows->samples] == group[c % rows->samples];
}

void
eval_views_cosines(const struct eval_views *rows, size_t m, const size_t *row,
                   float *s)
{
    const size_t n = eval_views_count(rows), d = rows->d;
    const size_t samples = rows->samples;
    float *v = mem_array(m * d, sizeof *v);

    REQUIRE(rows->samples >= 2 && rows->views > (rows->cross != 0));
    for (size_t i = 0; i < m; i++)
        memcpy(v + i * d, rows->v + row[i] * d, d * sizeof *v);
    num_gemm_nt(m, n, d, 1, v, rows->v, 0, s);
    free(v);
    for (size_t i = 0; i < m; i++, s += n) {
        const size_t view = row[i] / samples;

        for (size_t c = row[i] % samples; c < n; c += samples)
            s[c] = -INFINITY;
        for (size_t k = 0; rows->cross && k < samples; k++)
            s[view * samples + k] = -INFINITY;
    }
}

size_t
eval_views_nearest(size_t n, const float *s, size_t k, size_t *near)
{
    size_t have = 0;

    for (size_t c = 0; c < n; c++) {
        size_t at = have < k ? have : k - 1;

        if (s[c] < -2 /* excluded */ || (have == k && !(s[c] > s[near[k - 1]])))
            continue;
        for (; at && s[near[at - 1]] < s[c]; at--)
            near[at] = near[at - 1];
        near[at] = c;
        have += have < k;
    }
    return have;
}
