#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "eval/column.h"
#include "eval/retrieve.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

#include "scores.h"

struct side {
    /* What a score has to be, when a row of this side asks: above high it
     * counts, below low it does not, between them doubles decide. */
    float *low, *high; /* [n] */
    int32_t *above;    /* [n] how many count */
    double *half;      /* [n] and those that doubles found, equal ones half */
};

struct job {
    size_t n;
    struct eval_scores scores;
    struct side u, v;
};

static void
side_init(struct side *s, const struct job *job, const struct eval_vectors *own)
{
    const size_t n = job->n;

    s->low = mem_array(n, sizeof *s->low);
    s->high = mem_array(n, sizeof *s->high);
    s->above = mem_array(n, sizeof *s->above);
    s->half = mem_array(n, sizeof *s->half);
    for (size_t i = 0; i < n; i++)
        eval_score_bounds(&job->scores, own, i, eval_score(&job->scores, i, i),
                          s->low + i, s->high + i);
}

static void
side_release(struct side *s)
{
    free(s->low);
    free(s->high);
    free(s->above);
    free(s->half);
}

/* Counts what is clear about one row of a tile for both sides; returns how
 * many scores are not. */
static UTIL_CLONES(size_t, count_clear,
                   (size_t n, const float *s, float low, float high,
                    const float *lows, const float *highs, int32_t *above,
                    int32_t *aboves),
                   (n, s, low, high, lows, highs, above, aboves))
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

/* Looks again at the scores within rounding error in row i of a tile from
 * column `first` on. */
static void
settle_ties(const struct job *job, size_t i, size_t first, size_t n,
            const float *s)
{
    const struct eval_scores *scores = &job->scores;

    for (size_t j = first; j < first + n; j++) {
        const float score = s[j - first];

        if (j == i)
            continue;
        if (score >= job->u.low[i] && score <= job->u.high[i])
            job->u.half[i] +=
                eval_beats(eval_score(scores, i, j), eval_score(scores, i, i));
        if (score >= job->v.low[j] && score <= job->v.high[j])
            job->v.half[j] +=
                eval_beats(eval_score(scores, i, j), eval_score(scores, j, j));
    }
}

static void
compare_tile(const struct job *job, size_t i0, size_t j0)
{
    const size_t rows = eval_tile(job->n, i0), columns = eval_tile(job->n, j0);

    eval_scores_tile(&job->scores, i0, rows, j0, columns);
    for (size_t i = i0; i < i0 + rows; i++) {
        const float *s = job->scores.tile + (i - i0) * columns;

        if (count_clear(columns, s, job->u.low[i], job->u.high[i],
                        job->v.low + j0, job->v.high + j0, job->u.above + i,
                        job->v.above + j0))
            settle_ties(job, i, j0, columns, s);
    }
}

void
eval_retrieve(size_t n, size_t d, const float *u, const float *v,
              enum eval_similarity similarity, double *forward,
              double *backward)
{
    struct job job = {.n = n};

    REQUIRE(n <= INT32_MAX);
    eval_scores_init(&job.scores, n, u, n, v, d,
                     similarity == EVAL_PAIR_COSINE);
    side_init(&job.u, &job, &job.scores.u);
    side_init(&job.v, &job, &job.scores.v);
    for (size_t i = 0; i < n; i += EVAL_TILE)
        for (size_t j = 0; j < n; j += EVAL_TILE)
            compare_tile(&job, i, j);
    for (size_t i = 0; i < n; i++) {
        forward[i] = 1 + job.u.above[i] + job.u.half[i];
        backward[i] = 1 + job.v.above[i] + job.v.half[i];
    }
    side_release(&job.u);
    side_release(&job.v);
    eval_scores_release(&job.scores);
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
