#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "eval/column.h"
#include "eval/retrieve.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

enum { TILE = 512 }; // rows and columns of scores at a time

/* One side: its rows as they came and as they are multiplied. */
struct side {
    const float *given; /* [n,d] */
    float *row;         /* [n,d] of length 1 for cosines, else given */
    double *length;     /* [n] of the given ones */
    double longest;     /* of `row` */

    /* What a score has to be, when a row of this side asks: above high it
     * counts, below low it does not, between them doubles decide. */
    float *low, *high; /* [n] */
    int32_t *above;    /* [n] how many count */
    double *half;      /* [n] and those that doubles found, equal ones half */
};

struct job {
    size_t n, d;
    int cosine;
    struct side u, v;
    float *tile; /* [TILE,TILE] */
};

static struct side
side_of(size_t n, size_t d, const float *given, int cosine)
{
    struct side s = {.given = given, .row = mem_array(n * d, sizeof *s.row)};

    s.length = mem_array(n, sizeof *s.length);
    s.low = mem_array(n, sizeof *s.low);
    s.high = mem_array(n, sizeof *s.high);
    s.above = mem_array(n, sizeof *s.above);
    s.half = mem_array(n, sizeof *s.half);
    for (size_t i = 0; i < n; i++) {
        double length = sqrt(num_dot(d, given + i * d, given + i * d));
        double scale = cosine ? length > 0 ? 1 / length : 0 : 1;

        s.length[i] = length;
        s.longest = fmax(s.longest, length * scale);
        for (size_t k = 0; k < d; k++)
            s.row[i * d + k] = (float)(given[i * d + k] * scale);
    }
    return s;
}

static void
side_release(struct side *s)
{
    free(s->row);
    free(s->length);
    free(s->low);
    free(s->high);
    free(s->above);
    free(s->half);
}

/* s_ij as the header has it. */
static double
exact(const struct job *job, size_t i, size_t j)
{
    double dot =
        num_dot(job->d, job->u.given + i * job->d, job->v.given + j * job->d);
    double lengths = job->u.length[i] * job->v.length[j];

    return !job->cosine ? dot : lengths > 0 ? dot / lengths : 0;
}

/*
 * The rounding error of the scores of row i of a side: gamma_d |u| |v| for an
 * f32 product in any order (Higham 2002, 3.1), and what rounding the rows adds.
 */
static void
set_bounds(const struct job *job, struct side *own, const struct side *other,
           size_t i, double score)
{
    double length = job->cosine ? own->length[i] > 0 : own->length[i];
    double error = 2 * ldexp((double)job->d + 8, -24) * length * other->longest;

    own->low[i] = nextafterf((float)(score - error), -INFINITY);
    own->high[i] = nextafterf((float)(score + error), INFINITY);
}

/* Counts what is clear about one row of a tile for both sides; returns how
 * many scores are not. */
UTIL_CLONES static size_t
count(size_t n, const float *s, float low, float high, const float *lows,
      const float *highs, int32_t *above, int32_t *aboves)
{
    int32_t more = 0, near = 0;

    for (size_t j = 0; j < n; j++) {
        int over = s[j] > high, overs = s[j] > highs[j];

        more += over;
        aboves[j] += overs;
        near += (s[j] >= low) & !over;
        near += (s[j] >= lows[j]) & !overs;
    }
    *above += more;
    return (size_t)near;
}

/* 1 when x is larger, 1/2 when it is equal. */
static double
beats(double x, double y)
{
    return x > y ? 1 : x == y ? .5 : 0;
}

/* Looks again at the scores within rounding error in row i of a tile from
 * column `first` on. */
static void
settle(const struct job *job, size_t i, size_t first, size_t n, const float *s)
{
    for (size_t j = first; j < first + n; j++) {
        const float score = s[j - first];

        if (j == i)
            continue;
        if (score >= job->u.low[i] && score <= job->u.high[i])
            job->u.half[i] += beats(exact(job, i, j), exact(job, i, i));
        if (score >= job->v.low[j] && score <= job->v.high[j])
            job->v.half[j] += beats(exact(job, i, j), exact(job, j, j));
    }
}

static void
compare(const struct job *job, size_t i0, size_t rows, size_t j0, size_t cols)
{
    const size_t d = job->d;

    num_gemm_nt(rows, cols, d, 1, job->u.row + i0 * d, job->v.row + j0 * d, 0,
                job->tile);
    for (size_t i = i0; i < i0 + rows; i++) {
        const float *s = job->tile + (i - i0) * cols;

        if (count(cols, s, job->u.low[i], job->u.high[i], job->v.low + j0,
                  job->v.high + j0, job->u.above + i, job->v.above + j0))
            settle(job, i, j0, cols, s);
    }
}

static size_t
tile_at(size_t n, size_t first)
{
    return n - first < TILE ? n - first : TILE;
}

void
eval_retrieve(size_t n, size_t d, const float *u, const float *v,
              enum eval_similarity similarity, double *forward,
              double *backward)
{
    const int cosine = similarity == EVAL_PAIR_COSINE;
    struct job job = {n,
                      d,
                      cosine,
                      side_of(n, d, u, cosine),
                      side_of(n, d, v, cosine),
                      mem_aligned(TILE * TILE, sizeof *job.tile)};

    REQUIRE(n <= INT32_MAX && d >= 1);
    for (size_t i = 0; i < n; i++) {
        double score = exact(&job, i, i);

        set_bounds(&job, &job.u, &job.v, i, score);
        set_bounds(&job, &job.v, &job.u, i, score);
    }
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < n; j += TILE)
            compare(&job, i, tile_at(n, i), j, tile_at(n, j));
    for (size_t i = 0; i < n; i++) {
        forward[i] = 1 + job.u.above[i] + job.u.half[i];
        backward[i] = 1 + job.v.above[i] + job.v.half[i];
    }
    side_release(&job.u);
    side_release(&job.v);
    free(job.tile);
}

struct eval_ranks
eval_ranks(size_t n, double *rank)
{
    struct eval_ranks r = {0};

    REQUIRE(n >= 1);
    eval_sort(n, rank);
    for (size_t i = 0; i < n; i++) {
        r.at1 += rank[i] <= 1;
        r.at5 += rank[i] <= 5;
        r.at10 += rank[i] <= 10;
        r.reciprocal += 1 / rank[i];
        r.mean += rank[i];
    }
    r.at1 /= (double)n;
    r.at5 /= (double)n;
    r.at10 /= (double)n;
    r.reciprocal /= (double)n;
    r.mean /= (double)n;
    r.median = eval_quantile(n, rank, .5);
    return r;
}
