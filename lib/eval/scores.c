#include "scores.h"

#include <math.h>
#include <stdlib.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

static struct eval_vectors
normalise_rows(size_t n, size_t d, const float *given, int cosine)
{
    struct eval_vectors s = {.given = given,
                             .row = mem_array(n * d, sizeof *s.row),
                             .length = mem_array(n, sizeof *s.length)};

    for (size_t i = 0; i < n; i++) {
        const double length = sqrt(num_dot(d, given + i * d, given + i * d));
        const double scale = cosine ? length > 0 ? 1 / length : 0 : 1;

        s.length[i] = length;
        s.longest = fmax(s.longest, length * scale);
        for (size_t k = 0; k < d; k++)
            s.row[i * d + k] = (float)(given[i * d + k] * scale);
    }
    return s;
}

void
eval_scores_init(struct eval_scores *scores, size_t n, const float *u, size_t m,
                 const float *v, size_t d, int cosine)
{
    REQUIRE(d >= 1);
    *scores = (struct eval_scores){
        .d = d,
        .cosine = cosine,
        .u = normalise_rows(n, d, u, cosine),
        .v = normalise_rows(m, d, v, cosine),
        .tile = mem_aligned(EVAL_TILE * EVAL_TILE, sizeof *scores->tile),
    };
}

void
eval_scores_release(struct eval_scores *scores)
{
    free(scores->u.row);
    free(scores->u.length);
    free(scores->v.row);
    free(scores->v.length);
    free(scores->tile);
}

double
eval_score(const struct eval_scores *scores, size_t i, size_t j)
{
    const size_t d = scores->d;
    const double dot =
        num_dot(d, scores->u.given + i * d, scores->v.given + j * d);
    const double lengths = scores->u.length[i] * scores->v.length[j];

    return !scores->cosine ? dot : lengths > 0 ? dot / lengths : 0;
}

void
eval_scores_tile(const struct eval_scores *scores, size_t i, size_t rows,
                 size_t j, size_t columns)
{
    const size_t d = scores->d;

    num_gemm_nt(rows, columns, d, 1, scores->u.row + i * d,
                scores->v.row + j * d, 0, scores->tile);
}

size_t
eval_tile(size_t n, size_t first)
{
    return n - first < EVAL_TILE ? n - first : EVAL_TILE;
}

/* The rounding error is at most gamma_d |u| |v| for an f32 product in any order
 * (Higham 2002, 3.1), and what rounding the rows adds. */
void
eval_score_bounds(const struct eval_scores *scores,
                  const struct eval_vectors *own, size_t i, double score,
                  float *low, float *high)
{
    const struct eval_vectors *other =
        own == &scores->u ? &scores->v : &scores->u;
    const double length = scores->cosine ? own->length[i] > 0 : own->length[i];
    const double error =
        2 * ldexp((double)scores->d + 8, -24) * length * other->longest;

    *low = nextafterf((float)(score - error), -INFINITY);
    *high = nextafterf((float)(score + error), INFINITY);
}

double
eval_beats(double x, double y)
{
    return x > y ? 1 : x == y ? .5 : 0;
}
