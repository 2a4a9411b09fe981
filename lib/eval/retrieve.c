#include "eval/retrieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/column.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

/* Returns the first place in the order of keys that is not below `key`. */
static size_t
lower_bound(size_t m, const int64_t *keys, const size_t *order, int64_t key)
{
    size_t from = 0;

    while (m) {
        const size_t half = m / 2;

        if (keys[order[from + half]] < key) {
            from += half + 1;
            m -= half + 1;
        } else {
            m = half;
        }
    }
    return from;
}

struct eval_answers
eval_answers_by_key(size_t n, const int64_t *query, size_t m,
                    const int64_t *candidate)
{
    size_t *order = eval_order(m, NULL, candidate), room = 0, count = 0;
    struct eval_answers a = {.n = n};

    a.offset = mem_array(n + 1, sizeof *a.offset);
    for (size_t i = 0; i < n; i++) {
        for (size_t at = lower_bound(m, candidate, order, query[i]);
             at < m && candidate[order[at]] == query[i]; at++) {
            mem_grow(&a.j, &room, count + 1, sizeof *a.j);
            a.j[count++] = order[at];
        }
        a.offset[i + 1] = count;
    }
    free(order);
    return a;
}

static int
compare_indices(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

void
eval_answers_join(struct eval_answers *answers, const struct eval_answers *next)
{
    size_t *wide = NULL, room = 0, count = 0, first = 0, more;

    for (size_t i = 0; i < answers->n; i++) {
        const size_t from = count, end = answers->offset[i + 1];

        for (size_t q = first; q < end; q++) {
            const size_t *offset = next->offset + answers->j[q];

            more = offset[1] - offset[0];
            mem_grow(&wide, &room, count + more, sizeof *wide);
            if (more)
                memcpy(wide + count, next->j + offset[0], more * sizeof *wide);
            count += more;
        }
        more = count - from;
        if (more)
            qsort(wide + from, more, sizeof *wide, compare_indices);
        count = from;
        for (size_t k = from; k < from + more; k++) // without duplicates
            if (k == from || wide[k] != wide[k - 1])
                wide[count++] = wide[k];
        first = end;
        answers->offset[i + 1] = count;
    }
    free(answers->j);
    answers->j = wide;
}

void
eval_answers_release(struct eval_answers *answers)
{
    mem_free(answers->offset, answers->j);
    *answers = (struct eval_answers){0};
}

double
eval_answers_chance(const struct eval_answers *answers, size_t m)
{
    double sum = 0;
    size_t with = 0;

    for (size_t i = 0; i < answers->n; i++) {
        const size_t own = answers->offset[i + 1] - answers->offset[i];

        with += own > 0;
        sum += (double)own / (double)m;
    }
    return with ? sum / (double)with : 0;
}

/* Scores of queries u with candidates v: a tile at a time in f32, one at a time
 * in double.  Ranks are counted in f32, and in double only if rounding could
 * change them. */
enum { TILE = 512 };

struct vectors {
    const float *source; /* [n,d], the caller's */
    float *row;          /* [n,d] of length 1 for cosines, else as source */
    double *length;      /* [n] of source */
    double longest;      /* of `row` */
};

/* Queries u, with right answers among candidates v. */
struct ranking {
    const struct eval_answers *answers;
    size_t d;
    int cosine;
    struct vectors u, v;
    double *best; /* [n] the score of the best right answer */
};

static struct vectors
normalise_rows(size_t n, size_t d, const float *source, int cosine)
{
    struct vectors s = {.source = source,
                        .row = mem_array(n * d, sizeof *s.row),
                        .length = mem_array(n, sizeof *s.length)};

    for (size_t i = 0; i < n; i++) {
        const double length = sqrt(num_dot(d, source + i * d, source + i * d));
        const double scale = cosine ? length > 0 ? 1 / length : 0 : 1;

        s.length[i] = length;
        s.longest = fmax(s.longest, length * scale);
        for (size_t k = 0; k < d; k++)
            s.row[i * d + k] = (float)(source[i * d + k] * scale);
    }
    return s;
}

static double
exact_score(const struct ranking *r, size_t i, size_t j)
{
    const double dot =
        num_dot(r->d, r->u.source + i * r->d, r->v.source + j * r->d);
    const double lengths = r->u.length[i] * r->v.length[j];

    return !r->cosine ? dot : lengths > 0 ? dot / lengths : 0;
}

/* Counts the scores above high, and those from low to high in *near. */
static UTIL_CLONES(size_t, count_clearly_above,
                   (size_t n, const float *s, float low, float high,
                    size_t *near),
                   (n, s, low, high, near))
{
    size_t above = 0, between = 0;

    for (size_t j = 0; j < n; j++) {
        above += s[j] > high;
        between += (s[j] >= low) & (s[j] <= high);
    }
    *near = between;
    return above;
}

/*
 * Returns the contribution of the n columns from `first` on to the rank of
 * query i.  Right answers do not count against each other.  The rounding error
 * of a score is at most gamma_d |u| |v| for an f32 product in any order (Higham
 * 2002, 3.1), plus that of rounding the rows.
 */
static double
count_better(const struct ranking *r, size_t i, size_t first, size_t n,
             float *s)
{
    const struct eval_answers *a = r->answers;
    const double best = r->best[i];
    const double length = r->cosine ? r->u.length[i] > 0 : r->u.length[i];
    const double error =
        2 * ldexp((double)r->d + 8, -24) * length * r->v.longest;
    const float low = nextafterf((float)(best - error), -INFINITY);
    const float high = nextafterf((float)(best + error), INFINITY);
    size_t near;
    double rank;

    for (size_t q = a->offset[i]; q < a->offset[i + 1]; q++)
        if (a->j[q] >= first && a->j[q] < first + n)
            s[a->j[q] - first] = -INFINITY;
    rank = (double)count_clearly_above(n, s, low, high, &near);
    for (size_t j = 0; near && j < n; j++)
        if (s[j] >= low && s[j] <= high) {
            const double score = exact_score(r, i, first + j);

            rank += score > best ? 1 : score == best ? .5 : 0;
        }
    return rank;
}

void
eval_answers_rank(const struct eval_answers *answers, size_t m, size_t d,
                  const float *u, const float *v,
                  enum eval_similarity similarity, double *rank)
{
    const size_t n = answers->n;
    const int cosine = similarity == EVAL_PAIR_COSINE;
    struct ranking r = {.answers = answers,
                        .d = d,
                        .cosine = cosine,
                        .u = normalise_rows(n, d, u, cosine),
                        .v = normalise_rows(m, d, v, cosine),
                        .best = mem_array(n, sizeof *r.best)};
    float *tile = mem_aligned((size_t)TILE * TILE, sizeof *tile);

    REQUIRE(d >= 1);
    // sets the score of the best right answer of each query, and its rank to 1;
    // 0: there is no answer
    for (size_t i = 0; i < n; i++) {
        r.best[i] = -INFINITY;
        for (size_t q = answers->offset[i]; q < answers->offset[i + 1]; q++)
            r.best[i] = fmax(r.best[i], exact_score(&r, i, answers->j[q]));
        rank[i] = r.best[i] > -INFINITY;
    }
    for (size_t i = 0; i < n; i += TILE)
        for (size_t j = 0; j < m; j += TILE) {
            const size_t rows = n - i < TILE ? n - i : TILE;
            const size_t columns = m - j < TILE ? m - j : TILE;

            num_gemm_nt(rows, columns, d, 1, r.u.row + i * d, r.v.row + j * d,
                        0, tile);
            for (size_t k = 0; k < rows; k++)
                if (rank[i + k] > 0)
                    rank[i + k] +=
                        count_better(&r, i + k, j, columns, tile + k * columns);
        }
    mem_free(r.u.row, r.u.length, r.v.row, r.v.length, r.best, tile);
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
