#include "eval/answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/clones.h"
#include "util/mem.h"

#include "scores.h"

/* A candidate by its key. */
struct keyed {
    int64_t key;
    size_t j;
};

static int
by_key(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->j < y->j ? -1 : 1;
}

static struct keyed *
sort_by_key(size_t m, const int64_t *key)
{
    struct keyed *k = mem_array(m, sizeof *k);

    for (size_t j = 0; j < m; j++)
        k[j] = (struct keyed){key[j], j};
    qsort(k, m, sizeof *k, by_key);
    return k;
}

/* The first place whose key is not below. */
static size_t
lower_bound(size_t m, const struct keyed *k, int64_t key)
{
    size_t from = 0;

    while (m) {
        const size_t half = m / 2;

        if (k[from + half].key < key) {
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
    struct keyed *k = sort_by_key(m, candidate);
    struct eval_answers a = {.n = n};
    size_t room = 0, count = 0;

    a.offset = mem_array(n + 1, sizeof *a.offset);
    for (size_t i = 0; i < n; i++) {
        for (size_t at = lower_bound(m, k, query[i]);
             at < m && k[at].key == query[i]; at++) {
            mem_grow(&a.j, &room, count + 1, sizeof *a.j);
            a.j[count++] = k[at].j;
        }
        a.offset[i + 1] = count;
    }
    free(k);
    return a;
}

static int
compare_indices(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;

    return (x > y) - (x < y);
}

/* Sorts, and leaves each number once; returns how many there are. */
static size_t
sort_distinct(size_t n, size_t *j)
{
    size_t kept = 0;

    if (n)
        qsort(j, n, sizeof *j, compare_indices);
    for (size_t i = 0; i < n; i++)
        if (!i || j[i] != j[i - 1])
            j[kept++] = j[i];
    return kept;
}

void
eval_answers_join(struct eval_answers *answers, const struct eval_answers *next)
{
    size_t *wide = NULL, room = 0, count = 0, first = 0;

    for (size_t i = 0; i < answers->n; i++) {
        const size_t from = count, end = answers->offset[i + 1];

        for (size_t q = first; q < end; q++) {
            const size_t *offset = next->offset + answers->j[q];
            const size_t more = offset[1] - offset[0];

            mem_grow(&wide, &room, count + more, sizeof *wide);
            if (more)
                memcpy(wide + count, next->j + offset[0], more * sizeof *wide);
            count += more;
        }
        if (count > from)
            count = from + sort_distinct(count - from, wide + from);
        first = end;
        answers->offset[i + 1] = count;
    }
    free(answers->j);
    answers->j = wide;
}

void
eval_answers_release(struct eval_answers *answers)
{
    free(answers->offset);
    free(answers->j);
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

/* ---------------------------------------------------------------- ranking */

struct ranking {
    const struct eval_answers *answers;
    size_t m;
    struct eval_scores scores;
    double *best; /* [n] */
};

static double
best_of(const struct ranking *ranking, size_t i)
{
    const struct eval_answers *a = ranking->answers;
    double best = -INFINITY;

    for (size_t q = a->offset[i]; q < a->offset[i + 1]; q++)
        best = fmax(best, eval_score(&ranking->scores, i, a->j[q]));
    return best;
}

/* Right answers do not stand in each other's way. */
static void
strike_answers(const struct ranking *ranking, size_t i, size_t first, size_t n,
               float *s)
{
    const struct eval_answers *a = ranking->answers;

    for (size_t q = a->offset[i]; q < a->offset[i + 1]; q++)
        if (a->j[q] >= first && a->j[q] < first + n)
            s[a->j[q] - first] = -INFINITY;
}

/* How many scores are above high, and how many from low up to it. */
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

/* What the n columns from `first` on add to the rank of query i. */
static double
count_overtaken(const struct ranking *ranking, size_t i, size_t first, size_t n,
                float *s)
{
    const double best = ranking->best[i];
    float low, high;
    size_t near;
    double rank;

    eval_score_bounds(&ranking->scores, &ranking->scores.u, i, best, &low,
                      &high);
    strike_answers(ranking, i, first, n, s);
    rank = (double)count_clearly_above(n, s, low, high, &near);
    for (size_t j = 0; near && j < n; j++)
        if (s[j] >= low && s[j] <= high)
            rank +=
                eval_beats(eval_score(&ranking->scores, i, first + j), best);
    return rank;
}

static void
rank_tile(const struct ranking *ranking, size_t i0, size_t j0, double *rank)
{
    const size_t rows = eval_tile(ranking->answers->n, i0);
    const size_t columns = eval_tile(ranking->m, j0);

    eval_scores_tile(&ranking->scores, i0, rows, j0, columns);
    for (size_t i = 0; i < rows; i++)
        if (rank[i0 + i] > 0)
            rank[i0 + i] += count_overtaken(ranking, i0 + i, j0, columns,
                                            ranking->scores.tile + i * columns);
}

void
eval_answers_rank(const struct eval_answers *answers, size_t m, size_t d,
                  const float *u, const float *v, double *rank)
{
    const size_t n = answers->n;
    struct ranking ranking = {
        .answers = answers, .m = m, .best = mem_array(n, sizeof *ranking.best)};

    eval_scores_init(&ranking.scores, n, u, m, v, d, 1);
    for (size_t i = 0; i < n; i++) {
        ranking.best[i] = best_of(&ranking, i);
        rank[i] = ranking.best[i] > -INFINITY;
    }
    for (size_t i = 0; i < n; i += EVAL_TILE)
        for (size_t j = 0; j < m; j += EVAL_TILE)
            rank_tile(&ranking, i, j, rank);
    eval_scores_release(&ranking.scores);
    free(ranking.best);
}
