#include <stdlib.h>
#include <string.h>

#include "eval/knn.h"
#include "num/threads.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { M = 37, N = 1301, D = 19, K = 30 };

static const enum eval_metric metrics[] = {EVAL_COSINE, EVAL_EUCLIDEAN};
static const char *const names[] = {"cosine", "Euclidean"};

static void
draw(struct rng *rng, size_t n, float *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(rng);
}

/* The formula in the header, in double. */
static double
naive(enum eval_metric metric, size_t d, const float *q, const float *r)
{
    double dot = 0, qq = 0, rr = 0, apart = 0;

    for (size_t k = 0; k < d; k++) {
        dot += (double)q[k] * r[k];
        qq += (double)q[k] * q[k];
        rr += (double)r[k] * r[k];
        apart += ((double)q[k] - r[k]) * ((double)q[k] - r[k]);
    }
    if (metric == EVAL_EUCLIDEAN)
        return -apart;
    return qq > 0 && rr > 0 ? dot / sqrt(qq * rr) : 0;
}

/*
 * Counts the errors in one row of neighbours: a wrong score, a wrong order, or
 * a missing one that is nearer than the last.
 */
static size_t
faults(enum eval_metric metric, size_t n, size_t d, const float *query,
       const float *ref, size_t k, size_t self, const uint32_t *ids,
       const double *score)
{
    size_t wrong = 0, nearer = 0;

    for (size_t j = 0; j < k; j++) {
        double s = naive(metric, d, query, ref + ids[j] * d);

        wrong += fabs(s - score[j]) > 1e-9 || ids[j] == self;
        wrong += j && score[j] > score[j - 1];
        wrong += j && score[j] == score[j - 1] && ids[j] < ids[j - 1];
    }
    for (size_t r = 0; r < n; r++)
        nearer += r != self &&
                  naive(metric, d, query, ref + r * d) > score[k - 1] + 1e-12;
    return wrong + (nearer > k - 1);
}

static void
agrees_with_naive(void)
{
    struct rng rng;
    float *query = mem_array(M * D, sizeof *query);
    float *ref = mem_array(N * D, sizeof *ref);
    uint32_t ids[M * K];
    double score[M * K];

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    draw(&rng, M * D, query);
    draw(&rng, N * D, ref);
    for (int which = 0; which < 2; which++) {
        struct eval_knn *knn = eval_knn_new(N, D, ref, metrics[which]);
        size_t wrong = 0;

        for (size_t k = 1; k <= K; k += 29) {
            eval_knn_find(knn, M, query, k, EVAL_NO_SELF, ids, score);
            for (size_t i = 0; i < M; i++)
                wrong += faults(metrics[which], N, D, query + i * D, ref, k,
                                EVAL_NO_SELF, ids + i * k, score + i * k);
        }
        T(!wrong, "%s: k = 1 and 30, naive rewrite", names[which]);
        wrong = 0;
        eval_knn_find(knn, M, ref + 5 * D, K, 5, ids, score);
        for (size_t i = 0; i < M; i++)
            wrong += faults(metrics[which], N, D, ref + (5 + i) * D, ref, K,
                            5 + i, ids + i * K, score + i * K);
        T(!wrong, "%s: a row is not its own neighbour", names[which]);
        eval_knn_free(knn);
    }
    free(ref);
    free(query);
}

static void
all_references_in_order(void)
{
    enum { FEW = 70 };
    struct rng rng;
    float x[FEW * D];
    uint32_t ids[FEW];
    double score[FEW];
    struct eval_knn *knn;

    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    draw(&rng, FEW * D, x);
    knn = eval_knn_new(FEW, D, x, EVAL_EUCLIDEAN);
    eval_knn_find(knn, 1, x, FEW, EVAL_NO_SELF, ids, score);
    T(ids[0] == 0 && score[0] == 0, "a row is its own nearest, 0 away");
    T(!faults(EVAL_EUCLIDEAN, FEW, D, x, x, FEW, SIZE_MAX, ids, score),
      "k = n ranks everything");
    eval_knn_find(knn, 1, x, FEW - 1, 0, ids, NULL);
    T(ids[0] != 0, "k = n - 1 without the row itself");
    eval_knn_free(knn);
}

/* More equal references than candidates: the exhaustive search. */
static void
equal_rows_rank_by_id(void)
{
    float *ref = mem_array(N * D, sizeof *ref);
    uint32_t ids[K];
    double score[K];

    for (size_t i = 0; i < N * D; i++)
        ref[i] = 0.3f;
    for (int which = 0; which < 2; which++) {
        struct eval_knn *knn = eval_knn_new(N, D, ref, metrics[which]);
        size_t wrong = 0;

        eval_knn_find(knn, 1, ref, K, 3, ids, score);
        for (size_t j = 0; j < K; j++)
            wrong += ids[j] != j + (j >= 3);
        T(!wrong, "%s: equal rows, the lower id first", names[which]);
        T_NEAR(score[K - 1], which ? 0 : 1, 1e-12,
               "equal rows: the last neighbour has the score of a copy");
        eval_knn_free(knn);
    }
    free(ref);
}

/*
 * Rows far from the origin that differ by about one unit in the last place of
 * their f32 product: the order must still be that of the double formula.
 */
static void
rounding_does_not_misplace(void)
{
    struct rng rng;
    float *ref = mem_array(N * D, sizeof *ref);
    uint32_t ids[K];
    double score[K];
    size_t wrong = 0;
    struct eval_knn *knn;

    rng_init(&rng, 3, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < N * D; i++)
        ref[i] = (float)(1000 + rng_unit(&rng));
    knn = eval_knn_new(N, D, ref, EVAL_EUCLIDEAN);
    for (size_t i = 0; i < M; i++) {
        eval_knn_find(knn, 1, ref + i * D, K, i, ids, score);
        wrong +=
            faults(EVAL_EUCLIDEAN, N, D, ref + i * D, ref, K, i, ids, score);
    }
    T(!wrong, "rows a thousand spreads from the origin");
    eval_knn_free(knn);
    free(ref);
}

static void
zero_rows_have_no_direction(void)
{
    const float ref[] = {0, 0, -1, -1, 1, 2}, query[] = {0, 0, 1, 1};
    uint32_t ids[6];
    double score[6];
    struct eval_knn *knn = eval_knn_new(3, 2, ref, EVAL_COSINE);

    eval_knn_find(knn, 2, query, 3, EVAL_NO_SELF, ids, score);
    T(ids[0] == 0 && ids[1] == 1 && ids[2] == 2 && score[0] == 0,
      "a zero query is equally far from all");
    T(ids[3] == 2 && ids[4] == 0 && ids[5] == 1, "a zero reference: s = 0");
    T_NEAR(score[3], 3 / sqrt(10), 1e-12, "cosine of (1,1) and (1,2)");
    eval_knn_free(knn);
}

static void
threads_change_nothing(void)
{
    struct rng rng;
    float *ref = mem_array(N * D, sizeof *ref);
    uint32_t one[M * K], two[M * K];
    double score[2][M * K];
    struct eval_knn *knn;

    rng_init(&rng, 4, RNG_TEST, 0, 0, 0);
    draw(&rng, N * D, ref);
    knn = eval_knn_new(N, D, ref, EVAL_COSINE);
    num_threads(1);
    eval_knn_find(knn, M, ref, K, 0, one, score[0]);
    num_threads(2);
    eval_knn_find(knn, M, ref, K, 0, two, score[1]);
    num_threads(1);
    T(!memcmp(one, two, sizeof one) &&
          !memcmp(score[0], score[1], sizeof score[0]),
      "one thread and two: the same bits");
    eval_knn_free(knn);
    free(ref);
}

/* Without scores most neighbours are ordered by their f32 ranks alone. */
static void
scores_do_not_change_the_order(void)
{
    struct rng rng;
    float *ref = mem_array(N * D, sizeof *ref);
    uint32_t with[M * K], without[M * K];
    double score[M * K];

    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    for (int kind = 0; kind < 3; kind++) {
        // far apart; of few levels, so that many are equal; all but equal
        draw(&rng, N * D, ref);
        for (size_t i = 0; i < N * D && kind; i++)
            ref[i] = kind == 1 ? roundf(ref[i]) : 100 + ref[i] / 64;
        for (int which = 0; which < 2; which++) {
            struct eval_knn *knn = eval_knn_new(N, D, ref, metrics[which]);

            eval_knn_find(knn, M, ref, K, 0, with, score);
            eval_knn_find(knn, M, ref, K, 0, without, NULL);
            T(!memcmp(with, without, sizeof with),
              "%s, kind %d: the same without scores", names[which], kind);
            eval_knn_free(knn);
        }
    }
    free(ref);
}

/*
 * Queries that fast products answer, some that need f32, and some that need
 * double: more of them than in a block, with k a small part of the references.
 */
static void
near_ties_are_in_order(size_t m, size_t ties)
{
    enum { FEW = 10 };
    struct rng rng;
    float *query = mem_array(m * D, sizeof *query);
    float *ref = mem_array(N * D, sizeof *ref);
    uint32_t *ids[2] = {mem_array(m * FEW, sizeof *ids[0]),
                        mem_array(m * FEW, sizeof *ids[1])};
    double *score = mem_array(m * FEW, sizeof *score);

    rng_init(&rng, 6, RNG_TEST, 0, 0, 0);
    draw(&rng, m * D, query);
    draw(&rng, N * D, ref);
    for (size_t i = 0; i < N / 2 * D; i++) // around query 0 and its like
        ref[i] = query[i % D] + ref[i] / 100;
    for (size_t i = 1; i < m; i++)
        if (i % ties == 0)
            memcpy(query + i * D, query, D * sizeof *query);
    for (int which = 0; which < 2; which++) {
        struct eval_knn *knn = eval_knn_new(N, D, ref, metrics[which]);
        size_t wrong = 0;

        num_threads(1);
        eval_knn_find(knn, m, query, FEW, EVAL_NO_SELF, ids[0], score);
        num_threads(2);
        eval_knn_find(knn, m, query, FEW, EVAL_NO_SELF, ids[1], NULL);
        num_threads(1);
        for (size_t i = 0; i < m; i += 7)
            wrong += faults(metrics[which], N, D, query + i * D, ref, FEW,
                            EVAL_NO_SELF, ids[0] + i * FEW, score + i * FEW);
        T(!wrong, "%s: %zu queries, each %zu-th with near ties", names[which],
          m, ties);
        T(!memcmp(ids[0], ids[1], m * FEW * sizeof *ids[0]),
          "two threads, without scores: the same");
        eval_knn_free(knn);
    }
    free(query);
    free(ref);
    free(ids[0]);
    free(ids[1]);
    free(score);
}

int
main(void)
{
    agrees_with_naive();
    all_references_in_order();
    equal_rows_rank_by_id();
    rounding_does_not_misplace();
    zero_rows_have_no_direction();
    threads_change_nothing();
    scores_do_not_change_the_order();
    near_ties_are_in_order(2100, 20);
    near_ties_are_in_order(2100, 2);
    return t_done();
}
